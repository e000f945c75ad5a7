"""Cuts a network into segments, each of which keeps what it exchanges in registers, and says in which.

    sort of 1024 elements, 16 lanes:    bits 0 to 3 lanes                     10 steps on one vector, 64 times
                                        bit 4 register, bits 0 to 3 lanes      5 steps on 2 vectors, 32 times
                                        ...
                                        bits 7 to 9 registers, 0 to 3 lanes    3 steps on 8 vectors, 8 times

A segment is a loop over all bits that are neither of the lane index nor of the register index. More registers mean
fewer passes over memory, and as many times the code: where to cut is chosen for the least sum of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.types import bit_width
from tilewright.lowering.linalg_to_loops.networks.plan import Network, Step, base_of
from tilewright.support.cpu_costs import MOST_REGISTER_BITS, PASS_COST
from tilewright.support.records import dataclass

Layout = tuple["int | None", ...]
"""The bit that each bit of a lane index stands for; None: both lanes hold the same element."""


@dataclass(slots=True)
class Segment:
    """Steps of one loop, and the bits of lanes and registers."""

    steps: list[Step]
    inner: frozenset[int]
    """Bits that are not the loop's: of the lane index, or of the register index."""
    layouts: dict[Step, Layout]
    swaps: dict[Step, tuple[int, int] | None]
    """For reductions of a lane bit whose result is read without it: the position of the lane bit, and the register bit
    that is exchanged with it, so that no lanes are idle afterwards."""

    def register_bits(self, bits: Iterable[int], layout: Layout) -> list[int]:
        """Return the bits of the register index: those of the segment's block that are not of the lane index."""
        return [bit for bit in bits if bit in self.inner and bit not in layout]


def find_results(network: Network, segment: Segment) -> list[tuple[SSAValue, list[int]]]:
    """Find the results of a segment that others read, with the bits of their indices."""
    own: set[Operation] = {step.op for step in segment.steps}
    ops = set(network.ops)

    def is_read_elsewhere(value: SSAValue) -> bool:
        """Return whether a result, or a reshape of it, is read by what is not a step of the segment."""
        for use in value.uses:
            user = use.operation
            if user in ops and user not in own and base_of(user.results[0]) is not user.results[0]:
                if is_read_elsewhere(user.results[0]):
                    return True
            elif user not in own:
                return True
        return False

    return [
        (result, bits)
        for step in segment.steps
        for result, bits in zip(step.op.results, step.results, strict=True)
        if is_read_elsewhere(result)
    ]


