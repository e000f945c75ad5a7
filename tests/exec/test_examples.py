"""The example kernels beyond the spine against NumPy in float64: the tutorial kernels, forward and backward."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from device_memory import in_own_pages, mapped

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright import compat

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
with compat.standing_in():
    import attention
    import dropout
    import grouped_gemm
    import layer_norm
    import persistent_matmul

pytestmark = pytest.mark.usefixtures("every_target")


def normal(shape: tuple[int, ...], seed: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def layer_norm_reference(x: Array, w: Array, b: Array, eps: float) -> tuple[Array, Array, Array]:
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1)
    rstd = 1 / np.sqrt(wide.var(axis=1) + eps)
    return (wide - mean[:, None]) * rstd[:, None] * w + b, mean, rstd


@pytest.mark.parametrize("shape", [(4, 16), (7, 100), (5, 128), (3, 333), (2, 1000)], ids=str)
def test_layer_norm_forward(shape: tuple[int, int]) -> None:
    rows, cols = shape
    x, w, b = normal(shape, 1), normal((cols,), 2), normal((cols,), 3)
    y, mean, rstd = np.empty_like(x), np.empty(rows, np.float32), np.empty(rows, np.float32)
    layer_norm.layer_norm_forward[(rows,)](x, y, w, b, mean, rstd, cols, cols, 1e-5, BLOCK=128)
    expected, expected_mean, expected_rstd = layer_norm_reference(x, w, b, 1e-5)
    np.testing.assert_allclose(y, expected, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(rstd, expected_rstd, rtol=1e-5)


@pytest.mark.parametrize("shape", [(8, 64), (13, 100)], ids=str)
def test_layer_norm_backward(shape: tuple[int, int]) -> None:
    rows, cols = shape
    groups = 4
    x, w, b, dy = normal(shape, 1), normal((cols,), 2), normal((cols,), 3), normal(shape, 4)
    _, mean, rstd = layer_norm_reference(x, w, b, 1e-5)
    mean, rstd = mean.astype(np.float32), rstd.astype(np.float32)
    dx = np.empty_like(x)
    locks = np.zeros(2 * groups, np.int32)
    dw_parts, db_parts = np.zeros((groups, cols), np.float32), np.zeros((groups, cols), np.float32)
    layer_norm.layer_norm_backward_dx[(rows,)](
        dx,
        dy,
        dw_parts,
        db_parts,
        x,
        w,
        mean,
        rstd,
        locks,
        cols,
        cols,
        GROUPS=groups,
        BLOCK=triton.next_power_of_2(cols),
    )
    dw, db = np.empty(cols, np.float32), np.empty(cols, np.float32)
    layer_norm.layer_norm_backward_weights[(triton.cdiv(cols, 32),)](
        dw_parts, db_parts, dw, db, groups, cols, BLOCK_M=4, BLOCK_N=32
    )
    hat = (x.astype(np.float64) - mean[:, None]) * rstd[:, None]
    wdy = w * dy.astype(np.float64)
    c1, c2 = (hat * wdy).mean(axis=1, keepdims=True), wdy.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(dx, (wdy - (hat * c1 + c2)) * rstd[:, None], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(dw, (dy * hat).sum(axis=0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(db, dy.sum(axis=0), rtol=1e-4, atol=1e-4)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("length", [64, 96, 100], ids=str)
def test_attention(length: int, causal: bool, dtype: Any) -> None:
    heads, dim = 2, 32
    q, k, v = (normal((heads, length, dim), seed, dtype) for seed in (1, 2, 3))
    out, lse = np.empty_like(q), np.empty((heads, length), np.float32)
    scale = dim**-0.5
    attention.attention_forward[(triton.cdiv(length, 32), heads)](
        q, k, v, out, lse, scale, length, length,
        length * dim, dim, length * dim, dim, length * dim, dim, length * dim, dim,
        HEAD=dim, BLOCK_M=32, BLOCK_N=32, CAUSAL=causal,
    )  # fmt: skip
    scores = np.einsum("hmd,hnd->hmn", q.astype(np.float64), k.astype(np.float64)) * scale
    if causal:
        scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    limit = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}[np.dtype(dtype).name]
    np.testing.assert_allclose(out.astype(np.float64), weights @ v.astype(np.float64), rtol=limit, atol=limit)


def attention_gradients(arrays: list[Array], dout: Array, scale: float, causal: bool) -> tuple[Array, ...]:
    """Output, log2 of the row sums, and gradients of q, k and v, in float64."""
    q, k, v = (a.astype(np.float64) for a in arrays)
    scores = np.einsum("hmd,hnd->hmn", q, k) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=-1, keepdims=True)
    p = weights / total
    out = p @ v
    dv = np.einsum("hmn,hmd->hnd", p, dout)
    dp = np.einsum("hmd,hnd->hmn", dout, v)
    ds = p * (dp - (dout * out).sum(axis=-1, keepdims=True)) * scale
    lse = (np.log2(total) + top * np.log2(np.e))[..., 0]
    return out, lse, ds @ k, np.einsum("hmn,hmd->hnd", ds, q), dv


@pytest.mark.pairwise
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("length", [64, 80], ids=str)
def test_attention_backward(length: int, causal: bool) -> None:
    heads, dim, scale = 2, 32, 0.2
    q, k, v, dout = (normal((heads, length, dim), seed) for seed in (1, 2, 3, 4))
    out, lse, dq, dk, dv = attention_gradients([q, k, v], dout, scale, causal)
    lse32, delta = lse.astype(np.float32), np.empty((heads, length), np.float32)
    grid = (triton.cdiv(length, 32), heads)
    attention.attention_backward_delta[grid](out.astype(np.float32), dout, delta, length, HEAD=dim, BLOCK_M=32)
    np.testing.assert_allclose(delta, (out * dout).sum(-1), rtol=1e-4, atol=1e-4)
    got_q, got_k, got_v = np.empty_like(q), np.empty_like(k), np.empty_like(v)
    blocks = {"HEAD": dim, "BLOCK_M": 32, "BLOCK_N": 32, "CAUSAL": causal}
    attention.attention_backward_keys[grid](q, k, v, dout, got_k, got_v, lse32, delta, scale, length, **blocks)
    attention.attention_backward_queries[grid](q, k, v, dout, got_q, lse32, delta, scale, length, **blocks)
    for got, expected in ((got_q, dq), (got_k, dk), (got_v, dv)):
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("size", [(64, 64, 64), (100, 72, 56)], ids=str)
def test_persistent_matmul(size: tuple[int, int, int], dtype: Any) -> None:
    m, n, k = size
    a, b = normal((m, k), 1, dtype), normal((k, n), 2, dtype)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    limit = 1e-4 if dtype is np.float32 else 2e-2
    blocks = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 2, "PROGRAMS": 3}
    c = np.full((m, n), 7, dtype)
    persistent_matmul.persistent_matmul_kernel[(3,)](a, b, c, m, n, k, k, 1, n, 1, n, 1, **blocks)
    np.testing.assert_allclose(c.astype(np.float64), expected, rtol=limit, atol=limit)
    c[:] = 7
    transposed = np.ascontiguousarray(b.T)
    persistent_matmul.descriptor_matmul_kernel[(3,)](a, transposed, c, m, n, k, **blocks)
    np.testing.assert_allclose(c.astype(np.float64), expected, rtol=limit, atol=limit)


def test_grouped_gemm() -> None:
    sizes = [(40, 30, 50), (64, 20, 33), (17, 65, 16)]
    a = [in_own_pages(normal((m, k), 1)) for m, _, k in sizes]
    b = [in_own_pages(normal((k, n), 2)) for _, n, k in sizes]
    c = [in_own_pages(np.full((m, n), 7, np.float32)) for m, n, _ in sizes]
    tables = [np.array([array.ctypes.data for array in group], np.int64) for group in (a, b, c)]
    with mapped([*a, *b, *c]):
        grouped_gemm.grouped_gemm_kernel[(4,)](
            *tables, np.array(sizes, np.int32), np.array([[k, n, n] for _, n, k in sizes], np.int32), 3,
            DTYPE=tl.float32, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, PROGRAMS=4,
        )  # fmt: skip
    for left, right, got in zip(a, b, c, strict=True):
        np.testing.assert_allclose(got, left.astype(np.float64) @ right, rtol=1e-4, atol=1e-4)


def test_dropout() -> None:
    x = normal((10_000,), 1)
    first, again, other = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    dropout.dropout(x, first, 0.3, 123)
    dropout.dropout(x, again, 0.3, 123, block=256)
    dropout.dropout(x, other, 0.3, 124)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    kept = first != 0
    np.testing.assert_allclose(first[kept], x[kept] / 0.7, rtol=1e-6)
    assert abs(kept.mean() - 0.7) < 0.02
