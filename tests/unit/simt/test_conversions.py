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
