"""Reading `linalg.generic`: loop extents, accesses, and the questions that several passes ask."""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr, AffineMap

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


def shape_or_scalar(type_: Attribute) -> tuple[int, ...]:
    """The shape of a tensor, vector or memref type; the empty shape for anything else."""
    return shape_of(type_) or ()
