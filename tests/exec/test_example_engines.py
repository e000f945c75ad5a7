"""The example kernels on the reference at every stage, against native code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines import REFERENCE_STAGES, TOLERANCES

from suite.arrays import Array
from tilewright import compat
from tilewright.tools.reference_run import run_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
with compat.standing_in():
    import attention
    import layer_norm
    import matmul
    import softmax
    import vector_add

Launch = tuple[Any, tuple[int, ...], tuple[Any, ...], dict[str, Any]]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def add() -> Launch:
    x = normal(100, seed=1)
    return vector_add.add_kernel, (2,), (x, normal(100, seed=2), np.zeros_like(x), 100), {"BLOCK": 64}


def rows() -> Launch:
    x = normal(3, 50)
    return softmax.softmax_kernel, (3,), (np.zeros_like(x), x, 50, 50, 50), {"BLOCK": 64}


def product() -> Launch:
    a, b, c = normal(20, 40, seed=1), normal(40, 24, seed=2), np.zeros((20, 24), np.float32)
    strides = [step // 4 for array in (a, b, c) for step in array.strides]
    blocks = {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 2}
    return matmul.matmul_kernel, (4,), (a, b, c, 20, 24, 40, *strides), blocks


def norm() -> Launch:
    x = normal(3, 50)
    arguments = (x, np.zeros_like(x), normal(50, seed=1), normal(50, seed=2), np.zeros(3, "f"), np.zeros(3, "f"))
    return layer_norm.layer_norm_forward, (3,), (*arguments, 50, 50, 1e-5), {"BLOCK": 32}


def attend() -> Launch:
    q, k, v = (normal(2, 40, 16, seed=seed) for seed in range(3))
    strides = (40 * 16, 16) * 4
    arguments = (q, k, v, np.zeros_like(q), np.zeros((2, 40), "f"), 0.25, 40, 40, *strides)
    return attention.attention_forward, (3, 2), arguments, {"HEAD": 16, "BLOCK_M": 16, "BLOCK_N": 16, "CAUSAL": True}


@pytest.mark.parametrize("case", [add, rows, product, norm, attend], ids=lambda case: case.__name__)
def test_examples_agree(case: Callable[[], Launch]) -> None:
    kernel, grid, native, meta = case()
    kernel[grid](*native, **meta)
    for stage in REFERENCE_STAGES:
        _, _, arguments, _ = case()
        run_kernel(kernel, grid, *arguments, stage=stage, **meta)
        for number, (want, got) in enumerate(zip(native, arguments, strict=True)):
            if isinstance(want, np.ndarray):
                limit = TOLERANCES[want.dtype.name]
                np.testing.assert_allclose(got, want, rtol=limit, atol=limit, err_msg=f"{stage}, argument {number}")
