"""`triton-combine`: several ops that amount to one become that one."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith import constant_splat, find_constant_int
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.types import bit_width, element_type
from tilewright.ir.dominance import properly_dominates
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern
from tilewright.transforms.common.greedy import rewrite_greedily


def _defining(value: SSAValue, cls: type[Operation]) -> Operation | None:
    return value.op if isinstance(value, OpResult) and isinstance(value.op, cls) else None


class AccumulateInDot(RewriteRule):
    """dot(a, b, 0) + c = dot(a, b, c), in floats only where the dot accumulates exactly as written.

    The dot must have no other user, so that it is not computed twice. Removes an addition."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddfOp | arith.AddiOp, rewriter: RuleRewriter, /) -> None:
        for value, addend in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            dot = _defining(value, tt.DotOp)
            if not isinstance(dot, tt.DotOp) or splat_of(dot.c) != 0 or not dot.d.has_one_use():
                continue
            if isinstance(op, arith.AddfOp) and dot.max_num_imprecise_acc.value.data != 0:
                continue
            merged = tt.DotOp.create(
                operands=(dot.a, dot.b, addend),
                result_types=(op.results[0].type,),
                properties=dot.properties,
                attributes=dot.attributes,
            )
            rewriter.replace(op, merged)
            return


def _sum_is_exact(first: SSAValue, second: SSAValue) -> bool:
    """Return whether two offsets of one type may be added in that type: in 64 bits always, else only constants that
    fit.
    """
    if first.type != second.type:
        return False
    width = bit_width(element_type(first.type))
    if width == 64:
        return True
    constants = find_constant_int(first), find_constant_int(second)
    if constants[0] is None or constants[1] is None:
        return False
    limit = 1 << (width - 1)
    return -limit <= constants[0] + constants[1] < limit


class MergePointerOffsets(RewriteRule):
    """addptr(addptr(p, i), j) = addptr(p, i + j), where the sum cannot overflow. Removes a pointer op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tt.AddPtrOp, rewriter: RuleRewriter, /) -> None:
        inner = _defining(op.ptr, tt.AddPtrOp)
        if not isinstance(inner, tt.AddPtrOp) or not _sum_is_exact(inner.offset, op.offset):
            return
        offset = arith.AddiOp(inner.offset, op.offset)
        merged = tt.AddPtrOp(inner.ptr, offset)
        merged.attributes.update(op.attributes)
        rewriter.replace(op, [offset, merged])


class SelectMaskedLoad(RewriteRule):
    """select(m, load(p, m, _), o) = load(p, m, o), for a load that nothing else uses; a scalar m is splat in the load.

    The load stays where it is, as a store may follow it. Removes a select."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SelectOp, rewriter: RuleRewriter, /) -> None:
        condition, value, other = op.operands
        load = _defining(value, tt.LoadOp)
        if not isinstance(load, tt.LoadOp) or load.mask is None or not load.result.has_one_use():
            return
        splat = _defining(load.mask, tt.SplatOp)
        scalar = splat.src if isinstance(splat, tt.SplatOp) else None
        if condition is not load.mask and condition is not scalar:
            return
        if not _is_available(other, load):
            return
        merged = tt.LoadOp(load.ptr, load.mask, other)
        merged.properties = load.properties | {"operandSegmentSizes": merged.properties["operandSegmentSizes"]}
        merged.attributes.update(load.attributes)
        rewriter.replace(load, merged)
        rewriter.replace(op, (), (merged.result,))


def _is_available(value: SSAValue, op: Operation) -> bool:
    """Return whether `value` is defined where `op` stands."""
    if isinstance(value, OpResult):
        return properly_dominates(value.op, op)
    owner = value.owner
    current: Operation | None = op
    while current is not None:
        if current.parent is owner:
            return True
        current = current.parent_op()
    return False


class SumOfProductsIsDot(RewriteRule):
    """sum(x[:, :, None] * y[None, :, :], axis=1) = dot(x, y, 0). Removes a tensor of rank 3."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tt.ReduceOp, rewriter: RuleRewriter, /) -> None:
        if op.axis.value.data != 1 or len(op.srcs) != 1 or not _is_float_sum(op):
            return
        product = _defining(op.srcs[0], arith.MulfOp)
        if product is None:
            return
        x = _broadcast_of(product.operands[0], axis=2)
        y = _broadcast_of(product.operands[1], axis=0)
        result_type = op.result[0].type
        if x is None or y is None or not is_tensor(result_type):
            return
        zero = constant_splat(0.0, result_type)
        dot = tt.DotOp(x, y, zero, input_precision=tt.InputPrecision.TF32)
        rewriter.replace(op, [zero, dot])


def _is_float_sum(op: tt.ReduceOp) -> bool:
    block = op.combine_op.blocks.first
    if block is None or block.next_block is not None:
        return False
    ops = list(block.ops)
    if len(ops) != 2 or not isinstance(ops[0], arith.AddfOp):
        return False
    return set(ops[0].operands) == set(block.args) and tuple(ops[1].operands) == tuple(ops[0].results)


def _broadcast_of(value: SSAValue, *, axis: int) -> SSAValue | None:
    """The matrix x of `broadcast(expand_dims(x, axis))`, or None."""
    broadcast = _defining(value, tt.BroadcastOp)
    expanded = _defining(broadcast.src, tt.ExpandDimsOp) if isinstance(broadcast, tt.BroadcastOp) else None
    if not isinstance(expanded, tt.ExpandDimsOp) or expanded.axis.value.data != axis:
        return None
    source = expanded.src.type
    if not is_tensor(source) or source.get_num_dims() != 2:
        return None
    return expanded.src if isinstance(source.element_type, FixedBitwidthType) else None


COMBINE_RULES: tuple[RewriteRule, ...] = (
    AccumulateInDot(),
    MergePointerOffsets(),
    SelectMaskedLoad(),
    SumOfProductsIsDot(),
)
"""Every rule of the pass, in the order to try them."""


@register_pass
class CombinePass(Pass):
    """Merges ops: the addition after a dot, chains of addptr, selects on masked loads, sums of products.

    Before:
    ```mlir
    %zero = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %d = tt.dot %a, %b, %zero : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %e = arith.addf %d, %c : tensor<32x32xf32>
    ```
    After:
    ```mlir
    %e = tt.dot %a, %b, %c : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    ```
    """

    name = "triton-combine"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        rewrite_greedily(module, COMBINE_RULES, pass_name=self.name)
