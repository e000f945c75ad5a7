"""What the ``__nv_*`` symbols of libdevice mean, as arith and math ops on scalars.

``tt.extern_elementwise`` names a symbol; a symbol that stands here becomes the ops that compute it, one that does not
(or that is given types that its signature does not have) leaves the op as it is.

The table has one entry for each function; `_floats` adds both spellings, ``__nv_sin`` for f64 and ``__nv_sinf`` for
f32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nan, pi

from xdsl.dialects.builtin import IntegerType, f32, f64, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, math
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.support.records import dataclass

Emit = Callable[[ScalarBuilder, Sequence[SSAValue], Attribute], SSAValue]


@dataclass(frozen=True)
class ExternSymbol:
    """A function of the table: the types it takes and gives, and how to compute it."""

    operands: tuple[Attribute, ...]
    result: Attribute
    emit: Emit


SymbolTable = dict[str, ExternSymbol]

FLOAT_SYMBOLS: SymbolTable = {}


def find_extern_symbol(
    tables: Sequence[SymbolTable], symbol: str, operands: Sequence[Attribute], result: Attribute
) -> ExternSymbol | None:
    """The entry for a symbol, if it exists and has exactly these scalar types."""
    entry = next((table[symbol] for table in tables if symbol in table), None)
    if entry is None or entry.operands != tuple(operands) or entry.result != result:
        return None
    return entry


def _add(name: str, operands: Sequence[Attribute], result: Attribute, emit: Emit) -> None:
    FLOAT_SYMBOLS[f"__nv_{name}"] = ExternSymbol(tuple(operands), result, emit)


def _floats(name: str, arity: int, emit: Emit) -> None:
    """Both spellings of a function of floats."""
    _add(name, [f64] * arity, f64, emit)
    _add(f"{name}f", [f32] * arity, f32, emit)


def _op(cls: Callable[..., Operation]) -> Emit:
    """A function that is one op of the operands' type."""
    return lambda b, x, result: b.emit(cls, *x)


# Elementary functions that the math dialect has.

_UNARY_MATH: dict[str, type[Operation]] = {
    "fabs": math.AbsFOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "asin": math.AsinOp,
    "acos": math.AcosOp,
    "atan": math.AtanOp,
    "sinh": math.SinhOp,
    "cosh": math.CoshOp,
    "tanh": math.TanhOp,
    "asinh": math.AsinhOp,
    "acosh": math.AcoshOp,
    "atanh": math.AtanhOp,
    "log": math.LogOp,
    "log2": math.Log2Op,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "expm1": math.ExpM1Op,
    "erf": math.ErfOp,
    "erfc": math.ErfcOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "cbrt": math.CbrtOp,
    "ceil": math.CeilOp,
    "floor": math.FloorOp,
    "trunc": math.TruncOp,
    "round": math.RoundOp,
    "rint": math.RoundEvenOp,
    "nearbyint": math.RoundEvenOp,
}
_BINARY_MATH: dict[str, type[Operation]] = {
    "atan2": math.Atan2Op,
    "pow": math.PowFOp,
    "fmod": arith.RemFOp,
    "fmax": arith.MaxnumfOp,
    "fmin": arith.MinnumfOp,
    "copysign": math.CopySignOp,
}


for _name, _cls in _UNARY_MATH.items():
    _floats(_name, 1, _op(_cls))
for _name, _cls in _BINARY_MATH.items():
    _floats(_name, 2, _op(_cls))
_floats("fma", 3, _op(math.FmaOp))


# Compositions of floats.


def _one(b: ScalarBuilder, like: SSAValue) -> SSAValue:
    return b.float(1.0, like.type)


def _reciprocal(inner: Emit) -> Emit:
    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        value = inner(b, x, result)
        return b.emit(arith.DivfOp, _one(b, value), value)

    return emit


@dataclass(frozen=True)
class Norm:
    """root * scale, the root of a sum of squares; both are normal numbers, their product may be too large."""

    root: SSAValue
    scale: SSAValue
    is_infinite: SSAValue


