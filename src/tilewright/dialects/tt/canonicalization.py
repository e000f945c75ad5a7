"""Canonicalization rules of the `tt` ops. Folds (results that exist already, or constants) stand with the ops."""

from __future__ import annotations

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects.construction import segment_sizes, static_values
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.tt.memory import LoadOp, StoreOp
from tilewright.dialects.tt.pointer import BitcastOp, IntToPtrOp, PtrToIntOp
from tilewright.dialects.tt.shape import BroadcastOp, ExpandDimsOp, ReshapeOp, SplatOp, TransOp
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.types import element_type


class BroadcastOfSplat(RewritePattern):
    """broadcast(splat(x)) = splat(x) at the wider type. Removes one tensor op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, SplatOp):
            rewriter.replace(op, SplatOp(source.src, op.result.type))


class BroadcastOfBroadcast(RewritePattern):
    """broadcast(broadcast(x)) = broadcast(x) at the outer type. Removes one tensor op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, BroadcastOp):
            rewriter.replace(op, BroadcastOp(source.src, op.result.type))


class ExpandDimsOfSplat(RewritePattern):
    """expand_dims(splat(x)) = splat(x). Removes one tensor op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExpandDimsOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, SplatOp):
            rewriter.replace(op, SplatOp(source.src, op.result.type))


class ExpandDimsOfBroadcast(RewritePattern):
    """expand_dims(broadcast(x)) = broadcast(expand_dims(x)). The expansion moves to the smaller tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ExpandDimsOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if not isinstance(source, BroadcastOp):
            return
        expanded = ExpandDimsOp(source.src, op.axis.value.data)
        rewriter.replace(op, [expanded, BroadcastOp(expanded.result, op.result.type)])


class ReshapeOfReshape(RewritePattern):
    """reshape(reshape(x)) = reshape(x); the order is free if it was free in either. Removes one tensor op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if not isinstance(source, ReshapeOp) or op.efficient_layout is not None:
            return
        reorder = op.allow_reorder is not None or source.allow_reorder is not None
        rewriter.replace(op, ReshapeOp(source.src, op.result.type, allow_reorder=reorder))


class ReshapeOfSplat(RewritePattern):
    """reshape(splat(x)) = splat(x). Removes one tensor op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, SplatOp):
            rewriter.replace(op, SplatOp(source.src, op.result.type))


class TransOfTrans(RewritePattern):
    """trans(trans(x, p), q) = trans(x, p o q), where (p o q)[i] = p[q[i]]. Removes one tensor op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if not isinstance(source, TransOp):
            return
        inner, outer = static_values(source.order), static_values(op.order)
        composed = TransOp(source.src, [inner[dim] for dim in outer])
        if composed.result.type == op.result.type:
            rewriter.replace(op, composed)
        else:
            composed.erase()


class TransOfSplat(RewritePattern):
    """trans(splat(x)) = splat(x). Removes one tensor op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, SplatOp):
            rewriter.replace(op, SplatOp(source.src, op.result.type))


class IntToPtrOfPtrToInt(RewritePattern):
    """int_to_ptr(ptr_to_int(p)) = bitcast(p), within one address space. Removes one op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IntToPtrOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if not isinstance(source, PtrToIntOp):
            return
        from_, to = element_type(source.src.type), element_type(op.result.type)
        assert isinstance(from_, PointerType) and isinstance(to, PointerType)
        if from_.address_space == to.address_space:
            rewriter.replace(op, BitcastOp(source.src, op.result.type))


class BitcastOfBitcast(RewritePattern):
    """bitcast(bitcast(x)) = bitcast(x). Removes one op."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BitcastOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, BitcastOp):
            rewriter.replace(op, BitcastOp(source.src, op.result.type))


class LoadWithConstantMask(RewritePattern):
    """load(p, true, o) = load(p), and load(p, false, o) = o. Removes an operand, or the load.

    A load that is masked off entirely and has no `other` is undefined everywhere; it stays."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter, /) -> None:
        if op.mask is None or (mask := splat_of(op.mask)) is None:
            return
        if mask:
            properties = op.properties | {"operandSegmentSizes": segment_sizes(1, 0, 0)}
            rewriter.replace(
                op,
                LoadOp.create(
                    operands=(op.ptr,),
                    result_types=(op.result.type,),
                    properties=properties,
                    attributes=op.attributes,
                ),
            )
        elif op.other is not None and not op.is_volatile.value.data:
            rewriter.replace(op, [], [op.other])


class StoreWithConstantMask(RewritePattern):
    """store(p, v, true) = store(p, v), and store(p, v, false) = nothing. Removes an operand, or the store."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StoreOp, rewriter: PatternRewriter, /) -> None:
        if op.mask is None or (mask := splat_of(op.mask)) is None:
            return
        if not mask:
            rewriter.erase(op)
            return
        store = StoreOp.create(operands=(op.ptr, op.value), properties=op.properties, attributes=op.attributes)
        rewriter.replace(op, store)
