"""Scores the dimensions of a loop nest: along which one do most accesses of a vector's lanes adjoin each other?"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects.construction import Index
from tilewright.support.cpu_costs import (
    ADJOINING_ACCESS,
    LANES_OF_A_SCORE,
    MOST_SCORED_LANES,
    READ_IN_EACH_STEP,
    READ_OUTSIDE,
)
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """One operand of a nest: how many dimensions its element depends on, and by how much memory moves along each."""

    dims: int
    strides: tuple[Index | None, ...]
    """One for each loop; 0: the element stays the same; None: not known, and not 1."""
    is_write: bool = False


def strides_of_loops(
    access: Sequence[AffineExpr], strides: Sequence[Index | None], loops: int
) -> tuple[Index | None, ...]:
    """Return the strides of memory along each loop, from those along each dimension of an operand."""
    found: list[Index | None] = [0] * loops
    for expr, stride in zip(reversed(access), reversed(strides), strict=True):
        if isinstance(expr, AffineDimExpr):
            found[expr.position] = stride
    return tuple(found)


def choose_vector_dim(
    extents: Sequence[int], reduced: Sequence[bool], accesses: Sequence[Access], *, may_reduce_lanes: bool
) -> int | None:
    """Return the dimension along which most of the accesses are contiguous; None where all extents are 1.

    Accesses that change in every iteration weigh more than those that an outer loop makes once. `reduced` says which
    dimensions a reduction goes along: they are chosen only where lanes may belong to one accumulator.
    """
    loops = sum(extent > 1 for extent in extents)
    best, best_score = None, 0
    for dim, extent in enumerate(extents):
        if not may_vectorize(extent, is_reduced=reduced[dim], may_reduce_lanes=may_reduce_lanes):
            continue
        score = 1 + min(extent, MOST_SCORED_LANES) // LANES_OF_A_SCORE
        for access in accesses:
            weight = READ_IN_EACH_STEP if access.dims == loops else READ_OUTSIDE
            score += (2 if access.is_write else 1) * weight * _points(access.strides[dim])
        if reduced[dim]:
            score -= 1
        if best is None or score > best_score or (score == best_score and not reduced[dim]):
            best, best_score = dim, score
    return best


def may_vectorize(extent: int, *, is_reduced: bool, may_reduce_lanes: bool) -> bool:
    """Return whether vectors may go along a dimension."""
    return extent >= 2 and (may_reduce_lanes or not is_reduced)


def _points(stride: Index | None) -> int:
    if stride == 0:
        return 0
    return ADJOINING_ACCESS if stride == 1 else -ADJOINING_ACCESS
