"""The first tests to run, a part of `make smoke`: one kernel from source to result on every engine."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs


@triton.jit
def scaled_rows(x_ptr, out_ptr, columns, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(x_ptr + row * columns + offsets, mask=mask, other=-float("inf"))
    shifted = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + offsets, scale * shifted / tl.sum(shifted, axis=0), mask=mask)


@pytest.mark.parametrize("engine", ["reference", "cpu", "cuda_sim"])
def test_a_kernel_on_every_engine(engine: str) -> None:
    x = np.random.default_rng(0).standard_normal((5, 100)).astype(np.float32)
    out = np.zeros_like(x)
    is_reference = engine == "reference"
    with knobs.scope(interpret=is_reference, target="cpu" if is_reference else engine):
        scaled_rows[(5,)](x, out, 100, 2.0, BLOCK=128)
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, 2 * wide / wide.sum(axis=1, keepdims=True), rtol=2e-5)
