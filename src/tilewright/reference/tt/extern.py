"""Functions of libdevice, by NumPy in double precision, rounded to the type of the result.

The table shares nothing with the lowering's, which composes the same functions from ops.
"""

from __future__ import annotations

# The tables below are lambdas over NumPy arrays of any dtype, whose parameters cannot be annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from xdsl.dialects.builtin import IntegerType

from tilewright.dialects import tt
from tilewright.dialects.arith.meaning import round_floats
from tilewright.dialects.numeric import Array, dtype_of
from tilewright.dialects.types import element_type
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.libdevice_bessel import BESSEL_FUNCTIONS
from tilewright.reference.tt.libdevice_integers import INTEGER_FUNCTIONS, round_half_away
from tilewright.reference.tt.libdevice_rounding import ROUNDED_FUNCTIONS

Wide = Callable[..., Array]


def by_element(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python floats on arrays; where it refuses its argument the result is NaN or infinite."""

    def one(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    def apply(values: Array) -> Array:
        return np.array([one(value) for value in values.ravel().tolist()], np.float64).reshape(values.shape)

    return apply


def _inverse_normal(probability: float) -> float:
    if probability in (0.0, 1.0):
        return math.copysign(math.inf, probability - 0.5)
    return NormalDist().inv_cdf(probability)


def _inverse_erf(value: float) -> float:
    """Near 1 by the quantile of what is left to 1, else by Newton steps from it: alone it loses digits near 0."""
    size = abs(value)
    if not size < 1:
        return math.copysign(math.inf, value) if size == 1 else math.nan
    x = -_inverse_normal((1 - size) / 2) / math.sqrt(2)
    for _ in range(2 if size < 0.9 else 0):
        x -= (math.erf(x) - size) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return math.copysign(x, value)


def _inverse_erfc(value: float) -> float:
    if value < 0:
        return math.nan
    return 0.0 - _inverse_normal(value / 2) / math.sqrt(2)


def _positive_difference(x: Array, y: Array) -> Array:
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0.0))


def _norm(*parts: Array) -> Array:
    total = np.abs(parts[0])
    for part in parts[1:]:
        total = np.hypot(total, part)
    return total


def _reciprocal_norm(*parts: Array) -> Array:
    """In the longest floats: the norm itself may be too large for a double."""
    return (1 / _norm(*(part.astype(np.longdouble) for part in parts))).astype(np.float64)


def _sine_of_half_turns(x: Array) -> Array:
    """sin(pi x): an angle between a quarter turn to the right and one to the left has the same sine."""
    turned = np.fmod(x, 2.0)
    turned = np.where(np.abs(turned) >= 1.5, turned - np.copysign(2.0, turned), turned)
    folded = np.where(np.abs(turned) > 0.5, np.copysign(1.0, turned) - turned, turned)
    return np.where(folded == 0, np.copysign(0.0, x), np.sin(folded * np.pi))


def _cosine_of_half_turns(x: Array) -> Array:
    return 0.0 + _sine_of_half_turns(np.asarray(0.5 - np.abs(np.fmod(x, 2.0))))


def _gamma(value: float) -> float:
    """Infinite at zero and next to it, with the sign of the argument; NaN at the other poles."""
    if value == 0:
        return math.copysign(math.inf, value)
    try:
        return math.gamma(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _log_gamma(value: float) -> float:
    """Infinite at the poles."""
    return math.inf if value <= 0 and value == math.floor(value) else math.lgamma(value)


def _scaled_erfc(value: float) -> float:
    """exp(x * x) * erfc(x); for larger x by Laplace's continued fraction, x + 1/2 / (x + 1 / (x + 3/2 / ...))."""
    if value < 3:
        square = np.longdouble(value) ** 2
        with np.errstate(over="ignore"):
            return float(np.exp(square) * math.erfc(value))
    tail = np.longdouble(value)
    for k in range(120, 0, -1):
        tail = value + np.longdouble(k) / 2 / tail
    return float(1 / (tail * np.sqrt(np.longdouble(np.pi))))


def _remainder(x: Array, y: Array) -> Array:
    pairs = zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)
    values = [math.remainder(a, b) if math.isfinite(a) and b == b and b != 0 else math.nan for a, b in pairs]
    return np.array(values, np.float64).reshape(x.shape)


def _exponent(x: Array) -> Array:
    """The exponent of the leading bit, as a float."""
    exponents = np.frexp(x)[1] - 1.0
    return np.where(x == 0, -np.inf, np.where(np.isfinite(x), exponents, np.abs(x)))


def _integer_exponent(x: Array) -> Array:
    """As an integer: the smallest of 0 and NaN, the largest of infinities."""
    exponents = np.frexp(x)[1].astype(np.int32) - np.int32(1)
    least = np.where((x == 0) | np.isnan(x), np.int32(-(2**31)), exponents)
    return np.where(np.isinf(x), np.int32(2**31 - 1), least)


def _upper_word(x: Array) -> Array:
    """The upper 32 bits; subnormal numbers are zeros."""
    kept = (np.ascontiguousarray(x).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64).reshape(x.shape)
    return np.where(np.abs(kept) < np.finfo(np.float64).tiny, np.copysign(0.0, kept), kept)


def _upper_reciprocal(x: Array) -> Array:
    return np.where(np.isnan(x), np.nan, _upper_word(np.asarray(1 / _upper_word(x))))


