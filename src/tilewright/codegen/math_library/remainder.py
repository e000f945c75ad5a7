"""fmod of f32 and f64: x - trunc(x / y) y, which is exact while the quotient has few enough digits.

The quotient is rounded before it is cut off, so it may be one too large; then y is added back. Longer quotients take
the slow path. A remainder has the sign of x, a zero too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.slow_path import emit_with_slow_path

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

LONGEST_QUOTIENT = {"float": 2.0**22, "double": 2.0**51}


def emit_fmod(b: FormBuilder, x: str, y: str) -> str:
    scalar = b.scalar
    size, divisor = b.fabs(x, scalar), b.fabs(y, scalar)
    quotient = b.fdiv(size, divisor, scalar)
    # Not so for NaN; by 0 and of infinities the quotient is infinite, and libm knows.
    is_long = b.fcmp("oge", quotient, b.float(LONGEST_QUOTIENT[scalar], scalar), scalar)
    return emit_with_slow_path(b, "fmod", (x, y), is_long, lambda: _short(b, x, size, divisor, quotient))


def _short(b: FormBuilder, x: str, size: str, divisor: str, quotient: str) -> str:
    scalar = b.scalar
    whole = b.fneg(b.intrinsic("trunc", scalar, quotient), scalar)
    rest = b.fma(whole, divisor, size, scalar)
    is_below = b.fcmp("olt", rest, b.float(0.0, scalar), scalar)
    rest = b.select(is_below, b.binary("fadd", rest, divisor, scalar), rest, scalar)
    # 0 times infinity is no number, but what is smaller than the divisor is its own remainder.
    rest = b.select(b.fcmp("olt", size, divisor, scalar), size, rest, scalar)
    return b.intrinsic("copysign", scalar, rest, x)
