"""Canonicalization rules of integer arithmetic that make new ops. What folds to existing values is with the ops."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import arith
from tilewright.dialects.arith import CmpIPredicate, constant_splat, find_constant_int
from tilewright.dialects.types import bit_width, element_type
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern

NO_OVERFLOW_FLAGS = arith.AddiOp.get_irdl_definition().properties["overflowFlags"].default_value
"""`overflowFlags` of an op that may wrap: sums of constants are only merged there, as the sum may wrap too."""

Sum = arith.AddiOp | arith.SubiOp


def _wraps(op: Operation) -> bool:
    return op.properties.get("overflowFlags", NO_OVERFLOW_FLAGS) == NO_OVERFLOW_FLAGS


def _linear(op: Operation) -> tuple[int, SSAValue, int] | None:
    """`(sign, x, c)` when a sum or difference with a constant computes `sign * x + c`; None for other ops."""
    if not isinstance(op, Sum) or not _wraps(op):
        return None
    left, right = find_constant_int(op.operands[0]), find_constant_int(op.operands[1])
    is_sum = isinstance(op, arith.AddiOp)
    if right is not None and left is None:
        return 1, op.operands[0], right if is_sum else -right
    if left is not None and right is None:
        return (1 if is_sum else -1), op.operands[1], left
    return None


class MergeConstantSums(RewriteRule):
    """(x + a) + b = x + (a + b), and so for differences and for a - x. Removes an op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp | arith.SubiOp, rewriter: RuleRewriter, /) -> None:
        outer = _linear(op)
        inner_op = outer[1].op if outer is not None and isinstance(outer[1], OpResult) else None
        inner = _linear(inner_op) if inner_op is not None else None
        if outer is None or inner is None:
            return
        sign, value, constant = outer[0] * inner[0], inner[1], outer[0] * inner[2] + outer[2]
        if isinstance(op, arith.SubiOp) and isinstance(inner_op, arith.SubiOp) and sign > 0 and outer[0] > 0:
            number = constant_splat(_wrapped(-constant, value), value.type)
            rewriter.replace(op, [number, arith.SubiOp(value, number)])
            return
        number = constant_splat(_wrapped(constant, value), value.type)
        merged = arith.AddiOp(value, number) if sign > 0 else arith.SubiOp(number, value)
        rewriter.replace(op, [number, merged])


def _wrapped(constant: int, value: SSAValue) -> int:
    width = bit_width(element_type(value.type))
    constant &= (1 << width) - 1
    return constant - (1 << width) if constant >> (width - 1) else constant


class MergeConstantProducts(RewriteRule):
    """(x * a) * b = x * (a * b). Removes an op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: RuleRewriter, /) -> None:
        inner = op.operands[0].owner
        if not isinstance(inner, arith.MuliOp) or not _wraps(op) or not _wraps(inner):
            return
        factors = find_constant_int(op.operands[1]), find_constant_int(inner.operands[1])
        if factors[0] is None or factors[1] is None:
            return
        value = inner.operands[0]
        number = constant_splat(_wrapped(factors[0] * factors[1], value), value.type)
        rewriter.replace(op, [number, arith.MuliOp(value, number)])


_INVERSE = {
    CmpIPredicate.EQ: CmpIPredicate.NE,
    CmpIPredicate.NE: CmpIPredicate.EQ,
    CmpIPredicate.SLT: CmpIPredicate.SGE,
    CmpIPredicate.SLE: CmpIPredicate.SGT,
    CmpIPredicate.SGT: CmpIPredicate.SLE,
    CmpIPredicate.SGE: CmpIPredicate.SLT,
    CmpIPredicate.ULT: CmpIPredicate.UGE,
    CmpIPredicate.ULE: CmpIPredicate.UGT,
    CmpIPredicate.UGT: CmpIPredicate.ULE,
    CmpIPredicate.UGE: CmpIPredicate.ULT,
}
_SWAPPED = {
    CmpIPredicate.EQ: CmpIPredicate.EQ,
    CmpIPredicate.NE: CmpIPredicate.NE,
    CmpIPredicate.SLT: CmpIPredicate.SGT,
    CmpIPredicate.SLE: CmpIPredicate.SGE,
    CmpIPredicate.SGT: CmpIPredicate.SLT,
    CmpIPredicate.SGE: CmpIPredicate.SLE,
    CmpIPredicate.ULT: CmpIPredicate.UGT,
    CmpIPredicate.ULE: CmpIPredicate.UGE,
    CmpIPredicate.UGT: CmpIPredicate.ULT,
    CmpIPredicate.UGE: CmpIPredicate.ULE,
}


class NegateComparison(RewriteRule):
    """not (a < b) = a >= b, for integers. Removes an op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.XOrIOp, rewriter: RuleRewriter, /) -> None:
        comparison = op.operands[0].owner
        if not isinstance(comparison, arith.CmpiOp) or find_constant_int(op.operands[1]) != -1:
            return
        inverse = _INVERSE[comparison.kind]
        rewriter.replace(op, arith.CmpiOp(comparison.operands[0], comparison.operands[1], int(inverse)))


