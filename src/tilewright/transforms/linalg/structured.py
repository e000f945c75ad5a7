"""Reading `linalg.generic`: loop extents, accesses, and the questions that several passes ask."""

from __future__ import annotations

from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import linalg


def access_of(map_: AffineMap) -> tuple[AffineExpr, ...]:
    """The index expressions of an operand, one per dimension of it."""
    return map_.results


def loop_extents(op: linalg.StructuredOp) -> tuple[int, ...]:
    """The extents of the iteration space."""
    return op.static_loop_ranges()


def is_elementwise(op: linalg.StructuredOp) -> bool:
    """Whether every iteration is independent of the others."""
    return all(iterator == "parallel" for iterator in op.iterators)
