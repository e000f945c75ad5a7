"""asin and acos of f32 and f64: a polynomial up to 1/2, beyond it through the half angle.

asin x = pi/2 - 2 asin s and acos x = 2 asin s with s = sqrt((1 - |x|) / 2), where 1 - |x| is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.number import Condition, Number, fast_two_sum

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

COEFFICIENTS = {
    "float": (
        0.16666659712791443,
        0.07500521093606949,
        0.04451363533735275,
        0.03183605521917343,
        0.014329188503324986,
        0.03767313063144684,
    ),
    "double": (
        0.16666666666666669,
        0.07499999999998232,
        0.044642857146743216,
        0.030381944109383625,
        0.022372174073393154,
        0.017352366828530256,
        0.01397158851626176,
        0.011475593034657111,
        0.010345629962869774,
        0.005361605892312592,
        0.01765645974251028,
        -0.015243107243356271,
        0.02901981170526682,
    ),
}
"""(asin(s) - s) / s^3 in s^2 on |s| <= 1/2."""

HALF_PI = {"float": (1.5707963705062866, -4.371138828673793e-08), "double": (1.5707963267948966, 6.123233995736766e-17)}


def emit_asin(b: FormBuilder, x: str) -> str:
    value = Number(b, x)
    is_large, s, tail = _reduced(value)
    high, low = HALF_PI[b.scalar]
    head, lost = fast_two_sum(value.of(high), -(s + s))
    large = head - ((tail + tail) - (lost + low))
    return is_large.pick(large, s + tail).copysign(value).name


def emit_acos(b: FormBuilder, x: str) -> str:
    """base - u - t, where base is pi/2 for |x| <= 1/2, 0 for larger and pi for smaller x."""
    value = Number(b, x)
    is_large, s, tail = _reduced(value)
    is_right = value > 0.0
    high, low = (is_large.pick(is_right.pick(0.0, 2 * part), part) for part in HALF_PI[b.scalar])
    u = is_large.pick((s + s).copysign(-value), value)
    t = is_large.pick((tail + tail).copysign(-value), tail.copysign(value))
    return ((high - u) - (t - low)).name


def _reduced(x: Number) -> tuple[Condition, Number, Number]:
    """Return whether |x| > 1/2, the s whose arcsine is asked for, and asin(s) - s; |x| > 1 gives NaN, as roots do."""
    size = abs(x)
    is_large = size > 0.5
    square = is_large.pick((1.0 - size) * 0.5, x * x)
    s = is_large.pick(square.intrinsic("sqrt"), size)
    return is_large, s, s * square * square.polynomial(COEFFICIENTS[x.scalar])
