"""Canonicalization rules of slices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tilewright.dialects import tensor
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.types import shape_of
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern


class FoldConstantOffsets(RewriteRule):
    """slice %t[%c1, %i] = slice %t[1, %i], for slices that stay within the tensor. Removes an operand.

    The canonicalize of mlir-opt 22 does the same, but gets the sizes of `%t[0, 0, 0, %c1] [1, 4, 1, 1]` wrong where the
    slice drops dimensions, and refuses what it has made.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractSliceOp | tensor.InsertSliceOp, rewriter: RuleRewriter, /) -> None:
        offsets, sizes, strides = op.mixed_offsets, op.mixed_sizes, op.mixed_strides
        whole = op.source if isinstance(op, tensor.ExtractSliceOp) else op.dest
        places = zip(offsets, sizes, strides, shape_of(whole.type) or (), strict=True)
        folded = [_as_number(offset, size, stride, extent) for offset, size, stride, extent in places]
        if folded == offsets:
            return
        if isinstance(op, tensor.ExtractSliceOp):
            rewriter.replace(op, tensor.ExtractSliceOp(op.source, folded, sizes, strides, op.result.type))
        else:
            rewriter.replace(op, tensor.InsertSliceOp(op.source, op.dest, folded, sizes, strides))


def _as_number(offset: int | SSAValue, size: int | SSAValue, stride: int | SSAValue, extent: int) -> int | SSAValue:
    """The offset as a number; as it is where the slice would not be legal, as in code that never runs."""
    number = offset if isinstance(offset, int) else find_constant_int(offset)
    if number is None or number < 0:
        return offset
    last = number + (size - 1) * stride if isinstance(size, int) and isinstance(stride, int) else number
    return number if extent == DYNAMIC_INDEX or max(number, last) < extent else offset


SLICE_RULES: Sequence[RewriteRule] = (FoldConstantOffsets(),)
