"""Views that `mlir-opt` is particular about: offsets below zero, no lane at all, strides of zero from any place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright import compat
from tilewright.frontend import compile_to_tt

with compat.standing_in():
    import triton
    import triton.language as tl


@triton.jit
def before_the_pointer(x, y, n):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.load(x + i - 24, mask=i >= 24, other=-1.0))


@triton.jit
def backwards_from_the_pointer(x, y, n):
    i = tl.arange(0, 64)
    tl.store(y + 64 - 1 - i, tl.load(x - 3 + i, mask=i >= n, other=-1.0))


@triton.jit
def no_lane_is_read(x, y, n):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.load(x + i, mask=i >= 64, other=-1.0))


@triton.jit
def no_lane_is_written(x, y, n):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.load(x + i), mask=i >= 64)


@triton.jit
def a_row_again(x, y, n):
    i, j = tl.arange(0, 16), tl.arange(0, 4)
    live = (i >= n)[:, None] & (j < 4)[None, :]
    tl.store(y + i[:, None] * 4 + j[None, :], tl.load(x + (i * 0)[:, None] + j[None, :], mask=live, other=-1.0))


def expected(name: str, x: Any, n: int) -> Any:
    """What the kernels write over 64 zeros."""
    y, i = np.full(64, -1.0), np.arange(64)
    match name:
        case "before_the_pointer":
            y[24:] = x[: 64 - 24]
        case "backwards_from_the_pointer":
            y = np.where(i >= n, x[np.maximum(i - 3, 0)], -1.0)[::-1]
        case "no_lane_is_written":
            y[:] = 0.0
        case "a_row_again":
            y.reshape(16, 4)[n:] = x[:4]
        case _:
            pass
    return y


KERNELS = (before_the_pointer, backwards_from_the_pointer, no_lane_is_read, no_lane_is_written, a_row_again)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.fn.__name__)
def test_upstream_accepts_the_views(
    kernel: Any, lower_ir: Callable[[Any, str], str], accepted: Callable[[str], None]
) -> None:
    module = compile_to_tt(kernel, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {}, {})
    accepted(lower_ir(module, "triton-to-linalg"))
    x, y, n = np.arange(64, dtype=np.float32), np.zeros(64, np.float32), 5
    kernel[(1,)](x, y, n)
    np.testing.assert_array_equal(y, expected(kernel.fn.__name__, x, n))
