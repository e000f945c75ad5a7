"""Accesses become gathers, scatters and atomics on a base and element offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tilewright.analysis.origins import Absolute, Opaque, Origins, is_address, pointee_bytes
from tilewright.analysis.splats import emit_scalar, is_splat_tree
from tilewright.dialects import arith, tt, tts
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import PointerType, is_pointer_like, pointer_type
from tilewright.dialects.types import INDEX, element_type, is_tensor, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.lowering.tt_to_unstructured.offsets import OffsetEmitter, widened

ACCESSES = (tt.LoadOp, tt.StoreOp, tt.AtomicRMWOp, tt.AtomicCASOp)
STRUCTURED = (tts.MakeTensorPtrOp, tts.MakeGatherScatterTensorPtrOp)
ON_BASE = (tts.GatherOp, tts.ScatterOp, tts.AtomicRMWOp, tts.AtomicCASOp)
POINTER_USERS = (*ACCESSES, *STRUCTURED, *ON_BASE, tt.PtrToIntOp)


@dataclass(frozen=True)
class Anchors:
    """Function arguments that addresses can be expressed against: `address = anchor + n * size`.

    That needs anchor and address to agree modulo the size of an element. Elements lie at multiples of their size; so
    does an argument that points to elements of at least that size, or that is known to be divisible by it."""

    arguments: tuple[SSAValue, ...]

    @classmethod
    def of(cls, entry: Block) -> Anchors:
        """The scalar pointer arguments of a function."""
        return cls(tuple(a for a in entry.args if is_address(a.type) and not isinstance(a.type, TensorType)))

    def find(self, pointer: Attribute, function: tt.FuncOp) -> SSAValue | None:
        """An argument that accesses through `pointer` can count from, of the same type if possible."""
        size = pointee_bytes(pointer)
        if size is None:
            return None
        same = [a for a in self.arguments if a.type == element_type(pointer)]
        fitting = [
            a for a in self.arguments if (pointee_bytes(a.type) or 1) % size == 0 or _divisible(a, size, function)
        ]
        return next(iter((*same, *fitting)), None)


def _divisible(argument: SSAValue, size: int, function: tt.FuncOp) -> bool:
    attributes = function.arg_attrs
    if attributes is None or not isinstance(argument, BlockArgument):
        return False
    hint = attributes.data[argument.index].data.get("tt.divisibility")
    return isinstance(hint, IntegerAttr) and hint.value.data % size == 0


class AccessRewriter:
    """Rewrites the accesses of one function, once the places of their pointers are emitted."""

    def __init__(self, function: tt.FuncOp, origins: Origins) -> None:
        self.function = function
        self.origins = origins
        self.anchors = Anchors.of(function.body.blocks[0])
        self.emitter: OffsetEmitter | None = None
        self.uses_addresses = False

    # Before anything is changed

    def problem(self, op: Operation) -> str | None:
        """Why an op can not be rewritten."""
        for pointer in pointers_of(op):
            origin = self.origins.origin(pointer)
            if isinstance(origin, Opaque):
                return origin.reason
            if isinstance(origin, Absolute) and self.needs_base(op) and self._anchor(pointer.type) is None:
                return "an address, in a function without a pointer argument that it could be counted from"
        return None

    @staticmethod
    def needs_base(op: Operation) -> bool:
        """Whether an op accesses memory through its pointer, rather than asking for its number."""
        return not isinstance(op, tt.PtrToIntOp)

    def needs_rewriting(self, op: Operation) -> bool:
        """Whether an op uses a pointer in a form that later passes do not take."""
        if isinstance(op, ACCESSES):
            return is_address(op.operands[0].type)
        if isinstance(op, (*STRUCTURED, *ON_BASE)):
            return not self.origins.is_root(op.operands[0])
        return isinstance(op, tt.PtrToIntOp) and not self.origins.is_root(op.src)

    def _anchor(self, pointer: Attribute) -> SSAValue | None:
        element = element_type(pointer)
        assert isinstance(element, PointerType)
        return self.anchors.find(_memory_pointer(element), self.function)

    # Rewriting

    @property
    def offsets(self) -> OffsetEmitter:
        """The emitter of places."""
        assert self.emitter is not None
        return self.emitter

    def rewrite(self, op: Operation) -> None:
        """Replaces one access, or the base of a structured pointer."""
        builder = OpBuilder.before(op)
        match op:
            case tt.LoadOp():
                if op.results[0].first_use is None and not bool(op.is_volatile.value.data):
                    return
                if is_pointer_like(op.result.type):
                    return
                self._replace(op, self.gathered(op, builder))
            case tt.StoreOp():
                base, offset = self.base_and_offset(op.ptr, builder)
                builder.insert(tts.ScatterOp(base, offset, self._stored(op.value, builder), op.mask))
                self._replace(op, None)
            case tt.AtomicRMWOp():
                base, offset = self.base_and_offset(op.ptr, builder)
                kinds: dict[str, Any] = {name: _number(op, name) for name in ("atomic_rmw_op", "sem", "scope")}
                self._replace(op, builder.insert(tts.AtomicRMWOp(base, offset, op.val, op.mask, **kinds)).result)
            case tt.AtomicCASOp():
                base, offset = self.base_and_offset(op.ptr, builder)
                kinds: dict[str, Any] = {name: _number(op, name) for name in ("sem", "scope")}
                self._replace(op, builder.insert(tts.AtomicCASOp(base, offset, op.cmp, op.val, **kinds)).result)
            case tt.PtrToIntOp():
                self._replace(op, self.offsets.address_of(op.src, builder))
            case _:
                self._rebase(op, builder)

    def base_and_offset(self, pointer: SSAValue, builder: OpBuilder) -> tuple[SSAValue, SSAValue]:
        """A base and element offsets for a pointer of any origin."""
        element = element_type(pointer.type)
        assert isinstance(element, PointerType)
        type = _memory_pointer(element)
        place = self.offsets.place(pointer)
        if place.address is None:
            assert place.base is not None
            return self.offsets.base_as(place.base, type, builder), self.offsets.offset_of(pointer, builder)
        self.uses_addresses = True
        anchor = self._anchor(pointer.type)
        size = pointee_bytes(type)
        assert anchor is not None and size is not None
        start = builder.insert(tt.PtrToIntOp(anchor)).result
        if is_tensor(pointer.type):
            start = builder.insert(tt.SplatOp(start, with_element_type(pointer.type, i64))).result
        offset = builder.insert(arith.SubiOp(place.address, start)).results[0]
        if size > 1:
            shift = self.offsets.constant_like(size.bit_length() - 1, offset.type, builder)
            offset = builder.insert(arith.ShRSIOp(offset, shift)).results[0]
        return self.offsets.base_as(anchor, type, builder), offset

    def gathered(self, op: tt.LoadOp, builder: OpBuilder) -> SSAValue:
        """What a load reads; pointers are read as addresses."""
        base, offset = self.base_and_offset(op.ptr, builder)
        other = op.other
        if other is not None and is_pointer_like(other.type):
            other = self.offsets.address_of(other, builder)
        scalar = other
        if other is not None and isinstance(other.type, TensorType):
            scalar = emit_scalar(other, lambda made: builder.insert(made)) if is_splat_tree(other) else None
        gather = tts.GatherOp(base, offset, op.mask, scalar)
        if bool(op.is_volatile.value.data):
            gather.attributes["isVolatile"] = op.is_volatile
        value = builder.insert(gather).result
        if other is not None and scalar is None:
            assert op.mask is not None
            value = builder.insert(arith.SelectOp(op.mask, value, other)).results[0]
        return value

    def load_address(self, op: tt.LoadOp, builder: OpBuilder) -> SSAValue:
        """The addresses that a load of pointers reads."""
        return self.gathered(op, OpBuilder.before(op))

    def _replace(self, op: Operation, value: SSAValue | None) -> None:
        if value is not None:
            value.name_hint = op.results[0].name_hint
            self.offsets.replaced(op.results[0], value)
            op.results[0].replace_all_uses_with(value)
        op.detach()
        op.erase()

    def _stored(self, value: SSAValue, builder: OpBuilder) -> SSAValue:
        return self.offsets.address_of(value, builder) if is_address(value.type) else value

    def _rebase(self, op: Operation, builder: OpBuilder) -> None:
        """The base of a structured pointer, or of an access on a base, becomes a root, or one `tt.addptr` of a root.

        A structured pointer takes the offset into a dimension that does not wrap; offsets only count in their sum."""
        base, offset = self.base_and_offset(op.operands[0], builder)
        if isinstance(op, tts.MakeTensorPtrOp) and not _is_zero(offset):
            free = next((n for n, bound in enumerate(op.mixed_shape) if bound == 0 or len(op.order)), None)
            if free is not None:
                self._replace(op, builder.insert(_moved(op, base, free, offset, builder)).result)
                return
        if not _is_zero(offset):
            base = builder.insert(tt.AddPtrOp(base, offset)).result
        op.operands[0] = base


def pointers_of(op: Operation) -> list[SSAValue]:
    """The pointers that the rewrite of an op needs places of."""
    return [operand for operand in op.operands if is_address(operand.type)]


def _memory_pointer(pointer: PointerType) -> PointerType:
    """The type that memory behind a pointer is read with: pointers lie there as 64-bit integers."""
    if isinstance(pointer.pointee_type, PointerType):
        return pointer_type(i64, pointer.address_space.data)
    return pointer


def _is_zero(value: SSAValue) -> bool:
    return arith.find_constant_int(value) == 0


def _moved(
    op: tts.MakeTensorPtrOp, base: SSAValue, dim: int, offset: SSAValue, builder: OpBuilder
) -> tts.MakeTensorPtrOp:
    """The same tile on another base, with an offset added to that of a dimension."""
    offsets = op.mixed_offsets
    step = builder.insert(arith.IndexCastOp(widened(offset, 32, builder), INDEX)).results[0]
    old = offsets[dim]
    if not isinstance(old, int) or old != 0:
        start = builder.insert(arith.constant_index(old)).results[0] if isinstance(old, int) else old
        step = builder.insert(arith.AddiOp(start, step)).results[0]
    offsets[dim] = step
    return tts.MakeTensorPtrOp(
        base, static_values(op.sizes), op.mixed_strides, offsets, op.mixed_shape, static_values(op.order)
    )


def _number(op: Operation, name: str) -> int:
    """The value of an integer property."""
    return cast("IntegerAttr", op.properties[name]).value.data
