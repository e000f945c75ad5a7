"""How a tensor of pointers is accessed: which registers go together in one wide access.

A thread's registers that hold neighbouring elements of one dimension form a group if the addresses in it are known to
follow each other, to be aligned, and to share a mask (`analysis.axis_info`). The largest groups of at most 128 bits
over all dimensions win. Registers that repeat an element of the same thread are left out: they take what the first one
gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tilewright.analysis.axis_info import AxisInfo
from tilewright.codegen.nvptx.memory import MAX_ACCESS_BITS
from tilewright.layouts.distributed import REGISTER
from tilewright.layouts.linear import LinearLayout
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class AccessPlan:
    """Groups of registers, each one access; its registers in the order of addresses."""

    groups: tuple[tuple[int, ...], ...]
    sources: tuple[int, ...]
    """For each register the one whose element it has (itself unless it repeats)."""

    @property
    def width(self) -> int:
        """Elements per access."""
        return len(self.groups[0])


def plan_access(layout: LinearLayout, pointers: AxisInfo, masks: AxisInfo | None, element_bits: int) -> AccessPlan:
    """The widest accesses for pointers to elements of `element_bits`."""
    limits = tuple(_limit(dim, pointers, masks, element_bits) for dim in range(len(layout.out_dims)))
    return _plan(layout, limits)


def _limit(dim: int, pointers: AxisInfo, masks: AxisInfo | None, element_bits: int) -> int:
    """Return how many neighbours along a dimension one access may cover as far as addresses and masks go."""
    aligned = max(1, pointers.divisibility[dim] * 8 // element_bits)
    limit = min(_power(pointers.contiguity[dim]), aligned, MAX_ACCESS_BITS // element_bits)
    if masks is not None:
        limit = min(limit, _power(masks.constancy[dim]))
    return max(1, limit)


def _power(value: int) -> int:
    """The largest power of two that divides a positive number."""
    return value & -value


@lru_cache(maxsize=1024)
def _plan(layout: LinearLayout, limits: tuple[int, ...]) -> AccessPlan:
    best: list[int] = []
    for dim, limit in enumerate(limits):
        bits = neighbour_bits(layout, dim, limit)
        if len(bits) > len(best):
            best = bits
    free = layout.free_variable_masks.get(REGISTER, 0)
    moving = sum(1 << bit for bit in best)
    steps = _combinations(best)
    count = layout.in_dims[REGISTER]
    groups = tuple(
        tuple(register | step for step in steps) for register in range(count) if not register & (moving | free)
    )
    return AccessPlan(groups, tuple(_sources(layout, count, free)))


def neighbour_bits(layout: LinearLayout, dim: int, limit: int) -> list[int]:
    """Register bits that move by 1, 2, 4, ... along `dim` and nowhere else, while that stays below `limit`.

    Whatever else moves along `dim` does so in multiples of the group's size, so groups begin at such multiples.
    """
    bases = layout.bases_of(REGISTER)
    found: list[int] = []
    while 1 << len(found) < limit:
        wanted = tuple((1 << len(found)) * (index == dim) for index in range(len(layout.out_dims)))
        if wanted not in bases:
            break
        found.append(bases.index(wanted))
    others = [
        basis[dim]
        for name in layout.in_dims
        for bit, basis in enumerate(layout.bases_of(name))
        if name != REGISTER or bit not in found
    ]
    while found and any(step % (1 << len(found)) for step in others):
        others.append(1 << (len(found) - 1))
        found.pop()
    return found


def _combinations(bits: Sequence[int]) -> list[int]:
    steps = [0]
    for bit in bits:
        steps += [step | (1 << bit) for step in steps]
    return steps


def _sources(layout: LinearLayout, count: int, free: int) -> list[int]:
    """The register without free bits that has the same image."""
    if not free:
        return list(range(count))
    images = [0]
    for column in layout.packed_bases[REGISTER]:
        images += [image ^ column for image in images]
    first = {images[register]: register for register in range(count - 1, -1, -1) if not register & free}
    return [first[image] for image in images]
