"""Integers of 8 and 16 bits as floats on GPUs: every value, exact where the float holds it, else rounded once."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs


@triton.jit
def as_floats(source_ptr, target_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets).to(target_ptr.dtype.element_ty))


@triton.jit
def half_of_them(source_ptr, target_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    low, high = tl.split(tl.reshape(tl.load(source_ptr + offsets), (BLOCK // 2, 2)))
    tl.store(target_ptr + tl.arange(0, BLOCK // 2), low.to(tl.float32) - high.to(tl.float32))


@pytest.mark.parametrize("arch", ["sm80", "sm90"])
@pytest.mark.parametrize("target", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64], ids=lambda x: x.__name__)
@pytest.mark.parametrize("source", [np.int8, np.uint8, np.int16, np.uint16], ids=lambda x: x.__name__)
def test_every_value(a_gpu: str, source: Any, target: Any, arch: str) -> None:
    limits = np.iinfo(source)
    values = np.arange(limits.min, limits.max + 1).astype(source)
    found = np.full(values.shape, np.nan, target)
    if a_gpu == "cuda" and arch != "sm90":
        pytest.skip("machine code for older GPUs does not run on newer ones")
    with knobs.scope(override_arch=arch):
        compiled = as_floats[(1 if values.size <= 1024 else values.size // 1024,)](
            values, found, BLOCK=min(values.size, 1024)
        )
    assert np.array_equal(found, values.astype(target)) and not np.signbit(found[values == 0]).any()
    by_words = 1024 // 128 if values.size > 1024 else 2
    if by_words * source().itemsize >= 4:
        assert "prmt" in compiled.asm["ptx"] and "cvt.rn.f32.s" not in compiled.asm["ptx"]


@pytest.mark.parametrize("count", [2, 16, 256, 512])
def test_few_of_them(a_gpu: str, count: int) -> None:
    values = np.random.default_rng(0).integers(-128, 128, count).astype(np.int8)
    found = np.full(count // 2, np.nan, np.float32)
    half_of_them[(1,)](values, found, BLOCK=count)
    wide = values.astype(np.float32)
    assert np.array_equal(found, wide[0::2] - wide[1::2])
