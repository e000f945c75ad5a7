"""Accesses become gathers, scatters and atomics on a base and element offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, TensorType, i8, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tilewright.analysis.origins import Absolute, Opaque, Origins, is_address, natural_alignment, pointee_bytes
from tilewright.analysis.splats import emit_scalar, is_splat_tree
from tilewright.dialects import arith, tt, tts
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import PointerType, is_pointer_like, pointer_type
from tilewright.dialects.types import INDEX, element_type, is_tensor, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.lowering.tt_to_unstructured.offsets import OffsetEmitter, widened
from tilewright.lowering.tt_to_unstructured.signatures import Pairs, append_address_zero
from tilewright.support.records import dataclass

ACCESSES = (tt.LoadOp, tt.StoreOp, tt.AtomicRMWOp, tt.AtomicCASOp)
STRUCTURED = (tts.MakeTensorPtrOp, tts.MakeGatherScatterTensorPtrOp)
ON_BASE = (tts.GatherOp, tts.ScatterOp, tts.AtomicRMWOp, tts.AtomicCASOp)
POINTER_USERS = (*ACCESSES, *STRUCTURED, *ON_BASE, tt.PtrToIntOp, tt.CallOp)


NO_ARGUMENT = "an address, in a private function without a pointer argument that it could be counted from"


@dataclass(frozen=True)
class Anchors:
    """Function arguments that addresses can be expressed against: `address = anchor + n * size`.

    That needs anchor and address to agree modulo the size of an element. An argument is a multiple of it that points
    to elements of at least that size, or that is known to be divisible by it; after any other the first one serves. Of
    arguments of device functions nothing is known."""

    arguments: tuple[SSAValue, ...]

    @classmethod
    def of(cls, entry: Block) -> Anchors:
        """The scalar pointer arguments of a function."""
        return cls(tuple(a for a in entry.args if is_address(a.type) and not isinstance(a.type, TensorType)))

    def find(self, pointer: Attribute, function: tt.FuncOp) -> SSAValue | None:
        """An argument that accesses through `pointer` can count from: of the same type if possible, else a multiple of
        the size, else any."""
        same = [a for a in self.arguments if a.type == element_type(pointer)]
        fitting = [a for a in self.arguments if self.is_multiple(a, natural_alignment(pointer), function)]
        return next(iter((*same, *fitting, *self.arguments)), None)

    @staticmethod
    def is_multiple(argument: SSAValue, size: int, function: tt.FuncOp) -> bool:
        """Return whether the address of an argument is known to be a multiple of a number of bytes."""
        if not function.is_public:
            return size == 1
        return natural_alignment(argument.type) % size == 0 or _divisible(argument, size, function)


def _divisible(argument: SSAValue, size: int, function: tt.FuncOp) -> bool:
    attributes = function.arg_attrs
    if attributes is None or not isinstance(argument, BlockArgument):
        return False
    hint = attributes.data[argument.index].data.get("tt.divisibility")
    return isinstance(hint, IntegerAttr) and hint.value.data % size == 0


@dataclass(frozen=True)
class Pieces:
    """Lanes as several integers each, of `width` bits and the lowest first: where they lie."""

    base: SSAValue
    offsets: Sequence[SSAValue]
    width: int

    def split(self, value: SSAValue, b: OpBuilder) -> list[SSAValue]:
        """The integers of each lane of a tile."""
        whole = _as_bits(value, IntegerType(self.width * len(self.offsets)), b)
        piece = with_element_type(whole.type, IntegerType(self.width))
        found: list[SSAValue] = []
        for n in range(len(self.offsets)):
            shift = b.result(arith.constant_splat(n * self.width, whole.type))
            shifted = b.result(arith.ShRUIOp(whole, shift))
            found.append(b.result(arith.TruncIOp(shifted, piece)))
        return found

    def joined(self, pieces: Sequence[SSAValue], type: Attribute, b: OpBuilder) -> SSAValue:
        """The tile of which these are the integers."""
        whole = with_element_type(type, IntegerType(self.width * len(pieces)))
        total = b.result(arith.constant_splat(0, whole))
        for n, piece in enumerate(pieces):
            wide = b.result(arith.ExtUIOp(piece, whole))
            shift = b.result(arith.constant_splat(n * self.width, whole))
            total = b.result(arith.OrIOp(total, b.result(arith.ShLIOp(wide, shift))))
        return _as_bits(total, element_type(type), b)


def _as_bits(value: SSAValue, element: Attribute, b: OpBuilder) -> SSAValue:
    kind = with_element_type(value.type, element)
    return value if value.type == kind else b.result(tt.BitcastOp(value, kind))


def _keep_volatile(load: tt.LoadOp, gather: tts.GatherOp) -> None:
    if bool(load.is_volatile.value.data):
        gather.attributes["isVolatile"] = load.is_volatile


class AccessRewriter:
    """Rewrites the accesses of one function, once the targets of their pointers are emitted."""

    def __init__(self, function: tt.FuncOp, origins: Origins, passed: Pairs) -> None:
        self.function = function
        self.origins = origins
        self.passed = passed
        self.anchors = Anchors.of(function.body.blocks[0])
        self.emitter: OffsetEmitter | None = None
        self.uses_addresses = False

    # Before anything is changed

    def problem(self, op: Operation) -> str | None:
        """Return why an op can not be rewritten."""
        for pointer in pointers_of(op):
            origin = self.origins.origin(pointer)
            if isinstance(origin, Opaque):
                return origin.reason
            if isinstance(origin, Absolute) and self.needs_base(op) and self._anchor(pointer.type) is None:
                if not self.function.is_public:
                    return NO_ARGUMENT
                self.anchors = Anchors((append_address_zero(self.function),))
        return None

    @staticmethod
    def needs_base(op: Operation) -> bool:
        """Return whether an op accesses memory through its pointer, rather than asking for its number."""
        return not isinstance(op, tt.PtrToIntOp)

    def needs_rewriting(self, op: Operation) -> bool:
        """Return whether an op uses a pointer in a form that later passes do not take."""
        if isinstance(op, ACCESSES):
            return is_address(op.operands[0].type)
        if isinstance(op, (*STRUCTURED, *ON_BASE)):
            return not self.origins.is_root(op.operands[0])
        if isinstance(op, tt.CallOp):
            return any(not self.origins.is_root(op.operands[pointer]) for pointer, _ in self.passed[op])
        return isinstance(op, tt.PtrToIntOp) and not self.origins.is_root(op.src)

    def _anchor(self, pointer: Attribute) -> SSAValue | None:
        element = element_type(pointer)
        assert isinstance(element, PointerType)
        return self.anchors.find(_memory_pointer(element), self.function)

    # Rewriting

    @property
    def offsets(self) -> OffsetEmitter:
        """The emitter of offsets."""
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
                self._scatter(op, builder)
                self._replace(op, None)
            case tt.AtomicRMWOp():
                base, offset = self.base_and_offset(op.ptr, builder)
                kinds: dict[str, Any] = {name: _number(op, name) for name in ("atomic_rmw_op", "sem", "scope")}
                self._replace(op, builder.result(tts.AtomicRMWOp(base, offset, op.val, op.mask, **kinds)))
            case tt.AtomicCASOp():
                base, offset = self.base_and_offset(op.ptr, builder)
                kinds: dict[str, Any] = {name: _number(op, name) for name in ("sem", "scope")}
                self._replace(op, builder.result(tts.AtomicCASOp(base, offset, op.cmp, op.val, **kinds)))
            case tt.PtrToIntOp():
                self._replace(op, self.offsets.address_of(op.src, builder))
            case tt.CallOp():
                for pointer, index in self.passed[op]:
                    base, offset = self.base_and_offset(op.operands[pointer], builder)
                    op.operands[pointer], op.operands[index] = base, widened(offset, 64, builder)
            case _:
                self._rebase(op, builder)

    def base_and_offset(self, pointer: SSAValue, builder: OpBuilder) -> tuple[SSAValue, SSAValue]:
        """A base and element offsets for a pointer of any origin."""
        element = element_type(pointer.type)
        assert isinstance(element, PointerType)
        type = _memory_pointer(element)
        target = self.offsets.target_of(pointer)
        if target.address is None:
            assert target.base is not None
            return self.offsets.base_as(target.base, type, builder), self.offsets.offset_of(pointer, builder)
        size = pointee_bytes(type)
        assert size is not None
        if not is_tensor(pointer.type) and self._alignment(pointer) < size:
            return self._at_address(target.address, type, builder), self.offsets.constant_like(0, i64, builder)
        return self._counted(target.address, type, builder)

    def _alignment(self, pointer: SSAValue) -> int:
        """Bytes that the address, or the addresses, of a pointer are a multiple of."""
        origin = self.origins.origin(pointer)
        assert not isinstance(origin, Opaque)
        return origin.alignment

    def _at_address(self, address: SSAValue, type: PointerType, builder: OpBuilder) -> SSAValue:
        """A base that is at one address, which need not be a multiple of the size of an element."""
        anchor, start = self._anchored(type, builder)
        distance = builder.result(arith.SubiOp(address, start))
        return self._moved_by_bytes(anchor, distance, type, builder)

    def _counted(self, address: SSAValue, type: PointerType, builder: OpBuilder) -> tuple[SSAValue, SSAValue]:
        """A base and element offsets for addresses that are multiples of the size of an element."""
        size = natural_alignment(type)
        anchor, start = self._anchored(type, builder)
        if self.anchors.is_multiple(anchor, size, self.function):
            base = self.offsets.base_as(anchor, type, builder)
        else:
            zero, last = (self.offsets.constant_like(value, i64, builder) for value in (0, size - 1))
            below = builder.result(arith.SubiOp(zero, start))
            gap = builder.result(arith.AndIOp(below, last))
            base = self._moved_by_bytes(anchor, gap, type, builder)
            start = builder.result(arith.AddiOp(start, gap))
        if is_tensor(address.type):
            start = builder.result(tt.SplatOp(start, address.type))
        offset = builder.result(arith.SubiOp(address, start))
        if size > 1:
            shift = self.offsets.constant_like(size.bit_length() - 1, offset.type, builder)
            offset = builder.result(arith.ShRSIOp(offset, shift))
        return base, offset

    def _anchored(self, type: PointerType, builder: OpBuilder) -> tuple[SSAValue, SSAValue]:
        """An argument to count addresses from, and its own address."""
        self.uses_addresses = True
        anchor = self._anchor(type)
        assert anchor is not None
        return anchor, builder.result(tt.PtrToIntOp(anchor))

    def _moved_by_bytes(self, base: SSAValue, distance: SSAValue, type: PointerType, builder: OpBuilder) -> SSAValue:
        first = self.offsets.base_as(base, pointer_type(i8, type.address_space.data), builder)
        moved = builder.result(tt.AddPtrOp(first, distance))
        return self.offsets.base_as(moved, type, builder)

    # Lanes at any address

    def _pieces(self, pointer: SSAValue, builder: OpBuilder) -> Pieces | None:
        """The integers to read or write lanes by whose addresses need not be multiples of their size; None for others.

        Addresses are a multiple of what an integer has bytes: `i64` at a multiple of 4 is two `i32`."""
        element = element_type(pointer.type)
        assert isinstance(element, PointerType)
        target, size = self.offsets.target_of(pointer), natural_alignment(element)
        if target.address is None or not is_tensor(pointer.type) or self._alignment(pointer) >= size:
            return None
        width = self._alignment(pointer)
        kind = pointer_type(IntegerType(8 * width), element.address_space.data)
        base, first = self._counted(target.address, kind, builder)
        steps = [self.offsets.constant_like(n, first.type, builder) for n in range(size // width)]
        return Pieces(base, [builder.result(arith.AddiOp(first, step)) for step in steps], 8 * width)

    def _scatter(self, op: tt.StoreOp, builder: OpBuilder) -> None:
        value = self._stored(op.value, builder)
        pieces = self._pieces(op.ptr, builder)
        if pieces is None:
            base, offset = self.base_and_offset(op.ptr, builder)
            builder.insert(tts.ScatterOp(base, offset, value, op.mask))
            return
        for offset, piece in zip(pieces.offsets, pieces.split(value, builder), strict=True):
            builder.insert(tts.ScatterOp(pieces.base, offset, piece, op.mask))

    def _gather_pieces(self, pieces: Pieces, op: tt.LoadOp, builder: OpBuilder) -> SSAValue:
        gathers = [tts.GatherOp(pieces.base, offset, op.mask) for offset in pieces.offsets]
        for gather in gathers:
            _keep_volatile(op, gather)
            builder.insert(gather)
        kind = op.result.type
        result = with_element_type(kind, i64) if is_address(kind) else kind
        return pieces.joined([gather.result for gather in gathers], result, builder)

    def gathered(self, op: tt.LoadOp, builder: OpBuilder) -> SSAValue:
        """Return what a load reads; pointers are read as addresses."""
        pieces = self._pieces(op.ptr, builder)
        other = op.other
        if other is not None and is_pointer_like(other.type):
            other = self.offsets.address_of(other, builder)
        scalar = other
        if other is not None and isinstance(other.type, TensorType):
            scalar = emit_scalar(other, lambda made: builder.insert(made)) if is_splat_tree(other) else None
        if pieces is not None:
            scalar, value = None, self._gather_pieces(pieces, op, builder)
        else:
            gather = tts.GatherOp(*self.base_and_offset(op.ptr, builder), op.mask, scalar)
            _keep_volatile(op, gather)
            value = builder.result(gather)
        if other is not None and scalar is None:
            assert op.mask is not None
            value = builder.result(arith.SelectOp(op.mask, value, other))
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
                self._replace(op, builder.result(_moved(op, base, free, offset, builder)))
                return
        if not _is_zero(offset):
            base = builder.result(tt.AddPtrOp(base, offset))
        op.operands[0] = base


def pointers_of(op: Operation) -> list[SSAValue]:
    """The pointers whose targets the rewrite of an op needs."""
    return [operand for operand in op.operands if is_address(operand.type)]


def _memory_pointer(pointer: PointerType) -> PointerType:
    """The type with which a pointer's memory is read: pointers are stored as 64-bit integers."""
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
    step = builder.result(arith.IndexCastOp(widened(offset, 32, builder), INDEX))
    old = offsets[dim]
    if not isinstance(old, int) or old != 0:
        start = builder.result(arith.constant_index(old)) if isinstance(old, int) else old
        step = builder.result(arith.AddiOp(start, step))
    offsets[dim] = step
    return tts.MakeTensorPtrOp(
        base, static_values(op.sizes), op.mixed_strides, offsets, op.mixed_shape, static_values(op.order)
    )


def _number(op: Operation, name: str) -> int:
    """The value of an integer property."""
    return cast("IntegerAttr", op.properties[name]).value.data
