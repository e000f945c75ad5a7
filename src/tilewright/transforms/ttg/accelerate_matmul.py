"""`tritongpu-accelerate-matmul`: matmuls move to tensor cores."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, tt, ttg, ttng
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.encodings import encoding_of, layout_of
from tilewright.dialects.ttg.shared_encodings import shared_encoding_of
from tilewright.dialects.ttg.types import memdesc_type
from tilewright.dialects.ttg.verification import program_shape, warps_around
from tilewright.dialects.types import as_tensor, bit_width, element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.rules import apply_rules
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import DotOperandLayout, NvidiaMmaLayout
from tilewright.layouts.shared import NvmmaSharedLayout
from tilewright.transforms.ttg.capability import compute_capability
from tilewright.transforms.ttg.decompose_scaled_dots import decompose_scaled_dot
from tilewright.transforms.ttg.layout_order import order_of
from tilewright.transforms.ttg.matmul_layouts import ProductPlan, plan_product, why_no_product
from tilewright.transforms.ttg.slices import before_conversions, defining_op
from tilewright.transforms.ttg.transpose_products import (
    SWAPPED,
    CarryTransposed,
    fits_registers,
    is_along_k,
    is_loaded,
    transposed_product,
    wants_transpose,
)


def _cast(builder: OpBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """A tensor with wider elements; the value itself where it has them already."""
    type = as_tensor(value.type)
    if type.element_type == element:
        return value
    result = tensor_type(element, type.get_shape(), type.encoding)
    if isinstance(element, IntegerType):
        return builder.result(arith.ExtSIOp(value, result))
    if bit_width(type.element_type) < 16:
        return builder.result(tt.FpToFpOp(value, result))
    return builder.result(arith.ExtFOp(value, result))


def _convert(builder: OpBuilder, value: SSAValue, encoding: Attribute) -> SSAValue:
    type = as_tensor(value.type)
    if type.encoding == encoding:
        return value
    return builder.result(ttg.ConvertLayoutOp(value, tensor_type(type.element_type, type.get_shape(), encoding)))


def _reads_shared_memory(value: SSAValue) -> bool:
    """Return whether `wgmma` should read A from shared memory: this is not a detour for what a load gives or a loop
    carries, unless it had to be transposed there, which registers do for nothing.
    """
    if fits_registers(value) and not is_along_k(value, DotOperandLayout.A):
        return False
    return is_loaded(value) or defining_op(before_conversions(value)) is None


def _in_shared_memory(builder: OpBuilder, value: SSAValue, op_index: int) -> SSAValue:
    """An operand as a buffer that `wgmma` reads, in the order that it was loaded in where the instruction can take
    that: 16-bit elements may have either dimension contiguous, others need K contiguous.
    """
    source = before_conversions(value)
    type = as_tensor(source.type)
    bits = bit_width(type.element_type)
    order = (1, 0) if op_index == 0 else (0, 1)
    if bits == 16:
        order = order_of(layout_of(type.encoding), type.get_shape())
    layout = NvmmaSharedLayout.make(type.get_shape(), order, bits)
    buffer = memdesc_type(type.get_shape(), type.element_type, shared_encoding_of(layout), mutable=False)
    return builder.result(ttg.LocalAllocOp(buffer, source))


class _Accelerator:
    """Rewrites the products of one module."""

    def __init__(self, capability: int, transposes: bool, widen_in_registers: bool, context: PassContext) -> None:
        self._capability = capability
        self._transposes = transposes
        self._widen_in_registers = widen_in_registers
        self._context = context

    def rewrite(self, dot: tt.DotOp, num_warps: int) -> None:
        """Put one product on tensor cores, or make it one that ordinary arithmetic computes."""
        type = as_tensor(dot.d.type)
        if isinstance(layout_of(type.encoding), NvidiaMmaLayout):
            return
        plan = plan_product(dot, self._capability, num_warps)
        if plan is None:
            reason = f"it runs on ordinary arithmetic: {why_no_product(dot, self._capability)}"
            self._context.remark(dot, reason, RemarkKind.NO_TENSOR_CORE)
            self._widen(dot)
        elif plan.is_wgmma and self._transposes and wants_transpose(dot, self._widen_in_registers):
            self._transpose(dot, num_warps)
        else:
            self._replace(dot, type, plan)

    def _transpose(self, dot: tt.DotOp, num_warps: int) -> None:
        builder = OpBuilder.before(dot)
        product = transposed_product(dot, builder)
        result = builder.result(tt.TransOp(product.d, SWAPPED))
        self._erase(dot, result)
        self.rewrite(product, num_warps)

    def _replace(self, dot: tt.DotOp, type: TensorType[Attribute], plan: ProductPlan) -> None:
        builder = OpBuilder.before(dot)
        encoding = encoding_of(plan.layout)
        accumulator = _convert(builder, dot.c, encoding)
        make = self._wgmma if plan.is_wgmma else self._mma
        product = make(builder, dot, accumulator, plan)
        self._erase(dot, _convert(builder, product, type.encoding))

    @staticmethod
    def _erase(dot: tt.DotOp, result: SSAValue) -> None:
        """Put `result` in place of a product's."""
        result.name_hint = dot.d.name_hint
        dot.d.replace_all_uses_with(result)
        dot.detach()
        dot.erase()

    def _mma(self, builder: OpBuilder, dot: tt.DotOp, accumulator: SSAValue, plan: ProductPlan) -> SSAValue:
        operands = [
            _convert(
                builder,
                _cast(builder, before_conversions(value), element),
                encoding_of(DotOperandLayout(index, plan.layout, plan.k_width)),
            )
            for index, (value, element) in enumerate(zip((dot.a, dot.b), plan.operand_types, strict=True))
        ]
        product = tt.DotOp.create(
            operands=(*operands, accumulator),
            result_types=(accumulator.type,),
            properties=dot.properties,
            attributes=dot.attributes,
        )
        return builder.insert(product).d

    def _wgmma(self, builder: OpBuilder, dot: tt.DotOp, accumulator: SSAValue, plan: ProductPlan) -> SSAValue:
        if _reads_shared_memory(dot.a):
            a = _in_shared_memory(builder, dot.a, 0)
        else:
            a = _convert(
                builder, before_conversions(dot.a), encoding_of(DotOperandLayout(0, plan.layout, plan.k_width))
            )
        b = _in_shared_memory(builder, dot.b, 1)
        product = ttng.WarpGroupDotOp(
            a,
            b,
            accumulator,
            input_precision=dot.input_precision.value.data,
            max_num_imprecise_acc=dot.max_num_imprecise_acc.value.data,
        )
        product.attributes.update(dot.attributes)
        return builder.insert(product).d

    def _widen(self, dot: tt.DotOp) -> None:
        """Ordinary arithmetic multiplies in the type of the result."""
        builder, element = OpBuilder.before(dot), element_type(dot.d.type)
        operands: Sequence[SSAValue] = [_cast(builder, value, element) for value in (dot.a, dot.b)]
        dot.operands = (*operands, dot.c)


