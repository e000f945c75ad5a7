"""Canonicalization of layout conversions and of views of buffers.

A conversion costs shuffles or a trip through shared memory, so it moves into whatever can make its value in the other
layout, or take it in the present one. Conversions from an mma accumulator to a dot operand stay: later passes look
for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.arith.constant import constant_attr, is_dense, is_splat
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.folds import resplat
from tilewright.dialects.tt.indexing import GatherOp, HistogramOp
from tilewright.dialects.tt.program import MakeRangeOp
from tilewright.dialects.tt.shape import CatOp, ReshapeOp, SplatOp
from tilewright.dialects.ttg.constraints import as_memdesc, as_tensor
from tilewright.dialects.ttg.conversion import ConvertLayoutOp
from tilewright.dialects.ttg.encodings import DistributedEncoding
from tilewright.dialects.ttg.memory import LocalAllocOp, LocalLoadOp, LocalStoreOp
from tilewright.dialects.ttg.views import MemDescTransOp, transposed_memdesc
from tilewright.dialects.ttg.warp_specialize import WarpSpecializeOp
from tilewright.layouts.distributed import DotOperandLayout, NvidiaMmaLayout
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.reshaping import can_concatenate, can_relabel


def feeds_tensor_cores(op: ConvertLayoutOp) -> bool:
    """Return whether a conversion turns an accumulator into an operand of the next matmul."""
    source, result = (as_tensor(value.type).encoding for value in (op.src, op.result))
    if not isinstance(source, DistributedEncoding) or not isinstance(result, DistributedEncoding):
        return False
    return isinstance(source.tensor_layout, NvidiaMmaLayout) and isinstance(result.tensor_layout, DotOperandLayout)


def can_reorder(source: Attribute, result: Attribute) -> bool:
    """Return whether registers may stay where they are when a tensor becomes another one with its elements in any
    order.
    """
    before, after = _linear(source), _linear(result)
    return before is not None and after is not None and can_relabel(before, after)


def can_join_registers(parts: Sequence[Attribute], result: Attribute) -> bool:
    """Return whether the registers of two tensors are those of a `tt.cat` of both, in some order."""
    layouts = [layout for part in parts if (layout := _linear(part)) is not None]
    after = _linear(result)
    return len(layouts) == len(parts) and after is not None and can_concatenate(layouts, after)


def _linear(type: Attribute) -> LinearLayout | None:
    tensor = as_tensor(type)
    encoding = tensor.encoding
    return encoding.to_linear(tensor.get_shape()) if isinstance(encoding, DistributedEncoding) else None


def _unconverted(value: SSAValue) -> SSAValue | None:
    """The value before a conversion that may be left out."""
    owner = value.owner
    return owner.src if isinstance(owner, ConvertLayoutOp) and not feeds_tensor_cores(owner) else None


class ConvertOfConvert(RewritePattern):
    """convert(convert(x)) = convert(x). Removes one conversion from the chain."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, ConvertLayoutOp) and not feeds_tensor_cores(op):
            rewriter.replace(op, ConvertLayoutOp(source.src, op.result.type))


class ConvertOfSource(RewritePattern):
    """convert(f()) = f() in the other layout, for splats, ranges and constant splats. Removes one conversion."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        remade = _remake(op.src, as_tensor(op.result.type))
        if remade is not None and not feeds_tensor_cores(op):
            rewriter.replace(op, remade)


def _remake(value: SSAValue, type: TensorType[Attribute]) -> Operation | None:
    source = value.owner
    match source:
        case SplatOp():
            return SplatOp(source.src, type)
        case MakeRangeOp():
            return MakeRangeOp(source.start.value.data, source.end.value.data, type.encoding)
        case ConstantOp():
            constant = constant_attr(value)
            return ConstantOp(resplat(constant, type)) if is_dense(constant) and is_splat(constant) else None
        case _:
            return None


class ConvertOfLocalLoad(RewritePattern):
    """convert(local_load(m)) = local_load(m) in the other layout, at the place of the load. Removes one conversion."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        load = op.src.owner
        if not isinstance(load, LocalLoadOp) or feeds_tensor_cores(op):
            return
        remade = LocalLoadOp(load.src, op.result.type, load.token)
        rewriter.insert(remade, InsertPoint.before(load))
        rewriter.replace(op, (), (remade.result,))


class ConvertOfHistogram(RewritePattern):
    """convert(histogram(x)) = histogram(x) in the other layout. Removes one conversion."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, HistogramOp):
            rewriter.replace(op, HistogramOp(source.src, op.result.type, source.mask))


class ConvertOfCat(RewritePattern):
    """convert(cat(a, b)) = cat(a, b) in the other layout, whose order is free, where registers may stay where they are.
    Removes one conversion.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if isinstance(source, CatOp) and can_join_registers(source.operand_types, op.result.type):
            rewriter.replace(op, CatOp(source.lhs, source.rhs, op.result.type))


