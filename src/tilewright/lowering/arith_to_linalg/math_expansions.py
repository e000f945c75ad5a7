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
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, math
from tilewright.dialects.numeric import dtype_of
from tilewright.lowering.arith_to_linalg.elementwise import lower_by_lane
from tilewright.lowering.arith_to_linalg.lowering import lowers
from tilewright.lowering.fp8 import emit_widen_float8, is_float8
from tilewright.lowering.integer_powers import emit_integer_power
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
    """Squares and products; see `emit_integer_power`."""
    return (emit_integer_power(b, x[0], x[1]),)


lowers(math.IPowIOp)(lower_by_lane(scalar_ipowi))
lowers(math.IsInfOp)(lower_by_lane(scalar_isinf))
lowers(math.IsNormalOp)(lower_by_lane(scalar_isnormal))
