"""Canonicalization rules of slices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import tensor
from tilewright.dialects.arith import find_constant_int
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern


class FoldConstantOffsets(RewriteRule):
    """slice %t[%c1, %i] = slice %t[1, %i], for offsets of zero and more. Removes an operand.

    The canonicalize of mlir-opt 22 does the same, but gets the sizes of `%t[0, 0, 0, %c1] [1, 4, 1, 1]` wrong where the
    slice drops dimensions, and refuses what it has made.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractSliceOp | tensor.InsertSliceOp, rewriter: RuleRewriter, /) -> None:
        offsets = op.mixed_offsets
        folded = [_as_number(offset) for offset in offsets]
        if folded == offsets:
            return
        sizes, strides = op.mixed_sizes, op.mixed_strides
        if isinstance(op, tensor.ExtractSliceOp):
            rewriter.replace(op, tensor.ExtractSliceOp(op.source, folded, sizes, strides, op.result.type))
        else:
            rewriter.replace(op, tensor.InsertSliceOp(op.source, op.dest, folded, sizes, strides))


def _as_number(offset: int | SSAValue) -> int | SSAValue:
    number = offset if isinstance(offset, int) else find_constant_int(offset)
    return offset if number is None or number < 0 else number


SLICE_RULES: Sequence[RewriteRule] = (FoldConstantOffsets(),)
