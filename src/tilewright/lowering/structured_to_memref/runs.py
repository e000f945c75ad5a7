"""Gathered rows that follow one another but where they are cut off at a bound.

Kernels keep rows inside of a matrix by replacing those past its end:

    rows = first + arange(0, 64);  rows = where(rows < M, rows, 0)      or   minimum(rows, M - 1)

Row i is `first + i` for all i if the last one is below the bound, which is one comparison of numbers.
"""

from __future__ import annotations

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import arith, linalg
from tilewright.dialects.arith import CmpIPredicate
from tilewright.lowering.scalar_builder import Index
from tilewright.lowering.tensor_builder import TensorBuilder
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.structured import access_of, is_elementwise


@dataclass(frozen=True)
class Run:
    """Rows `first + i`, as long as these are below `bound` (or equal to it, if it `is_included`)."""

    first: SSAValue | int
    bound: SSAValue
    is_included: bool

    def first_row(self, b: TensorBuilder) -> Index:
        """Row 0."""
        return self.first if isinstance(self.first, int) else b.as_index(self.first)

    def reaches(self, b: TensorBuilder, count: int) -> SSAValue:
        """Return whether the first `count` rows follow one another."""
        last = b.ssa(b.add(self.first_row(b), count - 1))
        return b.cmpi("sle" if self.is_included else "slt", last, b.as_index(self.bound))


def find_run(rows: SSAValue) -> Run | None:
    """The run that gathered rows are up to a bound; None where they are anything else."""
    match _combination(rows):
        case arith.SelectOp(), (condition, values, _):
            return _selected(condition, values)
        case arith.MinSIOp(), (left, right):
            return _run(left, right, is_included=True) or _run(right, left, is_included=True)
        case _:
            return None


def _selected(condition: SSAValue, values: SSAValue) -> Run | None:
    """``where(values < bound, values, ...)``."""
    match _combination(condition):
        case arith.CmpiOp() as op, (left, right):
            pass
        case _:
            return None
    match op.kind:
        case CmpIPredicate.SLT | CmpIPredicate.SLE if left is values:
            return _run(values, right, is_included=op.kind is CmpIPredicate.SLE)
        case CmpIPredicate.SGT | CmpIPredicate.SGE if right is values:
            return _run(values, left, is_included=op.kind is CmpIPredicate.SGE)
        case _:
            return None


def _run(values: SSAValue, bounds: SSAValue, *, is_included: bool) -> Run | None:
    first, bound = _first_of_count(values), _number_everywhere(bounds)
    return Run(first, bound, is_included) if first is not None and bound is not None else None


def _first_of_count(values: SSAValue) -> SSAValue | int | None:
    """s where lane i is s + i."""
    if _is_lane_number(values):
        return 0
    match _combination(values):
        case arith.AddiOp(), (left, right) if _is_lane_number(right):
            return _number_everywhere(left)
        case arith.AddiOp(), (left, right) if _is_lane_number(left):
            return _number_everywhere(right)
        case _:
            return None


def _number_everywhere(value: SSAValue) -> SSAValue | None:
    """The number that fills a tensor."""
    op = value.owner
    return op.inputs[0] if isinstance(op, linalg.FillOp) else None


def _is_lane_number(value: SSAValue) -> bool:
    """Return whether lane i of a row of lanes is i."""
    generic = value.owner
    if not isinstance(generic, linalg.GenericOp) or generic.inputs or len(generic.results) != 1:
        return False
    end = generic.body.block.last_op
    assert end is not None
    cast = end.operands[0].owner
    if not isinstance(cast, arith.IndexCastOp) or not isinstance(cast.input.owner, linalg.IndexOp):
        return False
    return len(generic.iterators) == 1 and cast.input.owner.dim.value.data == 0


def _combination(value: SSAValue) -> tuple[Operation, tuple[SSAValue, ...]] | None:
    """The only op of an elementwise generic with one result, and the tensors that it combines lane by lane."""
    generic = value.owner
    if not isinstance(generic, linalg.GenericOp) or not is_elementwise(generic) or len(generic.results) != 1:
        return None
    body, maps = generic.body.block, generic.maps
    op, end = body.first_op, body.last_op
    if op is None or end is None or op.next_op is not end or tuple(end.operands) != tuple(op.results):
        return None
    combined: list[SSAValue] = []
    for operand in op.operands:
        if not isinstance(operand, BlockArgument) or operand.owner is not body:
            return None
        if operand.index >= len(generic.inputs) or access_of(maps[operand.index]) != access_of(maps[-1]):
            return None
        combined.append(generic.inputs[operand.index])
    return op, tuple(combined)
