"""Run-time checks of views, weakened to the lanes of a tile that are read.

Rows that wrap around at the end of a matrix are read in place if they are consecutive, as in all blocks but the last.
What is computed from rows past the end is not stored, so that the last block can be read in place, too:

    rows = (first + arange(0, 64)) % M;  ...;  store(..., mask=first + arange(0, 64) < M)

    %last = %first * %s + 63 * %s;  %straight = %last < %M * %s       all rows
      ->
    %last = %first * %s + (%n - 1) * %s;  %straight = %last < %M * %s      the %n rows that are stored
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, scf
from tilewright.lowering.linalg_matmuls.first_iteration import FirstIteration, to_index
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.transforms.linalg.choose_views import UNIT_STRIDE_GUARD
from tilewright.transforms.linalg.index_proofs import constant_of, is_same


def says_which_lanes_follow(branch: scf.IfOp, dim: int) -> bool:
    """Return whether the condition of a choice of views is that the lanes of a dimension are consecutive."""
    mark = branch.attributes.get(UNIT_STRIDE_GUARD)
    return isinstance(mark, IntegerAttr) and mark.value.data == dim


def holds_for_first(
    first: FirstIteration, condition: SSAValue, extent: int, stride: Index, count: Index
) -> SSAValue | bool:
    """The condition of all `extent` lanes, in the first iteration of a loop, for `count` of them.

    Comparisons that do not name the last lane stay. `stride` is that of the view.
    """
    emitter, op = first.emitter, condition.owner
    if isinstance(op, arith.AndIOp):
        sides = [holds_for_first(first, side, extent, stride, count) for side in op.operands]
        return emitter.both(sides[0], sides[1])
    if isinstance(op, arith.CmpiOp) and (named := _last_lane(op.lhs, extent, stride)) is not None:
        start, unit = named
        last = emitter.sub(count, 1)
        place = emitter.add(to_index(emitter, first.first(start)), emitter.mul(last, _number(first, unit)))
        return emitter.compare(op.kind.name.lower(), place, to_index(emitter, first.first(op.rhs)))
    value = first.first(condition)
    assert isinstance(value, SSAValue)
    return value


def _last_lane(value: SSAValue, extent: int, stride: Index) -> tuple[SSAValue, Index] | None:
    """(s, u) of ``s + (extent - 1) * u``, where u is 1 or the stride."""
    op = value.owner
    if not isinstance(op, arith.AddiOp):
        return None
    for start, distance in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        for unit in (1, stride):
            if _is_multiple(distance, extent - 1, unit):
                return start, unit
    return None


def _is_multiple(value: SSAValue, times: int, unit: Index) -> bool:
    number, factor = constant_of(value), constant_of(unit)
    if number is not None or factor == 1:
        return factor is not None and number == times * factor
    op = value.owner
    if not isinstance(op, Operation) or not isinstance(op, arith.MuliOp):
        return False
    return any(
        constant_of(one) == times and is_same(other, unit) for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs))
    )


def _number(first: FirstIteration, unit: Index) -> Index:
    return to_index(first.emitter, first.first(unit))
