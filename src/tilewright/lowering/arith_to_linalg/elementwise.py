"""Ops that treat each lane by itself: all of arith and math, and the tt ops of that kind.

Each is described by what it does to scalars. On scalars that is the lowering; on tensors it is the body of one
`linalg.generic` with identity maps, as triton-shared emits it:

```mlir
%r = arith.addf %a, %b : tensor<4xf32>
// becomes
%r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
     ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) {
^bb0(%in: f32, %in_0: f32, %out: f32):
  %s = arith.addf %in, %in_0 : f32
  linalg.yield %s : f32
} -> tensor<4xf32>
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerAttr, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, math, tt
from tilewright.dialects.tt.enums import PropagateNan, RoundingMode
from tilewright.dialects.types import bit_width, is_tensor
from tilewright.lowering.arith_to_linalg.extern_bessel import BESSEL_SYMBOLS
from tilewright.lowering.arith_to_linalg.extern_gamma import GAMMA_SYMBOLS
from tilewright.lowering.arith_to_linalg.extern_integers import INTEGER_SYMBOLS
from tilewright.lowering.arith_to_linalg.extern_inverses import INVERSE_SYMBOLS
from tilewright.lowering.arith_to_linalg.extern_rounding import ROUNDING_SYMBOLS
from tilewright.lowering.arith_to_linalg.extern_special import SPECIAL_SYMBOLS
from tilewright.lowering.arith_to_linalg.extern_symbols import FLOAT_SYMBOLS, find_extern_symbol
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, has_pointers, lowers
from tilewright.lowering.fp8 import (
    emit_arithmetic_result,
    emit_narrow_float8,
    emit_truncate_towards_zero,
    emit_widen_float8,
    is_float8,
)
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.lowering.tensor_builder import element_of

ScalarRule: TypeAlias = Callable[[Any, ScalarBuilder, Sequence[SSAValue]], Sequence[SSAValue]]
"""What an op does to scalars: the op (for its attributes and types), the builder, one scalar for each operand."""


def lower_by_lane(rule: ScalarRule) -> Callable[[Operation, LoweringContext], Sequence[SSAValue]]:
    """The lowering function of an op from its meaning on scalars."""

    def lower(op: Operation, f: LoweringContext) -> Sequence[SSAValue]:
        tensors: list[Attribute] = [result.type for result in op.results if is_tensor(result.type)]
        if not tensors:
            return rule(op, f.b, op.operands)
        wide = [v for v in op.operands if is_tensor(v.type)]
        if len(wide) == len(op.operands):
            return f.b.elementwise(wide, tensors, lambda lanes: rule(op, f.b, lanes))

        def body(lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
            lane = iter(lanes)
            return rule(op, f.b, [next(lane) if is_tensor(v.type) else v for v in op.operands])

        return f.b.elementwise(wide, tensors, body)

    return lower


# arith and math


def scalar_arith(op: Operation, b: ScalarBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The same op, with its flags, on scalars. 8-bit floats have no arithmetic: they are widened to f32 and the result
    narrowed."""
    results = [element_of(result) for result in op.results]
    if any(is_float8(v.type) for v in operands) or any(is_float8(kind) for kind in results):
        return _through_f32(op, b, operands, results)
    made = type(op).create(operands=operands, result_types=results, properties=op.properties, attributes=op.attributes)
    return b.insert(made).results


def _through_f32(
    op: Operation, b: ScalarBuilder, operands: Sequence[SSAValue], results: Sequence[Attribute]
) -> Sequence[SSAValue]:
    if isinstance(op, arith.BitcastOp | arith.SelectOp):
        made = type(op).create(operands=operands, result_types=results, properties=op.properties)
        return b.insert(made).results
    wide = [emit_widen_float8(b, v) if is_float8(v.type) else v for v in operands]
    if isinstance(op, arith.ExtFOp | arith.TruncFOp):
        return (emit_float_cast(b, operands[0], results[0]),)
    made = type(op).create(
        operands=wide, result_types=[f32 if is_float8(kind) else kind for kind in results], properties=op.properties
    )
    values = b.insert(made).results
    return [
        emit_arithmetic_result(b, value, kind) if is_float8(kind) else value
        for value, kind in zip(values, results, strict=True)
    ]


lower_arith = lower_by_lane(scalar_arith)


def lower_elementwise_arith(op: Operation, f: LoweringContext) -> Sequence[SSAValue]:
    """Any arith or math op; scalar ones are legal as they are unless they compute with 8-bit floats."""
    if has_pointers(*op.operands, *op.results) and not f.options.tensor_ptr_to_linalg:
        raise NotLowered("arithmetic on pointers is left to the pointer passes")
    if not any(is_tensor(result.type) for result in op.results) and not any(
        is_float8(value.type) for value in (*op.operands, *op.results)
    ):
        return op.results
    return lower_arith(op, f)


