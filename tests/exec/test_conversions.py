"""Conversions between all pairs of types, with rounding modes, special values and saturation, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.support import knobs

pytestmark = pytest.mark.usefixtures("every_target")


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
BYTES = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
N = 256


@triton.jit
def address_as_number(x_ptr, out_ptr, n):
    """Whether there is memory, how far apart two addresses are, and what lies at one of them."""
    first, last = x_ptr.to(tl.int64), (x_ptr + n).to(tl.int64)
    tl.store(out_ptr, last - first)
    if x_ptr:
        tl.store(out_ptr + 1, (tl.load(x_ptr + n) != 0).to(tl.int64))
    tl.store(out_ptr + 2, tl.load(last.to(tl.pointer_type(tl.int8))).to(tl.int64))


@triton.jit
def convert(
    x_ptr, to_0, to_1, to_2, to_3, to_4, to_5, to_6, to_7, to_8, to_9, to_10, to_11, N: tl.constexpr
):  # fmt: skip
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for to in tl.static_range(12):
        target = (to_0, to_1, to_2, to_3, to_4, to_5, to_6, to_7, to_8, to_9, to_10, to_11)[to]
        tl.store(target + i, x.to(target.dtype.element_ty))


@triton.jit
def convert_floats(x_ptr, to_0, to_1, to_2, to_3, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for to in tl.static_range(4):
        target = (to_0, to_1, to_2, to_3)[to]
        tl.store(target + i, x.to(target.dtype.element_ty))


@triton.jit
def convert_rounded(x_ptr, out_ptr, ROUNDING: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty, fp_downcast_rounding=ROUNDING))


@triton.jit
def reinterpret(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty, bitcast=True))


@triton.jit
def convert_scalar(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr).to(out_ptr.dtype.element_ty))


def name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


def source(dtype: Any) -> Array:
    """Values that every type of the same sign has room for, halves among the floats."""
    random = np.random.default_rng(1)
    kind = np.dtype(dtype).kind
    if kind == "u":
        return random.integers(0, 120, N).astype(dtype)
    if kind == "i":
        return random.integers(-120, 120, N).astype(dtype)
    return (random.integers(-240, 240, N) / 2).astype(dtype)


def converted(x: Array, dtype: Any) -> Array:
    """The meaning: floats to integers by cutting off, through a wide integer as unsigned ones wrap."""
    if np.dtype(dtype).kind in "iu" and x.dtype.kind not in "iu":
        return np.trunc(x.astype(np.float64)).astype(np.int64).astype(dtype)
    return x.astype(dtype)


def is_defined(x: Array, dtype: Any) -> Array:
    """Where a conversion has a meaning: from floats, what the integer type holds."""
    if np.dtype(dtype).kind != "u" or x.dtype.kind in "iu":
        return np.ones(x.shape, np.bool_)
    return x.astype(np.float64) > -1


def assert_same(got: Array, expected: Array) -> None:
    """Equal values of one type; NumPy does not know that NaN of ml_dtypes' types are NaN."""
    assert got.dtype == expected.dtype
    wide = np.float64 if got.dtype.kind not in "iub" else got.dtype
    np.testing.assert_array_equal(got.astype(wide), expected.astype(wide), err_msg=got.dtype.name)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS], ids=name_of)
def test_numbers(dtype: Any) -> None:
    x = source(dtype)
    targets = [np.zeros(N, to) for to in (*INTEGERS, *FLOATS)]
    convert[(1,)](x, *targets, N=N)
    for got in targets:
        where = is_defined(x, got.dtype)
        assert_same(got[where], converted(x, got.dtype)[where])


@pytest.mark.parametrize("target", ["", "reference"], ids=["compiled", "reference"])
def test_floats_beyond_narrow_integers_wrap_from_32_bits(target: str) -> None:
    """As programs rely on that store a negative exponent in a byte: `(-2.0).to(tl.uint8)` is 254."""
    beyond = [-2.0, -1.5, -300.25, 300.0, 70000.0, -70000.0, 1e10, -1e10, np.inf]
    x = np.resize(np.array(beyond, np.float32), N)
    targets = [np.zeros(N, to) for to in (*INTEGERS, *FLOATS)]
    with knobs.scope(target=target or knobs.get("target")):
        convert[(1,)](x, *targets, N=N)
    limits = np.iinfo(np.int32)
    for got in targets[:4]:
        assert_same(
            got, np.trunc(np.clip(x.astype(np.float64), limits.min, limits.max)).astype(np.int64).astype(got.dtype)
        )


@pytest.mark.parametrize("dtype", INTEGERS, ids=name_of)
def test_wide_integers_wrap_and_round(dtype: Any) -> None:
    """Every bit pattern: narrower integers take the low bits, floats the nearest value."""
    x = np.random.default_rng(2).integers(0, 256, N * np.dtype(dtype).itemsize).astype(np.uint8).view(dtype)
    x[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    targets = [np.zeros(N, to) for to in (*INTEGERS, *FLOATS)]
    convert[(1,)](x, *targets, N=N)
    for got in targets:
        with np.errstate(over="ignore"):
            assert_same(got, nearest(x, got.dtype))


def nearest(x: Array, dtype: np.dtype[Any]) -> Array:
    """Integers as another type, floats rounded once."""
    if dtype.kind in "iu" or dtype != ml_dtypes.bfloat16:
        return x.astype(dtype)
    exact = np.array([round_to_odd(int(value)) for value in x], np.float32)
    return exact.astype(dtype)


def round_to_odd(value: int) -> float:
    """A float32 that a narrower float rounds as it would the integer: cut off, with the last bit saying so."""
    magnitude = abs(value)
    shift = max(magnitude.bit_length() - 24, 0)
    kept = magnitude >> shift
    if kept << shift != magnitude:
        kept |= 1
    return float(kept << shift) * (-1 if value < 0 else 1)


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 6e-8, 3e-5, 65504, 65520, 1e5, 3.3e38, -3.3e38, 1 / 3]


