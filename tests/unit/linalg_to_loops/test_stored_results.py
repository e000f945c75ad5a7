"""Generics with several results: one loop reads, computes and stores all of them, unless an element is lost by it."""

from __future__ import annotations

import re
from functools import reduce
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.lowering.linalg_to_loops.sources import StridedView, is_apart
from tilewright.support import knobs

rng = np.random.default_rng(0)


def numbers(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


@triton.jit
def turn_halves(x, angle, HALF: tl.constexpr, GAP: tl.constexpr):
    i = tl.arange(0, HALF)
    a, b = tl.load(x + i), tl.load(x + GAP + i)
    c, s = tl.load(angle + i), tl.load(angle + HALF + i)
    tl.store(x + i, a * c - b * s)
    tl.store(x + GAP + i, b * c + a * s)


@pytest.mark.parametrize("gap", [32, 33, 40])
def test_halves_that_are_apart_are_turned_in_place(gap: int) -> None:
    x, angle = numbers(80), numbers(64)
    a, b, c, s = x[:32].copy(), x[gap : gap + 32].copy(), angle[:32], angle[32:]
    loops = turn_halves[(1,)](x, angle, HALF=32, GAP=gap).asm["loops"]
    np.testing.assert_allclose(x[:32], a * c - b * s, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x[gap : gap + 32], b * c + a * s, rtol=1e-5, atol=1e-6)
    assert "alloca" not in loops
    assert loops.count("scf.for") == 1


@pytest.mark.parametrize("gap", [1, 7, 16, 31])
def test_halves_that_overlap_are_stored_one_after_the_other(gap: int) -> None:
    x, angle = numbers(80), numbers(64)
    a, b, c, s = x[:32].copy(), x[gap : gap + 32].copy(), angle[:32], angle[32:]
    expected = x.copy()
    expected[:32] = a * c - b * s
    expected[gap : gap + 32] = b * c + a * s
    turn_halves[(1,)](x, angle, HALF=32, GAP=gap)
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-6)


@triton.jit
def turn_rows(x, angle, HEADS: tl.constexpr, HALF: tl.constexpr, STRIDE: tl.constexpr, GAP: tl.constexpr):
    rows, i = tl.arange(0, HEADS), tl.arange(0, HALF)
    first = x + rows[:, None] * STRIDE + i[None, :]
    a, b = tl.load(first), tl.load(first + GAP)
    c, s = tl.load(angle + i), tl.load(angle + HALF + i)
    tl.store(first, a * c - b * s)
    tl.store(first + GAP, b * c + a * s)


@pytest.mark.parametrize(("stride", "gap"), [(32, 16), (40, 20), (32, 128), (32, 32), (17, 16), (16, 16), (20, 24)])
def test_rows_of_two_halves(stride: int, gap: int) -> None:
    heads, half = 4, 16
    x, angle = numbers(300), numbers(32)
    rows = (np.arange(heads)[:, None] * stride + np.arange(half)).astype(int)
    a, b, c, s = x[rows], x[rows + gap], angle[:16], angle[16:]
    expected = x.copy()
    expected[rows] = a * c - b * s
    expected[rows + gap] = b * c + a * s
    turn_rows[(1,)](x, angle, HEADS=heads, HALF=half, STRIDE=stride, GAP=gap)
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-6)


