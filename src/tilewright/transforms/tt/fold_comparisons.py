"""`triton-fold-comparisons`: masks that never mask anything go."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.analysis.integer_ranges import IntegerRanges, Range
from tilewright.dialects import arith
from tilewright.dialects.arith import CmpIPredicate
from tilewright.dialects.types import bit_width, element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops

UNSIGNED = {
    CmpIPredicate.ULT: CmpIPredicate.SLT,
    CmpIPredicate.ULE: CmpIPredicate.SLE,
    CmpIPredicate.UGT: CmpIPredicate.SGT,
    CmpIPredicate.UGE: CmpIPredicate.SGE,
}
"""The predicates that mean the same for numbers that are not negative."""


@register_pass
class FoldComparisonsPass(Pass):
    """Replaces integer comparisons that always, or never, hold with constants.

    Before:
    ```mlir
    scf.for %i = %c0 to %c125 step %c1 : i32 {
      %start = arith.muli %i, %c256 : i32
      %tile = tt.splat %start : i32 -> tensor<256xi32>
      %x = arith.addi %tile, %range : tensor<256xi32>
      %mask = arith.cmpi slt, %x, %dense32000 : tensor<256xi32>
    ```
    After, as 124 * 256 + 255 < 32000:
    ```mlir
      %mask = arith.constant dense<true> : tensor<256xi1>
    ```
    Rows of known length usually divide into equal tiles, but kernels written for any length still mask them. Each
    masked access would otherwise become two loops, one with and one without masks.
    """

    name = "triton-fold-comparisons"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        ranges = IntegerRanges()
        for op in find_ops(module, arith.CmpiOp):
            if bit_width(element_type(op.lhs.type)) == 1:
                continue
            outcome = compare(op.kind, ranges.of(op.lhs), ranges.of(op.rhs))
            if outcome is not None:
                _replace(op, outcome)


def compare(kind: CmpIPredicate, lhs: Range, rhs: Range) -> bool | None:
    """Return how all numbers of two ranges compare; None if it depends on the numbers."""
    if kind in UNSIGNED:
        if lhs.low < 0 or rhs.low < 0:
            return None
        kind = UNSIGNED[kind]
    match kind:
        case CmpIPredicate.SLT:
            return _decided(lhs.high < rhs.low, lhs.low >= rhs.high)
        case CmpIPredicate.SLE:
            return _decided(lhs.high <= rhs.low, lhs.low > rhs.high)
        case CmpIPredicate.SGT:
            return _decided(lhs.low > rhs.high, lhs.high <= rhs.low)
        case CmpIPredicate.SGE:
            return _decided(lhs.low >= rhs.high, lhs.high < rhs.low)
        case _:
            differ = lhs.high < rhs.low or rhs.high < lhs.low
            equal = lhs.low == lhs.high == rhs.low == rhs.high
            return _decided(equal, differ) if kind is CmpIPredicate.EQ else _decided(differ, equal)


def _decided(holds: bool, fails: bool) -> bool | None:
    return True if holds else False if fails else None


def _replace(op: arith.CmpiOp, outcome: bool) -> None:
    (result,) = op.results
    constant = OpBuilder.before(op).result(arith.constant_splat(int(outcome), result.type))
    constant.name_hint = result.name_hint
    result.replace_all_uses_with(constant)
    op.detach()
    op.erase()
