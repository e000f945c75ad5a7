"""Pointers become a base and an element offset, or an address.

Only what accesses ask for is made, next to the pointers of the program, which stay as they are until nothing uses
them any more. So the module is valid at every moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tilewright.analysis.order import ProgramOrder
from tilewright.analysis.origins import (
    SHAPE_CHANGES,
    Absolute,
    Based,
    Opaque,
    Origins,
    is_address,
    merge_sources,
    pointee_bytes,
)
from tilewright.dialects import arith, scf, tt
from tilewright.dialects.tt.types import PointerType, pointer_type
from tilewright.dialects.types import bit_width, element_type, is_integer, is_tensor, with_element_type
from tilewright.ir.appending import append_argument, append_result
from tilewright.ir.builder import OpBuilder
from tilewright.lowering.tt_to_unstructured.carrying import pass_to_merge
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class PointerTarget:
    """Where a pointer points: `offset` elements after `base` (None: at it), or at `address` if that is not None."""

    base: SSAValue | None
    offset: SSAValue | None
    address: SSAValue | None = None


@dataclass(frozen=True)
class Carried:
    """A merged pointer whose parts are carried; the sources are connected at the end."""

    value: SSAValue
    base: SSAValue | None
    offset: SSAValue | None
    address: SSAValue | None


FOLLOWED = (tt.AddPtrOp, tt.BitcastOp, tt.CatOp, tt.JoinOp, tt.LoadOp, arith.SelectOp, *SHAPE_CHANGES)
"""Ops whose pointer operands decide where their result points."""

LoadAddress = Callable[[tt.LoadOp, OpBuilder], SSAValue]
"""Makes the address, or the addresses, that a load of pointers reads from memory."""


class OffsetEmitter:
    """Emits where the pointer values of one function point.

    First `require` all values whose targets are needed, then `emit`, then look them up by `target_of`."""

    def __init__(self, origins: Origins, order: ProgramOrder, load_address: LoadAddress) -> None:
        self.origins = origins
        self._order = order
        self._load_address = load_address
        self._required: dict[SSAValue, None] = {}
        self._targets: dict[SSAValue, PointerTarget] = {}
        self._replacements: dict[SSAValue, SSAValue] = {}
        self._unfinished: list[Carried] = []

    # What is needed

    def require(self, values: Iterable[SSAValue]) -> None:
        """Note that the targets of pointers, and of all that they are computed from, are needed."""
        pending = list(values)
        while pending:
            value = pending.pop()
            if value in self._required or not is_address(value.type):
                continue
            self._required[value] = None
            pending.extend(self._sources(value))

    @staticmethod
    def _sources(value: SSAValue) -> list[SSAValue]:
        sources = merge_sources(value)
        if sources is not None:
            twin = _argument_of_loop_result(value)
            return [source for source in (*sources, twin) if source is not None]
        return list(value.op.operands) if isinstance(value, OpResult) and isinstance(value.op, FOLLOWED) else []

    def emit(self) -> None:
        """Emit all that is required, in program order, then connect what control flow carries."""
        for value in sorted(self._required, key=self._order.position):
            if value not in self._targets and not isinstance(self.origins.origin(value), Opaque):
                self._emit(value)
        for carried in self._unfinished:
            self._connect(carried)

    def target_of(self, value: SSAValue) -> PointerTarget:
        """Return the target of a pointer that was required."""
        target = self._targets[value]
        return PointerTarget(target.base, self._current(target.offset), self._current(target.address))

    def replaced(self, value: SSAValue, by: SSAValue) -> None:
        """Note that a value that targets may be computed from is replaced by another."""
        self._replacements[value] = by

    def _current(self, value: SSAValue | None) -> SSAValue | None:
        return None if value is None else self._replacements.get(value, value)

    # Values of the program

    def _emit(self, value: SSAValue) -> None:
        origin = self.origins.origin(value)
        if merge_sources(value) is not None:
            self._carry(value, origin)
        elif isinstance(origin, Based) and origin.base is value and isinstance(value.owner, tt.BitcastOp):
            self._targets[value] = PointerTarget(self._cast_base(value.owner), None)
        elif isinstance(origin, Based) and origin.base is value and not isinstance(value.owner, arith.SelectOp):
            self._targets[value] = PointerTarget(value, None)
        else:
            assert isinstance(value, OpResult)
            builder = OpBuilder.after(value.op)
            self._targets[value] = self._computed(value.op, origin, builder)

    def _computed(self, op: Operation, origin: object, builder: OpBuilder) -> PointerTarget:
        if isinstance(origin, Absolute):
            return PointerTarget(None, None, self._address_of_result(op, builder))
        assert isinstance(origin, Based)
        match op:
            case tt.AddPtrOp():
                return self._moved(op, origin, builder)
            case arith.SelectOp():
                return self._selected(op, origin, builder)
            case tt.BitcastOp():
                return self._recast(op, origin, builder)
            case _ if isinstance(op, SHAPE_CHANGES):
                source = self._targets[op.operands[0]]
                offset = source.offset
                if offset is not None:
                    offset = self._like(op, [offset], offset.type, builder)
                return PointerTarget(source.base, offset)
            case _:
                operands = [self.offset_as(operand, origin.width, builder) for operand in op.operands]
                return PointerTarget(self._base_of(origin), self._like(op, operands, operands[0].type, builder))

    def _cast_base(self, op: tt.BitcastOp) -> SSAValue:
        """The pointer of a cast that is a base of its own, from where its source points."""
        builder = OpBuilder.after(op)
        source = self._targets[op.src]
        assert source.base is not None
        pointer = self.base_as(source.base, pointer_like(op.src), builder)
        if source.offset is not None:
            pointer = builder.result(tt.AddPtrOp(pointer, source.offset))
        return self.base_as(pointer, op.result.type, builder)

    def _base_of(self, origin: Based) -> SSAValue | None:
        """The base that an origin names: a root, or what control flow carries in its place."""
        target = self._targets.get(origin.base)
        return origin.base if target is None else target.base

    def _moved(self, op: tt.AddPtrOp, origin: Based, builder: OpBuilder) -> PointerTarget:
        source = self._targets[op.ptr]
        step = widened(op.offset, origin.width, builder)
        if source.offset is None:
            return PointerTarget(source.base, step)
        total = arith.AddiOp(widened(source.offset, origin.width, builder), step)
        return PointerTarget(source.base, builder.result(total))

    def _selected(self, op: arith.SelectOp, origin: Based, builder: OpBuilder) -> PointerTarget:
        left, right = self._targets[op.operands[1]], self._targets[op.operands[2]]
        base, offset = left.base, None
        if left.base is not right.base:
            assert left.base is not None and right.base is not None
            base = builder.result(arith.SelectOp(op.cond, left.base, right.base))
        if origin.width:
            sides = [self.offset_as(operand, origin.width, builder) for operand in op.operands[1:]]
            offset = builder.result(arith.SelectOp(op.cond, *sides))
        return PointerTarget(base, offset)

    def _recast(self, op: tt.BitcastOp, origin: Based, builder: OpBuilder) -> PointerTarget:
        source = self._targets[op.src]
        if source.offset is None:
            return source
        old, new = pointee_bytes(op.src.type), pointee_bytes(op.result.type)
        assert old and new
        if old == new:
            return source
        offset = widened(source.offset, origin.width, builder)
        factor = self.constant_like(old // new, offset.type, builder)
        return PointerTarget(source.base, builder.result(arith.MuliOp(offset, factor)))

    @staticmethod
    def _like(op: Operation, operands: Sequence[SSAValue], type: Attribute, builder: OpBuilder) -> SSAValue:
        """The same op on integers; `type` has their element type."""
        result = with_element_type(op.results[0].type, element_type(type))
        made = type_of(op).create(
            operands=operands, result_types=[result], properties=op.properties, attributes=op.attributes
        )
        return builder.result(made)

    def _address_of_result(self, op: Operation, builder: OpBuilder) -> SSAValue:
        """The address that an op computes, from the addresses of its operands."""
        result = op.results[0]
        match op:
            case tt.IntToPtrOp():
                return op.src
            case tt.LoadOp():
                return self._load_address(op, builder)
            case tt.AddPtrOp():
                size = pointee_bytes(result.type)
                assert size is not None
                step = self._scaled(widened(op.offset, 64, builder), size, builder)
                return builder.result(arith.AddiOp(self.address_of(op.ptr, builder), step))
            case tt.BitcastOp():
                return self.address_of(op.src, builder)
            case arith.SelectOp():
                sides = [self.address_of(operand, builder) for operand in op.operands[1:]]
                return builder.result(arith.SelectOp(op.cond, *sides))
            case _:
                operands = [self.address_of(operand, builder) for operand in op.operands]
                return self._like(op, operands, i64, builder)

    # Merged values

    def _carry(self, value: SSAValue, origin: object) -> None:
        values = [value]
        if (partner := _loop_result(value)) is not None:
            values.append(partner)
        base = offset = address = None
        types = [
            pointer_like(value) if isinstance(origin, Based) and self._carries_base(values) else None,
            with_element_type(value.type, IntegerType(origin.width))
            if isinstance(origin, Based) and origin.width
            else None,
            with_element_type(value.type, i64) if isinstance(origin, Absolute) else None,
        ]
        made = [[None if type is None else self._new_value(v, type) for type in types] for v in values]
        for v, (base, offset, address) in zip(values, made, strict=True):
            fixed = self._base_of(origin) if isinstance(origin, Based) and base is None else base
            self._targets[v] = PointerTarget(fixed, offset, address)
        base, offset, address = made[0]
        self._unfinished.append(Carried(value, base, offset, address))

    def _carries_base(self, values: Sequence[SSAValue]) -> bool:
        return any(isinstance(o := self.origins.origin(v), Based) and o.base in values for v in values)

    @staticmethod
    def _new_value(value: SSAValue, type: Attribute) -> SSAValue:
        if isinstance(value, BlockArgument):
            return append_argument(value.owner, type)
        assert isinstance(value, OpResult)
        return append_result(value.op, type)

    def _connect(self, carried: Carried) -> None:
        """Hands the parts of each source on to the merge, before the op that hands the source on."""

        def parts(source: SSAValue, giver: Operation) -> list[SSAValue]:
            builder = OpBuilder.before(giver)
            if carried.address is not None:
                return [self.address_of(source, builder)]
            target = self._targets[source]
            given: list[SSAValue] = []
            if carried.base is not None:
                assert target.base is not None
                given.append(self.base_as(target.base, carried.base.type, builder))
            if carried.offset is not None:
                given.append(self.offset_as(source, bit_width(element_type(carried.offset.type)), builder))
            return given

        pass_to_merge(carried.value, parts)

    # Conversions

    def offset_as(self, pointer: SSAValue, width: int, builder: OpBuilder) -> SSAValue:
        """The offset of a based pointer as integers of a width."""
        offset = self.target_of(pointer).offset
        if offset is not None:
            return widened(offset, width, builder)
        return self.constant_like(0, with_element_type(pointer.type, IntegerType(width)), builder)

    def offset_of(self, pointer: SSAValue, builder: OpBuilder) -> SSAValue:
        """The offset of a based pointer, as wide as it is."""
        offset = self.target_of(pointer).offset
        if offset is not None:
            return offset
        return self.constant_like(0, with_element_type(pointer.type, i32), builder)

    def address_of(self, pointer: SSAValue, builder: OpBuilder) -> SSAValue:
        """The address of a pointer, whatever its origin."""
        target = self.target_of(pointer)
        if target.address is not None:
            return target.address
        assert target.base is not None
        start: SSAValue = builder.result(tt.PtrToIntOp(target.base))
        if is_tensor(pointer.type):
            start = builder.result(tt.SplatOp(start, with_element_type(pointer.type, i64)))
        if target.offset is None:
            return start
        size = pointee_bytes(pointer.type)
        assert size is not None
        step = self._scaled(widened(target.offset, 64, builder), size, builder)
        return builder.result(arith.AddiOp(start, step))

    def _scaled(self, value: SSAValue, factor: int, builder: OpBuilder) -> SSAValue:
        if factor == 1:
            return value
        return builder.result(arith.MuliOp(value, self.constant_like(factor, value.type, builder)))

    @staticmethod
    def base_as(base: SSAValue, type: Attribute, builder: OpBuilder) -> SSAValue:
        """A base at the pointer type that an access needs."""
        return base if base.type == type else builder.result(tt.BitcastOp(base, type))

    @staticmethod
    def constant_like(value: int, type: Attribute, builder: OpBuilder) -> SSAValue:
        """A constant of an integer type, in all lanes if that is a tensor type."""
        return builder.result(arith.constant_splat(value, type))


def widened(value: SSAValue, width: int, builder: OpBuilder) -> SSAValue:
    """Integers sign-extended to a width, if they are narrower."""
    element = element_type(value.type)
    if is_integer(element) and bit_width(element) >= width:
        return value
    target = with_element_type(value.type, IntegerType(width))
    cast = arith.ExtSIOp if isinstance(element, IntegerType) else arith.IndexCastOp
    return builder.result(cast(value, target))


def type_of(op: Operation) -> type[Operation]:
    """The class of an op."""
    return type(op)


def pointer_like(value: SSAValue) -> Attribute:
    """The scalar pointer type of a pointer or tensor of pointers."""
    pointer = element_type(value.type)
    assert isinstance(pointer, PointerType)
    return pointer_type(pointer.pointee_type, pointer.address_space.data)


def _argument_of_loop_result(value: SSAValue) -> SSAValue | None:
    if isinstance(value, OpResult) and isinstance(value.op, scf.ForOp):
        return value.op.regions[0].block.args[1 + value.index]
    if isinstance(value, OpResult) and isinstance(value.op, scf.WhileOp):
        return value.op.regions[1].block.args[value.index]
    return None


def _loop_result(value: SSAValue) -> SSAValue | None:
    """The result that is fed by the same values as a block argument of a loop."""
    if not isinstance(value, BlockArgument):
        return None
    op = value.owner.parent_op()
    if isinstance(op, scf.ForOp) and value.owner is op.regions[0].first_block and value.index > 0:
        return op.results[value.index - 1]
    if isinstance(op, scf.WhileOp) and value.owner is op.regions[1].first_block:
        return op.results[value.index]
    return None
