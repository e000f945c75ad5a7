"""Products of microscaling formats as products of 16-bit floats, for tensor cores that take no scales.

`tt.dot_scaled` on values `a` with scales `s` is `tt.dot` on `unpacked(a) * repeated(s)`: values of 4 and 8 bits are
exact in bf16, and so are their products with powers of two.

Before:
```mlir
%d = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<128x32xi8, #blocked>,
    tensor<128x2xi8, #blocked1> * tensor<64x64xbf16, #blocked2> -> tensor<128x64xf32, #blocked3>
```
After:
```mlir
%0 = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<128x32xi8, #blocked> -> tensor<128x64xbf16, #blocked4>
%1 = ttg.convert_layout %s : tensor<128x2xi8, #blocked1> -> tensor<128x2xi8, #ttg.slice<{dim = 2, parent = #groups}>>
%2 = tt.bitcast (%1 << 7 as i16) : tensor<128x2xbf16, ...>
%3 = tt.reshape (%2 repeated 32 times) : tensor<128x2x32xbf16, #groups> -> tensor<128x64xbf16, #blocked4>
%4 = arith.mulf %0, %3 : tensor<128x64xbf16, #blocked4>
%d = tt.dot %4, %b, %c : ... -> tensor<128x64xf32, #blocked3>      (operands converted to #ttg.dot_op)
```
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    IntegerType,
    bf16,
    f16,
    f32,
    i8,
    i16,
)
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, tt, ttg
from tilewright.dialects.arith.constant import constant_splat
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.enums import InputPrecision, ScaleDotElemType
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.encodings import encoding_of, layout_of
from tilewright.dialects.types import as_tensor, bit_width, element_type, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.distributed import DotOperandLayout, SliceLayout
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.slices import before_conversions

Float = BFloat16Type | Float16Type | Float32Type

_FLOAT8: dict[ScaleDotElemType, Attribute] = {
    ScaleDotElemType.E4M3: Float8E4M3FNType(),
    ScaleDotElemType.E5M2: Float8E5M2Type(),
}
E8M0_NAN, BF16_NAN, BF16_LEAST_SCALE = 255, 0x7FC0, 0x0040
"""The scale that is not a number; bf16's NaN; 2^-127, which bf16 has as a subnormal number."""
BF16_MANTISSA_BITS = 7


def compute_type(lhs: ScaleDotElemType, rhs: ScaleDotElemType) -> Float:
    """The type that operands are multiplied in: bf16, which holds all other formats but fp16; f16 where one operand is
    in that; f32, rounded to tf32, which holds both, where both are there.
    """
    kinds = {lhs, rhs}
    if ScaleDotElemType.FP16 not in kinds:
        return bf16
    return f32 if ScaleDotElemType.BF16 in kinds else f16


@dataclass(frozen=True)
class ScaledOperand:
    """An operand of a scaled product: its format, the dimension whose neighbours share a byte where it is e2m1, and the
    dimension that is summed over.
    """

    index: int
    value: SSAValue
    scale: SSAValue | None
    kind: ScaleDotElemType
    packed_dim: int
    k_dim: int


def operands_of(op: tt.DotScaledOp) -> tuple[ScaledOperand, ScaledOperand]:
    """A and B of a scaled product. Raises `PassError` where nobody knows how the elements of one are stored."""
    rank = len(as_tensor(op.d.type).get_shape())
    row, column = rank - 2, rank - 1
    kinds = ScaleDotElemType.of(op.a_elem_type), ScaleDotElemType.of(op.b_elem_type)
    for kind in kinds:
        if kind in (ScaleDotElemType.E2M3, ScaleDotElemType.E3M2):
            raise op_error(op, f"elements of {kind.keyword} are not supported by tt.dot_scaled on this target")
    a_packed = column if op.lhs_k_pack.value.data else row
    b_packed = row if op.rhs_k_pack.value.data else column
    return (
        ScaledOperand(DotOperandLayout.A, op.a, op.a_scale, kinds[0], a_packed, column),
        ScaledOperand(DotOperandLayout.B, op.b, op.b_scale, kinds[1], b_packed, row),
    )


def decompose_scaled_dot(op: tt.DotScaledOp) -> None:
    """Replace a scaled product by one of plain floats."""
    a, b = operands_of(op)
    emitter = _Emitter(OpBuilder.before(op), compute_type(a.kind, b.kind), is_fast=bool(op.fast_math.value.data))
    accumulator = layout_of(as_tensor(op.d.type).encoding)
    operands: list[SSAValue] = []
    for operand in (a, b):
        value = emitter.scaled(operand)
        operands.append(emitter.converted(value, encoding_of(DotOperandLayout(operand.index, accumulator))))
    precision = InputPrecision.TF32 if emitter.compute == f32 else InputPrecision.IEEE
    product = tt.DotOp(operands[0], operands[1], op.c, input_precision=precision)
    product.attributes.update(op.attributes)
    emitter.b.insert(product)
    product.d.name_hint = op.d.name_hint
    op.d.replace_all_uses_with(product.d)
    op.detach()
    op.erase()