@register_pass
class AccelerateMatmulPass(Pass):
    """Matmuls take a layout of tensor cores: `mma.sync` from compute capability 8.0 on, `wgmma` on 9.0 where
    the shape allows, whose operands are buffers in shared memory. Where neither fits, operands get the element type
    of the result. Products of microscaling formats become products of 16-bit floats before that. In programs of
    several CTAs matmuls stay as they are.

    Before (`cuda:90`):
    ```mlir
    %d = tt.dot %a, %b, %c : tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<64x128xf16,
        #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<128x128xf32, #blocked>
    ```
    After:
    ```mlir
    %0 = ttg.convert_layout %c : tensor<128x128xf32, #blocked> -> tensor<128x128xf32, #mma>
    %1 = ttg.local_alloc %x : (tensor<128x64xf16, #blocked1>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    %2 = ttg.local_alloc %y : (tensor<64x128xf16, #blocked2>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
    %3 = ttng.warp_group_dot %1, %2, %0 {inputPrecision = 0 : i32} : ... -> tensor<128x128xf32, #mma>
    %d = ttg.convert_layout %3 : tensor<128x128xf32, #mma> -> tensor<128x128xf32, #blocked>
    ```
    """

    name = "tritongpu-accelerate-matmul"

    widen_in_registers: bool = True
    """Whether a right operand that is computed from narrower elements is the left one of the product of the transposes,
    which `wgmma` reads from registers."""
    transpose: bool = True
    """Whether a product may be computed as the transpose of the product of the transposes, whose result takes as much
    shared memory where the next product reads it."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        capability, shape = compute_capability(module), program_shape(module)
        if shape is None:
            context.fail(module, "the module does not state 'ttg.num-warps'")
        for op in [op for op in ops_within(module) if isinstance(op, tt.DotScaledOp)]:
            decompose_scaled_dot(op)
        if shape.blocks > 1:
            context.remark(module, "matmuls stay as they are: with several CTAs a cluster, tensor cores are not used")
            return
        accelerator = _Accelerator(capability, self.transpose, self.widen_in_registers, context)
        for dot in [op for op in ops_within(module) if isinstance(op, tt.DotOp)]:
            accelerator.rewrite(dot, warps_around(dot, shape))
        apply_rules(module, (CarryTransposed(),), name=self.name)
