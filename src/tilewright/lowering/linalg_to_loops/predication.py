"""Branches in a body become straight code, so that lanes can go different ways.

    %r = scf.if %live { %v = memref.load ...; yield %v } else { yield %other }
      ->  %v = memref.load ...   (predicate: %live)
          %r = arith.select %live, %v, %other

A predicated access touches memory only where its predicate holds. A body in which other control flow remains keeps its
branches: it runs one element at a time (`is_straight`). So does one with volatile loads, of which vectors have none.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import arith, linalg, memref, scf
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.lowering.guarded_atomics import can_scatter
from tilewright.transforms.linalg.body_cost import LOADS

Predicate: TypeAlias = "tuple[tuple[SSAValue, bool], ...]"
"""Conditions that must all have the given value."""

_TRAPPING = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
)
_MOVABLE = (scf.YieldOp, memref.ReinterpretCastOp, memref.StoreOp, linalg.IndexOp, *LOADS)
_STRAIGHT = (linalg.YieldOp, linalg.IndexOp, memref.ReinterpretCastOp, memref.StoreOp, *LOADS)


def is_straight(body: Block) -> bool:
    """Return whether a body is only arithmetic, loads, stores and sums in memory, without control flow or other
    effects.
    """
    return find_obstacle(body) is None


def find_obstacle(body: Block) -> Operation | None:
    """The first op of a body that `is_straight` does not allow."""
    return next((op for op in body.ops if not _is_straight_op(op)), None)


def _is_straight_op(op: Operation) -> bool:
    if _is_volatile(op):
        return False
    return isinstance(op, _STRAIGHT) or can_scatter(op) or is_arithmetic(op)


def _is_volatile(op: Operation) -> bool:
    return memref.VOLATILE in op.attributes


def if_convert(body: Block) -> dict[Operation, Predicate]:
    """Flatten the `scf.if` ops of a body in place, if it is straight then. Returns the predicates of the accesses moved
    out."""
    branches = [op for op in body.ops if isinstance(op, scf.IfOp)]
    if not all(isinstance(op, scf.IfOp) or _is_straight_op(op) for op in body.ops):
        return {}
    if not all(map(_is_convertible, branches)):
        return {}
    predicates: dict[Operation, Predicate] = {}
    for op in branches:
        _flatten(op, (), predicates)
    return predicates


def _is_convertible(op: scf.IfOp) -> bool:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                if isinstance(inner, scf.IfOp):
                    if not _is_convertible(inner):
                        return False
                elif _is_volatile(inner):
                    return False
                elif isinstance(inner, _MOVABLE) or can_scatter(inner):
                    continue
                elif isinstance(inner, _TRAPPING) or not is_arithmetic(inner):
                    return False
    return True


def _flatten(op: scf.IfOp, outer: Predicate, predicates: dict[Operation, Predicate]) -> None:
    parent = op.parent_block()
    assert parent is not None
    yielded: list[list[SSAValue]] = []
    for region, polarity in zip(op.regions, (True, False), strict=True):
        here = (*outer, (op.cond, polarity))
        for block in region.blocks:
            for inner in list(block.ops):
                if isinstance(inner, scf.YieldOp):
                    yielded.append(list(inner.operands))
                    continue
                inner.detach()
                parent.insert_op_before(inner, op)
                if isinstance(inner, scf.IfOp):
                    _flatten(inner, here, predicates)
                elif isinstance(inner, (memref.StoreOp, memref.AtomicRMWOp, *LOADS)):
                    predicates[inner] = here
    if op.results:
        for result, when_true, when_false in zip(op.results, yielded[0], yielded[1], strict=True):
            select = arith.SelectOp.create(operands=[op.cond, when_true, when_false], result_types=[result.type])
            parent.insert_op_before(select, op)
            result.replace_all_uses_with(select.results[0])
    op.detach()
    op.erase()
