"""The device library: elementary and special functions, conversions with a rounding mode, bit operations.

Every function emits `tt.extern_elementwise` with the symbol that NVIDIA's libdevice gives it, `__nv_tanhf` for a
float32 `tanh`; each target maps the symbols to what it has. Integer arguments of functions on floats are not converted.

On CPUs and in the reference all of them are defined. Those that end in a rounding mode (`_rd` down, `_rn` nearest,
`_ru` up, `_rz` towards zero) are exact in it for all operands, and never fused with one another. Approximations
(`fast_...`) are the functions themselves. J and Y of a negative order are NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.casts import cast_to
from tilewright.language.inline import extern_elementwise
from tilewright.language.registry import builtin
from tilewright.language.values import tensor

_TYPES = {"i": dt.int32, "l": dt.int64, "u": dt.uint32, "v": dt.uint64, "f": dt.float32, "d": dt.float64}

# Functions of one argument on float32 (symbol with a trailing f) and float64 (symbol without).
_UNARY = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "cospi",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "floor",
    "j0",
    "j1",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nearbyint",
    "normcdf",
    "normcdfinv",
    "rcbrt",
    "rint",
    "round",
    "rsqrt",
    "sin",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
]
# The same with two, three and four arguments.
_BINARY = ["atan2", "copysign", "fdim", "fmod", "hypot", "nextafter", "remainder", "rhypot"]
_TERNARY = ["fma", "norm3d", "rnorm3d"]
_QUATERNARY = ["norm4d", "rnorm4d"]
# Arithmetic with an explicit rounding mode: down, nearest, up, towards zero.
_MODES = ("rd", "rn", "ru", "rz")

# name -> overloads "arguments:symbol:result", by the letters of _TYPES.
_OTHERS: dict[str, str] = {
    "abs": "i:abs:i l:llabs:l f:fabsf:f d:fabs:d",
    "brev": "i:brev:i l:brevll:l",
    "byte_perm": "iii:byte_perm:i",
    "clz": "i:clz:i l:clzll:i",
    "double2hiint": "d:double2hiint:i",
    "double2loint": "d:double2loint:i",
    "double_as_longlong": "d:double_as_longlong:l",
    "fast_cosf": "f:fast_cosf:f",
    "fast_dividef": "ff:fast_fdividef:f",
    "fast_exp10f": "f:fast_exp10f:f",
    "fast_expf": "f:fast_expf:f",
    "fast_log10f": "f:fast_log10f:f",
    "fast_log2f": "f:fast_log2f:f",
    "fast_logf": "f:fast_logf:f",
    "fast_powf": "ff:fast_powf:f",
    "fast_sinf": "f:fast_sinf:f",
    "fast_tanf": "f:fast_tanf:f",
    "fast_tanhf": "f:tanhf:f",
    "ffs": "i:ffs:i l:ffsll:i",
    "float_as_int": "f:float_as_int:i",
    "float_as_uint": "f:float_as_uint:i",
    "hadd": "ii:hadd:i uu:uhadd:u",
    "hiloint2double": "ii:hiloint2double:d",
    "ilogb": "f:ilogbf:i d:ilogb:i",
    "int2double_rn": "i:int2double_rn:d",
    "int_as_float": "i:int_as_float:f",
    "jn": "if:jnf:f id:jn:d",
    "ldexp": "fi:ldexpf:f di:ldexp:d",
    "llrint": "f:llrintf:l d:llrint:l",
    "llround": "f:llroundf:l d:llround:l",
    "longlong_as_double": "l:longlong_as_double:d",
    "mul24": "ii:mul24:i uu:umul24:u",
    "mulhi": "ii:mulhi:i uu:umulhi:u ll:mul64hi:l vv:umul64hi:v",
    "popc": "i:popc:i l:popcll:i",
    "pow": "fi:powif:f di:powi:d ff:powf:f dd:pow:d",
    "rcp64h": "d:rcp64h:d",
    "rhadd": "ii:rhadd:i uu:urhadd:u",
    "rsqrt_rn": "f:frsqrt_rn:f",
    "sad": "iiu:sad:i uuu:usad:u",
    "saturatef": "f:saturatef:f",
    "scalbn": "fi:scalbnf:f di:scalbn:d",
    "signbit": "f:signbitf:i d:signbitd:i",
    "uint2double_rn": "u:uint2double_rn:d",
    "uint_as_float": "u:uint_as_float:f",
    "yn": "if:ynf:f id:yn:d",
}
# Predicates: the library returns an int, users get int1.
_PREDICATES = {
    "finitef": "f:finitef:i",
    "isfinited": "d:isfinited:i",
    "isinf": "f:isinff:i d:isinfd:i",
    "isnan": "f:isnanf:i d:isnand:i",
}


def _overloads(text: str) -> dict[tuple[dt.dtype, ...], tuple[str, dt.dtype]]:
    table: dict[tuple[dt.dtype, ...], tuple[str, dt.dtype]] = {}
    for entry in text.split():
        args, symbol, result = entry.split(":")
        table[tuple(_TYPES[letter] for letter in args)] = (f"__nv_{symbol}", _TYPES[result])
    return table


def _floating(name: str, count: int) -> str:
    return f"{'f' * count}:{name}f:f {'d' * count}:{name}:d"


def _with_modes() -> dict[str, str]:
    """Arithmetic and conversions that exist once per rounding mode."""
    table: dict[str, str] = {}
    for mode in _MODES:
        for name in ("add", "sub", "mul", "div"):
            table[f"{name}_{mode}"] = f"ff:f{name}_{mode}:f dd:d{name}_{mode}:d"
        for name in ("rcp", "sqrt"):
            table[f"{name}_{mode}"] = f"f:f{name}_{mode}:f d:d{name}_{mode}:d"
        table[f"fma_{mode}"] = f"fff:fmaf_{mode}:f ddd:fma_{mode}:d"
        table[f"double2float_{mode}"] = f"d:double2float_{mode}:f"
        for source, letter in (("double", "d"), ("float", "f")):
            for target, result in (("int", "i"), ("uint", "i"), ("ll", "l"), ("ull", "l")):
                table[f"{source}2{target}_{mode}"] = f"{letter}:{source}2{target}_{mode}:{result}"
        for source, letter in (("int", "i"), ("uint", "u"), ("ll", "l"), ("ull", "v")):
            table[f"{source}2float_{mode}"] = f"{letter}:{source}2float_{mode}:f"
        for source, letter in (("ll", "l"), ("ull", "v")):
            table[f"{source}2double_{mode}"] = f"{letter}:{source}2double_{mode}:d"
    return table


def make_function(name: str, text: str, *, is_predicate: bool = False) -> Callable[..., tensor]:
    """Return a function of kernels; the text has a form, `arguments:symbol:result`, for each type."""
    table = _overloads(text)
    arity = len(next(iter(table)))

    def function(*args: Any) -> tensor:
        if len(args) != arity:
            raise TypeError(f"libdevice.{name} takes {arity} arguments, {len(args)} given")
        result = extern_elementwise("", "", list(args), table, True)
        return cast_to(result, dt.int1) if is_predicate else result

    function.__name__ = function.__qualname__ = name
    forms = "; ".join(f"({', '.join(map(str, key))}) -> {value[1]}" for key, value in table.items())
    function.__doc__ = f"`{name}`: {forms}{', as int1' if is_predicate else ''}."
    return builtin(function)


FUNCTIONS: dict[str, str] = {
    **{name: _floating(name, 1) for name in _UNARY},
    **{name: _floating(name, 2) for name in _BINARY},
    **{name: _floating(name, 3) for name in _TERNARY},
    **{name: _floating(name, 4) for name in _QUATERNARY},
    **_with_modes(),
    **_OTHERS,
}

for _name, _text in FUNCTIONS.items():
    globals()[_name] = make_function(_name, _text)
for _name, _text in _PREDICATES.items():
    globals()[_name] = make_function(_name, _text, is_predicate=True)

__all__ = sorted([*FUNCTIONS, *_PREDICATES])  # pyright: ignore[reportUnsupportedDunderAll]
