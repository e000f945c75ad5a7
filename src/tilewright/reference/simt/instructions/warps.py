"""Instructions by which the threads of a warp exchange registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.instructions.bits import B32, PREDICATE, highest_bit
from tilewright.reference.simt.machine import WARP, Machine, NotConverged
from tilewright.reference.simt.program import Decoder, Source, Step, decodes, scalar_of, unknown
from tilewright.reference.simt.types import Values, choose
from tilewright.support.ptx.syntax import Instruction, Pair
from tilewright.support.records import dataclass

LANES = np.arange(WARP)
BIT = np.uint32(1) << LANES.astype(np.uint32)


@dataclass
class Rows:
    """The active threads by warp and lane; `present` are the lanes that take part."""

    warps: Array
    """The warps, by row."""
    positions: tuple[Array, Array] | None
    """Row and lane of every active thread; None where all lanes of all rows are active, in order."""
    present: Array

    def spread(self, machine: Machine, values: Values) -> Array:
        """Values of threads in rows; lanes that are not present have 0."""
        flat = machine.spread(values)
        if self.positions is None:
            return flat.reshape(-1, WARP)
        result = np.zeros(self.present.shape, flat.dtype)
        result[self.positions] = flat
        return result

    def collect(self, rows: Array) -> Array:
        """The values of the active threads, from rows."""
        return np.ascontiguousarray(rows).reshape(-1) if self.positions is None else rows[self.positions]


def rows_of_warps(machine: Machine, mask: Values) -> Rows:
    """The active threads in rows. NotConverged if one that the mask names is on its way."""
    threads = machine.threads
    try:
        machine.check_whole_warps()
    except NotConverged:
        warps, row = np.unique(threads // WARP, return_inverse=True)
        positions = row, threads % WARP
        present = np.zeros((warps.size, WARP), np.bool_)
        present[positions] = True
        members = (np.uint32(scalar_of(mask)) & BIT) != 0
        gone = machine.exited.reshape(-1, WARP)[warps]
        if np.any(members & ~present & ~gone):
            raise NotConverged from None
        return Rows(warps, positions, present)
    return Rows(threads[::WARP] // WARP, None, np.ones((threads.size // WARP, WARP), np.bool_))


def _targets(instruction: Instruction) -> tuple[Any, Any]:
    """The operands `d|p`, or `d`."""
    first = instruction.operands[0]
    return (first.first, first.second) if isinstance(first, Pair) else (first, None)


@decodes("shfl.sync")
def shuffle(instruction: Instruction, decoder: Decoder) -> Step:
    """`shfl.sync.bfly.b32 d|p, a, b, c, mask;`: the register of another lane, if it is in the segment."""
    mode = instruction.modifiers[1]
    into, flag = _targets(instruction)
    target = decoder.target(into, B32, instruction)
    found = None if flag is None else decoder.target(flag, PREDICATE, instruction)
    source, other, bounds, mask = decoder.sources(instruction.operands[1:5], B32, instruction)
    if mode not in SHUFFLES:
        raise unknown(instruction)
    lane_of = SHUFFLES[mode]

    def run(machine: Machine) -> None:
        rows = rows_of_warps(machine, mask(machine))
        values, by, limits = (rows.spread(machine, each(machine)) for each in (source, other, bounds))
        segment = (limits >> np.uint32(8) & np.uint32(31)).astype(np.int64)
        clamp = (limits & np.uint32(31)).astype(np.int64)
        lane, inside = lane_of(LANES, (by & np.uint32(31)).astype(np.int64), segment, clamp)
        lane = choose(inside, lane, LANES)
        target(machine, rows.collect(np.take_along_axis(values, lane, axis=1)))
        if found is not None:
            found(machine, rows.collect(np.broadcast_to(inside, values.shape)))

    return run


Choice = tuple[Array, Array]


def _up(lanes: Array, by: Array, segment: Array, clamp: Array) -> Choice:
    lane = lanes - by
    return lane, lane >= (lanes & segment)


def _down(lanes: Array, by: Array, segment: Array, clamp: Array) -> Choice:
    lane = lanes + by
    return lane, lane <= ((lanes & segment) | (clamp & ~segment))


def _butterfly(lanes: Array, by: Array, segment: Array, clamp: Array) -> Choice:
    lane = lanes ^ by
    return lane, lane <= ((lanes & segment) | (clamp & ~segment))


def _index(lanes: Array, by: Array, segment: Array, clamp: Array) -> Choice:
    lane = (lanes & segment) | (by & ~segment)
    return lane, lane <= ((lanes & segment) | (clamp & ~segment))


SHUFFLES: dict[str, Callable[[Array, Array, Array, Array], Choice]] = {
    "up": _up,
    "down": _down,
    "bfly": _butterfly,
    "idx": _index,
}
"""By mode: the lane that each lane reads, and whether it lies in the segment."""


def _ballot(holds: Array) -> Array:
    return (holds * BIT).sum(1, dtype=np.uint32)[:, np.newaxis]


@decodes("vote.sync")
def vote(instruction: Instruction, decoder: Decoder) -> Step:
    """`vote.sync.any.pred p, q, mask;`, `vote.sync.ballot.b32 d, q, mask;`"""
    kind = instruction.modifiers[1]
    target = decoder.target(instruction.operands[0], B32 if kind == "ballot" else PREDICATE, instruction)
    source = decoder.source(instruction.operands[1], PREDICATE, instruction)
    mask = decoder.source(instruction.operands[2], B32, instruction)

    def run(machine: Machine) -> None:
        rows = rows_of_warps(machine, mask(machine))
        holds = rows.spread(machine, source(machine)) & rows.present
        every = np.all(holds | ~rows.present, axis=1, keepdims=True)
        some = np.any(holds, axis=1, keepdims=True)
        results: dict[str, Any] = {"all": every, "any": some, "uni": every | ~some, "ballot": _ballot(holds)}
        if kind not in results:
            raise unknown(instruction)
        target(machine, rows.collect(np.broadcast_to(results[kind], holds.shape)))

    return run


@decodes("match")
def match(instruction: Instruction, decoder: Decoder) -> Step:
    """`match.any.sync.b32 d, a, mask;`: the lanes that have the same value; `match.all.sync.b32 d|p, a, mask;`."""
    type_, all_of_them = decoder.type_of(instruction), "all" in instruction.modifiers
    into, flag = _targets(instruction)
    target = decoder.target(into, B32, instruction)
    found = None if flag is None else decoder.target(flag, PREDICATE, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)
    mask = decoder.source(instruction.operands[2], B32, instruction)

    def run(machine: Machine) -> None:
        rows = rows_of_warps(machine, mask(machine))
        values = rows.spread(machine, source(machine))
        same = (values[:, :, np.newaxis] == values[:, np.newaxis, :]) & rows.present[:, np.newaxis, :]
        lanes = (same * BIT).sum(2, dtype=np.uint32)
        if all_of_them:
            present = _ballot(rows.present)
            every = np.all((lanes == present) | ~rows.present, axis=1, keepdims=True)
            lanes = choose(every, present, np.uint32(0)) + np.zeros_like(lanes)
            if found is not None:
                found(machine, rows.collect(np.broadcast_to(every, lanes.shape)))
        target(machine, rows.collect(lanes))

    return run


REDUCTIONS: dict[str, Any] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@decodes("redux.sync")
def reduce(instruction: Instruction, decoder: Decoder) -> Step:
    """`redux.sync.add.s32 d, a, mask;`"""
    type_, combine = decoder.type_of(instruction), REDUCTIONS.get(instruction.modifiers[1])
    if combine is None or type_.is_float:
        raise unknown(instruction)
    target = decoder.target(instruction.operands[0], type_, instruction)
    source = decoder.source(instruction.operands[1], type_, instruction)
    mask = decoder.source(instruction.operands[2], B32, instruction)

    def run(machine: Machine) -> None:
        rows = rows_of_warps(machine, mask(machine))
        values = rows.spread(machine, source(machine))
        if rows.positions is not None:
            first = np.argmax(rows.present, axis=1)[:, np.newaxis]
            neutral = np.take_along_axis(values, first, 1) if combine is not np.add else values.dtype.type(0)
            neutral = values.dtype.type(0) if combine is np.bitwise_xor else neutral
            values = choose(rows.present, values, neutral)
        total = combine.reduce(values, axis=1, keepdims=True, dtype=values.dtype)
        target(machine, rows.collect(np.broadcast_to(total, values.shape)))

    return run


@decodes("activemask")
def active_mask(instruction: Instruction, decoder: Decoder) -> Step:
    target = decoder.target(instruction.operands[0], B32, instruction)

    def run(machine: Machine) -> None:
        rows = rows_of_warps(machine, np.uint32(0))
        target(machine, rows.collect(np.broadcast_to(_ballot(rows.present), rows.present.shape)))

    return run


@decodes("elect.sync")
def elect(instruction: Instruction, decoder: Decoder) -> Step:
    """`elect.sync d|p, mask;`: p is true in the first lane of the mask, d is its number."""
    into, flag = _targets(instruction)
    target = decoder.target(into, B32, instruction)
    found = decoder.target(flag, PREDICATE, instruction)
    mask: Source = decoder.source(instruction.operands[1], B32, instruction)

    def run(machine: Machine) -> None:
        members = mask(machine)
        rows = rows_of_warps(machine, members)
        bits = np.uint32(scalar_of(members))
        leader = int(highest_bit(np.asarray(bits & (~bits + np.uint32(1)))))
        target(machine, np.uint32(leader))
        found(machine, rows.collect(np.broadcast_to(leader == LANES, rows.present.shape)))

    return run
