"""Pointers that are cast to wider elements at any offset: the address is the same on the CPU as on the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs


@triton.jit
def constant_offset(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load((x + 1).to(tl.pointer_type(tl.int64)) + i))


@triton.jit
def runtime_offset(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load((x + n).to(tl.pointer_type(tl.int64)) + i, mask=i < n, other=7))


@triton.jit
def scalars_at_both_widths(x, out, n, B: tl.constexpr):
    wide = (x + n).to(tl.pointer_type(tl.int64))
    tl.store(out, tl.load(wide + 1))
    tl.store(out + 1, tl.load((wide + 1).to(tl.pointer_type(tl.int16)) + n).to(tl.int64))
    tl.store(out + 2, tl.load(x + n).to(tl.int64))


@triton.jit
def in_a_loop(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + n).to(tl.pointer_type(tl.int64))
    for k in range(n):
        tl.store(out + k, tl.sum(tl.load(p + i)))
        p += 2


@triton.jit
def chosen(x, out, n, B: tl.constexpr):
    p = x.to(tl.pointer_type(tl.int64))
    if n > 2:
        p = (x + n).to(tl.pointer_type(tl.int64))
    tl.store(out, tl.load(p))


@triton.jit
def stored(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    wide = (x + n).to(tl.pointer_type(tl.int64))
    tl.store(wide + i, i.to(tl.int64) * 0x1_0000_0003)
    tl.store(out + i, tl.load(x + n + i).to(tl.int64))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kernel", [constant_offset, runtime_offset, scalars_at_both_widths, in_a_loop, chosen, stored])
def test_addresses(kernel: Any, n: int) -> None:
    found: list[list[int]] = []
    for target in ("reference", "cpu"):
        x, out = np.arange(64, dtype=np.int32) * 0x01010101 + 5, np.zeros(8, np.int64)
        with knobs.scope(target=target):
            kernel[(1,)](x, out, n, 4)
        found.append([*out.tolist(), *x.tolist()])
    assert found[0] == found[1]
