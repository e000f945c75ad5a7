"""Reductions, scans and histograms through upstream's code generation, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from suite.arrays import Array

Run = Callable[..., list[Array]]
rng = np.random.default_rng(11)


def reduce_text(op: str, source: str, element: str, axis: int, result: str) -> str:
    return f"""
    %r = "tt.reduce"(%x) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: {element}, %b: {element}):
      %s = arith.{op} %a, %b : {element}
      tt.reduce.return %s : {element}
    }}) : (tensor<{source}>) -> {result}
    """


INTEGER_OPS: dict[str, Any] = {
    "addi": np.add.reduce,
    "muli": np.multiply.reduce,
    "andi": np.bitwise_and.reduce,
    "ori": np.bitwise_or.reduce,
    "xori": np.bitwise_xor.reduce,
    "maxsi": np.maximum.reduce,
    "minsi": np.minimum.reduce,
}


@pytest.mark.parametrize("op", INTEGER_OPS)
def test_integer_reduction(run_tiles: Run, op: str) -> None:
    x = rng.integers(-(2**31), 2**31, (4, 8)).astype(np.int32)
    (r,) = run_tiles({"x": "4x8xi32"}, reduce_text(op, "4x8xi32", "i32", 1, "tensor<4xi32>"), {"r": "4xi32"}, x)
    np.testing.assert_array_equal(
        r, INTEGER_OPS[op](x, axis=1, dtype=np.int32) if op in ("addi", "muli") else INTEGER_OPS[op](x, axis=1)
    )


@pytest.mark.parametrize("op", ["maxui", "minui"])
def test_unsigned_reduction(run_tiles: Run, op: str) -> None:
    x = rng.integers(-128, 128, 16).astype(np.int8)
    (r,) = run_tiles({"x": "16xi8"}, reduce_text(op, "16xi8", "i8", 0, "i8"), {"r": "i8"}, x)
    expected = (np.max if op == "maxui" else np.min)(x.view(np.uint8))
    assert r.view(np.uint8)[0] == expected


@pytest.mark.parametrize(
    ("op", "function"), [("maximumf", np.maximum), ("minimumf", np.minimum), ("maxnumf", np.fmax), ("minnumf", np.fmin)]
)
def test_nan_rules_of_max_and_min(run_tiles: Run, op: str, function: Any) -> None:
    x = rng.standard_normal((4, 8)).astype(np.float32)
    x[1, 3] = np.nan
    x[2, :] = np.nan
    x[3, :] = -np.inf
    (r,) = run_tiles({"x": "4x8xf32"}, reduce_text(op, "4x8xf32", "f32", 1, "tensor<4xf32>"), {"r": "4xf32"}, x)
    np.testing.assert_array_equal(r, function.reduce(x, axis=1))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("element", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_half_sums_accumulate_in_f32(run_tiles: Run, element: str, dtype: Any, axis: int) -> None:
    """2048 + 1 + 1 + ... stays 2048 when rounded to f16 or bf16 at every step."""
    x = np.ones((64, 64), dtype)
    x[(0, slice(None)) if axis == 0 else (slice(None), 0)] = dtype(2048)
    (r,) = run_tiles(
        {"x": f"64x64x{element}"},
        reduce_text("addf", f"64x64x{element}", element, axis, f"tensor<64x{element}>"),
        {"r": f"64x{element}"},
        x,
    )
    np.testing.assert_array_equal(r, x.astype(np.float32).sum(axis).astype(dtype))


ARGMAX = """
    %v, %i = "tt.reduce"(%x, %n) <{axis = AXIS : i32}> ({
    ^bb0(%va: f32, %ia: i32, %vb: f32, %ib: i32):
      %eq = arith.cmpf oeq, %va, %vb : f32
      %lt = arith.cmpi slt, %ia, %ib : i32
      %tie = arith.andi %eq, %lt : i1
      %gt = arith.cmpf ogt, %va, %vb : f32
      %keep = arith.ori %gt, %tie : i1
      %rv = arith.select %keep, %va, %vb : f32
      %ri = arith.select %keep, %ia, %ib : i32
      tt.reduce.return %rv, %ri : f32, i32
    }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>)
