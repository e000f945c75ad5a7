"""Reductions of one tile that are one loop give what each gives by itself, whatever its mask and where it starts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl


@triton.jit
def statistics(x, y, out, n, limit, B: tl.constexpr):
    total = 0.0
    most = -float("inf")
    least = float("inf")
    count = tl.zeros((), tl.uint32)
    product = 0.0
    for start in range(0, n, B):
        r = start + tl.arange(0, B)
        a = tl.load(x + r, mask=r < n, other=-float("inf"))
        b = tl.load(y + r, mask=r < n, other=0.0)
        above = (a > limit) & (r < n)
        total += tl.sum(tl.where(above, a, 0.0), 0)
        most = tl.maximum(most, tl.max(a, 0))
        least = tl.minimum(least, tl.min(tl.where(above, a, float("inf")), 0))
        count += tl.sum(above, 0)
        product += tl.sum(tl.where(above, a * b, 0.0), 0)
        above_mean = tl.sum(tl.where(a > tl.sum(b, 0) / B, 1.0, 0.0), 0)
        tl.store(out + 5 + start // B, above_mean)
    tl.store(out, total)
    tl.store(out + 1, most)
    tl.store(out + 2, least)
    tl.store(out + 3, count.to(tl.float32))
    tl.store(out + 4, product)


def _expected(x: Any, y: Any, limit: float, block: int) -> list[float]:
    above = x > limit
    kept = x[above]
    parts = [(x[i : i + block], y[i : i + block]) for i in range(0, len(x), block)]
    over = [float(np.sum(a > np.sum(b) / np.float32(block))) for a, b in parts]
    most, least = np.max(x, initial=-np.inf), np.min(kept, initial=np.inf)
    return [kept.sum(), most, least, above.sum(), (x * y)[above].sum(), *over]


@pytest.mark.parametrize("n", [0, 1, 7, 8, 63, 64, 200, 1000])
@pytest.mark.parametrize("block", [1, 8, 64, 256])
@pytest.mark.pairwise
def test_reductions_of_one_tile(n: int, block: int) -> None:
    rng = np.random.default_rng(n)
    x, y = (rng.integers(-8, 9, n).astype(np.float32) for _ in range(2))
    out = np.full(5 + max(1, -(-n // block)), -3.0, np.float32)
    statistics[(1,)](x, y, out, n, 1.0, B=block)
    expected = _expected(x, y, 1.0, block)
    np.testing.assert_array_equal(out[: len(expected)], np.array(expected, np.float32))


def test_the_tile_is_read_once_for_all_that_depends_on_it_alone() -> None:
    x = np.ones(1024, np.float32)
    kernel = statistics.warmup(x, x, np.zeros(64, np.float32), 1000, 1.0, B=256, grid=(1,))
    counting = [line for line in kernel.asm["loops"].splitlines() if re.search(r"iter_args.*vector<\d+xi32>", line)]
    together = re.compile(r"\((vector<\d+xf32>, ){3}vector<\d+xi32>\)")
    assert counting and all(map(together.search, counting)), "total, most and least go with the count"
