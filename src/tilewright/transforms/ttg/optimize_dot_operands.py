"""`tritongpu-optimize-dot-operands`: transposes and reshapes of operands become views of shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import tt, ttg
from tilewright.dialects.construction import static_values
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.shared_encodings import find_shared_layout, shared_encoding_of
from tilewright.dialects.ttg.types import MemDescType, memdesc_type
from tilewright.dialects.types import as_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.rules import RewriteRule, RuleRewriter, apply_rules, op_type_rewrite_pattern
from tilewright.layouts import reshaping
from tilewright.layouts.distributed import DotOperandLayout, NvidiaMmaLayout
from tilewright.layouts.shared import NvmmaSharedLayout, SharedLayout, SwizzledSharedLayout
from tilewright.transforms.ttg.layout_order import order_of
from tilewright.transforms.ttg.pipeliner.copies import element_bits
from tilewright.transforms.ttg.slices import before_conversions, defining_op


def inverse_of(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another."""
    return tuple(sorted(range(len(order)), key=lambda dim: order[dim]))


def _transposed_back(layout: SharedLayout, shape: tuple[int, ...], order: Sequence[int]) -> Attribute | None:
    """The encoding of a buffer whose transpose by `order` has `layout`; None where there is none of the same kind."""
    try:
        found = reshaping.transpose_shared(layout, shape, inverse_of(order))
    except ValueError:
        return None
    return shared_encoding_of(found) if type(found) is type(layout) else None


class AllocOfTransposed(RewriteRule):
    """local_alloc(trans(x)) = memdesc_trans(local_alloc(x)), for buffers that `wgmma` reads. Removes a transpose of
    registers.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ttg.LocalAllocOp, rewriter: RuleRewriter, /) -> None:
        trans = None if op.src is None else defining_op(before_conversions(op.src))
        type = op.result.type
        if not isinstance(trans, tt.TransOp) or not isinstance(type, MemDescType) or type.is_mutable:
            return
        layout = find_shared_layout(type.encoding)
        order = static_values(trans.order)
        if not isinstance(layout, NvmmaSharedLayout):
            return
        encoding = _transposed_back(layout, type.get_shape(), order)
        if encoding is None:
            return
        source = as_tensor(trans.src.type)
        memory = memdesc_type(source.get_shape(), source.element_type, encoding, mutable=False)
        if ttg.transposed_memdesc(memory, tuple(order)) == type:
            inner = ttg.LocalAllocOp(memory, trans.src)
            rewriter.replace(op, [inner, ttg.MemDescTransOp(inner, order)])


class AllocOfReshaped(RewriteRule):
    """local_alloc(reshape(x)) = memdesc_reshape(local_alloc(x)), where the layout of the buffer comes out the same.
    Removes a reshape of registers.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ttg.LocalAllocOp, rewriter: RuleRewriter, /) -> None:
        reshape = None if op.src is None else defining_op(before_conversions(op.src))
        type = op.result.type
        if not isinstance(reshape, tt.ReshapeOp) or not isinstance(type, MemDescType) or type.is_mutable:
            return
        if reshape.allow_reorder is not None or not isinstance(find_shared_layout(type.encoding), NvmmaSharedLayout):
            return
        source = as_tensor(reshape.src.type)
        shape = source.get_shape()
        if len(shape) < 2:
            return
        order = order_of(layout_of(source.encoding), shape)
        layout = NvmmaSharedLayout.make(shape, order, element_bits(source.element_type))
        try:
            memory = memdesc_type(shape, source.element_type, shared_encoding_of(layout), mutable=False)
            is_same = ttg.reshaped_memdesc(memory, type.get_shape()) == type
        except VerifyException:
            return
        if is_same:
            inner = ttg.LocalAllocOp(memory, reshape.src)
            rewriter.replace(op, [inner, ttg.MemDescReshapeOp(inner, type.get_shape())])


class OperandOfTransposedLoad(RewriteRule):
    """convert(trans(load)) = local_load(memdesc_trans(local_alloc(load))), for operands of `mma.sync`. Removes a
    transpose of registers; what is loaded goes through shared memory in either case.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ttg.ConvertLayoutOp, rewriter: RuleRewriter, /) -> None:
        trans = defining_op(op.src)
        type = as_tensor(op.result.type)
        operand = layout_of(type.encoding)
        if not isinstance(trans, tt.TransOp) or not isinstance(operand, DotOperandLayout):
            return
        if not isinstance(operand.parent, NvidiaMmaLayout) or not _is_loaded(trans.src) or operand.rank != 2:
            return
        shape, order = type.get_shape(), static_values(trans.order)
        fastest = order_of(layout_of(as_tensor(op.src.type).encoding), shape)
        bits = element_bits(type.element_type)
        swizzle = SwizzledSharedLayout.for_dot_operand(shape, fastest, bits, operand.op_index, operand.k_width)
        encoding = _transposed_back(swizzle, shape, order)
        if encoding is None:
            return
        source = before_conversions(trans.src)
        inner_type = as_tensor(source.type)
        memory = memdesc_type(inner_type.get_shape(), inner_type.element_type, encoding, mutable=False)
        inner = ttg.LocalAllocOp(memory, source)
        view = ttg.MemDescTransOp(inner, order)
        rewriter.replace(op, [inner, view, ttg.LocalLoadOp(view, type)])


def _is_loaded(value: SSAValue) -> bool:
    return isinstance(defining_op(before_conversions(value)), tt.LoadOp | tt.DescriptorLoadOp)


RULES: tuple[RewriteRule, ...] = (AllocOfTransposed(), AllocOfReshaped(), OperandOfTransposedLoad())
"""Every rule of the pass, in the order to try them."""


@register_pass
class OptimizeDotOperandsPass(Pass):
    """Transposes and reshapes operands of matmuls in shared memory, where this costs nothing.

    Before:
    ```mlir
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<128x64xf16, #blocked> -> tensor<64x128xf16, #blocked1>
    %m = ttg.local_alloc %t : (tensor<64x128xf16, #blocked1>) -> !ttg.memdesc<64x128xf16, #shared1, #smem>
    ```
    After:
    ```mlir
    %m = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %v = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : ... -> !ttg.memdesc<64x128xf16, #shared1, #smem>
    ```
    """

    name = "tritongpu-optimize-dot-operands"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        apply_rules(module, RULES, name=self.name)