def cut_into_segments(network: Network, vector_bits: int) -> list[Segment]:
    """The segments of a network, in order."""
    steps = network.steps
    lane_count = max(1, vector_bits // widest_element(steps))
    crossing = _crossing(steps)
    bits = [set_of(step.bits) for step in steps]
    best: list[tuple[int, int]] = [(0, 0)] + [(1 << 60, 0)] * len(steps)
    for start in range(len(steps)):
        lanes = set_of(_lanes_of(steps[start], lane_count))
        registers = code = somewhere = 0
        everywhere = -1
        for stop in range(start + 1, len(steps) + 1):
            more = registers | set_of(steps[stop - 1].reduced) & ~lanes
            if more == registers:
                code += 1 << (registers & bits[stop - 1]).bit_count()
            elif more.bit_count() > MOST_REGISTER_BITS:
                break
            else:
                registers = more
                code = sum(1 << (registers & bits[index]).bit_count() for index in range(start, stop))
            somewhere |= bits[stop - 1]
            everywhere &= bits[stop - 1]
            if somewhere & ~everywhere & ~(lanes | registers):
                continue  # one loop runs for all steps
            cost = best[start][0] + PASS_COST * crossing[stop] + code
            if cost < best[stop][0]:
                best[stop] = cost, start
    cuts = [len(steps)]
    while cuts[-1]:
        cuts.append(best[cuts[-1]][1])
    cuts.reverse()
    found: list[Segment] = []
    for start, stop in pairwise(cuts):
        while start < stop:
            segment = _segment(steps[start:stop], lane_count, steps)
            found.append(segment)
            start += len(segment.steps)
    return found


def widest_element(steps: Sequence[Step]) -> int:
    """Bits of the widest type that lanes hold; what is computed from indices alone is known lane by lane."""
    widest = 8
    for step in steps:
        block = step.op.body.block
        elements: set[SSAValue] = set(block.args)
        for op in block.ops:
            if any(operand in elements for operand in op.operands):
                elements.update(op.results)
        widest = max(widest, *(bit_width(value.type) for value in elements))
    return widest


def set_of(bits: Iterable[int]) -> int:
    """A set of bits as an integer."""
    found = 0
    for bit in bits:
        found |= 1 << bit
    return found


def _crossing(steps: Sequence[Step]) -> list[int]:
    """For each cut between two steps how many results are read after it."""
    last: dict[SSAValue, int] = {}
    for index, step in enumerate(steps):
        for source in (*step.inputs, *step.inits):
            if source is not None:
                last[source[0]] = index
    counts = [0] * (len(steps) + 1)
    for index, step in enumerate(steps):
        for result in step.op.results:
            for position in range(index + 1, last.get(result, index) + 1):
                counts[position] += 1
    return counts


def _lanes_of(step: Step, lane_count: int) -> tuple[int, ...]:
    """The lowest bits of the largest tensor that a step reads, or makes."""
    tensors = [source[1] for source in step.inputs if source is not None] or step.results
    return tuple(max(tensors, key=len)[: lane_count.bit_length() - 1])


def _segment(steps: Sequence[Step], lane_count: int, everything: Sequence[Step]) -> Segment:
    """The segment of the first steps, as many as agree about their lanes."""
    lanes = _lanes_of(steps[0], lane_count)
    registers = frozenset(bit for step in steps for bit in step.reduced if bit not in lanes)
    readers: dict[SSAValue, list[Step]] = {}
    for step in everything:
        for source in step.inputs:
            if source is not None:
                readers.setdefault(source[0], []).append(step)
    layouts: dict[Step, Layout] = {}
    swaps: dict[Step, tuple[int, int] | None] = {}
    made: dict[SSAValue, Layout] = {}
    kept: list[Step] = []
    for step in steps:
        layout = _layout_of(step, made, lanes, registers)
        if layout is None:
            break
        swap = None
        if step.reduced and step.reduced[0] in layout:
            (bit,) = step.reduced
            shrinks = not any(bit in reader.bits for result in step.op.results for reader in readers.get(result, ()))
            swap = _swap_of(step, layout, registers) if shrinks else None
            if swap is not None:
                layout = (*layout[: swap[0]], swap[1], *layout[swap[0] + 1 :])
        kept.append(step)
        layouts[step], swaps[step] = layout, swap
        left = tuple(None if bit in step.reduced else bit for bit in layout)
        made.update((result, left) for result in step.op.results)
    return Segment(kept, frozenset(lanes) | registers, layouts, swaps)


def _layout_of(
    step: Step, made: dict[SSAValue, Layout], lanes: tuple[int, ...], registers: frozenset[int]
) -> Layout | None:
    """Return which bits of a step are lanes; None where its operands do not agree."""
    bits = set(step.bits)
    known = [(made[source[0]], source[1]) for source in (*step.inputs, *step.inits) if source and source[0] in made]
    if not known:
        return tuple(bit if bit in bits else None for bit in lanes)
    layout: list[int | None] = [None] * len(lanes)
    for operand, _ in known:
        for position, bit in enumerate(operand):
            if bit is None:
                continue
            if layout[position] not in (None, bit):
                return None
            layout[position] = bit
    # Lanes that no operand has, but the step: a broadcast.
    for position, bit in enumerate(lanes):
        if layout[position] is None and bit in bits and bit not in layout:
            layout[position] = bit
    for operand, operand_bits in known:
        held = {bit for bit in operand if bit is not None}
        if any(bit in operand_bits and bit not in held for bit in layout if bit is not None):
            return None
    return tuple(layout)


def _swap_of(step: Step, layout: Layout, registers: frozenset[int]) -> tuple[int, int] | None:
    """Find the position of the reduced lane bit, and the lowest register bit of the result, if it has one."""
    (bit,) = step.reduced
    if any(source is not None and bit not in source[1] for source in step.inputs) or any(step.inits):
        return None
    candidates = [other for other in step.results[0] if other in registers and other not in layout]
    candidates = [other for other in candidates if all(source is None or other in source[1] for source in step.inputs)]
    return (layout.index(bit), candidates[0]) if candidates else None