@triton.jit
def moments(p, g, m, v, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    grad = tl.load(g + i, mask=mask)
    first = 0.9 * tl.load(m + i, mask=mask) + 0.1 * grad
    second = 0.99 * tl.load(v + i, mask=mask) + 0.01 * grad * grad
    tl.store(m + i, first, mask=mask)
    tl.store(v + i, second, mask=mask)
    tl.store(p + i, tl.load(p + i, mask=mask) - first / (tl.sqrt(second) + 1e-3), mask=mask)


@pytest.mark.parametrize("n", [1, 15, 16, 100, 128, 200])
def test_three_tiles_updated_in_one_loop(n: int) -> None:
    p, g, m, v = (numbers(n + 8) for _ in range(4))
    v = np.abs(v)
    first, second = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    expected = [p - first / (np.sqrt(second) + 1e-3), first, second]
    before = [p.copy(), m.copy(), v.copy()]
    moments[(triton.cdiv(n, 128),)](p, g, m, v, n, BLOCK=128)
    for got, wanted, old in zip((p, m, v), expected, before, strict=True):
        np.testing.assert_allclose(got[:n], wanted[:n], rtol=2e-5, atol=1e-6)
        np.testing.assert_array_equal(got[n:], old[n:])


@triton.jit
def add_and_sum(x, r, total, n, BLOCK: tl.constexpr):
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        h = tl.load(x + i, mask=i < n, other=0.0) + tl.load(r + i, mask=i < n, other=2.0)
        tl.store(r + i, h, mask=i < n)
        squares += h * h + 1.0
    tl.store(total, tl.sum(squares, axis=0))


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("n", [1, 31, 64, 65, 130, 200])
def test_a_stored_result_ends_before_the_others(n: int, vectors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not vectors:
        from tilewright.lowering.linalg_to_loops import nest_plan

        monkeypatch.setattr(nest_plan, "obstacle_to_vectors", lambda nest: "the test forbids it")
    x, r = numbers(n + 40), numbers(n + 40)
    h, before = x + r, r.copy()
    total = np.zeros(1, np.float32)
    kernel = triton.jit(add_and_sum.fn)
    with knobs.scope(always_compile=True):
        loops = kernel[(1,)](x, r, total, n, BLOCK=64).asm["loops"]
    np.testing.assert_allclose(r[:n], h[:n], rtol=1e-6)
    np.testing.assert_array_equal(r[n:], before[n:])
    blocks = -(-n // 64)
    # Lanes behind the end are 0 + 2, and count.
    padded = (blocks * 64 - n) * 4.0
    np.testing.assert_allclose(total[0], (h[:n].astype(np.float64) ** 2).sum() + padded + blocks * 64, rtol=1e-5)
    assert loops.count("memref.alloca") == 1


@triton.jit
def welford(x, out, n, BLOCK: tl.constexpr):
    mean, m2, count = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        live = i < n
        v = tl.load(x + i, mask=live, other=0.0)
        count += live.to(tl.float32)
        delta = tl.where(live, v - mean, 0.0)
        mean += delta / tl.maximum(count, 1.0)
        m2 += tl.where(live, delta * (v - mean), 0.0)
    i = tl.arange(0, BLOCK)
    tl.store(out + i, mean)
    tl.store(out + BLOCK + i, m2)
    tl.store(out + 2 * BLOCK + i, count)


@pytest.mark.parametrize("n", [5, 64, 100, 256])
def test_carried_tiles_are_updated_in_one_loop(n: int) -> None:
    x, out = numbers(n), np.zeros((3, 64), np.float32)
    compiled = welford[(1,)](x, out, n, BLOCK=64)
    for lane in range(64):
        own = x[lane::64].astype(np.float64)
        mean = own.mean() if len(own) else 0.0
        np.testing.assert_allclose(out[:, lane], (mean, ((own - mean) ** 2).sum(), len(own)), rtol=1e-4, atol=1e-5)
    (loop,) = re.findall(r"\n    scf.for [^\n]*i32 \{\n(.*?)\n    \}\n", compiled.asm["loops"], re.DOTALL)
    assert len(re.findall(r"arith.divf", loop)) == 2  # in front of the end, and behind it


@pytest.mark.parametrize(
    ("shape", "strides", "gap", "apart"),
    [
        ((64,), (1,), 64, True),
        ((64,), (1,), -64, True),
        ((64,), (1,), 63, False),
        ((64,), (2,), 1, True),
        ((64,), (2,), 2, False),
        ((4, 16), (32, 1), 16, True),
        ((4, 16), (32, 1), 112, True),
        ((4, 16), (32, 1), 32, False),
        ((4, 16), (24, 1), 16, False),
        ((4, 16), (0, 1), 16, True),
        ((2000, 16), (32, 1), 16, False),
        ((4, 2, 8), (32, 16, 1), 8, True),
        ((4, 2, 8), (32, 16, 1), 48, False),
    ],
)
def test_views_apart(shape: tuple[int, ...], strides: tuple[int, ...], gap: int, apart: bool) -> None:
    memory: Any = object()
    left, right = (StridedView(memory, offset, strides, shape, memory, memory) for offset in (100, 100 + gap))
    assert is_apart(left, right) == apart
    rows = [np.arange(n) * step for n, step in zip(shape, strides, strict=True)]
    places = reduce(np.add.outer, rows)
    touching = np.intersect1d(places, places + gap).size > 0
    assert not (apart and touching)
