"""Products of microscaling formats: operands are unpacked and scaled to f32, then multiplied as matrices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type, IntegerType, f32, i8, i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.tt.enums import ScaleDotElemType
from tilewright.lowering.arith_to_linalg.dots import emit_matmul
from tilewright.lowering.arith_to_linalg.elementwise import emit_float_cast
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, lowers
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.lowering.tensor_builder import TensorBuilder, element_of, identity_maps, shape_of, tensor_of

_STORED_AS: dict[ScaleDotElemType, Attribute] = {
    ScaleDotElemType.E4M3: Float8E4M3FNType(),
    ScaleDotElemType.E5M2: Float8E5M2Type(),
}


def emit_decode_e2m1(b: ScalarBuilder, code: SSAValue) -> SSAValue:
    """A 4-bit float in the low bits of an i32: s e e m with bias 1, so 0, 0.5, 1, 1.5, 2, 3, 4, 6.

    Twice the value is an integer: m where e is 0, else (2 + m) << (e - 1).
    """
    one = b.int(1, i32)
    mantissa = b.emit(arith.AndIOp, code, one)
    exponent = b.emit(arith.AndIOp, b.emit(arith.ShRUIOp, code, one), b.int(3, i32))
    shift = b.emit(arith.MaxSIOp, b.emit(arith.SubiOp, exponent, one), b.int(0, i32))
    normal = b.emit(arith.ShLIOp, b.emit(arith.AddiOp, mantissa, b.int(2, i32)), shift)
    doubled = b.select(b.cmpi("eq", exponent, b.int(0, i32)), mantissa, normal)
    magnitude = b.emit(arith.MulfOp, b.cast(arith.UIToFPOp, doubled, f32), b.float(0.5, f32))
    sign = b.emit(arith.ShLIOp, b.emit(arith.AndIOp, code, b.int(8, i32)), b.int(28, i32))
    bits = b.emit(arith.OrIOp, b.cast(arith.BitcastOp, magnitude, i32), sign)
    return b.cast(arith.BitcastOp, bits, f32)


def emit_decode_scale(b: ScalarBuilder, scale: SSAValue) -> SSAValue:
    """A scale in f32: an i8 is e8m0 (2 ** (s - 127), 255 is NaN, 0 is the subnormal 2 ** -127), a float is itself."""
    if not isinstance(scale.type, IntegerType):
        return emit_float_cast(b, scale, f32)
    code = b.cast(arith.ExtUIOp, scale, i32)
    bits = b.emit(arith.ShLIOp, code, b.int(23, i32))
    bits = b.select(b.cmpi("eq", code, b.int(0, i32)), b.int(0x0040_0000, i32), bits)
    bits = b.select(b.cmpi("eq", code, b.int(255, i32)), b.int(0x7FC0_0000, i32), bits)
    return b.cast(arith.BitcastOp, bits, f32)


def emit_operand(
    b: TensorBuilder,
    values: SSAValue,
    scale: SSAValue | None,
    kind: ScaleDotElemType,
    *,
    packed_dim: int,
    k_dim: int,
) -> SSAValue:
    """One operand unpacked and scaled, as f32.

    ``packed_dim`` is the dimension along which fp4 pairs share a byte (low nibble first). The scale of element (.., i,
    k) is ``scale[.., i, k / block]``, with the non-K dimension first also for the right operand.
    """
    shape = list(shape_of(values))
    rank = len(shape)
    if kind is ScaleDotElemType.E2M1:
        shape[packed_dim] *= 2
    block = 1 if scale is None else shape[k_dim] // shape_of(scale)[-1]
    other_dim = 2 * rank - 3 - k_dim

    def body(_: Sequence[SSAValue]) -> Sequence[SSAValue]:
        indices = [b.lane_index(dim) for dim in range(rank)]
        if kind is ScaleDotElemType.E2M1:
            byte = [*indices]
            byte[packed_dim] = b.emit(arith.DivUIOp, indices[packed_dim], b.index(2))
            pair = b.cast(arith.ExtUIOp, b.extract(values, byte), i32)
            parity = b.cast(arith.IndexCastOp, b.emit(arith.RemUIOp, indices[packed_dim], b.index(2)), i32)
            shifted = b.emit(arith.ShRUIOp, pair, b.emit(arith.ShLIOp, parity, b.int(2, i32)))
            value = emit_decode_e2m1(b, shifted)
        else:
            value = b.extract(values, indices)
            stored = _STORED_AS.get(kind)
            value = b.cast(arith.BitcastOp, value, stored) if value.type == i8 and stored is not None else value
            value = emit_float_cast(b, value, f32)
        if scale is None:
            return (value,)
        group = b.emit(arith.DivUIOp, indices[k_dim], b.index(block))
        factor = emit_decode_scale(b, b.extract(scale, [*indices[:-2], indices[other_dim], group]))
        return (b.emit(arith.MulfOp, value, factor),)

    out = b.empty(tensor_of(f32, *shape))
    (result,) = b.generic((), (out,), body, maps=identity_maps(1, rank), iterators=("parallel",) * rank)
    return result


@lowers(tt.DotScaledOp)
def lower_dot_scaled(op: tt.DotScaledOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Each operand becomes an f32 matrix of scaled elements; the product then is that of `tt.dot`."""
    kinds = [ScaleDotElemType.of(attr) for attr in (op.a_elem_type, op.b_elem_type)]
    for kind, value in zip(kinds, (op.a, op.b), strict=True):
        if kind in (ScaleDotElemType.E2M3, ScaleDotElemType.E3M2):
            raise NotLowered(f"element type {kind.name.lower()} has no storage format yet")
        is_bits = element_of(value) == i8
        if kind is ScaleDotElemType.E2M1 and not is_bits:
            raise NotLowered(f"e2m1 elements are stored in i8, got {value.type}")
        if is_bits and kind in (ScaleDotElemType.BF16, ScaleDotElemType.FP16):
            raise NotLowered(f"elements of {kind.name.lower()} stored as {value.type}")
    rank = len(shape_of(op.a))
    row, column = rank - 2, rank - 1
    lhs_packed = column if op.lhs_k_pack.value.data else row
    rhs_packed = row if op.rhs_k_pack.value.data else column
    lhs = emit_operand(f.b, op.a, op.a_scale, kinds[0], packed_dim=lhs_packed, k_dim=column)
    rhs = emit_operand(f.b, op.b, op.b_scale, kinds[1], packed_dim=rhs_packed, k_dim=row)
    return (emit_matmul(f.b, lhs, rhs, op.c),)
