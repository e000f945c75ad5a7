"""Narrowings to bfloat16 that only products read: where these take subnormal numbers for zeros, nothing mends them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.codegen.microkernels import flushes_subnormals
from tilewright.targets.cpu.facts import host_facts

MARK = "tilewright.flushes_subnormals"
flushes = flushes_subnormals("bf16", "f32", host_facts())


@triton.jit
def weights_and_values(scores, v, out, kept, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, KEEP: tl.constexpr):
    rows, keys, dims = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    p = tl.exp2(tl.load(scores + rows[:, None] * N + keys[None, :])).to(tl.bfloat16)
    acc = tl.dot(p, tl.load(v + keys[:, None] * D + dims[None, :]))
    tl.store(out + rows[:, None] * D + dims[None, :], acc)
    if KEEP:
        tl.store(kept + rows[:, None] * N + keys[None, :], p)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("rows", [16, 32, 64])
def test_weights_of_a_product(rows: int, keep: bool) -> None:
    random = np.random.default_rng(0)
    scores = random.uniform(-6, 0, (rows, 64)).astype(np.float32)
    scores[0, :32], scores[1] = -140, -149
    v = random.standard_normal((64, 32)).astype(ml_dtypes.bfloat16)
    out, kept = np.zeros((rows, 32), np.float32), np.zeros((rows, 64), ml_dtypes.bfloat16)
    kernel = weights_and_values[(1,)](scores, v, out, kept, rows, 64, 32, keep)
    assert (MARK in kernel.asm["loops"]) == (flushes and not keep)
    p = np.exp2(scores.astype(np.float64)).astype(np.float32).astype(ml_dtypes.bfloat16)
    np.testing.assert_allclose(out, p.astype(np.float64) @ v.astype(np.float64), rtol=1e-2, atol=1e-2)
    if keep:
        np.testing.assert_array_equal(kept[:2], p[:2])
