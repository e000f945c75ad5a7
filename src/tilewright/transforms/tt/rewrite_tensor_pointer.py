"""`triton-rewrite-tensor-pointer`: block pointers become tensors of pointers with masks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith import constant_splat
from tilewright.dialects.construction import i32_array, segment_sizes, static_values
from tilewright.dialects.tt.types import PointerType, is_block_pointer, is_tensor, pointer_type
from tilewright.dialects.types import is_float
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.transforms.tt.block_access import BlockAccess, widened
from tilewright.transforms.tt.expand_values import ValueExpander

BLOCK_PROPERTIES = ("boundaryCheck", "padding")
"""Properties of loads and stores that mean something for block pointers only."""


def block_of(type: Attribute) -> TensorType[Attribute]:
    """The tensor type that a block pointer points to."""
    assert isinstance(type, PointerType) and is_tensor(type.pointee_type)
    return type.pointee_type


def padding_value(builder: OpBuilder, padding: Attribute | None, type: Attribute, op: Operation) -> SSAValue | None:
    """Return what lanes outside the parent tensor give: zeros, NaNs, or None where they are undefined."""
    if padding is None:
        return None
    element = type.element_type if is_tensor(type) else type
    if tt.PaddingOption.of(padding) is tt.PaddingOption.ZERO:
        return builder.result(constant_splat(0, type))
    if not is_float(element):
        raise op_error(op, f"padding with NaN needs floats, got {element}")
    return builder.result(constant_splat(math.nan, type))


class _BlockPointerExpander(ValueExpander):
    """A block pointer of rank r is its base, r extents, r strides and r offsets, the last three i64."""

    pass_name = "triton-rewrite-tensor-pointer"

    def component_types(self, type: Attribute) -> list[Attribute] | None:
        if not is_block_pointer(type):
            return None
        assert isinstance(type, PointerType)
        block = block_of(type)
        base = pointer_type(block.element_type, type.address_space.data)
        return [base, *([i64] * (3 * block.get_num_dims()))]

    def visit(self, op: Operation) -> bool:
        match op:
            case tt.MakeTensorPtrOp():
                offsets = widened(OpBuilder.before(op), op.offsets)
                self.define(op, (op.base, *op.shape, *op.strides, *offsets))
            case tt.AdvanceOp():
                self._visit_advance(op)
            case tt.LoadOp() if is_block_pointer(op.ptr.type):
                self._visit_load(op)
            case tt.StoreOp() if is_block_pointer(op.ptr.type):
                self._visit_store(op)
            case _:
                return False
        return True

    def _visit_advance(self, op: tt.AdvanceOp) -> None:
        builder = OpBuilder.before(op)
        components = self.components(op.ptr)
        rank = len(op.offsets)
        steps = widened(builder, op.offsets)
        moved = [
            builder.result(arith.AddiOp(offset, step)) for offset, step in zip(components[-rank:], steps, strict=True)
        ]
        self.define(op, (*components[:-rank], *moved))

    def _access(
        self, builder: OpBuilder, pointer: SSAValue, boundary_check: DenseArrayBase
    ) -> tuple[SSAValue, SSAValue | None]:
        """The tensor of pointers and the mask of an access through a block pointer."""
        shape = block_of(pointer.type).get_shape()
        base, *rest = self.components(pointer)
        rank = len(shape)
        extents, strides, offsets = rest[:rank], rest[rank : 2 * rank], rest[2 * rank :]
        access = BlockAccess(builder, shape, offsets)
        return access.pointers(base, strides), access.mask(extents, static_values(boundary_check))

    def _visit_load(self, op: tt.LoadOp) -> None:
        builder = OpBuilder.before(op)
        pointers, mask = self._access(builder, op.ptr, op.boundary_check)
        other = None if mask is None else padding_value(builder, op.padding, op.result.type, op)
        operands = [value for value in (pointers, mask, other) if value is not None]
        properties = _plain_properties(op) | {
            "operandSegmentSizes": segment_sizes(1, int(mask is not None), int(other is not None))
        }
        load = builder.insert(
            tt.LoadOp.create(
                operands=operands,
                result_types=(op.result.type,),
                properties=properties,
                attributes=op.attributes,
            )
        )
        load.result.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(load.result)
        self._remove(op)

    def _visit_store(self, op: tt.StoreOp) -> None:
        builder = OpBuilder.before(op)
        pointers, mask = self._access(builder, op.ptr, op.boundary_check)
        operands: Sequence[SSAValue] = (pointers, op.value) if mask is None else (pointers, op.value, mask)
        builder.insert(tt.StoreOp.create(operands=operands, properties=_plain_properties(op), attributes=op.attributes))
        self._remove(op)

    @staticmethod
    def _remove(op: Operation) -> None:
        op.detach()
        op.erase()


def _plain_properties(op: Operation) -> dict[str, Attribute]:
    kept = {name: attribute for name, attribute in op.properties.items() if name not in BLOCK_PROPERTIES}
    return kept | {"boundaryCheck": i32_array(())}


@register_pass
class RewriteTensorPointerPass(Pass):
    """Replaces block pointers by pointer arithmetic: a load or store gets a tensor of pointers, a mask for the
    dimensions in `boundaryCheck`, and the padding as `other`. Loops and branches carry the base, extents,
    strides and offsets.

    Before:
    ```mlir
    %bp = tt.make_tensor_ptr %p, [%n], [%c1], [%i] {order = array<i32: 0>} : <tensor<64xf32>>
    %v = tt.load %bp {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<64xf32>>
    ```
    After:
    ```mlir
    %0 = arith.extsi %i : i32 to i64
    %1 = tt.splat %0 : i64 -> tensor<64xi64>
    %2 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    ...                                     // %idx = %1 + ext(%2); %ptrs = %p + %idx * %c1; %m = 0 <= %idx < %n
    %v = tt.load %ptrs, %m, %zero : tensor<64x!tt.ptr<f32>>
    ```
    """

    name = "triton-rewrite-tensor-pointer"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        _BlockPointerExpander(module).run()