class CompareWithConstantOnTheRight(RewriteRule):
    """c < x = x > c. The constant moves to the right."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.CmpiOp, rewriter: RuleRewriter, /) -> None:
        left, right = op.operands[0], op.operands[1]
        if find_constant_int(left) is None or find_constant_int(right) is not None:
            return
        rewriter.replace(op, arith.CmpiOp(right, left, int(_SWAPPED[op.kind])))


class SelectOfNegation(RewriteRule):
    """select(not c, a, b) = select(c, b, a); select(c, false, true) = not c. Removes an op or an operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SelectOp, rewriter: RuleRewriter, /) -> None:
        condition, then, otherwise = op.operands
        negation = condition.owner
        if isinstance(negation, arith.XOrIOp) and find_constant_int(negation.operands[1]) == -1:
            rewriter.replace(op, arith.SelectOp(negation.operands[0], otherwise, then))
        elif then.type == condition.type and find_constant_int(then) == 0 and find_constant_int(otherwise) == -1:
            rewriter.replace(op, arith.XOrIOp(condition, otherwise))


class SelectOfSelect(RewriteRule):
    """select(c, select(c, a, _), b) = select(c, a, b), likewise on the other side. Skips an op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SelectOp, rewriter: RuleRewriter, /) -> None:
        condition, then, otherwise = op.operands
        inner, other = then.owner, otherwise.owner
        if isinstance(inner, arith.SelectOp) and inner.operands[0] is condition:
            rewriter.replace(op, arith.SelectOp(condition, inner.operands[1], otherwise))
        elif isinstance(other, arith.SelectOp) and other.operands[0] is condition:
            rewriter.replace(op, arith.SelectOp(condition, then, other.operands[2]))


class ExtendOnce(RewriteRule):
    """ext(ext(x)) = ext(x), with the signedness of the inner one unless both are signed. Removes an op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ExtSIOp | arith.ExtUIOp, rewriter: RuleRewriter, /) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, arith.ExtUIOp):
            rewriter.replace(op, arith.ExtUIOp(inner.operands[0], op.results[0].type))
        elif isinstance(inner, arith.ExtSIOp) and isinstance(op, arith.ExtSIOp):
            rewriter.replace(op, arith.ExtSIOp(inner.operands[0], op.results[0].type))


class TruncateExtended(RewriteRule):
    """trunc(ext(x)) = ext(x) or trunc(x) at the final width; trunc(trunc(x)) = trunc(x). Removes an op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.TruncIOp, rewriter: RuleRewriter, /) -> None:
        inner = op.operands[0].owner
        result_type = op.results[0].type
        if isinstance(inner, arith.TruncIOp):
            if _wraps(op) and _wraps(inner):
                rewriter.replace(op, arith.TruncIOp(inner.operands[0], result_type))
            return
        if not isinstance(inner, arith.ExtSIOp | arith.ExtUIOp):
            return
        source = inner.operands[0]
        narrow, wide = bit_width(element_type(source.type)), bit_width(element_type(result_type))
        if narrow < wide:
            rewriter.replace(op, type(inner)(source, result_type))
        elif narrow > wide:
            rewriter.replace(op, arith.TruncIOp(source, result_type))


class CastIndexOnce(RewriteRule):
    """index_cast(extsi(x)) = index_cast(x), as both extend the sign. Removes an op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.IndexCastOp, rewriter: RuleRewriter, /) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, arith.ExtSIOp) and isinstance(element_type(op.results[0].type), IndexType):
            rewriter.replace(op, arith.IndexCastOp(inner.operands[0], op.results[0].type))


ARITHMETIC_RULES: tuple[RewriteRule, ...] = (
    MergeConstantSums(),
    MergeConstantProducts(),
    NegateComparison(),
    CompareWithConstantOnTheRight(),
    SelectOfNegation(),
    SelectOfSelect(),
    ExtendOnce(),
    TruncateExtended(),
    CastIndexOnce(),
)
"""Every rule of this file, in the order to try them."""
