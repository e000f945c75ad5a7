"""Sums of products of bytes at the loops stage: calls of declared functions, which upstream reads."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

MLIR_OPT = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"


@triton.jit
def dots(x_ptr, y_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)
    x, y = tl.load(x_ptr + at) & 15, tl.load(y_ptr + at)
    tl.store(out_ptr + tl.arange(0, R), tl.sum(x.to(tl.int32) * y.to(tl.int32), 1))


@pytest.mark.needs("mlir-opt")
def test_upstream_accepts_the_loops_stage() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 256, (16, 64), np.uint8), rng.integers(-128, 128, (16, 64), np.int8)
    out = np.zeros(16, np.int32)
    text = dots[(1,)](x, y, out, 16, 64).asm["loops"]
    np.testing.assert_array_equal(out, ((x & 15).astype(int) * y).sum(1))
    assert "call @tw_dot_bytes_u7_s8_" in text
    done = subprocess.run([MLIR_OPT, "--verify-each"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