def _normal_cdf(value: float) -> float:
    """erfc(z) / 2 at z = -x / sqrt 2, by its slope from the double next to z."""
    if not math.isfinite(value):
        return math.nan if math.isnan(value) else float(value > 0)
    exact = -np.longdouble(value) / np.sqrt(np.longdouble(2))
    near = float(exact)
    slope = 2 / math.sqrt(math.pi) * math.exp(-near * near)
    return float((math.erfc(near) - slope * (exact - near)) / 2)


UNARY: dict[str, Callable[[Array], Array]] = {
    "fabs": np.abs,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "logb": _exponent,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "expm1": np.expm1,
    "erf": by_element(math.erf),
    "erfc": by_element(math.erfc),
    "erfinv": by_element(_inverse_erf),
    "erfcx": by_element(_scaled_erfc),
    "erfcinv": by_element(_inverse_erfc),
    "normcdfinv": by_element(_inverse_normal),
    "tgamma": by_element(_gamma),
    "lgamma": by_element(_log_gamma),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "round": round_half_away,
    "rint": np.rint,
    "nearbyint": np.rint,
    "sinpi": _sine_of_half_turns,
    "cospi": _cosine_of_half_turns,
    "normcdf": by_element(_normal_cdf),
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "atan2": np.arctan2,
    "pow": np.power,
    "fmod": np.fmod,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "copysign": np.copysign,
    "hypot": np.hypot,
    "rhypot": _reciprocal_norm,
    "fdim": _positive_difference,
    "remainder": _remainder,
    "powi": np.power,
    "ldexp": np.ldexp,
    "scalbn": np.ldexp,
}
FLOAT_FUNCTIONS: dict[str, Wide] = {
    **UNARY,
    **BINARY,
    **BESSEL_FUNCTIONS,
    "norm3d": _norm,
    "norm4d": _norm,
    "rnorm3d": _reciprocal_norm,
    "rnorm4d": _reciprocal_norm,
}
"""By the name for f64; f32's ends in f. Integer arguments (of powi, ldexp, jn) come as they are."""

SINGLE_UNARY: dict[str, Callable[[Array], Array]] = {
    "saturatef": lambda x: np.clip(np.where(np.isnan(x), 0.0, x), 0.0, 1.0),
    "fast_sinf": np.sin,
    "fast_cosf": np.cos,
    "fast_tanf": np.tan,
    "fast_expf": np.exp,
    "fast_exp10f": lambda x: np.power(10.0, x),
    "fast_logf": np.log,
    "fast_log2f": np.log2,
    "fast_log10f": np.log10,
    "frsqrt_rn": lambda x: 1 / np.sqrt(x),
}
CORRECTLY_ROUNDED: dict[str, Wide] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
    "rcp": np.reciprocal,
}
"""Arithmetic of two f32 in f64, rounded once more, is correctly rounded (Figueroa 1995)."""
SINGLE_FUNCTIONS: dict[str, Wide] = {
    **SINGLE_UNARY,
    "fast_powf": np.power,
    "fast_fdividef": np.divide,
    **{f"{prefix}{name}_rn": function for prefix in "fd" for name, function in CORRECTLY_ROUNDED.items()},
}
"""By their full names."""

OWN_TYPE: dict[str, Callable[..., Array]] = {
    **INTEGER_FUNCTIONS,
    **ROUNDED_FUNCTIONS,
    "nextafter": np.nextafter,
    "nextafterf": np.nextafter,
    "ilogb": _integer_exponent,
    "ilogbf": _integer_exponent,
    "rcp64h": _upper_reciprocal,
}
"""Functions of values as they are, whose results need no rounding."""

FUSED = ("fma", "fmaf", "fmaf_rn", "fma_rn")

TESTS: dict[str, Callable[[Array], Array]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
    "finite": np.isfinite,
}
"""Questions about a float: 1 or 0. Their names end in f for f32, in d (or nothing) for f64."""


def find_float_function(name: str) -> Wide | None:
    """The function of floats that a symbol without its prefix names."""
    if name in SINGLE_FUNCTIONS:
        return SINGLE_FUNCTIONS[name]
    return FLOAT_FUNCTIONS.get(name) or FLOAT_FUNCTIONS.get(name.removesuffix("f"))


@meaning_of(tt.ExternElementwiseOp)
def call_extern(op: tt.ExternElementwiseOp, frame: Frame) -> Values:
    symbol, result = op.symbol.data, element_type(op.result.type)
    name = symbol.removeprefix("__nv_")
    operands = [np.asarray(value) for value in frame.get_all(op.operands)]
    if name in FUSED:
        from tilewright.dialects.math.meaning import fused_multiply_add

        return (fused_multiply_add(*operands),)
    test = TESTS.get(name) or TESTS.get(name[:-1])
    if test is not None:
        return (np.asarray(test(operands[0])).astype(dtype_of(result)),)
    if name in OWN_TYPE:
        return (np.asarray(OWN_TYPE[name](*operands)),)
    function = find_float_function(name)
    if function is None or isinstance(result, IntegerType):
        raise reference_error(op, f"extern function '{symbol}' has no reference meaning")
    wide = [value.astype(np.float64) if value.dtype.kind == "f" else value for value in operands]
    return (round_floats(np.asarray(function(*wide)), dtype_of(result)),)
