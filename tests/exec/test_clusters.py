"""Programs of several CTAs (`num_ctas`): each computes its part; what would need another's is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from device_memory import REAL, device_capability

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs
from tilewright.support.errors import PassError


@pytest.fixture(autouse=True)
def on_hopper() -> Iterator[None]:
    if knobs.get("target") == REAL:
        if device_capability() < 90:
            pytest.skip("this GPU has no clusters")
        yield
        return
    with knobs.scope(target="cuda_sim", override_arch="sm90"):
        yield


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + y * tl.num_programs(0) + tl.program_id(1), mask=i < n)


@triton.jit
def sum_columns(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + (j if AXIS == 0 else i), tl.sum(x, AXIS))


@triton.jit
def count(x_ptr, N: tl.constexpr):
    tl.atomic_add(x_ptr + tl.arange(0, N), 1.0)


@triton.jit
def count_once(x_ptr):
    tl.atomic_add(x_ptr, 1)


@triton.jit
def product(a_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + at)
    tl.store(out_ptr + at, tl.dot(a, a))


@pytest.mark.parametrize("num_ctas", [2, 4])
def test_parts_of_programs(num_ctas: int) -> None:
    x, y = (np.random.default_rng(seed).integers(-99, 99, 5000).astype(np.float32) for seed in range(2))
    out = np.zeros_like(x)
    kernel: Any = add[(5,)](x, y, out, x.size, N=1024, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, x + y * 5)
    assert f".reqnctapercluster {num_ctas}" in kernel.asm["ptx"]


def test_reductions_within_a_part() -> None:
    """The first dimension is split between the CTAs: sums of rows stay in one."""
    x, out = np.arange(64 * 32, dtype=np.float32).reshape(64, 32), np.zeros(64, np.float32)
    sum_columns[(1,)](x, out, M=64, N=32, AXIS=1, num_ctas=2)
    np.testing.assert_array_equal(out, x.sum(1))


def test_atomics_on_parts() -> None:
    x = np.zeros(512, np.float32)
    count[(3,)](x, N=512, num_ctas=2)
    np.testing.assert_array_equal(x, 3)


@pytest.mark.parametrize(
    ("kernel", "meta", "message"),
    [
        (sum_columns, {"M": 64, "N": 32, "AXIS": 0}, "combines elements that lie in several CTAs"),
        (product, {"N": 64}, "num_ctas=2 does not allow: leave num_ctas at 1"),
    ],
)
def test_what_needs_several(kernel: Any, meta: dict[str, Any], message: str) -> None:
    x, out = np.zeros((64, 64), np.float16), np.zeros((64, 64), np.float32)
    with pytest.raises(PassError, match=message):
        kernel[(1,)](x, out, **meta, num_ctas=2)


def test_what_is_done_once() -> None:
    with pytest.raises(PassError, match="is done once, by one CTA"):
        count_once[(1,)](np.zeros(1, np.int32), num_ctas=2)


def test_older_gpus_have_no_clusters() -> None:
    if knobs.get("target") == REAL:
        pytest.skip("this GPU has clusters")
    x = np.zeros(512, np.float32)
    with pytest.raises(ValueError, match=r"num_ctas=2 needs clusters, .* from compute capability 9\.0"):
        count[(1,)](x, N=512, num_ctas=2, arch="sm80")
