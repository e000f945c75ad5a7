"""The example kernels beyond the spine: layer norm forward and backward, attention, against NumPy in float64."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
from tilewright import compat

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
with compat.standing_in():
    import attention
    import layer_norm

Array = np.ndarray[Any, Any]


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
