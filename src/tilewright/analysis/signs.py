"""Sign analysis: values that are never negative.

The proof goes backwards through the ops that compute a value. Loop-carried values are proved by induction. Additions
and products of 32 bits and more are taken not to overflow, as everywhere in address arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.analysis.index_algebra import Choice, Constant, Expr, Phi, Product, Sum, Symbol, Uniform
from tilewright.dialects import arith, scf, tt
from tilewright.dialects.types import bit_width, element_type, is_integer

MAX_DEPTH = 120
"""Longest chain of ops that a proof follows."""

NEVER_NEGATIVE = (tt.GetProgramIdOp, tt.GetNumProgramsOp, arith.ExtUIOp, arith.IndexCastUIOp)
IF_ALL_OPERANDS = (
    arith.AddiOp,
    arith.MuliOp,
    arith.MinSIOp,
    arith.DivSIOp,
    arith.OrIOp,
    arith.XOrIOp,
    arith.CeilDivSIOp,
)
IF_FIRST_OPERAND = (
    arith.RemSIOp,
    arith.DivUIOp,
    arith.ShRSIOp,
    arith.ExtSIOp,
    tt.SplatOp,
    tt.ExpandDimsOp,
    tt.BroadcastOp,
    tt.ReshapeOp,
    tt.TransOp,
    tt.UnsplatOp,
)
IF_ANY_OPERAND = (arith.MaxSIOp, arith.AndIOp)


class Signs:
    """Answers `is_nonnegative` for expressions and values of one function; answers are kept."""

    def __init__(self) -> None:
        self._proved: dict[object, bool] = {}
        self._trail: list[object] = []

    def is_nonnegative(self, expr: Expr, depth: int = 0) -> bool:
        """Return whether an expression is provably at least 0."""
        match expr:
            case Constant(value=value):
                return value >= 0
            case Symbol(value=value, unsigned=unsigned):
                return unsigned or self.is_value_nonnegative(value, depth)
            case Uniform(value=value):
                return self.is_value_nonnegative(value, depth)
            case Sum(constant=constant, terms=terms):
                return constant >= 0 and all(c > 0 and self.is_nonnegative(term, depth + 1) for term, c in terms)
            case Product(lhs=lhs, rhs=rhs):
                return lhs is rhs or (self.is_nonnegative(lhs, depth + 1) and self.is_nonnegative(rhs, depth + 1))
            case Choice(if_true=if_true, if_false=if_false):
                return self.is_nonnegative(if_true, depth + 1) and self.is_nonnegative(if_false, depth + 1)
            case Phi(slot=slot):
                return self._by_induction(slot, lambda: all(self.is_nonnegative(e, depth + 1) for e in slot.incoming))
            case _:
                return False

    def is_value_nonnegative(self, value: SSAValue, depth: int = 0) -> bool:
        """Return whether an integer, or every lane of an integer tensor, is provably at least 0."""
        if depth > MAX_DEPTH:
            return False
        found = self._proved.get(value)
        if found is None:
            found = self._by_induction(value, lambda: self._prove(value, depth + 1))
        return found

    def _by_induction(self, key: object, proof: Callable[[], bool]) -> bool:
        """Runs a proof that may assume its own conclusion; what rests on a refuted assumption is forgotten."""
        found = self._proved.get(key)
        if found is not None:
            return found
        mark = len(self._trail)
        self._proved[key] = True
        self._trail.append(key)
        if proof():
            return True
        for resting in self._trail[mark:]:
            if self._proved.get(resting):
                del self._proved[resting]
        del self._trail[mark:]
        self._proved[key] = False
        return False

    def _prove(self, value: SSAValue, depth: int) -> bool:
        known = arith.find_constant_int(value)
        if known is not None:
            return known >= 0
        if not isinstance(value, OpResult):
            return self._prove_block_argument(value, depth)
        return self._prove_result(value.op, value.index, depth)

    def _prove_result(self, op: Operation, index: int, depth: int) -> bool:
        operands = op.operands
        match op:
            case tt.MakeRangeOp():
                start = op.properties.get("start")
                return isinstance(start, IntegerAttr) and start.value.data >= 0
            case arith.RemUIOp():
                return all(self.is_value_nonnegative(operand, depth) for operand in operands)
            case arith.ShRUIOp():
                shift = arith.find_constant_int(operands[1])
                return (shift or 0) > 0 or self.is_value_nonnegative(operands[0], depth)
            case arith.SelectOp():
                return all(self.is_value_nonnegative(operand, depth) for operand in operands[1:])
            case scf.ForOp():
                return self._all_nonnegative((operands[3 + index], _yielded(op.regions[0].block, index)), depth)
            case scf.IfOp() if all(region.blocks for region in op.regions):
                return self._all_nonnegative([_yielded(region.block, index) for region in op.regions], depth)
            case arith.IndexCastOp():
                source, target = (bit_width(element_type(v.type)) for v in (operands[0], op.results[0]))
                return source <= target and self.is_value_nonnegative(operands[0], depth)
            case _ if isinstance(op, NEVER_NEGATIVE):
                return True
            case _ if isinstance(op, IF_FIRST_OPERAND):
                return self.is_value_nonnegative(operands[0], depth)
            case _ if isinstance(op, IF_ANY_OPERAND):
                return any(self.is_value_nonnegative(operand, depth) for operand in operands)
            case _ if isinstance(op, IF_ALL_OPERANDS) and _is_wide(op):
                return self._all_nonnegative(operands, depth)
            case _:
                return False

    def _all_nonnegative(self, values: Iterable[SSAValue | None], depth: int) -> bool:
        return all(value is not None and self.is_value_nonnegative(value, depth) for value in values)

    def _prove_block_argument(self, value: SSAValue, depth: int) -> bool:
        if not isinstance(value, BlockArgument):
            return False
        block, loop = value.block, value.block.parent_op()
        if not isinstance(loop, scf.ForOp):
            return False
        index = value.index - 1
        if index < 0:
            if "unsignedCmp" in loop.properties:
                return False
            return self._all_nonnegative((loop.operands[0], loop.operands[2]), depth)
        return self._all_nonnegative((loop.operands[3 + index], _yielded(block, index)), depth)


def _yielded(block: Block, index: int) -> SSAValue | None:
    last = block.last_op
    return last.operands[index] if isinstance(last, scf.YieldOp) and index < len(last.operands) else None


def _is_wide(op: Operation) -> bool:
    element = element_type(op.results[0].type)
    return not is_integer(element) or bit_width(element) >= 32
