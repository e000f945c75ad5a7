"""Products, casts and mathematical functions through upstream's code generation, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from suite.arrays import Array

Run = Callable[..., list[Array]]
rng = np.random.default_rng(13)

FLOATS: dict[str, Any] = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}


@pytest.mark.parametrize("kind", FLOATS)
def test_widening_of_8_bit_floats_is_exact(run_tiles: Run, kind: str) -> None:
    x = np.arange(256, dtype=np.uint8).view(FLOATS[kind])
    body = f"%y = tt.fp_to_fp %x : tensor<256x{kind}> -> tensor<256xf32>"
    (y,) = run_tiles({"x": f"256x{kind}"}, body, {"y": "256xf32"}, x)
    np.testing.assert_array_equal(y, x.astype(np.float32))
    np.testing.assert_array_equal(np.signbit(y)[~np.isnan(y)], np.signbit(x.astype(np.float32))[~np.isnan(y)])


def nearest(x: Any, dtype: Any) -> Any:
    """ml_dtypes' rounding, saturated: what is too large becomes the largest finite value."""
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    return np.clip(x, -largest, largest).astype(dtype)


def towards_zero(x: Any, dtype: Any) -> Any:
    """The largest value of the type that is not larger in magnitude, by search over all codes."""
    codes = np.arange(256, dtype=np.uint8).view(dtype)
    values = codes.astype(np.float32)
    usable = np.isfinite(values)
    codes, values = codes[usable], values[usable]
    magnitudes = np.unique(np.abs(values))
    place = np.searchsorted(magnitudes, np.abs(x), side="right") - 1
    return np.copysign(magnitudes[place], x).astype(dtype)


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("kind", FLOATS)
def test_narrowing_to_8_bit_floats(run_tiles: Run, kind: str, rounding: str) -> None:
    dtype = FLOATS[kind]
    exact = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    exact = np.unique(exact[np.isfinite(exact)])
    halfway = (exact[1:] + exact[:-1]) / 2
    near = [
        np.nextafter(v, s, dtype=np.float32)
        for v in (exact, halfway)
        for s in (np.float32(-np.inf), np.float32(np.inf))
    ]
    x = np.concatenate([exact, halfway, *near, [1e9, -1e9, 1e-30, -1e-30, 0.0, -0.0, 3e38]]).astype(np.float32)
    x = np.resize(x, 2048)
    body = f"%y = tt.fp_to_fp %x, rounding = {rounding} : tensor<2048xf32> -> tensor<2048x{kind}>"
    (y,) = run_tiles({"x": "2048xf32"}, body, {"y": f"2048x{kind}"}, x)
    expected = (nearest if rounding == "rtne" else towards_zero)(x, dtype)
    wrong = y.view(np.uint8) != expected.view(np.uint8)
    if kind.endswith("UZ"):
        wrong &= ~((y.astype(np.float32) == 0) & (expected.astype(np.float32) == 0))
    assert not wrong.any(), [(x[i], y[i], expected[i]) for i in np.flatnonzero(wrong)[:5]]


@pytest.mark.parametrize("kind", FLOATS)
def test_nan_stays_nan_and_doubles_round_once(run_tiles: Run, kind: str) -> None:
    dtype = FLOATS[kind]
    tie = float(dtype(1.0)) * (1 + 0.5 * float(ml_dtypes.finfo(dtype).eps))
    x = np.array([np.nan, tie, np.nextafter(tie, 2), np.nextafter(tie, 0), -tie, 1.0, 0.0, -np.nan])
    body = f"%y = tt.fp_to_fp %x, rounding = rtne : tensor<8xf64> -> tensor<8x{kind}>"
    (y,) = run_tiles({"x": "8xf64"}, body, {"y": f"8x{kind}"}, x)
    up = float(np.nextafter(np.float64(1), 2) > 1) and 1.0 + float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_array_equal(y.astype(np.float64), [np.nan, 1.0, up, 1.0, -1.0, 1.0, 0.0, np.nan])


