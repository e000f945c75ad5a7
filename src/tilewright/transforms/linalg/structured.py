"""Reading `linalg.generic`: loop extents, accesses, and the questions that several passes ask."""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.analysis.combination import Combination, combination_of_reduction
from tilewright.analysis.combiners import combiner_of
from tilewright.dialects import linalg
from tilewright.dialects.types import shape_of


def access_of(map_: AffineMap) -> tuple[AffineExpr, ...]:
    """The index expressions of an operand, one per dimension of it."""
    return map_.results


def loop_extents(op: linalg.StructuredOp) -> tuple[int, ...]:
    """The extents of the iteration space."""
    return op.static_loop_ranges()


def is_elementwise(op: linalg.StructuredOp) -> bool:
    """Return whether every iteration is independent of the others."""
    return op.iterators.count(linalg.IteratorType.PARALLEL) == len(op.iterators)


def reduced_results(op: linalg.StructuredOp) -> list[int]:
    """The positions of the results that reduce: their element does not tell all reduced dimensions apart."""
    reduced = {dim for dim, iterator in enumerate(op.iterators) if iterator == linalg.IteratorType.REDUCTION}
    maps = [access_of(map_) for map_ in op.maps[len(op.inputs) :]]
    return [
        position
        for position in range(len(op.results))
        if not reduced <= {dim for expr in maps[position] for dim in expr.used_dims()}
    ]


def joint_combination(op: linalg.StructuredOp) -> Combination | None:
    """Find how all results are combined together, if one of them has no combiner or starts as the first element."""
    combination = combination_of_reduction(op)
    if combination is None or combination.starts_at_first:
        return combination
    has_combiners = all(combiner_of(op.body.block, position) is not None for position in reduced_results(op))
    return None if has_combiners else combination


def shape_or_scalar(type_: Attribute) -> tuple[int, ...]:
    """The shape of a tensor, vector or memref type; the empty shape for anything else."""
    return shape_of(type_) or ()
