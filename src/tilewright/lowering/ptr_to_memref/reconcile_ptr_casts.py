"""The pass `reconcile-ptr-casts`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnrankedMemRefType, UnrealizedConversionCastOp
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import memref, tptr
from tilewright.dialects.ptr import PtrType
from tilewright.dialects.types import ANY_MEMREF, element_type, is_memref
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.tensor_builder import memref_of


@register_pass
class ReconcilePtrCastsPass(Pass):
    """Replaces chains of casts between memrefs and addresses, through `!tt.ptr`, with explicit ops.

    ```mlir
    %p = builtin.unrealized_conversion_cast %m : memref<*xf32> to !tt.ptr<f32>
    %a = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to !ptr.ptr<#tptr.default_memory_space>
    // becomes
    %a = tptr.from_memref %m : memref<*xf32> to <#tptr.default_memory_space>
    ```
    An address used as a memref becomes `tptr.to_memref`, plus a `memref.cast` if the memref is unranked. A round trip
    becomes the value itself. Casts that begin or end at a `!tt.ptr` stay.
    """

    name = "reconcile-ptr-casts"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        casts = [cast for cast in find_ops(module, UnrealizedConversionCastOp) if len(cast.operands) == 1]
        for cast in casts:
            value = _realize(cast, _origin(cast), cast.results[0].type)
            if value is not None:
                cast.results[0].replace_all_uses_with(value)
        for cast in reversed(casts):
            if not cast.results[0].uses:
                cast.detach()
                cast.erase()


def _origin(cast: UnrealizedConversionCastOp) -> SSAValue:
    """Return what a chain of casts started from."""
    value = cast.operands[0]
    while isinstance(value.owner, UnrealizedConversionCastOp) and len(value.owner.operands) == 1:
        value = value.owner.operands[0]
    return value


def _realize(cast: UnrealizedConversionCastOp, value: SSAValue, kind: Attribute) -> SSAValue | None:
    """A value as one of another type, before a cast that asks for it; None if only a cast can say it."""
    b, source = OpBuilder.before(cast), value.type
    if source == kind:
        return value
    if ANY_MEMREF.verifies(source) and isinstance(kind, PtrType):
        return b.result(tptr.FromMemrefOp(value, kind))
    if not isinstance(source, PtrType):
        return None
    if kind.name == UnrankedMemRefType.name:
        one = b.insert(tptr.ToMemrefOp(value, memref_of(element_type(kind), 1)))
        return b.result(memref.CastOp(one.res, kind))
    if is_memref(kind) and kind.has_static_shape():
        return b.insert(tptr.ToMemrefOp(value, kind)).res
    return None
