"""The integer and conversion functions of libdevice, by exact arithmetic on Python integers where bits are moved."""

from __future__ import annotations

# The tables below are lambdas over NumPy arrays of any dtype, whose parameters cannot be annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array

IntegerFunction = Callable[..., Any]


def _signed(value: int, bits: int) -> int:
    """The low bits of an integer, read as two's complement."""
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if low >> (bits - 1) else low


def exact(function: Callable[..., int], bits: int, *, signed: bool = True) -> IntegerFunction:
    """A function of Python integers as one of arrays: the arguments are read as signed or unsigned, the result is cut
    to `bits`."""

    def apply(*operands: Array) -> Array:
        shape, widths = operands[0].shape, [value.dtype.itemsize * 8 for value in operands]
        columns = [value.ravel().tolist() for value in operands]
        results = [
            _signed(function(*(v if signed else v & ((1 << w) - 1) for v, w in zip(row, widths, strict=True))), bits)
            for row in zip(*columns, strict=True)
        ]
        return np.array(results, np.dtype(f"int{bits}")).reshape(shape)

    return apply


def of_one(function: Callable[[int], int], bits: int, *, signed: bool = True) -> IntegerFunction:
    """`exact` for functions of one integer."""
    return exact(function, bits, signed=signed)


def of_two(function: Callable[[int, int], int], bits: int, *, signed: bool = True) -> IntegerFunction:
    """`exact` for functions of two integers."""
    return exact(function, bits, signed=signed)


def of_three(function: Callable[[int, int, int], int], bits: int, *, signed: bool = True) -> IntegerFunction:
    """`exact` for functions of three integers."""
    return exact(function, bits, signed=signed)


def _byte_permute(low: int, high: int, selector: int) -> int:
    pool = (high << 32 | low).to_bytes(8, "little")
    return int.from_bytes(bytes(pool[selector >> 4 * byte & 7] for byte in range(4)), "little")


def _low_24(value: int, *, signed: bool) -> int:
    return _signed(value, 24) if signed else value & 0xFFFFFF


def _reinterpreted(dtype: Any) -> Callable[[Array], Array]:
    return lambda values: np.ascontiguousarray(values).view(dtype).reshape(values.shape)


def _leading_zeros(bits: int, value: int) -> int:
    return bits - value.bit_length()


def _reversed_bits(bits: int, value: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def _to_half(values: Array) -> Array:
    return values.astype(np.float16).view(np.int16)


def _from_half(values: Array) -> Array:
    return values.view(np.float16).astype(np.float32)


def _to_single(values: Array) -> Array:
    return values.astype(np.float32)


def _high_word(values: Array) -> Array:
    return (_reinterpreted(np.int64)(values) >> 32).astype(np.int32)


def _low_word(values: Array) -> Array:
    return _reinterpreted(np.int64)(values).astype(np.int32)


def _from_words(high: Array, low: Array) -> Array:
    bits = high.astype(np.int64) << 32 | (low.astype(np.int64) & 0xFFFFFFFF)
    return _reinterpreted(np.float64)(bits)


def to_integer(rounding: Callable[[Array], Array], dtype: Any, *, signed: bool) -> IntegerFunction:
    """Rounded and saturated; NaN gives 0."""
    bits = np.dtype(dtype).itemsize * 8
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)

    def one(value: float) -> int:
        if value != value:
            return 0
        return high if value >= high else low if value <= low else int(value)

    def apply(values: Array) -> Array:
        rounded = rounding(values.astype(np.float64))
        results = [_signed(one(value), bits) for value in rounded.ravel().tolist()]
        return np.array(results, dtype).reshape(values.shape)

    return apply


def _from_integer(source: Any, target: Any) -> Callable[[Array], Array]:
    return lambda values: values.astype(source).astype(target)


def round_half_away(x: Array) -> Array:
    """To the nearest whole number, halves away from zero; x + 1/2 itself may be rounded."""
    size = np.abs(x)
    whole = np.trunc(size)
    return np.copysign(np.where(size - whole >= 0.5, whole + 1, whole), x)