class _Emitter:
    """Emits the operands of one product, in the type that it is computed in and the layout that they came in."""

    def __init__(self, builder: OpBuilder, compute: Float, *, is_fast: bool) -> None:
        self.b = builder
        self.compute = compute
        self._is_fast = is_fast

    def scaled(self, operand: ScaledOperand) -> SSAValue:
        """The elements times their scales. f16 does not hold all scales: there the product is rounded from f32."""
        values = self._values(operand)
        if operand.scale is None:
            return values
        scales = self._repeated(self._numbers(self._aligned(operand, values)), values, operand.k_dim)
        if self.compute == bf16:
            return self.b.result(arith.MulfOp(values, scales))
        return self._as(self.b.result(arith.MulfOp(self._as(values, f32), self._as(scales, f32))), self.compute)

    def converted(self, value: SSAValue, encoding: Attribute) -> SSAValue:
        """The value in another layout."""
        type = as_tensor(value.type)
        if type.encoding == encoding:
            return value
        return self.b.result(ttg.ConvertLayoutOp(value, tensor_type(type.element_type, type.get_shape(), encoding)))

    # -------------------------------------------------------------------------------------------------------- values

    def _values(self, operand: ScaledOperand) -> SSAValue:
        value = before_conversions(operand.value)
        if operand.kind is ScaleDotElemType.E2M1:
            return self.b.result(ttg.Fp4ToFpOp(value, self.compute, operand.packed_dim))
        if element_type(value.type) == i8:
            value = self.b.result(tt.BitcastOp(value, with_element_type(value.type, _FLOAT8[operand.kind])))
        return self._as(value, self.compute)

    # -------------------------------------------------------------------------------------------------------- scales

    def _aligned(self, operand: ScaledOperand, values: SSAValue) -> SSAValue:
        """Scales with their groups along K of the operand, where the threads are that hold the groups' elements."""
        assert operand.scale is not None
        scale = before_conversions(operand.scale)
        rank = len(as_tensor(scale.type).get_shape())
        if operand.k_dim != rank - 1:
            scale = self.b.result(tt.TransOp(scale, (*range(rank - 2), rank - 1, rank - 2)))
        grouped = inference.reshape(values.type, self._grouped(scale, values, operand.k_dim))
        groups = layout_of(as_tensor(grouped).encoding)
        return self.converted(scale, encoding_of(SliceLayout(operand.k_dim + 1, groups)))

    def _grouped(self, scale: SSAValue, values: SSAValue, k_dim: int) -> tuple[int, ...]:
        """The shape of the operand with K as groups of elements of one scale."""
        shape = as_tensor(values.type).get_shape()
        groups = as_tensor(scale.type).get_shape()[k_dim]
        return (*shape[:k_dim], groups, shape[k_dim] // groups, *shape[k_dim + 1 :])

    def _numbers(self, scale: SSAValue) -> SSAValue:
        """e8m0 is the exponent of a bf16; a float is itself."""
        if not isinstance(element_type(scale.type), IntegerType):
            return self._as(scale, bf16)
        wide = self.b.result(arith.ExtUIOp(scale, with_element_type(scale.type, i16)))
        bits = self.b.result(arith.ShLIOp(wide, self._splat(BF16_MANTISSA_BITS, wide.type)))
        special = ((0, BF16_LEAST_SCALE),) if self._is_fast else ((0, BF16_LEAST_SCALE), (E8M0_NAN, BF16_NAN))
        for code, number in special:
            found = self.b.result(arith.CmpiOp(wide, self._splat(code, wide.type), "eq"))
            bits = self.b.result(arith.SelectOp(found, self._splat(number, wide.type), bits))
        return self.b.result(tt.BitcastOp(bits, with_element_type(bits.type, bf16)))

    def _repeated(self, numbers: SSAValue, values: SSAValue, k_dim: int) -> SSAValue:
        """Each scale once for every element of its group."""
        grouped, element = self._grouped(numbers, values, k_dim), element_type(numbers.type)
        column = self.b.result(tt.ExpandDimsOp(numbers, k_dim + 1))
        every = self.b.result(tt.BroadcastOp(column, tensor_type(element, grouped, as_tensor(column.type).encoding)))
        return self.b.result(tt.ReshapeOp(every, with_element_type(values.type, element)))

    # ----------------------------------------------------------------------------------------------------------- ops

    def _as(self, value: SSAValue, element: Float) -> SSAValue:
        """Floats in another type."""
        source, target = element_type(value.type), with_element_type(value.type, element)
        if source == element:
            return value
        if bit_width(source) == 8:
            return self.b.result(tt.FpToFpOp(value, target))
        if bit_width(source) < bit_width(element):
            return self.b.result(arith.ExtFOp(value, target))
        if bit_width(source) > bit_width(element):
            return self.b.result(arith.TruncFOp(value, target))
        return self._as(self._as(value, f32), element)

    def _splat(self, value: int, type: Attribute) -> SSAValue:
        return self.b.result(constant_splat(value, type))
