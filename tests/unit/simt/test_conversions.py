"""`cvt` against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ptx_kernels import PREFIX, by_thread
from test_floats import TYPES, check, numbers, rounded
from test_integers import dtype_of
from test_integers import numbers as integers

from suite.arrays import Array

E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
FLOATS = list(TYPES)
INTEGERS = ["s16", "u16", "s32", "u32", "s64", "u64"]


def convert(modifiers: str, values: Array, dtype: Any) -> Array:
    into, out_of = PREFIX[np.dtype(dtype).itemsize], PREFIX[values.dtype.itemsize]
    return by_thread(f"cvt.{modifiers} %{into}0, %{out_of}1;", [values], dtype)


@pytest.mark.parametrize("out_of", INTEGERS)
@pytest.mark.parametrize("into", INTEGERS)
def test_between_integers(into: str, out_of: str) -> None:
    values = integers(dtype_of(out_of))
    found = convert(f"{into}.{out_of}", values, dtype_of(into))
    np.testing.assert_array_equal(found, values.astype(dtype_of(into)))
    limits = np.iinfo(dtype_of(into))
    found = convert(f"sat.{into}.{out_of}", values, dtype_of(into))
    expected = [min(max(int(value), limits.min), limits.max) for value in values]
    np.testing.assert_array_equal(found, np.array(expected, dtype_of(into)))


def test_bytes_are_extended() -> None:
    values = integers(np.uint16)
    np.testing.assert_array_equal(convert("s32.s8", values, np.int32), values.astype(np.uint8).view(np.int8))
    np.testing.assert_array_equal(convert("u32.u8", values, np.uint32), values.astype(np.uint8))
    np.testing.assert_array_equal(convert("s16.s8", values, np.int16), values.astype(np.uint8).view(np.int8))


@pytest.mark.pairwise
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("out_of", INTEGERS)
@pytest.mark.parametrize("into", FLOATS)
def test_from_integers(into: str, out_of: str, mode: str) -> None:
    values = integers(dtype_of(out_of))
    found = convert(f"{mode}.{into}.{out_of}", values, TYPES[into])
    check(found, [rounded(Fraction(int(value)), TYPES[into], mode) for value in values], zeros=True)


@pytest.mark.pairwise
@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("out_of", FLOATS)
@pytest.mark.parametrize("into", INTEGERS)
def test_to_integers_saturates(into: str, out_of: str, mode: str) -> None:
    values = np.concatenate([numbers(out_of, spread=12), np.array([0.5, 1.5, 2.5, -0.5, -1.5]).astype(TYPES[out_of])])
    found = convert(f"{mode}.{into}.{out_of}", values, dtype_of(into))
    limits, expected = np.iinfo(dtype_of(into)), []
    for value in values:
        number = float(value)
        if np.isnan(number):
            expected.append(0)
        elif np.isinf(number):
            expected.append(limits.max if number > 0 else limits.min)
        else:
            exact = Fraction(number)
            whole = {
                "rni": round(exact),
                "rzi": int(exact),
                "rmi": exact.__floor__(),
                "rpi": exact.__ceil__(),
            }[mode]
            expected.append(min(max(whole, limits.min), limits.max))
    np.testing.assert_array_equal(found, np.array(expected, dtype_of(into)))


@pytest.mark.parametrize(
    ("into", "out_of"), [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64"), ("bf16", "f64")]
)
@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_narrower_floats(into: str, out_of: str, mode: str) -> None:
    values = numbers(out_of, spread=20)
    found = convert(f"{mode}.{into}.{out_of}", values, TYPES[into])
    expected = [
        rounded(Fraction(float(value)), TYPES[into], mode)
        if np.isfinite(value)
        else np.array(value).astype(TYPES[into])
        for value in values
    ]
    check(found, expected, zeros=True)


@pytest.mark.parametrize(
    ("into", "out_of"), [("f32", "f16"), ("f32", "bf16"), ("f64", "f32"), ("f64", "f16"), ("f64", "bf16")]
)
def test_wider_floats(into: str, out_of: str) -> None:
    values = numbers(out_of)
    check(convert(f"{into}.{out_of}", values, TYPES[into]), list(values.astype(TYPES[into])))


@pytest.mark.parametrize(
    ("mode", "function"), [("rni", np.rint), ("rzi", np.trunc), ("rmi", np.floor), ("rpi", np.ceil)]
)
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_whole_floats(type_: str, mode: str, function: Any) -> None:
    values = numbers(type_)
    check(convert(f"{mode}.{type_}.{type_}", values, TYPES[type_]), list(function(values)))


def test_saturation_to_0_and_1() -> None:
    values = numbers("f32")
    expected = np.where(np.isnan(values), 0, np.clip(values, 0, 1))
    check(convert("sat.f32.f32", values, np.float32), list(expected), zeros=True)


def test_tf32() -> None:
    values = np.array([1.0, 1 + 2.0**-11, 1 + 3 * 2.0**-11, -1 - 2.0**-11, np.inf, 3.14159], np.float32)
    away = [1.0, 1 + 2.0**-10, 1 + 2.0**-9, -1 - 2.0**-10, np.inf]
    found = convert("rna.tf32.f32", values, np.float32)
    check(found[:5], away)
    assert found[5] == np.float32(np.round(3.14159 * 512) / 512)
    check(convert("rn.tf32.f32", values, np.float32)[:3], [1.0, 1.0, 1 + 2.0**-9])


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_pairs_of_halves(type_: str) -> None:
    high, low = numbers("f32"), numbers("f32")
    found = by_thread(f"cvt.rn.{type_}x2.f32 %r0, %r1, %r2;", [high, low], np.uint32).view(TYPES[type_])
    with np.errstate(all="ignore"):
        check(found[1::2], list(high.astype(TYPES[type_])))
        check(found[::2], list(low.astype(TYPES[type_])))


@pytest.mark.parametrize(("name", "dtype"), [("e4m3", E4M3), ("e5m2", E5M2)])
def test_pairs_of_8_bit_floats(name: str, dtype: np.dtype[Any]) -> None:
    high, low = numbers("f32", spread=12), numbers("f32", spread=3)
    found = by_thread(f"cvt.rn.satfinite.{name}x2.f32 %h0, %r1, %r2;", [high, low], np.uint16).view(dtype)
    most = float(ml_dtypes.finfo(dtype).max)
    for part, values in ((found[1::2], high), (found[::2], low)):
        expected = np.clip(values, -most, most).astype(dtype)
        check(part, list(expected))
    codes = np.arange(1 << 8, dtype=np.uint16)
    packed = codes << 8 | codes[::-1]
    wide = by_thread(f"cvt.rn.f16x2.{name}x2 %r0, %h1;", [packed], np.uint32).view(np.float16)
    exact = codes.astype(np.uint8).view(dtype).astype(np.float16)
    check(wide[1::2], list(exact))
    check(wide[::2], list(exact[::-1]))
    finite = np.nan_to_num(numbers("f16", 64), posinf=1, neginf=1)
    found = by_thread(f"cvt.rn.satfinite.{name}x2.f16x2 %h0, %r1;", [finite.view(np.uint32)], np.uint16).view(dtype)
    check(found, list(np.clip(finite.astype(np.float32), -most, most).astype(dtype)))


SIZES = (0.0, -0.0, 2.0**-149, 2.0**-128, 2.0**-127, 1.5 * 2.0**-127, -(2.0**-126), 1.0, -1.5, 2.0, 3.0)
LARGE = (2.0**127, 1.25 * 2.0**127, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("mode", ["rz", "rp", "rz.satfinite", "rp.satfinite"])
def test_powers_of_two_of_scales(mode: str) -> None:
    values = np.array([*SIZES, *LARGE], np.float32)
    found = by_thread(f"cvt.{mode}.ue8m0x2.f32 %h0, %r1, %r2;", [values, values[::-1].copy()], np.uint16)
    codes = found & 255
    np.testing.assert_array_equal((found >> 8)[::-1], codes)
    rising, most = [0, 0, 0, 0, 0, 1, 1, 127, 128, 128, 129, 254, 255, 255, 255, 255], 254 if "sat" in mode else 255
    falling = [0, 0, 0, 0, 0, 0, 1, 127, 127, 128, 128, 254, 254, 255, 255, 255]
    expected = [min(code, most) for code in (rising if "rp" in mode else falling)[:-1]] + [255]
    np.testing.assert_array_equal(codes[::-1], expected)
    codes = np.arange(256, dtype=np.uint16)
    wide = by_thread("cvt.rn.bf16x2.ue8m0x2 %r0, %h1;", [codes << 8 | codes], np.uint32).view(TYPES["bf16"])
    exact = [*(2.0 ** (float(code) - 127) for code in range(255)), np.nan]
    check(wide[::2], list(np.array(exact).astype(TYPES["bf16"])))
    check(wide[1::2], list(wide[::2]))


@pytest.mark.parametrize(("type_", "count", "mantissa", "least"), [("f16", 13, 10, -14), ("bf16", 16, 7, -126)])
def test_rounding_by_random_bits(type_: str, count: int, mantissa: int, least: int) -> None:
    """The part of a step that is cut off and the random part of one: where they make a whole step, it counts."""
    high, low = numbers("f32", spread=20), numbers("f32", spread=3)
    random = np.random.default_rng(3).integers(0, 1 << 32, high.size, dtype=np.uint32)
    random[::7] = 0
    random[3::7] = 0xFFFFFFFF
    found = by_thread(f"cvt.rs.{type_}x2.f32 %r0, %r1, %r2, %r3;", [high, low, random], np.uint32).view(TYPES[type_])

    def expected(value: np.float32, bits: int) -> Any:
        if not np.isfinite(value):
            return TYPES[type_].type(value)
        exponent = max(int(np.frexp(np.abs(value))[1]) - 1, least) - mantissa
        size = abs(Fraction(float(value))) / Fraction(2) ** exponent
        part = Fraction(bits & ((1 << count) - 1), 1 << count)
        steps = ((size * (1 << count) // 1) / Fraction(1 << count) + part) // 1
        largest = (2 - Fraction(1, 1 << mantissa)) * Fraction(2) ** (127 if type_ == "bf16" else 15)
        result = steps * Fraction(2) ** exponent
        return TYPES[type_].type(np.copysign(np.inf if result > largest else float(result), value))

    with np.errstate(all="ignore"):
        check(found[1::2], [expected(value, int(bits) >> 16) for value, bits in zip(high, random, strict=True)])
        check(found[::2], [expected(value, int(bits)) for value, bits in zip(low, random, strict=True)])
    kept = by_thread(f"cvt.rs.{type_}x2.f32 %r0, %r1, %r2, %r3;", [high, high, random * 0], np.uint32)
    with np.errstate(all="ignore"):
        towards_zero = by_thread(f"cvt.rz.{type_}x2.f32 %r0, %r1, %r2;", [high, high], np.uint32).view(TYPES[type_])
    finite = np.isfinite(np.repeat(high, 2)) & (np.abs(np.repeat(high, 2)) < 65504)
    check(kept.view(TYPES[type_])[finite], list(towards_zero[finite]))