def test_rounding_towards_zero(run_tiles: Run) -> None:
    x = np.concatenate([rng.standard_normal(58) * 100, [1e6, -1e6, np.inf, np.nan, 65519.0, -0.0]]).astype(np.float32)
    body = """
    %h = tt.fp_to_fp %x, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
    %b = tt.fp_to_fp %x, rounding = rtz : tensor<64xf32> -> tensor<64xbf16>
    """
    h, b = run_tiles({"x": "64xf32"}, body, {"h": "64xf16", "b": "64xbf16"}, x)
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float16)
    back = rounded.astype(np.float32)
    step = np.where(np.abs(back) > np.abs(x), 1, 0).astype(np.uint16)
    np.testing.assert_array_equal(h, (rounded.view(np.uint16) - step).view(np.float16))
    kept = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
    np.testing.assert_array_equal(b.astype(np.float32), kept)


@pytest.mark.parametrize(
    ("source", "element", "dtype"),
    [
        ("f16", "f32", np.float16),
        ("bf16", "f32", ml_dtypes.bfloat16),
        ("f32", "f32", np.float32),
        ("f64", "f64", np.float64),
        ("f8E5M2", "f32", ml_dtypes.float8_e5m2),
        ("f16", "f16", np.float16),
    ],
)
def test_product_with_accumulator(run_tiles: Run, source: str, element: str, dtype: Any) -> None:
    a, b = rng.standard_normal((16, 32)).astype(dtype), rng.standard_normal((32, 16)).astype(dtype)
    wide = {"f32": np.float32, "f64": np.float64, "f16": np.float16}[element]
    c = rng.standard_normal((16, 16)).astype(wide)
    body = (
        f"%d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x32x{source}> * tensor<32x16x{source}> "
        f"-> tensor<16x16x{element}>"
    )
    (d,) = run_tiles(
        {"a": f"16x32x{source}", "b": f"32x16x{source}", "c": f"16x16x{element}"},
        body,
        {"d": f"16x16x{element}"},
        a,
        b,
        c,
    )
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(
        d.astype(np.float64), expected, rtol=2e-3 if element == "f16" else 1e-5, atol=1e-2 if element == "f16" else 1e-4
    )


def test_integer_and_batched_products(run_tiles: Run) -> None:
    a, b = (rng.integers(-128, 128, (2, 16, 16)).astype(np.int8) for _ in range(2))
    c = rng.integers(-99, 99, (2, 16, 16)).astype(np.int32)
    body = "%d = tt.dot %a, %b, %c : tensor<2x16x16xi8> * tensor<2x16x16xi8> -> tensor<2x16x16xi32>"
    kinds = {"a": "2x16x16xi8", "b": "2x16x16xi8", "c": "2x16x16xi32"}
    (d,) = run_tiles(kinds, body, {"d": "2x16x16xi32"}, a, b, c)
    np.testing.assert_array_equal(d, c + a.astype(np.int32) @ b.astype(np.int32))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def test_scaled_product(run_tiles: Run) -> None:
    a = rng.integers(0, 256, (16, 32)).astype(np.uint8)
    b = rng.standard_normal((64, 16)).astype(ml_dtypes.float8_e4m3fn)
    sa, sb = (rng.integers(120, 134, (16, 2)).astype(np.uint8) for _ in range(2))
    c = rng.standard_normal((16, 16)).astype(np.float32)
    body = (
        "%d = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : "
        "tensor<16x32xi8>, tensor<16x2xi8> * tensor<64x16xf8E4M3FN>, tensor<16x2xi8> -> tensor<16x16xf32>"
    )
    kinds = {"a": "16x32xi8", "sa": "16x2xi8", "b": "64x16xf8E4M3FN", "sb": "16x2xi8", "c": "16x16xf32"}
    (d,) = run_tiles(kinds, body, {"d": "16x16xf32"}, a, sa, b, sb, c)
    left = np.stack([E2M1[a & 15], E2M1[a >> 4]], -1).reshape(16, 64) * np.repeat(
        2.0 ** (sa.astype(float) - 127), 32, 1
    )
    right = b.astype(np.float64) * np.repeat(2.0 ** (sb.astype(float) - 127), 32, 1).T
    np.testing.assert_allclose(d, c + left @ right, rtol=1e-4, atol=1e-3)


