"""exp, exp2, expm1 of f32.

exp(x) = 2^n * p(r) with n = rint(x / ln 2), r = x - n ln 2 in two FMAs, p a degree 6 minimax polynomial (0.87 ulp).
With AVX-512 `vscalefps` applies 2^n, also into the subnormals, and gives the right answers for +infinity and NaN by
itself; `vreduceps` gives exp2's r = x - rint(x). Elsewhere the power is applied in two integer-built factors after
bounding x (NaN passes through).

Where the result is 0 for sure (-infinity of masked lanes is common) it is selected, not computed: a product that
underflows costs x86 an assist of 150 cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.693145751953125
LN2_LOW = 1.428606765330187e-06
EXP_COEFFICIENTS = (
    1.0,
    1.0,
    0.4999999403953552,
    0.1666652113199234,
    0.04166838899254799,
    0.008368710055947304,
    0.0013814609264954925,
)
EXP2_COEFFICIENTS = (
    1.0,
    0.6931471824645996,
    0.24022647738456726,
    0.05550362169742584,
    0.009618526324629784,
    0.0013390161329880357,
    0.00015321149840019643,
)
EXPM1_COEFFICIENTS = (
    0.5,
    0.1666666567325592,
    0.041666485369205475,
    0.008333541452884674,
    0.0013933228328824043,
    0.00019766994228120893,
)
"""(expm1(x) - x) / x^2 on |x| <= ln 2 / 2."""


def emit_exp(b: FormBuilder, x: str) -> str:
    x, lives = _live_lanes(b, x, -104.0, 89.0)
    n = b.rint(b.fmul(x, b.float(LOG2_E)))
    r = b.fma(n, b.float(-LN2_HIGH), x)
    r = b.fma(n, b.float(-LN2_LOW), r)
    return _scale(b, emit_polynomial(b, r, EXP_COEFFICIENTS), n, lives)


def emit_exp2(b: FormBuilder, x: str) -> str:
    x, lives = _live_lanes(b, x, -151.0, 129.0)
    if _has_scalef(b) and b.facts.has("avx512dq"):
        # One micro-operation less than rounding first; 0 for infinities, so that n is infinite.
        r = _in_pieces(b, [(x, "float")], lambda pieces, lanes: _reduce_once(b, pieces[0], lanes))
        n = b.fn.value(f"fsub {b.type('float')} {x}, {r}")
    else:
        n = b.rint(x)
        r = b.fn.value(f"fsub {b.type('float')} {x}, {n}")
    return _scale(b, emit_polynomial(b, r, EXP2_COEFFICIENTS), n, lives)


def emit_expm1(b: FormBuilder, x: str) -> str:
    """2^n (1 + q) - 1 = 2^n q + (2^n - 1) with q = expm1(r): no cancellation, as 2^n - 1 is exact where it matters."""
    clamped = _clamp(b, x, -104.0, 89.0)
    n = b.rint(b.fmul(clamped, b.float(LOG2_E)))
    r = b.fma(n, b.float(-LN2_HIGH), clamped)
    r = b.fma(n, b.float(-LN2_LOW), r)
    q = b.fma(b.fmul(r, r), emit_polynomial(b, r, EXPM1_COEFFICIENTS), r)
    # n reaches 128: the last factor 2 is applied at the end, so that 2^127 * 2 does not overflow before it must.
    halved = b.fcmp("oge", n, b.float(128.0))
    m = b.select(halved, b.float(127.0), n)
    power = _power_of_two(b, b.intrinsic("maxnum", "float", m, b.float(-126.0)))
    result = b.fma(power, q, b.fsub(power, b.float(1.0)))
    result = b.select(halved, b.fadd(result, result), result)
    # Tiny arguments (and the sign of zero) are their own result.
    return b.select(b.fcmp("olt", b.fabs(x), b.float(2.0**-26)), x, result)


def _has_scalef(b: FormBuilder) -> bool:
    return b.facts.has("avx512f") and b.lanes in (8, 16, 32, 64) and (b.lanes != 8 or b.facts.has("avx512vl"))


def _live_lanes(b: FormBuilder, x: str, low: float, high: float) -> tuple[str, str]:
    """x with harmless numbers where the result is 0 or overflows anyway, and the lanes whose result is not 0."""
    lives = b.fcmp("uge", x, b.float(low))
    if not _has_scalef(b):
        x = b.select(b.fcmp("ogt", x, b.float(high)), b.float(high), x)
        x = b.select(lives, x, b.float(0.0))
    return x, lives


def _clamp(b: FormBuilder, x: str, low: float, high: float | None) -> str:
    """x bounded to [low, high]; NaN stays NaN because both comparisons are then false."""
    if high is not None:
        x = b.select(b.fcmp("ogt", x, b.float(high)), b.float(high), x)
    return b.select(b.fcmp("olt", x, b.float(low)), b.float(low), x)


def _power_of_two(b: FormBuilder, n: str) -> str:
    """2^n for integral n in [-126, 127]."""
    return b.bits(b.shl(b.add(_to_int(b, n), b.int(127)), 23), "i32", "float")


def _to_int(b: FormBuilder, n: str) -> str:
    """An integral f32 as i32; NaN gives any number (its lane is NaN anyway)."""
    return b.fn.value(f"freeze {b.type('i32')} {b.cast('fptosi', n, 'float', 'i32')}")


def _scale(b: FormBuilder, p: str, n: str, lives: str) -> str:
    """p * 2^n in the lanes that live, 0 in the others."""
    if _has_scalef(b):
        return _scalef(b, p, n, lives)
    exponent = _to_int(b, n)
    half = b.ashr(exponent, 1)
    rest = b.sub(exponent, half)
    first = b.bits(b.shl(b.add(half, b.int(127)), 23), "i32", "float")
    second = b.bits(b.shl(b.add(rest, b.int(127)), 23), "i32", "float")
    return b.select(lives, b.fmul(b.fmul(p, first), second), b.float(0.0))


def _scalef(b: FormBuilder, p: str, n: str, lives: str) -> str:
    """`vscalefps`."""
    operands = [(p, "float"), (n, "float"), (lives, "i1")]
    return _in_pieces(b, operands, lambda pieces, lanes: _scalef_once(b, pieces[0], pieces[1], pieces[2], lanes))


def _in_pieces(b: FormBuilder, operands: Sequence[tuple[str, str]], once: Callable[[Sequence[str], int], str]) -> str:
    """Floats that an instruction for at most sixteen lanes makes of vectors of any length."""
    if b.lanes <= 16:
        return once([value for value, _ in operands], b.lanes)
    pieces: list[str] = []
    for start in range(0, b.lanes, 16):
        mask = ", ".join(f"i32 {start + lane}" for lane in range(16))
        parts = [
            b.fn.value(f"shufflevector {b.type(kind)} {v}, {b.type(kind)} poison, <16 x i32> <{mask}>")
            for v, kind in operands
        ]
        pieces.append(once(parts, 16))
    lanes = 16
    while len(pieces) > 1:
        mask = ", ".join(f"i32 {lane}" for lane in range(2 * lanes))
        pieces = [
            b.fn.value(f"shufflevector <{lanes} x float> {low}, <{lanes} x float> {high}, <{2 * lanes} x i32> <{mask}>")
            for low, high in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        lanes *= 2
    return pieces[0]


def _scalef_once(b: FormBuilder, p: str, n: str, lives: str, lanes: int) -> str:
    vector, bits = f"<{lanes} x float>", lanes * 32
    mask = b.fn.value(f"bitcast <{lanes} x i1> {lives} to i{lanes}")
    arguments = [(vector, p), (vector, n), (vector, "zeroinitializer"), (f"i{lanes}", mask)]
    if lanes == 16:
        arguments.append(("i32", "4"))
    return b.fn.call(vector, f"llvm.x86.avx512.mask.scalef.ps.{bits}", arguments)


def _reduce_once(b: FormBuilder, x: str, lanes: int) -> str:
    """x - rint(x) by `vreduceps`, without flags."""
    vector, bits, silent_to_even = f"<{lanes} x float>", lanes * 32, 8
    arguments = [(vector, x), ("i32", str(silent_to_even)), (vector, "zeroinitializer"), (f"i{lanes}", "-1")]
    if lanes == 16:
        arguments.append(("i32", "4"))
    return b.fn.call(vector, f"llvm.x86.avx512.mask.reduce.ps.{bits}", arguments)
