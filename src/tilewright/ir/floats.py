"""Float literals as upstream MLIR writes them, and floats from bit patterns.

1.000000e+00    exact with six digits after the point
0.1             would print as 1.000000e-01 if that reads back to the same float, else with all digits it needs
0xFF800000      infinities and NaN, as their bits
"""

from __future__ import annotations

import math
import struct
from typing import Any

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    FloatTF32Type,
)

_SCIENTIFIC_DIGITS = 6
"""Precision that the short form is asked for."""

_MAX_PADDING = 3
"""Zeros that the long form may pad with before it turns to an exponent."""

_PRECISION: dict[type, int] = {
    BFloat16Type: 8,
    Float16Type: 11,
    Float32Type: 24,
    Float64Type: 53,
    Float80Type: 64,
    Float128Type: 113,
    FloatTF32Type: 11,
}
"""Bits of the significand, with the hidden one."""

_cache: dict[tuple[bytes, AnyFloat], str] = {}
_CACHE_LIMIT = 4096


def format_float(value: float, type: AnyFloat) -> str:
    """The literal of a float of a type, without the type."""
    key = (struct.pack("<d", value), type)
    text = _cache.get(key)
    if text is None:
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        text = _cache[key] = _format(value, type)
    return text


def _format(value: float, type: AnyFloat) -> str:
    if math.isfinite(value):
        short = _short_form(value)
        if round_to(float(short), type) == value:
            return short
        long = _long_form(value, _precision(type))
        if "." in long:
            return long
    return f"0x{float_bits(value, type):X}"


def _precision(type: AnyFloat) -> int:
    known = _PRECISION.get(type.__class__)
    if known is not None:
        return known
    semantics: Any = type
    return semantics.semantics.mantissa_bits + 1


def float_bits(value: float, type: AnyFloat) -> int:
    """The bit pattern of a float in its type."""
    return int.from_bytes(type.pack((value,)), "little")


def float_from_bits(bits: int, type: AnyFloat) -> float:
    """The float with a bit pattern; raises `ValueError` if the pattern is wider than the type."""
    size = type.compile_time_size
    if bits < 0 or bits >> (8 * size):
        raise ValueError(f"0x{bits:X} does not fit into {type}")
    return next(iter(type.iter_unpack(bits.to_bytes(size, "little"))))


def round_to(value: float, type: AnyFloat) -> float:
    """The nearest float of the type; infinite when it is out of range."""
    if isinstance(type, Float64Type | Float80Type | Float128Type):
        return value
    try:
        return next(iter(type.iter_unpack(type.pack((value,)))))
    except (OverflowError, struct.error):
        return math.copysign(math.inf, value)


def _decimal(value: float, precision: int) -> tuple[str, int]:
    """Digits and exponent of the decimal number that LLVM prints for `value` at a precision (in digits).

    The exact decimal expansion is first cut to about the bits that the precision needs, then rounded half up; cutting
    before rounding is why the last digit may differ from correct rounding, and is part of the format.
    """
    numerator, denominator = abs(value).as_integer_ratio()
    halvings = denominator.bit_length() - 1
    significand, exponent = numerator * 5**halvings, -halvings
    surplus = significand.bit_length() - (precision * 196 + 58) // 59
    if surplus > 0:
        removable = surplus * 59 // 196
        significand //= 10**removable
        exponent += removable
    digits = str(significand)
    stripped = digits.rstrip("0")
    exponent += len(digits) - len(stripped)
    if len(stripped) <= precision:
        return stripped, exponent
    exponent += len(stripped) - precision
    rounded = str(int(stripped[:precision]) + (stripped[precision] >= "5"))
    kept = rounded.rstrip("0")
    return kept, exponent + len(rounded) - len(kept)


def _sign(value: float) -> str:
    return "-" if math.copysign(1.0, value) < 0 else ""


def _short_form(value: float) -> str:
    """``1.500000e+00``: six digits after the point and at least two in the exponent."""
    if value == 0:
        return f"{_sign(value)}0.000000e+00"
    digits, exponent = _decimal(value, _SCIENTIFIC_DIGITS)
    exponent += len(digits) - 1
    fraction = digits[1:].ljust(_SCIENTIFIC_DIGITS, "0")
    return f"{_sign(value)}{digits[0]}.{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _long_form(value: float, significand_bits: int) -> str:
    """All digits that a float of that many significand bits needs, such as ``0.123456791`` or ``3.4028234E+38``."""
    precision = 2 + significand_bits * 59 // 196
    digits, exponent = _decimal(value, precision)
    leading = exponent + len(digits) - 1
    if exponent >= 0:
        if exponent <= _MAX_PADDING and len(digits) + exponent <= precision:
            return f"{_sign(value)}{digits}{'0' * exponent}"
    elif leading >= 0:
        return f"{_sign(value)}{digits[: leading + 1]}.{digits[leading + 1 :]}"
    elif -leading <= _MAX_PADDING:
        return f"{_sign(value)}0.{'0' * (-leading - 1)}{digits}"
    fraction = digits[1:] or "0"
    return f"{_sign(value)}{digits[0]}.{fraction}E{'-' if leading < 0 else '+'}{abs(leading)}"
