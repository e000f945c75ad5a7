"""Rings of buffers in shared memory between warps that fill them and warps that read them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from tilewright.dialects import arith, scf, ttg, ttng
from tilewright.dialects.ttg.shared_encodings import shared_encoding_of
from tilewright.dialects.ttg.types import MemDescType, memdesc_type
from tilewright.ir.builder import OpBuilder
from tilewright.layouts.shared import SwizzledSharedLayout
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues

BARRIER_LAYOUT = shared_encoding_of(SwizzledSharedLayout(1, 1, 1, (0,)))


@dataclass(frozen=True)
class Memory:
    """What a ring has in shared memory: buffers of each copy, barriers that say that they are full, or were read."""

    buffers: tuple[SSAValue, ...]
    full: SSAValue
    empty: SSAValue


def allocate(builder: OpBuilder, types: Sequence[MemDescType], count: int, *, readers: int) -> Memory:
    """A ring: buffers of these types, `count` of each, which one warp fills and so many read."""
    buffers = [builder.result(ttg.LocalAllocOp(type)) for type in types]
    full, empty = (builder.result(ttg.LocalAllocOp(memdesc_type((count, 1), i64, BARRIER_LAYOUT))) for _ in range(2))
    for barriers, arrivals in ((full, 1), (empty, readers)):
        for slot in range(count):
            builder.insert(ttng.InitBarrierOp(at(builder, barriers, slot), arrivals))
    return Memory(tuple(buffers), full, empty)


def free(builder: OpBuilder, memory: Memory) -> None:
    """Give a ring back."""
    for barriers in (memory.full, memory.empty):
        type = barriers.type
        assert isinstance(type, MemDescType)
        for slot in range(type.get_shape()[0]):
            builder.insert(ttng.InvalBarrierOp(at(builder, barriers, slot)))
    for buffer in (*memory.buffers, memory.full, memory.empty):
        builder.insert(ttg.LocalDeallocOp(buffer))


def at(builder: OpBuilder, barriers: SSAValue, slot: int) -> SSAValue:
    """One of several barriers."""
    index = builder.result(arith.constant_int(slot, i32))
    return builder.result(ttg.MemDescIndexOp(barriers, index))


SLOT_VALUES = 2
"""What a loop carries of each ring."""


def carry_around(outer: scf.ForOp, inner: scf.ForOp, count: int) -> scf.ForOp:
    """Have the last `count` values that a loop carries go on from one iteration of the loop around it to the next;
    returns that one.
    """
    carried = CarriedValues(outer)
    for position in range(len(inner.iter_args) - count, len(inner.iter_args)):
        initial = inner.iter_args[position]
        inner.operands[BOUNDS + position] = carried.add(initial)
        carried.yields(inner.results[position])
    return carried.finish()


BOUNDS = 3
"""Operands of a loop before the values that it carries."""


def next_slot(
    place: OpBuilder,
    carried: CarriedValues,
    outside: OpBuilder,
    count: int,
    *,
    first_turn: int,
    exists: SSAValue | None = None,
) -> tuple[SSAValue, SSAValue]:
    """The next buffer of a ring, and the parity of the turn around it. In the rounds of a pipelined loop for iterations
    that do not exist, the last buffer again, which was filled: it is multiplied for nothing.
    """

    def number(value: int) -> SSAValue:
        return outside.result(arith.constant_int(value, i32))

    last, turn = carried.add(number(-1)), carried.add(number(first_turn))
    one = number(1)
    following = place.result(arith.AddiOp(last, one))
    wraps = place.result(arith.CmpiOp(following, number(count), "sge"))
    slot = place.result(arith.SelectOp(wraps, number(0), following))
    if exists is not None:
        slot = place.result(arith.SelectOp(exists, slot, last))
    flipped = place.result(arith.XOrIOp(turn, one))
    turn = place.result(arith.SelectOp(wraps, flipped, turn))
    carried.yields(slot)
    carried.yields(turn)
    return slot, turn
