"""`tritongpu-reduce-data-duplication`: operands of matmuls go through shared memory in a layout made for it."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.analysis.scratch import conversion_plan
from tilewright.dialects import ttg
from tilewright.dialects.ttg.types import memdesc_type
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import DistributedLayout, DotOperandLayout, NvidiaMmaLayout
from tilewright.layouts.shared import SwizzledSharedLayout
from tilewright.layouts.swizzle import SharedMemoryConversion
from tilewright.transforms.ttg.layout_order import order_of


def shared_layout_for(
    operand: DotOperandLayout, source: DistributedLayout, shape: tuple[int, ...], element_bits: int
) -> SwizzledSharedLayout:
    """The layout in shared memory for an operand that comes from `source`; batches lie apart."""
    order = order_of(source, shape)
    if len(shape) == 3:
        order = (*(dim for dim in order if dim != 0), 0)
    if not isinstance(operand.parent, NvidiaMmaLayout):
        return SwizzledSharedLayout(1, 1, 1, order, source.cga)
    swizzled = SwizzledSharedLayout.for_dot_operand(shape, order, element_bits, operand.op_index, operand.k_width)
    return SwizzledSharedLayout(swizzled.vec, swizzled.per_phase, swizzled.max_phase, order, source.cga)


@register_pass
class ReduceDataDuplicationPass(Pass):
    """A conversion to an operand of a matmul that has to go through shared memory becomes a buffer and a load:
    lanes that hold the same elements of the operand read them from one copy, by `ldmatrix` where that fits.

    ```mlir
    %a = ttg.convert_layout %x : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #ttg.dot_op<{opIdx = 0, ...}>>
    // becomes
    %m = ttg.local_alloc %x : (tensor<32x32xf16, #blocked>) -> !ttg.memdesc<32x32xf16, #shared, #smem>
    %a = ttg.local_load %m : !ttg.memdesc<32x32xf16, #shared, #smem> -> tensor<32x32xf16, #ttg.dot_op<{...}>>
    ```
    """

    name = "tritongpu-reduce-data-duplication"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in ops_within(module):
            if isinstance(op, ttg.ConvertLayoutOp):
                _through_buffer(op)


def _through_buffer(op: ttg.ConvertLayoutOp) -> None:
    source, target = as_tensor(op.src.type), as_tensor(op.result.type)
    operand = ttg.layout_of(target.encoding)
    if not isinstance(operand, DotOperandLayout) or not isinstance(conversion_plan(op), SharedMemoryConversion):
        return
    shape = target.get_shape()
    layout = shared_layout_for(operand, ttg.layout_of(source.encoding), shape, bit_width(target.element_type))
    buffer = memdesc_type(shape, target.element_type, ttg.shared_encoding_of(layout), mutable=False)
    builder = OpBuilder.before(op)
    memory = builder.result(ttg.LocalAllocOp(buffer, op.src))
    loaded = builder.result(ttg.LocalLoadOp(memory, target))
    op.result.replace_all_uses_with(loaded)
    op.detach()
    op.erase()