def test_tt_math_ops(run_tiles: Run) -> None:
    x = np.concatenate([rng.standard_normal(14) * 3, [np.nan, 0.5]]).astype(np.float32)
    n = rng.integers(-(2**31), 2**31, 16).astype(np.int32)
    body = """
    %lo = arith.constant dense<-1.0> : tensor<16xf32>
    %hi = arith.constant dense<1.0> : tensor<16xf32>
    %keep = tt.clampf %x, %lo, %hi, propagateNan = all : tensor<16xf32>
    %drop = tt.clampf %x, %lo, %hi, propagateNan = none : tensor<16xf32>
    %high = tt.mulhiui %n, %n : tensor<16xi32>
    %q = tt.precise_divf %hi, %x : tensor<16xf32>
    %s = tt.precise_sqrt %x : tensor<16xf32>
    %bits = tt.bitcast %x : tensor<16xf32> -> tensor<16xi32>
    """
    outputs = {"keep": "16xf32", "drop": "16xf32", "high": "16xi32", "q": "16xf32", "s": "16xf32", "bits": "16xi32"}
    keep, drop, high, q, s, bits = run_tiles({"x": "16xf32", "n": "16xi32"}, body, outputs, x, n)
    np.testing.assert_array_equal(keep, np.clip(x, -1, 1))
    np.testing.assert_array_equal(drop, np.fmin(np.fmax(x, -1), 1))
    wide = n.view(np.uint32).astype(np.uint64)
    np.testing.assert_array_equal(high.view(np.uint32), (wide * wide >> np.uint64(32)).astype(np.uint32))
    np.testing.assert_array_equal(q, np.float32(1) / x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(s, np.sqrt(x))
    np.testing.assert_array_equal(bits, x.view(np.int32))


def test_comparison_then_selection_keeps_its_nan_rule(run_tiles: Run) -> None:
    x, y = (rng.standard_normal(16).astype(np.float32) for _ in range(2))
    x[3] = y[5] = np.nan
    body = """
    %c = arith.cmpf ogt, %x, %y : tensor<16xf32>
    %r = arith.select %c, %x, %y : tensor<16xi1>, tensor<16xf32>
    """
    (r,) = run_tiles({"x": "16xf32", "y": "16xf32"}, body, {"r": "16xf32"}, x, y)
    np.testing.assert_array_equal(r, np.where(x > y, x, y))


def test_map_with_branches_and_packs(run_tiles: Run) -> None:
    x = rng.integers(-9, 9, 16).astype(np.int32)
    body = """
    %r = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.cmpi sgt, %a, %b : i32
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      tt.map_elementwise.return %b, %a : i32, i32
    ^bb2:
      %s = arith.addi %a, %b : i32
      tt.map_elementwise.return %s, %b : i32, i32
    }) : (tensor<16xi32>) -> tensor<16xi32>
    """
    (r,) = run_tiles({"x": "16xi32"}, body, {"r": "16xi32"}, x)
    a, b = x[::2], x[1::2]
    expected = np.stack([np.where(a > b, b, a + b), np.where(a > b, a, b)], 1).ravel()
    np.testing.assert_array_equal(r, expected)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
def test_classes_of_floats(run_tiles: Run, kind: str) -> None:
    dtype: Any = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]
    least = np.finfo(dtype).smallest_normal
    x = np.array([1, np.inf, -np.inf, np.nan, 0, -least, least / 2, np.finfo(dtype).max], dtype)
    for name, expected in (
        ("isinf", np.isinf(x)),
        ("isnan", np.isnan(x)),
        ("isfinite", np.isfinite(x)),
        ("isnormal", np.isfinite(x) & (np.abs(x) >= least)),
    ):
        body = f"%i = math.{name} %x : tensor<8x{kind}>\n%y = arith.extui %i : tensor<8xi1> to tensor<8xi32>"
        (y,) = run_tiles({"x": f"8x{kind}"}, body, {"y": "8xi32"}, x)
        np.testing.assert_array_equal(y, expected, err_msg=name)


@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_integer_powers(run_tiles: Run, kind: str) -> None:
    dtype = np.dtype(kind.replace("i", "int"))
    x = np.array([3, -3, 1, -1, -1, 2, 7, 0] * 2, dtype)
    n = np.array([5, 7, -3, -3, -4, -1, 0, 0, 40, 41, 2, 3, 4, 31, 22, 9], dtype)
    powers = [
        int(a) ** int(b) if b >= 0 else (int(a) ** -int(b) if abs(a) == 1 else 0) for a, b in zip(x, n, strict=True)
    ]
    (y,) = run_tiles(
        {"x": f"16x{kind}", "n": f"16x{kind}"}, f"%y = math.ipowi %x, %n : tensor<16x{kind}>", {"y": f"16x{kind}"}, x, n
    )
    bits = 8 * dtype.itemsize
    expected = [(power + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for power in powers]
    np.testing.assert_array_equal(y, expected)