def _emit_scaled_norm(b: ScalarBuilder, x: Sequence[SSAValue], kind: Attribute) -> Norm:
    """Scaled by the largest magnitude so that the squares neither overflow nor vanish."""
    magnitudes = [b.emit(math.AbsFOp, v) for v in x]
    largest = magnitudes[0]
    for magnitude in magnitudes[1:]:
        largest = b.emit(arith.MaxnumfOp, largest, magnitude)
    zero = b.cmpf("oeq", largest, b.zero(kind))
    infinite = b.cmpf("oeq", largest, b.float(inf, kind))
    scale = b.select(b.emit(arith.OrIOp, zero, infinite), _one(b, largest), largest)
    total = b.zero(kind)
    for magnitude in magnitudes:
        ratio = b.emit(arith.DivfOp, magnitude, scale)
        total = b.emit(math.FmaOp, ratio, ratio, total)
    return Norm(b.emit(math.SqrtOp, total), scale, infinite)


def _emit_norm(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """sqrt(sum of squares), infinite where an operand is."""
    norm = _emit_scaled_norm(b, x, result)
    return b.select(norm.is_infinite, b.float(inf, result), b.emit(arith.MulfOp, norm.root, norm.scale))


def _emit_inverse_norm(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """1 / sqrt(sum of squares), also where the norm itself is too large."""
    norm = _emit_scaled_norm(b, x, result)
    inverse = b.emit(arith.DivfOp, b.emit(arith.DivfOp, _one(b, norm.root), norm.root), norm.scale)
    return b.select(norm.is_infinite, b.zero(result), inverse)


def _emit_fdim(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """x - y where x > y, NaN where either is one, else 0."""
    difference = b.emit(arith.SubfOp, x[0], x[1])
    return b.select(b.cmpf("ole", x[0], x[1]), b.zero(result), difference)


def _emit_remainder(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """IEEE remainder (fdlibm's way): fmod by 2|y|, then at most two exact subtractions of |y|; ties go to even."""
    divisor = b.emit(math.AbsFOp, x[1])
    r = b.emit(arith.RemFOp, b.emit(math.AbsFOp, x[0]), b.emit(arith.AddfOp, divisor, divisor))
    first = b.cmpf("ogt", b.emit(arith.AddfOp, r, r), divisor)
    once = b.emit(arith.SubfOp, r, divisor)
    second = b.cmpf("oge", b.emit(arith.AddfOp, once, once), divisor)
    r = b.select(first, b.select(second, b.emit(arith.SubfOp, once, divisor), once), r)
    flipped = b.emit(arith.NegfOp, r)
    negative = b.cmpf("olt", b.emit(math.CopySignOp, _one(b, r), x[0]), b.zero(result))
    return b.select(negative, flipped, r)


def _emit_saturate(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """Clamped to [0, 1]; NaN gives 0."""
    return b.emit(arith.MinnumfOp, b.emit(arith.MaxnumfOp, x[0], b.zero(result)), _one(b, x[0]))


def _emit_power_of_ten(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """10**x by pow, which is exact where 2**(x log2 10) is not."""
    return b.emit(math.PowFOp, b.float(10.0, result), x[0])


def _emit_rest_of_turns(b: ScalarBuilder, x: SSAValue) -> SSAValue:
    """x without its whole turns of 2: exact, in [-1, 1]."""
    turns = b.emit(math.RoundEvenOp, b.emit(arith.MulfOp, x, b.float(0.5, x.type)))
    return b.emit(math.FmaOp, turns, b.float(-2.0, x.type), x)


def _emit_sin_pi(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """sin(pi x) = sin(pi r) = sin(pi (1 - r)), whichever is nearer to zero: so it is exact next to whole numbers, and a
    zero of x's sign at them."""
    rest = _emit_rest_of_turns(b, x[0])
    mirrored = b.emit(arith.SubfOp, b.emit(math.CopySignOp, _one(b, rest), rest), rest)
    near = b.cmpf("ole", b.emit(math.AbsFOp, rest), b.float(0.5, result))
    folded = b.select(near, rest, mirrored)
    sine = b.emit(math.SinOp, b.emit(arith.MulfOp, folded, b.float(pi, result)))
    signed_zero = b.emit(math.CopySignOp, b.zero(result), x[0])
    return b.select(b.cmpf("oeq", folded, b.zero(result)), signed_zero, sine)


def _emit_cos_pi(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """cos(pi x) = sin(pi (1 / 2 - |r|)): exact next to its zeros."""
    rest = b.emit(math.AbsFOp, _emit_rest_of_turns(b, x[0]))
    quarter = b.emit(arith.SubfOp, b.float(0.5, result), rest)
    return b.emit(math.SinOp, b.emit(arith.MulfOp, quarter, b.float(pi, result)))


def _emit_power_of_int(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """x**n through f64, which has every n: in f32 a large odd one could become even."""
    base = b.cast(arith.ExtFOp, x[0], f64)
    return b.cast(arith.TruncFOp, b.emit(math.PowFOp, base, b.cast(arith.SIToFPOp, x[1], f64)), result)


def _emit_scale_by_power_of_two(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """x * 2**n in three steps whose factors are normal numbers: n is cut to [-300, 300] (f32) or [-2200, 2200] (f64).

    Beyond the cut the result is 0 or infinite anyway. Only the last step can round, and only where the result is
    subnormal.
    """
    mantissa, bias, bits, limit = (23, 127, i32, 300) if result == f32 else (52, 1023, i64, 2200)
    n = b.emit(arith.MinSIOp, b.emit(arith.MaxSIOp, x[1], b.int(-limit, i32)), b.int(limit, i32))
    third = b.emit(arith.DivSIOp, n, b.int(3, i32))
    last = b.emit(arith.SubiOp, n, b.emit(arith.AddiOp, third, third))
    value = x[0]
    for exponent in (third, third, last):
        biased = b.cast(arith.ExtSIOp, b.emit(arith.AddiOp, exponent, b.int(bias, i32)), bits)
        power = b.cast(arith.BitcastOp, b.emit(arith.ShLIOp, biased, b.int(mantissa, bits)), result)
        value = b.emit(arith.MulfOp, value, power)
    return value


for _name, _emit in {
    "rcbrt": _reciprocal(_op(math.CbrtOp)),
    "exp10": _emit_power_of_ten,
    "sinpi": _emit_sin_pi,
    "cospi": _emit_cos_pi,
}.items():
    _floats(_name, 1, _emit)
for _name, _emit in {"hypot": _emit_norm, "rhypot": _emit_inverse_norm, "fdim": _emit_fdim}.items():
    _floats(_name, 2, _emit)
_floats("remainder", 2, _emit_remainder)
for _arity in (3, 4):
    _floats(f"norm{_arity}d", _arity, _emit_norm)
    _floats(f"rnorm{_arity}d", _arity, _emit_inverse_norm)
_add("saturatef", [f32], f32, _emit_saturate)
for _type, _suffix in ((f64, ""), (f32, "f")):
    _add(f"powi{_suffix}", [_type, i32], _type, _emit_power_of_int)
    _add(f"ldexp{_suffix}", [_type, i32], _type, _emit_scale_by_power_of_two)
    _add(f"scalbn{_suffix}", [_type, i32], _type, _emit_scale_by_power_of_two)

# Approximations on NVIDIA hardware; here they are the functions themselves, which is more exact than asked.

for _name, _cls in {
    "fast_sinf": math.SinOp,
    "fast_cosf": math.CosOp,
    "fast_tanf": math.TanOp,
    "fast_expf": math.ExpOp,
    "fast_logf": math.LogOp,
    "fast_log2f": math.Log2Op,
    "fast_log10f": math.Log10Op,
}.items():
    _add(_name, [f32], f32, _op(_cls))
_add("fast_exp10f", [f32], f32, _emit_power_of_ten)
_add("fast_powf", [f32, f32], f32, _op(math.PowFOp))
_add("fast_fdividef", [f32, f32], f32, _op(arith.DivfOp))

# Classification: i32, 0 or 1.


def _emit_is_nan(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    return b.cast(arith.ExtUIOp, b.cmpf("uno", x[0], x[0]), result)


def _compare_magnitude(predicate: str) -> Emit:
    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        infinity = b.float(float("inf"), x[0].type)
        return b.cast(arith.ExtUIOp, b.cmpf(predicate, b.emit(math.AbsFOp, x[0]), infinity), result)

    return emit


def _emit_sign_bit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    bits = i32 if x[0].type == f32 else i64
    negative = b.cmpi("slt", b.cast(arith.BitcastOp, x[0], bits), b.int(0, bits))
    return b.cast(arith.ExtUIOp, negative, result)


for _suffix, _type in (("f", f32), ("d", f64)):
    _add(f"isnan{_suffix}", [_type], i32, _emit_is_nan)
    _add(f"isinf{_suffix}", [_type], i32, _compare_magnitude("oeq"))
    _add(f"isfinite{_suffix}", [_type], i32, _compare_magnitude("olt"))
    _add(f"signbit{_suffix}", [_type], i32, _emit_sign_bit)
_add("finitef", [f32], i32, _compare_magnitude("olt"))
_add("isfinited", [f64], i32, _compare_magnitude("olt"))

# The parts of a float: its exponent, its neighbours, the upper word of its inverse.


def _bits_type(kind: Attribute) -> IntegerType:
    return i32 if kind == f32 else i64


def _emit_exponent(b: ScalarBuilder, x: SSAValue) -> SSAValue:
    """The e with 1 <= |x| / 2**e < 2 of a finite x other than zero, as an i32; subnormal numbers are scaled first."""
    mantissa, bias, kind = (23, 127, i32) if x.type == f32 else (52, 1023, i64)
    size = b.emit(math.AbsFOp, x)
    subnormal = b.cmpf("olt", size, b.float(2.0 ** (1 - bias), x.type))
    scaled = b.emit(arith.MulfOp, size, b.float(2.0**mantissa, x.type))
    bits = b.cast(arith.BitcastOp, b.select(subnormal, scaled, size), kind)
    exponent = b.emit(arith.ShRUIOp, bits, b.int(mantissa, kind))
    exponent = b.emit(arith.SubiOp, exponent, b.select(subnormal, b.int(bias + mantissa, kind), b.int(bias, kind)))
    return exponent if kind == i32 else b.cast(arith.TruncIOp, exponent, i32)


def _emit_logb(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """The exponent as a float: -infinity of 0, infinity of infinities, NaN of NaN."""
    size, infinity = b.emit(math.AbsFOp, x[0]), b.float(inf, result)
    exponent = b.cast(arith.SIToFPOp, _emit_exponent(b, x[0]), result)
    exponent = b.select(b.cmpf("oeq", size, b.zero(result)), b.float(-inf, result), exponent)
    return b.select(b.cmpf("olt", size, infinity), exponent, size)


def _emit_ilogb(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """The exponent: the smallest integer of 0 and NaN, the largest of infinities."""
    kind = x[0].type
    size, infinity = b.emit(math.AbsFOp, x[0]), b.float(inf, kind)
    usual = b.emit(arith.AndIOp, b.cmpf("olt", size, infinity), b.cmpf("ogt", size, b.zero(kind)))
    infinite = b.cmpf("oeq", size, infinity)
    other = b.select(infinite, b.int(2**31 - 1, result), b.int(-(2**31), result))
    return b.select(usual, _emit_exponent(b, x[0]), other)


def _emit_nextafter(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """The neighbour of x towards y: one more or less in the bits, and the smallest number of y's sign from zero."""
    value, target = x
    kind = _bits_type(result)
    bits, zero = b.cast(arith.BitcastOp, value, kind), b.zero(result)
    outwards = b.cmpi("eq", b.cmpf("olt", value, target), b.cmpf("ogt", value, zero))
    moved = b.emit(arith.AddiOp, bits, b.select(outwards, b.int(1, kind), b.int(-1, kind)))
    smallest = b.cast(arith.BitcastOp, b.int(1, kind), result)
    moved = b.select(
        b.cmpf("oeq", value, zero),
        b.emit(math.CopySignOp, smallest, target),
        b.cast(arith.BitcastOp, moved, result),
    )
    moved = b.select(b.cmpf("oeq", value, target), target, moved)
    return b.select(b.cmpf("uno", value, target), b.emit(arith.AddfOp, value, target), moved)


def _emit_upper_reciprocal(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
    """1 / x from the upper 32 bits of x, in the upper 32 bits; subnormal numbers count as zeros on both sides.

    NVIDIA's hardware gives an approximation of some 20 bits for Newton's method to start from; here they are those of
    the quotient.
    """

    def upper(value: SSAValue) -> SSAValue:
        bits = b.emit(arith.AndIOp, b.cast(arith.BitcastOp, value, i64), b.int(-(2**32), i64))
        kept = b.cast(arith.BitcastOp, bits, f64)
        subnormal = b.cmpf("olt", b.emit(math.AbsFOp, kept), b.float(2.0**-1022, f64))
        return b.select(subnormal, b.emit(math.CopySignOp, b.zero(f64), kept), kept)

    quotient = upper(b.emit(arith.DivfOp, b.float(1.0, f64), upper(x[0])))
    return b.select(b.cmpf("uno", x[0], x[0]), b.float(nan, f64), quotient)


_floats("logb", 1, _emit_logb)
_floats("nextafter", 2, _emit_nextafter)
_add("ilogbf", [f32], i32, _emit_ilogb)
_add("ilogb", [f64], i32, _emit_ilogb)
_add("rcp64h", [f64], f64, _emit_upper_reciprocal)
