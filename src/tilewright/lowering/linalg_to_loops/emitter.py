"""Emits ops of the loops stage: to scalars and index arithmetic (`ScalarBuilder`) come vectors and memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnitAttr,
    VectorType,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from tilewright.dialects import arith, memref, scf, vector
from tilewright.dialects.attributes import OVER_LANES
from tilewright.dialects.construction import index_array
from tilewright.dialects.types import bit_width, element_type, is_vector
from tilewright.ir.builder import Cursor, OpT
from tilewright.lowering.scalar_builder import INDEX, Index, ScalarBuilder, default_flags

GRID_ARGUMENTS = 6
"""The last arguments of a kernel: how many programs there are in each dimension, and which of them this is."""

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


class LoopEmitter(ScalarBuilder):
    """A `ScalarBuilder` for the loops stage. Function-wide values stand before the ops that the entry has at first."""

    __slots__ = ("_first_op",)

    def __init__(self, entry: Block) -> None:
        super().__init__(entry)
        self._first_op = entry.first_op

    def constants_cursor(self) -> Cursor:
        """Return where function-wide values (constants, arena buffers, flat views of arguments) go."""
        return Cursor(self.entry, self._first_op)

    def insert(self, op: OpT) -> OpT:
        """Insert one op with the location of the op being lowered."""
        self.cursor.insert(op)
        op.location = self.location
        return op

    def lane_constant(self, values: Sequence[int], element: Attribute) -> SSAValue:
        """A vector of known integers at function entry, written with the sign of their type."""
        kind = cast("VectorType[IntegerType]", vector_type(len(values), element))
        return self.shared_constant(
            (tuple(values), element),
            lambda: arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(kind, list(values))),
        )

    # -- conditions -------------------------------------------------------------------------------------------------

    def compare(self, predicate: str, lhs: Index, rhs: Index) -> SSAValue | bool:
        """An i1, or a bool where both sides are known."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return _FOLD_COMPARE[predicate](lhs, rhs)
        return self.cmpi(predicate, self.ssa(lhs), self.ssa(rhs))

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
        return self.select(condition, self.ssa(when_true), self.ssa(when_false))

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

    def while_below(self, end: Index, inits: Sequence[SSAValue] = ()) -> tuple[scf.WhileOp, Block]:
        """An `scf.while` over a counter of lanes from 0 on, which its body advances, and other values; the body is
        still without terminator, which yields the next counter first."""
        types = [INDEX, *(value.type for value in inits)]
        before, body = Block(arg_types=types), Block(arg_types=types)
        with self.at(before):
            below = self.cmpi("slt", before.args[0], self.ssa(end))
            self.create(scf.ConditionOp, (below, *before.args))
        op = self.create(scf.WhileOp, (self.ssa(0), *inits), types, regions=[Region(before), Region(body)])
        assert isinstance(op, scf.WhileOp)
        op.attributes[OVER_LANES] = UnitAttr()
        return op, body

    def choose(self, condition: SSAValue | bool, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Emit both branches: `then` runs where the condition holds, `otherwise` where it does not."""
        if isinstance(condition, bool):
            (then if condition else otherwise)()
            return
        for block, body in zip(self.open_if(condition)[1:], (then, otherwise), strict=True):
            with self.at(block):
                body()
                self.yield_()

    @contextmanager
    def when(self, condition: SSAValue | None) -> Generator[None]:
        """Emit what follows for where a condition holds; None: everywhere."""
        if condition is None:
            yield
            return
        _, block, _ = self.open_if(condition, has_else=False)
        with self.at(block):
            yield
            self.yield_()

    # -- memory -----------------------------------------------------------------------------------------------------

    def alloca(self, element: Attribute, size: int) -> SSAValue:
        """A 64-byte aligned buffer at function entry; the next lowering places it in the per-thread arena."""
        with self.at(self.constants_cursor()):
            op = self.create(
                memref.AllocaOp,
                (),
                (MemRefType(element, [size]),),
                {
                    "alignment": IntegerAttr(64, i64),
                    "operandSegmentSizes": DenseArrayBase.from_list(i32, [0, 0]),
                },
            )
        return op.results[0]

    def load(self, flat: SSAValue, index: Index) -> SSAValue:
        return self.value(memref.LoadOp, (flat, self.ssa(index)), _element(flat))

    def load_if(self, condition: SSAValue | None, load: Callable[[], SSAValue], otherwise: SSAValue) -> SSAValue:
        """Emit a load for where a condition holds (None: everywhere); `otherwise` has the type of what it reads."""
        if condition is None:
            return load()
        return self.if_else(condition, [otherwise.type], lambda: [load()], lambda: [otherwise]).results[0]

    def unpack(self, value: SSAValue, stored_as_byte: bool) -> SSAValue:
        """Loaded elements: i1 where they are stored as bytes."""
        return self.value(arith.TruncIOp, (value,), _like(value, i1)) if stored_as_byte else value

    def pack(self, value: SSAValue, stored_as_byte: bool) -> SSAValue:
        """Elements as they are stored: i1 as bytes."""
        return self.value(arith.ExtUIOp, (value,), _like(value, i8)) if stored_as_byte else value

    def store(self, value: SSAValue, flat: SSAValue, index: Index) -> None:
        self.create(memref.StoreOp, (value, flat, self.ssa(index)))

    def prefetch(self, flat: SSAValue, index: Index, locality: int, *, is_write: bool = False) -> None:
        self.insert(memref.PrefetchOp(flat, [self.ssa(index)], is_write=is_write, locality_hint=locality))

    def vector_load(self, flat: SSAValue, index: Index, lanes: int) -> SSAValue:
        return self.value(vector.LoadOp, (flat, self.ssa(index)), vector_type(lanes, _element(flat)))

    def vector_store(self, value: SSAValue, flat: SSAValue, index: Index) -> None:
        self.create(vector.StoreOp, (value, flat, self.ssa(index)))

    def stream(self, value: SSAValue, flat: SSAValue, index: Index) -> None:
        """Store a vector non-temporally; its address is a multiple of its size."""
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

    def shuffle(self, first: SSAValue, second: SSAValue, order: Sequence[int]) -> SSAValue:
        """Lanes of two vectors of one type, in an order; those of the second come after those of the first."""
        kind = vector_type(len(order), element_type(first.type))
        return self.value(vector.ShuffleOp, (first, second), kind, {"mask": index_array(tuple(order))})

    def pick(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Lanes of a vector, in an order."""
        return self.shuffle(value, value, order)

    def create_mask(self, count: Index, lanes: int) -> SSAValue:
        """The first `count` lanes; a count below 0 or above `lanes` is clamped."""
        return self.value(vector.CreateMaskOp, (self.ssa(count),), vector_type(lanes, i1))

    def step(self, lanes: int, element: Attribute) -> SSAValue:
        """Lane indices 0, 1, ... as integers of a type."""
        steps = self.value(vector.StepOp, (), vector_type(lanes, INDEX))
        if isinstance(element, IndexType):
            return steps
        return self.value(arith.IndexCastOp, (steps,), vector_type(lanes, element))


def lanes_of(value: SSAValue) -> int:
    """Return how many elements a vector has."""
    assert is_vector(value.type)
    return value.type.get_shape()[0]


def exchange_orders(lanes: int, distance: int) -> tuple[list[int], list[int]]:
    """Return the orders by which `shuffle` exchanges upper and lower halves of groups of `2 * distance` lanes:
    the orders that make the first vector and the second."""
    first = [lanes + lane - distance if lane & distance else lane for lane in range(lanes)]
    second = [lanes + lane if lane & distance else lane + distance for lane in range(lanes)]
    return first, second


def _element(flat: SSAValue) -> Attribute:
    return element_type(flat.type)


def _like(value: SSAValue, element: Attribute) -> Attribute:
    return vector_type(lanes_of(value), element) if is_vector(value.type) else element


def is_dynamic(size: int) -> bool:
    return size == DYNAMIC_INDEX


__all__ = [
    "INDEX",
    "Cursor",
    "Index",
    "LoopEmitter",
    "UnitAttr",
    "default_flags",
    "exchange_orders",
    "is_dynamic",
    "lanes_of",
    "vector_type",
]
