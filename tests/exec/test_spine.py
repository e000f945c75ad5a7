"""The three spine kernels against NumPy: sizes that do not divide the block, dtypes, empty and one-element inputs."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array

pytestmark = pytest.mark.usefixtures("every_target")

FLOATS = [np.float32, np.float16, ml_dtypes.bfloat16]
ALL = [*FLOATS, np.int32]


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + row * in_stride + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    result = numerator / tl.sum(numerator, axis=0)
    tl.store(out_ptr + row * out_stride + cols, result.to(out_ptr.dtype.element_ty), mask=cols < n_cols)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    j = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    left = a_ptr + (depth[None, :] * a_column + (i % M)[:, None] * a_row)
    right = b_ptr + (depth[:, None] * b_row + (j % N)[None, :] * b_column)
    SUM: tl.constexpr = tl.int32 if c_ptr.dtype.element_ty == tl.int32 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=SUM)
    for start in range(0, K, BLOCK_K):
        live = start + depth < K
        x, y = tl.load(left, mask=live[None, :], other=0), tl.load(right, mask=live[:, None], other=0)
        total = tl.dot(x, y, total, out_dtype=SUM)
        right += b_row * BLOCK_K
        left += a_column * BLOCK_K
    inside = (j < N)[None, :] & (i < M)[:, None]
    tl.store(c_ptr + (i[:, None] * c_row + j[None, :] * c_column), total.to(c_ptr.dtype.element_ty), mask=inside)


def random(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "i":
        return rng.integers(-8, 8, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def tolerance(dtype: Any) -> float:
    return {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}.get(np.dtype(dtype).name, 0.0)


def assert_close(actual: Array, expected: Array, dtype: Any, scale: float = 1.0) -> None:
    limit = tolerance(dtype) * scale
    np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=limit, atol=limit)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", ALL, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("n", [0, 1, 7, 63, 64, 65, 1000, 4096, 4097])
def test_vector_add(n: int, dtype: Any) -> None:
    x, y = random((n,), dtype, 1), random((n,), dtype, 2)
    guard = 16
    out = np.full(n + guard, 77, dtype=dtype)
    add_kernel[(triton.cdiv(n, 64),)](x, y, out, n, BLOCK=64)
    assert_close(out[:n], (x + y).astype(dtype), dtype)
    assert np.all(out[n:] == np.asarray(77, dtype)), "a store went past the end"


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 64), (5, 100), (2, 781), (3, 1024), (0, 8)])
def test_softmax(shape: tuple[int, int], dtype: Any) -> None:
    x = random(shape, dtype)
    out = np.full(shape, 77, dtype=dtype)
    softmax_kernel[(shape[0],)](out, x, shape[1], shape[1], shape[1], BLOCK=triton.next_power_of_2(shape[1]))
    wide = x.astype(np.float64)
    expected = np.exp(wide - wide.max(axis=1, keepdims=True, initial=-np.inf))
    assert_close(out, expected / expected.sum(axis=1, keepdims=True), dtype)


@pytest.mark.costly
@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", ALL[:3], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(
    "size", [(16, 16, 16), (1, 1, 1), (32, 64, 16), (33, 65, 17), (100, 70, 50), (5, 200, 129)], ids=str
)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn"])
def test_matmul(size: tuple[int, int, int], dtype: Any, layout: str) -> None:
    m, n, k = size
    a = random((m, k), dtype, 1) if layout[0] == "n" else random((k, m), dtype, 1).T
    b = random((k, n), dtype, 2) if layout[1] == "n" else random((n, k), dtype, 2).T
    c = np.full((m, n), 77, dtype=dtype)
    strides = [step // array.itemsize for array in (a, b, c) for step in array.strides]
    matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
        a, b, c, m, n, k, *strides, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16
    )
    assert_close(c, a.astype(np.float64) @ b.astype(np.float64), dtype, scale=np.sqrt(k) * 2)


def test_matmul_int8_to_int32() -> None:
    m, n, k = 40, 50, 70
    a, b = random((m, k), np.int8, 1), random((k, n), np.int8, 2)
    c = np.full((m, n), 77, dtype=np.int32)
    matmul_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
        a, b, c, m, n, k, k, 1, n, 1, n, 1, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32
    )
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_pytorch_tensors() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is optional and not installed")
    x, y = torch.randn(1000), torch.randn(1000)
    out = torch.empty(1000)
    add_kernel[(triton.cdiv(1000, 128),)](x, y, out, 1000, BLOCK=128)
    assert torch.equal(out, x + y)
