"""Each op of tt and arith through our lowering and upstream's code generation, against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from suite.arrays import Array

Run = Callable[..., list[Array]]
rng = np.random.default_rng(7)


def floats(*shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


def ints(*shape: int, low: int = -100, high: int = 100) -> Array:
    return rng.integers(low, high, shape).astype(np.int32)


def test_shape_ops(run_tiles: Run) -> None:
    x = floats(8, 4)
    body = """
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
    %r = tt.reshape %t : tensor<4x8xf32> -> tensor<2x16xf32>
    %e = tt.expand_dims %r {axis = 0 : i32} : tensor<2x16xf32> -> tensor<1x2x16xf32>
    %b = tt.broadcast %e : tensor<1x2x16xf32> -> tensor<4x2x16xf32>
    %j = tt.join %b, %b : tensor<4x2x16xf32> -> tensor<4x2x16x2xf32>
    %lo, %hi = tt.split %j : tensor<4x2x16x2xf32> -> tensor<4x2x16xf32>
    %s = arith.addf %lo, %hi : tensor<4x2x16xf32>
    %row = tt.reshape %x : tensor<8x4xf32> -> tensor<32xf32>
    %cat = tt.cat %row, %row : tensor<32xf32> -> tensor<64xf32>
    """
    outputs = {"s": "4x2x16xf32", "j": "4x2x16x2xf32", "cat": "64xf32", "r": "2x16xf32"}
    total, joined, cat, reshaped = run_tiles({"x": "8x4xf32"}, body, outputs, x)
    flat = np.broadcast_to(x.T.reshape(2, 16)[None], (4, 2, 16))
    np.testing.assert_array_equal(total, flat + flat)
    np.testing.assert_array_equal(joined, np.stack([flat, flat], -1))
    np.testing.assert_array_equal(cat, np.concatenate([x.ravel(), x.ravel()]))
    np.testing.assert_array_equal(reshaped, x.T.reshape(2, 16))


def test_creation(run_tiles: Run) -> None:
    body = """
    %r = tt.make_range {end = 24 : i32, start = 8 : i32} : tensor<16xi32>
    %c = arith.constant dense<-3> : tensor<16xi32>
    %s = arith.addi %r, %c : tensor<16xi32>
    %one = arith.constant dense<2.5> : tensor<1xf32>
    %u = tt.unsplat %one : tensor<1xf32>
    %t = tt.splat %u : f32 -> tensor<4x4xf32>
    %table = arith.constant dense<[1, 5, 2, 7]> : tensor<4xi32>
    """
    numbers, splat, table = run_tiles({}, body, {"s": "16xi32", "t": "4x4xf32", "table": "4xi32"})
    np.testing.assert_array_equal(numbers, np.arange(8, 24) - 3)
    np.testing.assert_array_equal(splat, np.full((4, 4), 2.5, np.float32))
    np.testing.assert_array_equal(table, [1, 5, 2, 7])


@pytest.mark.parametrize("transposed", ["true", "false"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sum_along_each_axis(
    run_kernel: Callable[..., None], program: Callable[..., str], axis: int, transposed: str
) -> None:
    x = floats(4, 8, 2)
    shape = tuple(e for dim, e in enumerate(x.shape) if dim != axis)
    kind = "x".join([*map(str, shape), "f32"])
    body = f"""
    %r = "tt.reduce"(%x) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.reduce.return %s : f32
    }}) : (tensor<4x8x2xf32>) -> tensor<{kind}>
    """
    out = np.empty(shape, np.float32)
    pipeline = (
        f"triton-arith-to-linalg{{transpose-reduce-to-rank0={transposed}}},structured-to-memref,"
        "unstructured-to-memref,triton-ptr-to-memref,canonicalize,cse"
    )
    run_kernel(program({"x": "4x8x2xf32"}, body, {"r": kind}), x, out, pipeline=pipeline)
    np.testing.assert_allclose(out, x.sum(axis), rtol=1e-5, atol=1e-6)
