"""Emits loops stage ops at a cursor, folding index arithmetic on the way.

An `Index` is a Python int where the value is known and an SSA value of type `index` otherwise, so strides and bounds
that are static never become ops:

    emitter.add(emitter.mul(4, 8), row)      ->      %0 = arith.addi %row, %c32 : index

Constants are made once per function, at the top of its entry block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    UnitAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from tilewright.dialects import arith, memref, scf, vector
from tilewright.dialects.attributes import OVER_LANES
from tilewright.dialects.types import bit_width, element_type, is_integer, is_vector
from tilewright.lowering.scalar_builder import INDEX, Index

GRID_ARGUMENTS = 6
"""The last arguments of a kernel: how many programs there are in each dimension, and which of them this is."""

_NO_OVERFLOW = arith.IntegerOverflowAttr("none")
_NO_FASTMATH = arith.FastMathFlagsAttr("none")
_PREDICATES = {name: IntegerAttr(code, i64) for code, name in enumerate(arith.CMPI_KEYWORDS)}
_FOLD_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}
_vector_types: dict[tuple[int, Attribute], VectorType[Attribute]] = {}


def vector_type(lanes: int, element: Attribute) -> VectorType[Attribute]:
    """`vector<lanes x element>`, made once: building a type costs as much as building an op."""
    key = (lanes, element)
    if (found := _vector_types.get(key)) is None:
        found = _vector_types[key] = VectorType(element, [lanes])
    return found


@dataclass(slots=True)
class Cursor:
    """A place in a block: before `anchor`, or at its end. Shared by all who emit there, so moving it moves them all."""

    block: Block
    anchor: Operation | None = None


class LoopEmitter:
    """Inserts ops of the loops stage at `self.cursor`."""

    def __init__(self, entry: Block):
        self.entry = entry
        self.cursor = Cursor(entry, entry.first_op)
        self._constants: dict[tuple[int | str, Attribute], SSAValue] = {}
        self._lane_constants: dict[tuple[tuple[int, ...], Attribute], SSAValue] = {}
        self._constants_anchor = entry.first_op
        self.location: LocationAttr | None = None

    # -- placement --------------------------------------------------------------------------------------------------

    @contextmanager
    def at(self, cursor: Cursor) -> Generator[None]:
        """Emit at another place for the extent of a `with` block."""
        saved, self.cursor = self.cursor, cursor
        try:
            yield
        finally:
            self.cursor = saved

    def insert(self, op: Operation) -> Operation:
        """Put `op` at the cursor, with the location of the op being lowered."""
        if self.location is not None:
            op.location = self.location
        if self.cursor.anchor is None:
            self.cursor.block.add_op(op)
        else:
            self.cursor.block.insert_op_before(op, self.cursor.anchor)
        return op

    def create(
        self,
        op_class: type[IRDLOperation],
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """Create and insert without the cost of the checking constructors."""
        return self.insert(
            op_class.create(
                operands=operands,
                result_types=result_types,
                properties=dict(properties) if properties else {},
                regions=regions,
            )
        )

    def value(
        self,
        op_class: type[IRDLOperation],
        operands: Sequence[SSAValue],
        result_type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """`create` for an op with one result."""
        return self.create(op_class, operands, (result_type,), properties).results[0]

    # -- constants and index arithmetic -----------------------------------------------------------------------------

    def constant(self, value: int | float, type: Attribute) -> SSAValue:
        """A scalar constant at function entry."""
        key = (repr(value) if isinstance(value, float) else value, type)
        if (found := self._constants.get(key)) is None:
            if isinstance(type, IndexType) or is_integer(type):
                attr = IntegerAttr(cast("int", value), type)
            else:
                attr = FloatAttr(value, cast("AnyFloat", type))
            op = arith.ConstantOp.create(result_types=[type], properties={"value": attr})
            if self._constants_anchor is None:
                self.entry.add_op(op)
            else:
                self.entry.insert_op_before(op, self._constants_anchor)
            found = self._constants[key] = op.results[0]
        return found

    def lane_constant(self, values: Sequence[int], element: Attribute) -> SSAValue:
        """A vector of known integers at function entry, written with the sign of their type."""
        key = (tuple(values), element)
        if (found := self._lane_constants.get(key)) is None:
            type_ = cast("VectorType[IntegerType]", vector_type(len(values), element))
            attr = DenseIntOrFPElementsAttr.from_list(type_, list(values))
            with self.at(self.entry_cursor()):
                found = self._lane_constants[key] = self.insert(arith.ConstantOp(attr)).results[0]
        return found

    def entry_cursor(self) -> Cursor:
        """Return where function-wide values (arena buffers, flat views of arguments) go."""
        return Cursor(self.entry, self._constants_anchor)

    def ssa(self, index: Index) -> SSAValue:
        """The SSA value of an index, a constant if it is known."""
        return self.constant(index, INDEX) if isinstance(index, int) else index

    def add(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if rhs == 0:
            return lhs
        if lhs == 0:
            return rhs
        return self._index_op(arith.AddiOp, lhs, rhs, _NO_OVERFLOW)

    def sub(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs - rhs
        if rhs == 0:
            return lhs
        if lhs is rhs:
            return 0
        return self._index_op(arith.SubiOp, lhs, rhs, _NO_OVERFLOW)

    def mul(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs * rhs
        if lhs == 0 or rhs == 0:
            return 0
        if lhs == 1:
            return rhs
        if rhs == 1:
            return lhs
        return self._index_op(arith.MuliOp, lhs, rhs, _NO_OVERFLOW)

    def min(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        if lhs is rhs:
            return lhs
        return self._index_op(arith.MinSIOp, lhs, rhs)

    def max(self, lhs: Index, rhs: Index) -> Index:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        if lhs is rhs:
            return lhs
        return self._index_op(arith.MaxSIOp, lhs, rhs)

    def align_down(self, value: Index, step: int) -> Index:
        """The largest multiple of `step`, a power of two, not above a non-negative value."""
        assert step & (step - 1) == 0
        if isinstance(value, int):
            return value // step * step
        return self._index_op(arith.AndIOp, value, -step) if step > 1 else value

    def _index_op(
        self, op_class: type[IRDLOperation], lhs: Index, rhs: Index, overflow: Attribute | None = None
    ) -> SSAValue:
        properties = {"overflowFlags": overflow} if overflow is not None else None
        return self.value(op_class, (self.ssa(lhs), self.ssa(rhs)), INDEX, properties)

    def compare(self, predicate: str, lhs: Index, rhs: Index) -> SSAValue | bool:
        """An i1, or a bool where both sides are known."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return _FOLD_COMPARE[predicate](lhs, rhs)
        return self.compare_values(predicate, self.ssa(lhs), self.ssa(rhs), i1)

    def compare_values(self, predicate: str, lhs: SSAValue, rhs: SSAValue, result_type: Attribute) -> SSAValue:
        return self.value(arith.CmpiOp, (lhs, rhs), result_type, {"predicate": _PREDICATES[predicate]})

    def truth(self, condition: SSAValue | bool) -> SSAValue:
        """A condition as a value."""
        return self.constant(int(condition), i1) if isinstance(condition, bool) else condition

    def both(self, lhs: SSAValue | bool, rhs: SSAValue | bool) -> SSAValue | bool:
        """Conjunction of two conditions."""
        if lhs is True or rhs is False:
            return rhs
        if rhs is True or lhs is False:
            return lhs
        return self.value(arith.AndIOp, (lhs, rhs), i1)

    def select_index(self, condition: SSAValue | bool, when_true: Index, when_false: Index) -> Index:
        if isinstance(condition, bool):
            return when_true if condition else when_false
        if when_true is when_false:
            return when_true
        return self.value(arith.SelectOp, (condition, self.ssa(when_true), self.ssa(when_false)), INDEX)

    def select(self, condition: SSAValue, when_true: SSAValue, when_false: SSAValue) -> SSAValue:
        return self.value(arith.SelectOp, (condition, when_true, when_false), when_true.type)

    def index_cast(self, value: Index, type: Attribute) -> SSAValue:
        """An index as an integer of another type, or back."""
        if isinstance(value, int):
            return self.constant(value, type)
        return value if value.type == type else self.value(arith.IndexCastOp, (value,), type)

    def grid_arguments(self) -> tuple[SSAValue, ...]:
        """Return how many programs there are in each of three dimensions, and the id of this one; () in other
        functions.
        """
        found = tuple(self.entry.args)[-GRID_ARGUMENTS:]
        return found if len(found) == GRID_ARGUMENTS and all(value.type == i32 for value in found) else ()

    # -- control flow -----------------------------------------------------------------------------------------------

    def for_loop(
        self, lower: Index, upper: Index, step: Index, inits: Sequence[SSAValue] = ()
    ) -> tuple[scf.ForOp, Block]:
        """An `scf.for` whose body is still without terminator; see `yield_`."""
        body = Block(arg_types=[INDEX, *(value.type for value in inits)])
        op = self.create(
            scf.ForOp,
            (self.ssa(lower), self.ssa(upper), self.ssa(step), *inits),
            [value.type for value in inits],
            regions=[Region(body)],
        )
        assert isinstance(op, scf.ForOp)
        return op, body

    def while_below(self, start: Index, end: Index, inits: Sequence[SSAValue] = ()) -> tuple[scf.WhileOp, Block]:
        """An `scf.while` over a counter of lanes that its body moves on by itself, and other values; the body is still
        without terminator, which yields the next counter first."""
        types = [INDEX, *(value.type for value in inits)]
        before, body = Block(arg_types=types), Block(arg_types=types)
        with self.at(Cursor(before)):
            below = self.compare_values("slt", before.args[0], self.ssa(end), i1)
            self.create(scf.ConditionOp, (below, *before.args))
        op = self.create(scf.WhileOp, (self.ssa(start), *inits), types, regions=[Region(before), Region(body)])
        assert isinstance(op, scf.WhileOp)
        op.attributes[OVER_LANES] = UnitAttr()
        return op, body

    def yield_(self, values: Sequence[SSAValue] = ()) -> None:
        self.create(scf.YieldOp, values)

    def if_(self, condition: SSAValue, result_types: Sequence[Attribute] = ()) -> tuple[Operation, Block, Block]:
        """An `scf.if`; both blocks are without terminator (an empty else block of a resultless `if` may be left)."""
        then_block, else_block = Block(), Block()
        regions = [Region(then_block), Region(else_block) if result_types else Region()]
        op = self.create(scf.IfOp, (condition,), result_types, regions=regions)
        return op, then_block, else_block

    def if_else(self, condition: SSAValue) -> tuple[Block, Block]:
        """An `scf.if` without results; both blocks are without terminator."""
        then_block, else_block = Block(), Block()
        self.create(scf.IfOp, (condition,), (), regions=[Region(then_block), Region(else_block)])
        return then_block, else_block

    def if_else_of(self, condition: SSAValue, types: Sequence[Attribute]) -> tuple[Operation, Block, Block]:
        """An `scf.if` with results, or none, and two blocks that are still without terminator."""
        blocks = Block(), Block()
        return self.create(scf.IfOp, (condition,), types, regions=[Region(block) for block in blocks]), *blocks

    def choose(
        self, condition: SSAValue | bool, then: Callable[[], None] | None, otherwise: Callable[[], None] | None
    ) -> None:
        """Emit both branches: `then` runs where the condition holds, `otherwise` where it does not."""
        if isinstance(condition, bool):
            chosen = then if condition else otherwise
            if chosen is not None:
                chosen()
            return
        for block, body in zip(self.if_else(condition), (then, otherwise), strict=True):
            with self.at(Cursor(block)):
                if body is not None:
                    body()
                self.yield_()

    # -- memory -----------------------------------------------------------------------------------------------------

    def alloca(self, element: Attribute, size: int) -> SSAValue:
        """A 64-byte aligned buffer at function entry; the next lowering places it in the per-thread arena."""
        with self.at(self.entry_cursor()):
            op = self.create(
                memref.AllocaOp,
                (),
                (MemRefType(element, [size]),),
                {
                    "alignment": IntegerAttr(64, i64),
                    "operandSegmentSizes": DenseArrayBase.from_list(_I32, [0, 0]),
                },
            )
        return op.results[0]

    def load(self, flat: SSAValue, index: Index) -> SSAValue:
        return self.value(memref.LoadOp, (flat, self.ssa(index)), _element(flat))

    def store(self, value: SSAValue, flat: SSAValue, index: Index) -> None:
        self.create(memref.StoreOp, (value, flat, self.ssa(index)))

    def prefetch(self, flat: SSAValue, index: Index, locality: int, *, is_write: bool = False) -> None:
        self.insert(memref.PrefetchOp(flat, [self.ssa(index)], is_write=is_write, locality_hint=locality))

    def vector_load(self, flat: SSAValue, index: Index, lanes: int) -> SSAValue:
        return self.value(vector.LoadOp, (flat, self.ssa(index)), vector_type(lanes, _element(flat)))

    def vector_store(self, value: SSAValue, flat: SSAValue, index: Index) -> None:
        self.create(vector.StoreOp, (value, flat, self.ssa(index)))

    def stream(self, value: SSAValue, flat: SSAValue, index: Index) -> None:
        """Store a vector past the caches; its address is a multiple of its size."""
        assert is_vector(value.type)
        size = value.type.get_shape()[0] * bit_width(value.type.element_type) // 8
        self.insert(vector.StoreOp(value, flat, [self.ssa(index)], alignment=size, nontemporal=True))

    def masked_load(self, flat: SSAValue, index: Index, mask: SSAValue, passthrough: SSAValue) -> SSAValue:
        return self.value(vector.MaskedLoadOp, (flat, self.ssa(index), mask, passthrough), passthrough.type)

    def masked_store(self, value: SSAValue, flat: SSAValue, index: Index, mask: SSAValue) -> None:
        self.create(vector.MaskedStoreOp, (flat, self.ssa(index), mask, value))

    def gather(self, flat: SSAValue, index: Index, lanes: SSAValue, mask: SSAValue, passthrough: SSAValue) -> SSAValue:
        return self.value(vector.GatherOp, (flat, self.ssa(index), lanes, mask, passthrough), passthrough.type)

    def scatter(self, value: SSAValue, flat: SSAValue, index: Index, lanes: SSAValue, mask: SSAValue) -> None:
        self.create(vector.ScatterOp, (flat, self.ssa(index), lanes, mask, value))

    # -- vectors ----------------------------------------------------------------------------------------------------

    def broadcast(self, value: SSAValue, lanes: int) -> SSAValue:
        return self.value(vector.BroadcastOp, (value,), vector_type(lanes, value.type))

    def create_mask(self, count: Index, lanes: int) -> SSAValue:
        """The first `count` lanes; a count below 0 or above `lanes` is clamped."""
        return self.value(vector.CreateMaskOp, (self.ssa(count),), vector_type(lanes, i1))

    def step(self, lanes: int, element: Attribute) -> SSAValue:
        """Lane numbers 0, 1, ... as integers of a type."""
        steps = self.value(vector.StepOp, (), vector_type(lanes, INDEX))
        if isinstance(element, IndexType):
            return steps
        return self.value(arith.IndexCastOp, (steps,), vector_type(lanes, element))

    def arith(self, op_class: type[IRDLOperation], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """A binary arith op with default flags, on scalars or vectors."""
        return self.value(op_class, (lhs, rhs), lhs.type, default_flags(op_class))


_I32 = IntegerType(32)
_FLAGS: dict[type[IRDLOperation], dict[str, Attribute]] = {
    arith.AddiOp: {"overflowFlags": _NO_OVERFLOW},
    arith.SubiOp: {"overflowFlags": _NO_OVERFLOW},
    arith.MuliOp: {"overflowFlags": _NO_OVERFLOW},
    arith.ShLIOp: {"overflowFlags": _NO_OVERFLOW},
}
_FLOAT_FLAGS: dict[str, Attribute] = {"fastmath": _NO_FASTMATH}
_FLOAT_OPS = {
    arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp,
    arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp,
}  # fmt: skip


def default_flags(op_class: type[IRDLOperation]) -> dict[str, Attribute] | None:
    """The flag property that an arith op class needs to be complete."""
    if op_class in _FLOAT_OPS:
        return _FLOAT_FLAGS
    return _FLAGS.get(op_class)


def _element(flat: SSAValue) -> Attribute:
    return element_type(flat.type)


def is_dynamic(size: int) -> bool:
    return size == DYNAMIC_INDEX


__all__ = ["INDEX", "Cursor", "Index", "LoopEmitter", "UnitAttr", "default_flags", "is_dynamic", "vector_type"]
