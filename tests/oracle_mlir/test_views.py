"""Views that `mlir-opt` is particular about: offsets below zero, no lane at all, strides of zero from any place.

Upstream's verifier takes them, and the documented list of passes makes machine code of them that does the same as ours.
"""

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
def all_before_the_pointer(x, y, n):
    i = tl.arange(0, 64)
    tl.store(y + i, tl.load(x + i - 64) + tl.load(x + i - 65, mask=i >= n, other=0.0))


@triton.jit
def before_the_pointer_for_one_block(x, y, n):
    i = tl.arange(0, 16)
    for k in range(0, 64, 16):
        tl.store(y + k + i, tl.load(x + k + i - 48))


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


START = 65
"""Where in an array the pointer that is read goes: some kernels read before it."""


def expected(name: str, array: Any, n: int) -> Any:
    """What the kernels write over 64 zeros."""
    y, i, x = np.full(64, -1.0), np.arange(64), array[START:]
    match name:
        case "all_before_the_pointer":
            y = array[START - 64 : START] + np.where(i >= n, array[START - 65 : START - 1], 0.0)
        case "before_the_pointer_for_one_block":
            y = array[START - 48 : START + 16]
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


KERNELS = (
    before_the_pointer,
    backwards_from_the_pointer,
    all_before_the_pointer,
    before_the_pointer_for_one_block,
    no_lane_is_read,
    no_lane_is_written,
    a_row_again,
)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.fn.__name__)
def test_upstream_takes_the_views(
    kernel: Any, lower_ir: Callable[[Any, str], str], accepted: Callable[[str], None], mlir: Callable[..., Any]
) -> None:
    module = compile_to_tt(kernel, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {}, {})
    text = lower_ir(module, "triton-to-linalg")
    accepted(text)
    array, n = np.arange(START + 64, dtype=np.float32), 5
    theirs, ours = np.zeros(64, np.float32), np.zeros(64, np.float32)
    mlir(text, kernel.fn.__name__)((1,), array[START:], theirs, n)
    kernel[(1,)](array[START:], ours, n)
    np.testing.assert_array_equal(ours, expected(kernel.fn.__name__, array, n))
    np.testing.assert_array_equal(theirs, ours)