INTEGER_FUNCTIONS: dict[str, IntegerFunction] = {
    "byte_perm": of_three(_byte_permute, 32, signed=False),
    "mul64hi": of_two(lambda x, y: x * y >> 64, 64),
    "umul64hi": of_two(lambda x, y: x * y >> 64, 64, signed=False),
    "mul24": of_two(lambda x, y: _low_24(x, signed=True) * _low_24(y, signed=True), 32),
    "umul24": of_two(lambda x, y: _low_24(x, signed=False) * _low_24(y, signed=False), 32, signed=False),
    "float2half_rn": _to_half,
    "half2float": _from_half,
    "double2float_rn": _to_single,
    "int_as_float": _reinterpreted(np.float32),
    "uint_as_float": _reinterpreted(np.float32),
    "float_as_int": _reinterpreted(np.int32),
    "float_as_uint": _reinterpreted(np.int32),
    "longlong_as_double": _reinterpreted(np.float64),
    "double_as_longlong": _reinterpreted(np.int64),
    "double2hiint": _high_word,
    "double2loint": _low_word,
    "hiloint2double": _from_words,
}
"""By the name without its prefix ``__nv_``."""

for _prefix, _bits in (("", 32), ("ll", 64)):
    INTEGER_FUNCTIONS[f"{_prefix}abs"] = of_one(abs, _bits)
    INTEGER_FUNCTIONS[f"{_prefix}max"] = of_two(max, _bits)
    INTEGER_FUNCTIONS[f"{_prefix}min"] = of_two(min, _bits)
    INTEGER_FUNCTIONS[f"u{_prefix}max"] = of_two(max, _bits, signed=False)
    INTEGER_FUNCTIONS[f"u{_prefix}min"] = of_two(min, _bits, signed=False)
for _suffix, _bits in (("", 32), ("ll", 64)):
    INTEGER_FUNCTIONS[f"popc{_suffix}"] = of_one(lambda x: x.bit_count(), 32, signed=False)
    INTEGER_FUNCTIONS[f"clz{_suffix}"] = of_one(partial(_leading_zeros, _bits), 32, signed=False)
    INTEGER_FUNCTIONS[f"ffs{_suffix}"] = of_one(lambda x: (x & -x).bit_length(), 32, signed=False)
    INTEGER_FUNCTIONS[f"brev{_suffix}"] = of_one(partial(_reversed_bits, _bits), _bits, signed=False)
for _prefix, _is_signed in (("", True), ("u", False)):
    INTEGER_FUNCTIONS[f"{_prefix}mulhi"] = of_two(lambda x, y: x * y >> 32, 32, signed=_is_signed)
    INTEGER_FUNCTIONS[f"{_prefix}hadd"] = of_two(lambda x, y: x + y >> 1, 32, signed=_is_signed)
    INTEGER_FUNCTIONS[f"{_prefix}rhadd"] = of_two(lambda x, y: x + y + 1 >> 1, 32, signed=_is_signed)
    INTEGER_FUNCTIONS[f"{_prefix}sad"] = of_three(lambda x, y, z: abs(x - y) + z, 32, signed=_is_signed)

for _name, _type, _source in (
    ("int", np.int32, np.int32),
    ("uint", np.int32, np.uint32),
    ("ll", np.int64, np.int64),
    ("ull", np.int64, np.uint64),
):
    for _mode, _rounding in {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}.items():
        for _float in ("float", "double"):
            INTEGER_FUNCTIONS[f"{_float}2{_name}_{_mode}"] = to_integer(
                _rounding, _type, signed=not _name.startswith("u")
            )
    INTEGER_FUNCTIONS[f"{_name}2float_rn"] = _from_integer(_source, np.float32)
    INTEGER_FUNCTIONS[f"{_name}2double_rn"] = _from_integer(_source, np.float64)
for _suffix in ("", "f"):
    INTEGER_FUNCTIONS[f"llrint{_suffix}"] = to_integer(np.rint, np.int64, signed=True)
    INTEGER_FUNCTIONS[f"llround{_suffix}"] = to_integer(round_half_away, np.int64, signed=True)
