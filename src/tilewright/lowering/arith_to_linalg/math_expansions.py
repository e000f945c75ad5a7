"""Ops of math that upstream's lowerings to LLVM lack, as arith on scalars.

```mlir
%r = math.isinf %x : f32
// becomes
%inf = arith.constant 0x7F800000 : f32
%size = math.absf %x : f32
%r = arith.cmpf oeq, %size, %inf : f32
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import ml_dtypes
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, math
from tilewright.dialects.numeric import dtype_of
from tilewright.dialects.types import bit_width
from tilewright.lowering.arith_to_linalg.elementwise import lower_by_lane
from tilewright.lowering.arith_to_linalg.lowering import LoweringTable
from tilewright.lowering.fp8 import emit_widen_float8, is_float8
from tilewright.lowering.scalar_builder import ScalarBuilder


def _magnitude(b: ScalarBuilder, value: SSAValue) -> SSAValue:
    return b.emit(math.AbsFOp, emit_widen_float8(b, value) if is_float8(value.type) else value)


def scalar_isinf(op: Operation, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """|x| = inf."""
    size = _magnitude(b, x[0])
    return (b.cmpf("oeq", size, b.float(float("inf"), size.type)),)


def scalar_isnormal(op: Operation, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """From the least normal magnitude of the type up to below infinity."""
    size = _magnitude(b, x[0])
    info = cast(Any, ml_dtypes.finfo(dtype_of(x[0].type)))
    least = float(info.smallest_normal)
    is_large = b.cmpf("oge", size, b.float(least, size.type))
    return (b.emit(arith.AndIOp, is_large, b.cmpf("olt", size, b.float(float("inf"), size.type))),)


def scalar_ipowi(op: Operation, b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """x^n modulo 2^width by squaring, a bit of n after the other; for negative n, 1/x rounded towards zero.

    The top bit of n is its sign, and is not multiplied by.
    """
    base, exponent = x
    kind = base.type
    one, zero = b.int(1, kind), b.int(0, kind)
    result, square = one, base
    for bit in range(bit_width(kind) - 1):
        is_set = b.cmpi("ne", b.emit(arith.AndIOp, exponent, b.int(1 << bit, kind)), zero)
        result = b.select(is_set, b.emit(arith.MuliOp, result, square), result)
        square = b.emit(arith.MuliOp, square, square)
    return (b.select(b.cmpi("slt", exponent, zero), _inverse_power(b, base, exponent, kind), result),)


def _inverse_power(b: ScalarBuilder, base: SSAValue, exponent: SSAValue, kind: Attribute) -> SSAValue:
    """x^n for a negative n: 1 and -1 stay what they are, or change sign; all others become 0."""
    one, minus_one, zero = b.int(1, kind), b.int(-1, kind), b.int(0, kind)
    is_odd = b.cmpi("ne", b.emit(arith.AndIOp, exponent, one), zero)
    of_minus_one = b.select(is_odd, minus_one, one)
    rest = b.select(b.cmpi("eq", base, minus_one), of_minus_one, zero)
    return b.select(b.cmpi("eq", base, one), one, rest)


LOWERINGS: LoweringTable = {
    math.IPowIOp: lower_by_lane(scalar_ipowi),
    math.IsInfOp: lower_by_lane(scalar_isinf),
    math.IsNormalOp: lower_by_lane(scalar_isnormal),
}
