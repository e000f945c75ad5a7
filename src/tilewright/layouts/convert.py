"""Plans for moving a tensor from one layout of registers to another.

`plan_conversion` looks at the map from destination places to source places and takes the cheapest of:

- `NoConversion`: every place keeps its element;
- `RegisterPermutation`: elements move between registers of their own thread;
- `WarpShuffle`: elements move between threads of their own warp, by swaps of one register bit with one lane bit and a
  permutation of lanes;
- `SharedMemoryConversion`: through shared memory, in a layout without bank conflicts (`swizzle`);
- `ClusterConversion`: through the shared memory of several CTAs (`between_ctas`).

A plan is a frozen description. `simulate` executes one on arrays, so tests can check that it moves every element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tilewright.layouts import gf2
from tilewright.layouts.between_ctas import ClusterConversion, plan_between_ctas
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.swizzle import MATRIX_FREE, MatrixMoves, SharedMemoryConversion, plan_shared_memory
from tilewright.support.records import dataclass

MAX_SWAPS = 1
"""Register-lane swaps that shuffles may take; with more, shared memory is cheaper."""


@dataclass(frozen=True)
class NoConversion:
    """Source and destination hold the same elements in the same places."""


@dataclass(frozen=True)
class RegisterPermutation:
    """Destination register i of each thread is source register `sources[i]` of the same thread."""

    sources: tuple[int, ...]


@dataclass(frozen=True)
class WarpShuffle:
    """Steps inside a warp, on `1 << register_bits` registers per thread:

    1. register i takes source register `gather[i]`; 2. each of `swaps` (register bit, lane bit) exchanges the two
    bits of every element's place: per pair of registers a select, a shuffle with the lane whose bit differs, and a
    select; 3. unless `lane_permutation` is the identity, every register goes through a shuffle that moves lane bit j
    to `lane_permutation[j]` (where there is a swap, one shuffle does both); 4. destination register i takes register
    `scatter[i]`.
    """

    register_bits: int
    gather: tuple[int, ...]
    swaps: tuple[tuple[int, int], ...]
    lane_permutation: tuple[int, ...]
    scatter: tuple[int, ...]

    @property
    def moves_lanes(self) -> bool:
        """True if lanes are permuted besides the swaps."""
        return self.lane_permutation != tuple(range(len(self.lane_permutation)))

    @property
    def num_shuffles(self) -> int:
        """Shuffle instructions per thread for 32-bit elements."""
        registers = 1 << self.register_bits
        if self.moves_lanes:
            return registers * max(len(self.swaps), 1)
        return registers // 2 * len(self.swaps)


ConversionPlan = NoConversion | RegisterPermutation | WarpShuffle | SharedMemoryConversion | ClusterConversion


@lru_cache(maxsize=4096)
def plan_conversion(
    source: LinearLayout, target: LinearLayout, element_bits: int, matrices: MatrixMoves = MATRIX_FREE
) -> ConversionPlan:
    """Return how to bring a tensor from `source` to `target`, maps of registers, lanes, warps, blocks to the same dims.

    ValueError where the layouts differ in lanes, warps, blocks or shape, or an element is nowhere in `source`.
    """
    _check_comparable(source, target)
    moved = moved_dims(source, target)
    if not moved:
        return NoConversion()
    if BLOCK in moved:
        return plan_between_ctas(source, target, element_bits)
    if moved == {REGISTER}:
        return RegisterPermutation(_register_sources(target.invert_and_compose(source)))
    if moved <= {REGISTER, LANE}:
        plan = plan_shuffle(source, target)
        if plan is not None and len(plan.swaps) <= MAX_SWAPS:
            return plan
    return plan_shared_memory(source, target, element_bits, matrices)


def _check_comparable(source: LinearLayout, target: LinearLayout) -> None:
    if source.out_dims != target.out_dims:
        raise ValueError(f"a conversion keeps the shape, got {source.out_dims} and {target.out_dims}")
    for name in (LANE, WARP, BLOCK):
        if source.in_dims[name] != target.in_dims[name]:
            raise ValueError(f"{name} counts differ: {source.in_dims[name]} and {target.in_dims[name]}")


def moved_dims(source: LinearLayout, target: LinearLayout) -> set[str]:
    """The dims between or along which elements move; from the outside in, those that stay are dropped."""
    conversion = target.invert_and_compose(source)
    dims = [BLOCK, WARP, LANE, REGISTER]
    while dims:
        rest = conversion.quotient([dims[0]])
        if rest is None:
            return set(dims)
        conversion = rest
        dims.pop(0)
    return set()


def _register_sources(conversion: LinearLayout) -> tuple[int, ...]:
    registers = conversion.sublayout([REGISTER], [REGISTER])
    return tuple(int(value) for value in registers.table)


def plan_shuffle(source: LinearLayout, target: LinearLayout) -> WarpShuffle | None:
    """Shuffles for a conversion inside warps; None where places do not correspond bit by bit.

    Destination bits go to source bits by a permutation once repeated registers are left out, and both sides are
    filled up with bits that repeat elements. A register bit that comes from a lane bit pairs with a lane bit that
    comes from a register bit: these are the swaps; what remains permutes lanes among themselves and registers among
    themselves.
    """
    source_kept = _distinct_registers(source)
    target_kept = _distinct_registers(target)
    slim_source, slim_target = _keep_registers(source, source_kept), _keep_registers(target, target_kept)
    conversion = slim_target.invert_and_compose(slim_source).sublayout([REGISTER, LANE], [REGISTER, LANE])
    register_bits = max(len(source_kept), len(target_kept))
    lane_bits = len(source.packed_bases[LANE])
    origin = _complete_permutation(conversion, register_bits, lane_bits)
    if origin is None:
        return None
    destination = {value: key for key, value in origin.items()}
    leaving = [bit for bit in range(register_bits) if destination[REGISTER, bit][0] == LANE]
    entering = [bit for bit in range(lane_bits) if destination[LANE, bit][0] == REGISTER]
    swaps = _pair(leaving, entering, [destination[REGISTER, bit][1] for bit in leaving])
    came_from_lane = dict(swaps)
    came_from_register = {lane: register for register, lane in swaps}
    lanes = tuple(
        destination[(REGISTER, came_from_register[bit]) if bit in came_from_register else (LANE, bit)][1]
        for bit in range(lane_bits)
    )
    registers = [
        destination[(LANE, came_from_lane[bit]) if bit in came_from_lane else (REGISTER, bit)][1]
        for bit in range(register_bits)
    ]
    return WarpShuffle(
        register_bits,
        gather=_spread(range(register_bits), source_kept, register_bits),
        swaps=tuple(swaps),
        lane_permutation=lanes,
        scatter=_collect(registers, target_kept, len(target.packed_bases[REGISTER])),
    )


def _distinct_registers(layout: LinearLayout) -> list[int]:
    """Register bits that do not just repeat elements of the same thread."""
    return gf2.Echelon(layout.packed_bases[REGISTER]).pivot_columns


def _keep_registers(layout: LinearLayout, bits: Sequence[int]) -> LinearLayout:
    columns = layout.packed_bases
    return LinearLayout(
        ((name, [columns[name][bit] for bit in bits] if name == REGISTER else columns[name]) for name in columns),
        ((name, size.bit_length() - 1) for name, size in layout.out_dims.items()),
    )


Place = tuple[str, int]
"""A bit of the register or of the lane index."""


def _complete_permutation(conversion: LinearLayout, register_bits: int, lane_bits: int) -> dict[Place, Place] | None:
    """The source bit of each destination bit; None where some bit comes from several, or several from one.

    Destination bits that repeat elements may take any source bit that is free: their own if possible, then one of
    their kind.
    """
    source_places = [(REGISTER, bit) for bit in range(conversion.out_dims[REGISTER].bit_length() - 1)]
    source_places += [(LANE, bit) for bit in range(lane_bits)]
    origin: dict[Place, Place] = {}
    for name, columns in conversion.packed_bases.items():
        for bit, column in enumerate(columns):
            if column & (column - 1):
                return None
            if column:
                origin[name, bit] = source_places[column.bit_length() - 1]
    if len(set(origin.values())) != len(origin):
        return None
    all_slots = [(REGISTER, bit) for bit in range(register_bits)] + [(LANE, bit) for bit in range(lane_bits)]
    free = [slot for slot in all_slots if slot not in origin.values()]
    open_slots = [slot for slot in all_slots if slot not in origin]
    for matching_parts in (2, 1, 0):
        for slot in list(open_slots):
            chosen = next((other for other in free if other[:matching_parts] == slot[:matching_parts]), None)
            if chosen is not None:
                origin[slot] = chosen
                free.remove(chosen)
                open_slots.remove(slot)
    return origin


def _pair(registers: Sequence[int], lanes: Sequence[int], wanted: Sequence[int]) -> list[tuple[int, int]]:
    """Each register bit with a lane bit: the one it goes to, where that is among them."""
    left = list(lanes)
    chosen: dict[int, int] = {}
    for register, lane in zip(registers, wanted, strict=True):
        if lane in left:
            chosen[register] = lane
            left.remove(lane)
    for register in registers:
        if register not in chosen:
            chosen[register] = left.pop(0)
    return [(register, chosen[register]) for register in registers]


def _spread(slots: Sequence[int], kept: Sequence[int], bits: int) -> tuple[int, ...]:
    """Return which source register fills each working register; bits beyond the kept ones repeat."""
    return tuple(
        sum(((index >> slot) & 1) << kept[slot] for slot in slots if slot < len(kept)) for index in range(1 << bits)
    )


def _collect(moves: Sequence[int], kept: Sequence[int], target_bits: int) -> tuple[int, ...]:
    """Return which working register each destination register takes; working bit b has become destination bit
    `moves[b]`.
    """
    positions = {slot: bit for bit, slot in enumerate(moves)}
    return tuple(
        sum(((index >> bit) & 1) << positions[slot] for slot, bit in enumerate(kept))
        for index in range(1 << target_bits)
    )