"""


def test_argmax_with_ties_and_infinities(run_tiles: Run) -> None:
    x = rng.integers(0, 3, (4, 8)).astype(np.float32)
    x[1, :] = -np.inf
    n = np.broadcast_to(np.arange(8, dtype=np.int32), (4, 8)).copy()
    v, i = run_tiles({"x": "4x8xf32", "n": "4x8xi32"}, ARGMAX.replace("AXIS", "1"), {"v": "4xf32", "i": "4xi32"}, x, n)
    np.testing.assert_array_equal(i, x.argmax(1))
    np.testing.assert_array_equal(v, x.max(1))


def test_argmax_of_nan_follows_the_combine_function(run_tiles: Run) -> None:
    """Never -1: the result is what folding the combine function over the row gives."""
    x = rng.standard_normal((4, 8)).astype(np.float32)
    x[0, :] = np.nan
    x[1, 7] = np.nan
    n = np.broadcast_to(np.arange(8, dtype=np.int32), (4, 8)).copy()
    _, i = run_tiles({"x": "4x8xf32", "n": "4x8xi32"}, ARGMAX.replace("AXIS", "1"), {"v": "4xf32", "i": "4xi32"}, x, n)

    def fold(row: Any) -> int:
        best = 0
        for place in range(1, 8):
            keep = row[best] > row[place] or (row[best] == row[place] and best < place)
            best = best if keep else place
        return best

    np.testing.assert_array_equal(i, [fold(row) for row in x])


def test_reduction_with_a_body_of_several_ops(run_tiles: Run) -> None:
    """Welford's combination of (mean, m2, weight)."""
    x = rng.standard_normal(16).astype(np.float32)
    body = """
    %zero = arith.constant dense<0.0> : tensor<16xf32>
    %one = arith.constant dense<1.0> : tensor<16xf32>
    %m, %v, %w = "tt.reduce"(%x, %zero, %one) <{axis = 0 : i32}> ({
    ^bb0(%ma: f32, %va: f32, %wa: f32, %mb: f32, %vb: f32, %wb: f32):
      %d = arith.subf %mb, %ma : f32
      %w0 = arith.addf %wa, %wb : f32
      %q = arith.divf %wb, %w0 : f32
      %dq = arith.mulf %d, %q : f32
      %m0 = arith.addf %ma, %dq : f32
      %d2 = arith.mulf %d, %d : f32
      %wq = arith.mulf %wa, %q : f32
      %c = arith.mulf %d2, %wq : f32
      %v0 = arith.addf %va, %vb : f32
      %v1 = arith.addf %v0, %c : f32
      tt.reduce.return %m0, %v1, %w0 : f32, f32, f32
    }) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (f32, f32, f32)
    """
    m, v, w = run_tiles({"x": "16xf32"}, body, {"m": "f32", "v": "f32", "w": "f32"}, x)
    np.testing.assert_allclose(m[0], x.mean(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(v[0] / 16, x.var(), rtol=1e-4)
    assert w[0] == 16


@pytest.mark.parametrize("reverse", ["true", "false"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scan_along_each_axis(run_tiles: Run, axis: int, reverse: str) -> None:
    x = rng.integers(-9, 9, (4, 8, 2)).astype(np.int32)
    body = f"""
    %r = "tt.scan"(%x) <{{axis = {axis} : i32, reverse = {reverse}}}> ({{
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.scan.return %s : i32
    }}) : (tensor<4x8x2xi32>) -> tensor<4x8x2xi32>
    """
    (r,) = run_tiles({"x": "4x8x2xi32"}, body, {"r": "4x8x2xi32"}, x)
    expected = np.flip(np.cumsum(np.flip(x, axis), axis), axis) if reverse == "true" else np.cumsum(x, axis)
    np.testing.assert_array_equal(r, expected)


def test_scan_of_pairs_in_order(run_tiles: Run) -> None:
    """The affine recurrence h = a * h + b: associative, not commutative."""
    a, h = (rng.standard_normal(16).astype(np.float32) for _ in range(2))
    body = """
    %p, %q = "tt.scan"(%a, %h) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%al: f32, %bl: f32, %ar: f32, %br: f32):
      %c = arith.mulf %al, %ar : f32
      %t = arith.mulf %ar, %bl : f32
      %d = arith.addf %t, %br : f32
      tt.scan.return %c, %d : f32, f32
    }) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
    """
    _, q = run_tiles({"a": "16xf32", "h": "16xf32"}, body, {"p": "16xf32", "q": "16xf32"}, a, h)
    expected, state = np.empty(16, np.float32), np.float32(0)
    for place in range(16):
        expected[place] = state = a[place] * state + h[place]
    np.testing.assert_allclose(q, expected, rtol=1e-4, atol=1e-5)


def test_histogram_counts_only_what_has_a_bin(run_tiles: Run) -> None:
    x = rng.integers(-3, 20, 64).astype(np.int32)
    m = rng.integers(0, 2, 64).astype(np.int8)
    body = """
    %zero = arith.constant dense<0> : tensor<64xi8>
    %live = arith.cmpi ne, %m, %zero : tensor<64xi8>
    %h = tt.histogram %x, %live : tensor<64xi32> -> tensor<16xi32>
    """
    (h,) = run_tiles({"x": "64xi32", "m": "64xi8"}, body, {"h": "16xi32"}, x, m)
    kept = x[(m != 0) & (x >= 0) & (x < 16)]
    np.testing.assert_array_equal(h, np.bincount(kept, minlength=16))


def test_gather_along_an_axis(run_tiles: Run) -> None:
    x = rng.standard_normal((8, 4)).astype(np.float32)
    i = rng.integers(0, 8, (16, 4)).astype(np.int32)
    body = "%g = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<16x4xi32>) -> tensor<16x4xf32>"
    (g,) = run_tiles({"x": "8x4xf32", "i": "16x4xi32"}, body, {"g": "16x4xf32"}, x, i)
    np.testing.assert_array_equal(g, np.take_along_axis(x, i, 0))