# Casts


def emit_float_cast(b: ScalarBuilder, value: SSAValue, target: Attribute, rounding: str = "rtne") -> SSAValue:
    """A float in another float type: exact where it fits, else rounded once."""
    source = value.type
    if source == target:
        return value
    if is_float8(source):
        return emit_float_cast(b, emit_widen_float8(b, value), target, rounding)
    if is_float8(target):
        wide = value if source in (f32, f64) else b.cast(arith.ExtFOp, value, f32)
        return emit_narrow_float8(b, wide, target, rounding)
    if {type(source), type(target)} == {BFloat16Type, Float16Type}:
        return emit_float_cast(b, b.cast(arith.ExtFOp, value, f32), target, rounding)
    if bit_width(target) > bit_width(source):
        return b.cast(arith.ExtFOp, value, target)
    if rounding == "rtz":
        return emit_truncate_towards_zero(b, value, target)
    return b.cast(arith.TruncFOp, value, target)


def scalar_fp_to_fp(op: tt.FpToFpOp, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """``tt.fp_to_fp`` between any two float types, in either rounding."""
    mode = op.rounding
    towards_zero = isinstance(mode, IntegerAttr) and mode.value.data == RoundingMode.RTZ
    return (emit_float_cast(b, x[0], element_of(op.result), "rtz" if towards_zero else "rtne"),)


def scalar_bitcast(op: tt.BitcastOp, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """``arith.bitcast``."""
    return (b.cast(arith.BitcastOp, x[0], element_of(op.result)),)


def lower_bitcast(op: tt.BitcastOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A cast of values; pointers are cast by the pointer passes."""
    if has_pointers(op.src):
        raise NotLowered("a cast of pointers is left to the pointer passes")
    return lower_by_lane(scalar_bitcast)(op, f)


# tt ops of the mathematical kind


def scalar_clampf(op: tt.ClampFOp, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """min(max(x, lo), hi): NaN goes through with ``propagateNan = all``, and becomes a bound with ``none``."""
    keeps_nan = op.propagate_nan.value.data == PropagateNan.ALL
    lower, upper = (arith.MaximumfOp, arith.MinimumfOp) if keeps_nan else (arith.MaxnumfOp, arith.MinnumfOp)
    return (b.emit(upper, b.emit(lower, x[0], x[1]), x[2]),)


def scalar_mulhiui(op: tt.MulhiUIOp, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The upper half of the unsigned product."""
    return (b.insert(arith.MulUIExtendedOp(x[0], x[1])).results[1],)


def scalar_precise_sqrt(op: tt.PreciseSqrtOp, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """``math.sqrt`` is correctly rounded."""
    return (b.emit(math.SqrtOp, x[0]),)


def scalar_divf(op: tt.ApproxDivFOp | tt.PreciseDivFOp, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """``arith.divf`` is correctly rounded."""
    return (b.emit(arith.DivfOp, x[0], x[1]),)


SYMBOL_TABLES = (
    BESSEL_SYMBOLS,
    FLOAT_SYMBOLS,
    GAMMA_SYMBOLS,
    INTEGER_SYMBOLS,
    INVERSE_SYMBOLS,
    ROUNDING_SYMBOLS,
    SPECIAL_SYMBOLS,
)


@lowers(tt.ExternElementwiseOp)
def lower_extern_elementwise(op: tt.ExternElementwiseOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A symbol of libdevice becomes the ops that compute it, see `extern_symbols`."""
    symbol = op.symbol.data
    if not op.pure.value.data:
        raise NotLowered(f"'{symbol}' may have side effects, which only the target's own library can perform")
    result = element_of(op.results[0])
    operands = [element_of(v) for v in op.operands]
    entry = find_extern_symbol(SYMBOL_TABLES, symbol, operands, result)
    if entry is None:
        types = ", ".join(map(str, operands))
        raise NotLowered(f"no lowering is known for extern function '{symbol}' ({types}) -> {result}")

    def rule(_: Operation, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return (entry.emit(b, x, result),)

    return lower_by_lane(rule)(op, f)


@lowers(tt.ElementwiseInlineAsmOp)
def lower_inline_asm(op: tt.ElementwiseInlineAsmOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Assembly is the target's own and stays."""
    raise NotLowered("inline assembly has no meaning outside of the target that it was written for")


lowers(tt.FpToFpOp)(lower_by_lane(scalar_fp_to_fp))
lowers(tt.ClampFOp)(lower_by_lane(scalar_clampf))
lowers(tt.MulhiUIOp)(lower_by_lane(scalar_mulhiui))
lowers(tt.PreciseSqrtOp)(lower_by_lane(scalar_precise_sqrt))
lowers(tt.ApproxDivFOp, tt.PreciseDivFOp)(lower_by_lane(scalar_divf))