class ConvertOfReshape(RewritePattern):
    """convert(reshape(x)) = reshape(x) in the other layout, where the order is free and registers may stay where they
    are. Removes one conversion.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        source = op.src.owner
        if not isinstance(source, ReshapeOp) or source.allow_reorder is None or source.efficient_layout is not None:
            return
        if can_reorder(source.src.type, op.result.type):
            rewriter.replace(op, ReshapeOp(source.src, op.result.type, allow_reorder=True))


class ReshapeOfConvert(RewritePattern):
    """reshape(convert(x)) = reshape(x), where the order is free and registers may stay where they are. Removes one use
    of the conversion.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter, /) -> None:
        source = _unconverted(op.src)
        if source is None or op.allow_reorder is None or not can_reorder(source.type, op.result.type):
            return
        efficient = op.efficient_layout is not None
        rewriter.replace(op, ReshapeOp(source, op.result.type, allow_reorder=True, efficient_layout=efficient))


class ConvertBeforeIndifferentUser(RewritePattern):
    """histogram(convert(x)) = histogram(x), gather(convert(x), i) = gather(x, i): they take any layout. Removes one
    use of the conversion.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        for use in tuple(op.result.uses):
            match use.operation:
                case HistogramOp(mask=None) as user:
                    rewriter.replace(user, HistogramOp(op.src, user.result.type))
                    return
                case GatherOp(efficient_layout=None) as user if use.index == 0:
                    rewriter.replace(user, GatherOp(op.src, user.indices, user.axis.value.data))
                    return
                case _:
                    continue


class LocalAllocOfConvert(RewritePattern):
    """local_alloc(convert(x)) = local_alloc(x). Removes one use of the conversion."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LocalAllocOp, rewriter: PatternRewriter, /) -> None:
        source = None if op.src is None else _unconverted(op.src)
        if source is not None:
            alignment = None if op.alignment is None else op.alignment.value.data
            rewriter.replace(op, LocalAllocOp(op.result.type, source, alignment=alignment))


class LocalStoreOfConvert(RewritePattern):
    """local_store(convert(x), m) = local_store(x, m). Removes one use of the conversion."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LocalStoreOp, rewriter: PatternRewriter, /) -> None:
        source = _unconverted(op.src)
        if source is not None:
            rewriter.replace(op, LocalStoreOp(source, op.dst), ())


class MemDescTransOfTrans(RewritePattern):
    """trans(trans(m, p), q) = trans(m, p o q), where (p o q)[i] = p[q[i]]. Removes one view."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MemDescTransOp, rewriter: PatternRewriter, /) -> None:
        inner = op.src.owner
        if not isinstance(inner, MemDescTransOp):
            return
        first, second = static_values(inner.order), static_values(op.order)
        order = tuple(first[dim] for dim in second)
        if order == tuple(range(len(order))) and inner.src.type == op.result.type:
            rewriter.replace(op, (), (inner.src,))
        elif transposed_memdesc(as_memdesc(inner.src.type), order) == op.result.type:
            rewriter.replace(op, MemDescTransOp(inner.src, order))


CONVERT_LAYOUT_RULES: tuple[RewritePattern, ...] = (
    ConvertOfConvert(),
    ConvertOfSource(),
    ConvertOfLocalLoad(),
    ConvertOfHistogram(),
    ConvertOfCat(),
    ConvertOfReshape(),
    ConvertBeforeIndifferentUser(),
)
"""The rules of `ttg.convert_layout`."""


class RemoveCaptures(RewritePattern):
    """A partition takes what it uses, once: captures that no partition uses, or that come twice, go."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: WarpSpecializeOp, rewriter: PatternRewriter, /) -> None:
        blocks = [region.blocks.first for region in op.partitions]
        captures = list(op.operands)
        kept: list[int] = []
        for position, capture in enumerate(captures):
            arguments = [block.args[position] for block in blocks if block is not None]
            same = next((other for other in kept if captures[other] is capture), None)
            if same is not None:
                for argument in arguments:
                    argument.replace_all_uses_with(argument.block.args[same])
            elif any(argument.uses for argument in arguments):
                kept.append(position)
        if len(kept) == len(captures):
            return
        for block in blocks:
            for position in reversed(range(len(captures))):
                if block is not None and position not in kept:
                    block.erase_arg(block.args[position])
        op.operands = [captures[position] for position in kept]
        rewriter.notify_op_modified(op)
