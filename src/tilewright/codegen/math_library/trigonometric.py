"""sin and cos of f32.

x = n pi/2 + r by three FMAs (Cody and Waite); n mod 4 picks sin r, cos r and the sign. Beyond |x| = 2^17 the three
parts of pi/2 are not enough: a vector that has such a lane takes the slow path, libm for every lane.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

SIN_COEFFICIENTS = (
    -0.1666666716337204,
    0.008333379402756691,
    -0.00019853025150950998,
    2.8317181204329245e-06,
)
"""(sin x - x) / x^3 in x^2 on |x| <= pi/4."""

COS_COEFFICIENTS = (
    0.0416666679084301,
    -0.0013888981193304062,
    2.4822447812766768e-05,
    -2.891816848205053e-07,
)
"""(cos x - 1 + x^2 / 2) / x^4 in x^2 on |x| <= pi/4."""

TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
LARGEST_REDUCED = 131072.0


def emit_sin(b: FormBuilder, x: str) -> str:
    return _with_slow_path(b, "sin", x, 0)


def emit_cos(b: FormBuilder, x: str) -> str:
    return _with_slow_path(b, "cos", x, 1)


def _with_slow_path(b: FormBuilder, name: str, x: str, quarter: int) -> str:
    """The fast form, or libm lane by lane when any lane is finite and too large to reduce."""
    from tilewright.codegen.math_library import call_libm

    fn = b.fn
    too_large = b.fcmp("oge", b.fabs(x), b.float(LARGEST_REDUCED))
    any_large = (
        fn.call("i1", f"llvm.vector.reduce.or.v{b.lanes}i1", [(b.type("i1"), too_large)]) if b.lanes else too_large
    )
    slow, fast, done = (fn.new_label(hint) for hint in ("slow", "fast", "done"))
    fn.branch_if(any_large, slow, fast)
    fn.start(slow)
    exact = call_libm(fn, name, "float", b.lanes, (x,))
    fn.branch(done)
    fn.start(fast)
    reduced = _fast(b, x, quarter)
    fn.branch(done)
    fn.start(done)
    result = fn.phi(b.type("float"))
    result.add(exact, slow)
    result.add(reduced, fast)
    return result.name


def _fast(b: FormBuilder, x: str, quarter: int) -> str:
    n = b.rint(b.fmul(x, b.float(TWO_OVER_PI)))
    r = x
    for part in HALF_PI:
        r = b.fma(n, b.float(-part), r)
    quadrant = b.fn.value(f"freeze {b.type('i32')} {b.cast('fptosi', n, 'float', 'i32')}")
    quadrant = b.add(quadrant, b.int(quarter)) if quarter else quadrant
    square = b.fmul(r, r)
    sine = b.fma(b.fmul(square, r), emit_polynomial(b, square, SIN_COEFFICIENTS), r)
    half = b.fma(square, b.float(-0.5), b.float(1.0))
    cosine = b.fma(b.fmul(square, square), emit_polynomial(b, square, COS_COEFFICIENTS), half)
    is_odd = b.icmp("ne", b.and_(quadrant, b.int(1)), b.int(0))
    sign = b.shl(b.and_(quadrant, b.int(2)), 30)
    value = b.select(is_odd, cosine, sine)
    value = b.bits(b.xor(b.bits(value), sign), "i32", "float")
    if quarter:
        return value
    return b.select(b.fcmp("oeq", x, b.float(0.0)), x, value)  # sin(-0) = -0
