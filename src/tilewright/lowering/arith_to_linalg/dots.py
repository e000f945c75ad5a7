"""Matmuls with the accumulator in place."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerType, f32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import linalg, tt
from tilewright.dialects.types import bit_width, is_integer
from tilewright.lowering.arith_to_linalg.elementwise import emit_float_cast
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, lowers
from tilewright.lowering.fp8 import is_float8
from tilewright.lowering.tensor_builder import TensorBuilder, element_of, shape_of, tensor_of


def emit_cast_tensor(b: TensorBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """A tensor of floats in another float type, lane by lane."""
    if element_of(value) == element:
        return value
    kind = tensor_of(element, *shape_of(value))
    (result,) = b.elementwise([value], [kind], lambda lanes: (emit_float_cast(b, lanes[0], element),))
    return result


def emit_matmul(b: TensorBuilder, lhs: SSAValue, rhs: SSAValue, accumulator: SSAValue) -> SSAValue:
    """``accumulator + lhs @ rhs``, in place: `linalg.matmul`, or `linalg.batch_matmul` for rank 3.

    The named op widens its operands to the accumulator's type itself. 16-bit accumulators are widened to f32 for the
    product and rounded once at the end; 8-bit operands are widened first because hardware types in linalg stop at 16
    bits.
    """
    result = element_of(accumulator)
    wide = f32 if isinstance(result, Float16Type | BFloat16Type) or is_float8(result) else result
    lhs, rhs = (emit_cast_tensor(b, v, f32) if is_float8(element_of(v)) else v for v in (lhs, rhs))
    out = emit_cast_tensor(b, accumulator, wide)
    cls = linalg.BatchMatmulOp if len(shape_of(out)) == 3 else linalg.MatmulOp
    product = b.result(cls((lhs, rhs), (out,)))
    return emit_cast_tensor(b, product, result)


@lowers(tt.DotOp)
def lower_dot(op: tt.DotOp, f: LoweringContext) -> Sequence[SSAValue]:
    """
    ```mlir
    %d = tt.dot %a, %b, %c : tensor<32x16xf16> * tensor<16x32xf16> -> tensor<32x32xf32>
    // becomes
    %d = linalg.matmul ins(%a, %b : tensor<32x16xf16>, tensor<16x32xf16>) outs(%c : tensor<32x32xf32>)
         -> tensor<32x32xf32>
    ```
    ``inputPrecision`` and ``maxNumImpreciseAcc`` allow less precision than this gives: every product of floats is
    exact or rounded in the accumulator's type, f32 at least.
    """
    operand, result = element_of(op.a), element_of(op.d)
    if isinstance(operand, IntegerType) != isinstance(result, IntegerType):
        raise NotLowered(f"a product of {operand} into {result} mixes integers and floats")
    if bit_width(operand) > bit_width(result) and is_integer(operand):
        raise NotLowered(f"a product of {operand} does not fit {result}")
    return (emit_matmul(f.b, op.a, op.b, op.c),)