@pytest.mark.parametrize("dtype", FLOATS, ids=name_of)
def test_floats_round_to_even(dtype: Any) -> None:
    """Overflow, subnormals, ties, signed zeros, infinities and NaN."""
    random = np.random.default_rng(3)
    wide = random.standard_normal(N) * 10.0 ** random.integers(-9, 6, N)
    wide[: len(SPECIAL)] = SPECIAL
    wide[32:64] = 1 + (np.arange(32) + 0.5) * 2.0**-8  # ties of bfloat16
    wide[64:96] = 1 + (np.arange(32) + 0.5) * 2.0**-10  # ties of float16
    with np.errstate(over="ignore"):
        x = wide.astype(dtype)
        targets = [np.zeros(N, to) for to in FLOATS]
        convert_floats[(1,)](x, *targets, N=N)
        for got in targets:
            if got.dtype == ml_dtypes.bfloat16 and x.dtype == np.float64:
                continue  # NumPy rounds these twice
            expected = x.astype(got.dtype)
            assert_same(got, expected)
            finite = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(got)[finite], np.signbit(expected)[finite])


@pytest.mark.parametrize("to", [np.float16, ml_dtypes.bfloat16], ids=name_of)
@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
def test_rounding_modes(rounding: str, to: Any) -> None:
    random = np.random.default_rng(4)
    x = (random.standard_normal(N) * 10.0 ** random.integers(-3, 3, N)).astype(np.float32)
    x[:4] = 0, -0.0, np.inf, -np.inf
    out = np.zeros(N, to)
    convert_rounded[(1,)](x, out, ROUNDING=rounding, N=N)
    expected = x.astype(to)
    if rounding == "rtz":
        away = np.abs(expected.astype(np.float64)) > np.abs(x.astype(np.float64))
        bits = expected.view(np.uint16)
        expected = np.where(away, bits - np.uint16(1), bits).astype(np.uint16).view(to)
    assert_same(out, expected)


@pytest.mark.parametrize("dtype", BYTES, ids=name_of)
def test_bytes_to_floats_are_exact(dtype: Any) -> None:
    x = np.arange(256, dtype=np.uint8).view(dtype)
    for to in FLOATS[:3]:
        out = np.zeros(256, to)
        convert_rounded[(1,)](x, out, ROUNDING=None, N=256)
        assert_same(out, x.astype(to))


@pytest.mark.parametrize("dtype", FLOATS[:3], ids=name_of)
@pytest.mark.parametrize("to", BYTES, ids=name_of)
def test_floats_to_bytes(dtype: Any, to: Any) -> None:
    """Nearest, ties to even, subnormals; what is too large becomes the largest value."""
    exact = np.arange(256, dtype=np.uint8).view(to).astype(np.float64)
    exact = np.unique(exact[np.isfinite(exact)])
    middles, largest = (exact[:-1] + exact[1:]) / 2, float(exact.max())
    values = np.concatenate([exact, middles, middles * (1 + 2**-6), [-largest * 1.01, largest * 1.01]])
    x = np.zeros(1024, dtype)
    x[: values.size] = values.astype(dtype)
    out = np.zeros(1024, to)
    convert_rounded[(1,)](x, out, ROUNDING="rtne", N=1024)
    wide = np.clip(x.astype(np.float32), -largest, largest)
    assert_same(out, wide.astype(to))
    np.testing.assert_array_equal(np.signbit(out.astype(np.float32)), np.signbit(wide))


@pytest.mark.parametrize(
    ("dtype", "to"),
    [
        (np.float32, np.int32),
        (np.int32, np.float32),
        (np.float16, np.int16),
        (ml_dtypes.bfloat16, np.float16),
        (np.int64, np.float64),
        (np.uint8, ml_dtypes.float8_e5m2),
        (ml_dtypes.float8_e4m3fn, np.int8),
    ],
    ids=name_of,
)
def test_bits_stay(dtype: Any, to: Any) -> None:
    x = np.random.default_rng(5).integers(0, 120, N * np.dtype(dtype).itemsize).astype(np.uint8).view(dtype)
    out = np.zeros(N, to)
    reinterpret[(1,)](x, out, N=N)
    np.testing.assert_array_equal(out.view(np.uint8), x.view(np.uint8))


@pytest.mark.parametrize("to", [np.int8, np.float16, ml_dtypes.bfloat16, np.float64], ids=name_of)
def test_scalars(to: Any) -> None:
    x, out = np.array([37.5], np.float32), np.zeros(1, to)
    convert_scalar[(1,)](x, out)
    assert out[0] == converted(x, to)[0]


def test_truth() -> None:
    x = np.array([0, 1, 2, -1, 256, 0, 7, 0], np.int32)
    out = np.zeros(8, np.bool_)
    convert_rounded[(1,)](x, out, ROUNDING=None, N=8)
    np.testing.assert_array_equal(out, x != 0)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int32], ids=name_of)
@pytest.mark.parametrize("value", [0, 1])
def test_addresses_are_those_of_bytes(dtype: Any, value: int) -> None:
    x, out = np.zeros(6, dtype), np.zeros(3, np.int64)
    x[5] = value
    address_as_number[(1,)](x, out, 5)
    assert out.tolist() == [5 * x.itemsize, value, value]
