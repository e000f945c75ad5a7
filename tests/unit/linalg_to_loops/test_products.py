"""Products: transposed operands and results, operands that a loop does not change, sums from zero."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.targets.cpu.facts import host_facts

rng = np.random.default_rng(0)
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def matrix(*shape: int, dtype: Any = np.float32) -> Array:
    return rng.standard_normal(shape).astype(dtype)


def wide(x: Array) -> Array:
    return x.astype(np.float64)


@triton.jit
def scores_and_sums(q, k, bias, out, sums, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, KIND: tl.constexpr):
    """For each block of keys: scores of all queries, changed, reduced, multiplied by the keys again."""
    rows = tl.arange(0, M)
    dims = tl.arange(0, D)
    cols = tl.arange(0, N)
    x = tl.load(q + rows[:, None] * D + dims[None, :])
    acc = tl.zeros((M, D), dtype=tl.float32)
    total = tl.zeros((M,), dtype=tl.float32)
    best = tl.full((M,), -float("inf"), dtype=tl.float32)
    for start in range(0, n, N):
        keys = start + cols
        y = tl.load(k + keys[:, None] * D + dims[None, :], mask=keys[:, None] < n, other=0.0)
        s = tl.dot(x, tl.trans(y))
        if KIND == 1:
            s *= tl.load(bias + rows[:, None] * 1000 + keys[None, :], mask=keys[None, :] < n, other=0.0)
        if KIND == 2:
            s = tl.where(rows[:, None] >= keys[None, :], s, 0.0)
        if KIND == 3:
            s = s + tl.trans(tl.trans(s) * 2.0)
        s = tl.where(keys[None, :] < n, s * 0.5, 0.0)
        total += tl.sum(s, 1)
        best = tl.maximum(best, tl.max(s, 1))
        acc += tl.dot(s.to(y.dtype), y)
    tl.store(out + rows[:, None] * D + dims[None, :], acc)
    tl.store(sums + rows, total + best)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [0, 1, 2, 3])
@pytest.mark.parametrize(
    ("m", "n", "block", "d"), [(32, 128, 32, 64), (16, 70, 16, 16), (64, 64, 64, 32), (32, 0, 16, 16)]
)
def test_scores(dtype: str, kind: int, m: int, n: int, block: int, d: int) -> None:
    q, k, bias = matrix(m, d, dtype=DTYPES[dtype]), matrix(n, d, dtype=DTYPES[dtype]), matrix(m, 1000)
    out, sums = np.zeros((m, d), np.float32), np.zeros(m, np.float32)
    scores_and_sums[(1,)](q, k, bias, out, sums, n, d, m, block, kind)
    s = wide(q) @ wide(k).T
    s = {0: s, 1: s * bias[:, :n], 2: np.where(np.arange(m)[:, None] >= np.arange(n), s, 0), 3: 3 * s}[kind] * 0.5
    padded = 0.0 if n % block else -np.inf
    best = np.maximum(s.max(1, initial=-np.inf), padded)
    tolerance = {"f32": 1e-5, "f16": 5e-3, "bf16": 3e-2}[dtype] * max(1.0, float(np.abs(s).max(initial=0))) * max(n, 1)
    np.testing.assert_allclose(out, wide(s.astype(DTYPES[dtype])) @ wide(k), atol=tolerance)
    np.testing.assert_allclose(sums, s.sum(1) + best, atol=1e-3 * max(1.0, float(np.abs(s).sum())))


def symbols(kernel: Any) -> set[str]:
    return {word.strip("@(") for word in kernel.asm["loops"].replace("(", "( ").split() if word.startswith("@tw_mk")}


@pytest.mark.costly
def test_the_result_is_transposed_where_that_saves_the_transposition_of_each_block() -> None:
    x = np.zeros((64, 64), np.float32)
    plain = scores_and_sums.warmup(x, x, x, x, x, 64, 64, 64, 64, 0, grid=(1,))
    biased = scores_and_sums.warmup(x, x, x, x, x, 64, 64, 64, 64, 1, grid=(1,))
    assert plain is not None and biased is not None
    assert any(name.startswith("tw_mk_panels") for name in symbols(plain))
    assert any("_zero_panels" in name for name in symbols(plain))
    # A tile that is loaded by rows meets the scores: these stay in rows, the keys are transposed as they are packed.
    assert any("_nt_zero" in name for name in symbols(biased))
    assert not any("panels" in name for name in symbols(biased))


@triton.jit
def projected(x, w, out, n, K: tl.constexpr, N: tl.constexpr, B: tl.constexpr, NT: tl.constexpr):
    """Weights that stay the same while blocks of rows go by, in a loop within a loop."""
    rows = tl.arange(0, B)
    ks = tl.arange(0, K)
    cols = tl.arange(0, N)
    if NT:
        weights = tl.trans(tl.load(w + cols[:, None] * K + ks[None, :]))
    else:
        weights = tl.load(w + ks[:, None] * N + cols[None, :])
    for half in range(2):
        for start in range(half * n, (half + 1) * n, B):
            here = start + rows
            a = tl.load(x + here[:, None] * K + ks[None, :])
            product = tl.dot(a, weights)
            product = tl.dot(a, weights, product)
            tl.store(out + here[:, None] * N + cols[None, :], product)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("nt", [False, True])
@pytest.mark.parametrize(("k", "n", "b"), [(32, 64, 16), (64, 32, 32), (16, 128, 16)])
def test_weights_that_stay(dtype: str, nt: bool, k: int, n: int, b: int) -> None:
    x, w = matrix(4 * b, k, dtype=DTYPES[dtype]), matrix(k, n, dtype=DTYPES[dtype])
    out = np.zeros((4 * b, n), np.float32)
    stored = np.ascontiguousarray(w.T) if nt else w
    projected[(1,)](x, stored, out, 2 * b, k, n, b, nt)
    np.testing.assert_allclose(out, 2 * wide(x) @ wide(w), atol=1e-3)


@triton.jit
def changing_weights(x, w, out, K: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """The weights are loaded again in each step, after a store changed them."""
    rows = tl.arange(0, B)
    ks = tl.arange(0, K)
    cols = tl.arange(0, N)
    a = tl.load(x + rows[:, None] * K + ks[None, :])
    for step in range(3):
        weights = tl.load(w + ks[:, None] * N + cols[None, :])
        tl.store(out + step * B * N + rows[:, None] * N + cols[None, :], tl.dot(a, weights))
        tl.store(w + ks[:, None] * N + cols[None, :], weights + 1.0)


def test_weights_that_change() -> None:
    x, w = matrix(16, 32), matrix(32, 64)
    out, before = np.zeros((3, 16, 64), np.float32), w.copy()
    changing_weights[(1,)](x, w, out, 32, 64, 16)
    for step in range(3):
        np.testing.assert_allclose(out[step], x @ (before + step), atol=1e-4)
    np.testing.assert_allclose(w, before + 3)


@triton.jit
def until_small(x, w, out, count, M: tl.constexpr, K: tl.constexpr):
    """A while loop in which one factor stays and the other is the last product."""
    rows = tl.arange(0, M)
    ks = tl.arange(0, K)
    a = tl.load(x + rows[:, None] * K + ks[None, :])
    weights = tl.load(w + ks[:, None] * K + ks[None, :])
    number = 0
    while number < tl.load(count):
        a = tl.dot(a, weights) * 0.5
        number += 1
    tl.store(out + rows[:, None] * K + ks[None, :], a)


def test_a_factor_that_stays_in_a_while_loop() -> None:
    x, w, out = matrix(16, 32), matrix(32, 32), np.zeros((16, 32), np.float32)
    until_small[(1,)](x, w, out, np.array([3], np.int32), 16, 32)
    expected = wide(x)
    for _ in range(3):
        expected = expected @ wide(w) * 0.5
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-3)


@triton.jit
def transposed_b(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * K + ks[None, :], mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        y = tl.load(b + cols[:, None] * K + ks[None, :], mask=(cols[:, None] < N) & (ks[None, :] < K), other=0.0)
        acc = tl.dot(x, tl.trans(y), acc)
    tl.store(out + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 128), (50, 70, 90), (16, 130, 5), (33, 17, 64)])
@pytest.mark.parametrize("blocks", [(32, 32, 32), (16, 64, 16)])
def test_transposed_b(dtype: str, m: int, n: int, k: int, blocks: tuple[int, int, int]) -> None:
    a, b, out = matrix(m, k, dtype=DTYPES[dtype]), matrix(n, k, dtype=DTYPES[dtype]), np.zeros((m, n), np.float32)
    transposed_b[(triton.cdiv(m, blocks[0]), triton.cdiv(n, blocks[1]))](a, b, out, m, n, k, *blocks)
    np.testing.assert_allclose(out, wide(a) @ wide(b).T, atol=2e-3)


def test_a_loop_over_k_that_ends_in_masks_is_one_product() -> None:
    x = np.zeros((64, 64), np.float32)
    kernel = transposed_b.warmup(x, x, x, 60, 60, 60, 32, 32, 32, grid=(2, 2))
    assert kernel is not None
    assert any(name.endswith("_nt_zero") for name in symbols(kernel)), "the interchanged loop starts from zero"


@triton.jit
def product(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, CHANGES: tl.constexpr):
    """Blocks of rows follow each other, so that they find the same columns of B packed."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * K + ks[None, :], mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        y = tl.load(b + ks[:, None] * N + cols[None, :], mask=(cols[None, :] < N) & (ks[:, None] < K), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(out + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))
    if CHANGES:
        first = tl.arange(0, BN)
        tl.store(b + first, tl.load(b + first) + 1.0)


def is_cached(kernel: Any) -> bool:
    return any(name.startswith(("tw_mk_cache", "tw_mk_reserve")) for name in symbols(kernel))


@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_operands_are_kept_for_the_programs_of_one_launch(dtype: str) -> None:
    m, n, k = 150, 70, 90
    a, b = matrix(m, k, dtype=DTYPES[dtype]), matrix(k, n, dtype=DTYPES[dtype])
    out = np.zeros((m, n), np.float32)
    for _ in range(3):
        b[:] = matrix(k, n, dtype=DTYPES[dtype])
        assert is_cached(product[(5, 3)](a, b, out, m, n, k, 32, 32, 32, False))
        np.testing.assert_allclose(out, wide(a) @ wide(b), atol=2e-3)


def test_operands_that_change_are_not_kept() -> None:
    n = 32
    a, b, out = matrix(3 * n, n), matrix(n, n), np.zeros((3 * n, n), np.float32)
    expected: list[Array] = []
    changed = b.copy()
    for block in range(3):
        expected.append(a[block * n : (block + 1) * n] @ changed)
        changed[0] += 1.0
    threads = triton.get_num_threads()
    triton.set_num_threads(1)
    try:
        kernel = product[(3, 1)](a, b, out, 3 * n, n, n, n, n, n, True)
    finally:
        triton.set_num_threads(threads)
    assert not is_cached(kernel)
    np.testing.assert_allclose(out, np.concatenate(expected), atol=1e-4)


def test_operands_that_overlap_the_result_are_not_kept() -> None:
    n = 32
    memory = matrix(2 * n, n)
    a, b = matrix(n, n), memory[:n].copy()
    kernel = product[(1, 1)](a, memory[:n], memory[: n + 1], n, n, n, n, n, n, False)
    assert not is_cached(kernel)
    np.testing.assert_allclose(memory[:n], a @ b, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n", "k"), [(64, 128, 300), (64, 128, 0), (50, 100, 300)])
def test_results_are_written_by_the_micro_kernel(dtype: str, m: int, n: int, k: int) -> None:
    """Whole tiles and cut ones, sums of several steps of the micro-kernel, nothing behind the last row."""
    a, b = matrix(m, k, dtype=DTYPES[dtype]), matrix(k, n, dtype=DTYPES[dtype])
    out = np.full((m + 1, n), 7, np.float32)
    kernel = product[(triton.cdiv(m, 32), triton.cdiv(n, 64))](a, b, out[:m], m, n, k, 32, 64, 32, False)
    if dtype == "f32":
        assert any("_panels_fills_out" in name for name in symbols(kernel))
    np.testing.assert_allclose(out[:m], wide(a) @ wide(b), atol=5e-3)
    assert np.all(out[m] == 7)


@pytest.mark.parametrize(("m", "n", "k"), [(64, 128, 1100), (64, 128, 0), (50, 100, 300)])
def test_results_are_rounded_by_the_micro_kernel(m: int, n: int, k: int) -> None:
    a, b = matrix(m, k, dtype=DTYPES["bf16"]), matrix(k, n, dtype=DTYPES["bf16"])
    out = np.full((m + 1, n), 7, DTYPES["bf16"])
    kernel = product[(triton.cdiv(m, 32), triton.cdiv(n, 64))](a, b, out[:m], m, n, k, 32, 64, 32, False)
    if host_facts().has("amx-bf16"):
        assert any("_out_bf16" in name for name in symbols(kernel))
    expected = wide(a) @ wide(b)
    np.testing.assert_allclose(wide(out[:m]), expected, rtol=2.0**-8, atol=5e-3)
    assert np.all(out[m] == 7)


@triton.jit
def kept_inside(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """Rows of A and columns of B behind the last ones are replaced by others, in several ways."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    if KIND == 0:
        rows_in = tl.where(rows < M, rows, 0)
        cols_in = tl.where(N > cols, cols, 0)  # noqa: SIM300 (the comparison's other form)
    elif KIND == 1:
        rows_in = tl.minimum(rows, M - 1)
        cols_in = tl.minimum(N - 1, cols)
    else:
        rows_in = tl.where(rows <= M - 1, rows, M - 1)
        cols_in = tl.where(cols < N, cols, cols % 3)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        ks = start + tl.arange(0, BK)
        x = tl.load(a + rows_in[:, None] * K + ks[None, :], mask=ks[None, :] < K, other=0.0)
        y = tl.load(b + ks[:, None] * N + cols_in[None, :], mask=ks[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(out + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 150), (50, 70, 40), (33, 31, 64), (1, 1, 1)])
def test_rows_that_are_kept_inside_of_a_matrix(kind: int, m: int, n: int, k: int) -> None:
    a, b, out = matrix(m, k), matrix(k, n), np.zeros((m, n), np.float32)
    kernel = kept_inside[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, out, m, n, k, 32, 32, 32, kind)
    assert is_cached(kernel) or m == 1, "whole tiles are interchanged"
    np.testing.assert_allclose(out, a @ b, atol=1e-3)


@triton.jit
def wrapped(a, b, out, M, N, K, sa, sb, shown, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of A and columns of B wrap around; of the rows of the result, `shown` are stored."""
    first, left = tl.program_id(0) * BM, tl.program_id(1) * BN
    rows, columns = (first + tl.arange(0, BM)) % M, (left + tl.arange(0, BN)) % N
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        x = tl.load(a + rows[:, None] * sa + (k * BK + ks)[None, :], mask=ks[None, :] < K - k * BK, other=0.0)
        y = tl.load(b + (k * BK + ks)[:, None] * sb + columns[None, :], mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
    rows, columns = first + tl.arange(0, BM), left + tl.arange(0, BN)
    live = (rows[:, None] < shown) & (columns[None, :] < N)
    tl.store(out + rows[:, None] * N + columns[None, :], acc, mask=live)


@pytest.mark.parametrize(
    ("m", "n", "k", "shown"), [(100, 50, 40, 100), (70, 33, 64, 90), (40, 64, 30, 128), (1, 1, 5, 2)]
)
def test_rows_that_wrap_around(m: int, n: int, k: int, shown: int) -> None:
    """Those behind the end are read as they lie in memory where nobody stores their results, and only there."""
    a, b = matrix(m + 64, k + 3), matrix(k + 64, n + 40)
    grid = (triton.cdiv(shown, 32), triton.cdiv(n, 32))
    out = np.full((shown, n), 7, np.float32)
    a[m:] = b[:, n:] = np.nan
    kernel = wrapped[grid](a, b, out, m, n, k, k + 3, n + 40, shown, BM=32, BN=32, BK=16)
    rows = np.arange(shown) % m
    np.testing.assert_allclose(out, wide(a[:m, :k])[rows] @ wide(b[:k, :n]), rtol=1e-4, atol=1e-4)
    assert kernel.asm["linalg"].count("tilewright.unit_stride_guard = 0") == (m > 1), "rows of A, where not all are one"
    assert kernel.asm["linalg"].count("tilewright.unit_stride_guard = 1") == (n > 1), "columns of B"


def test_one_kernel_serves_known_counts_and_others() -> None:
    """What has to have edges for one call has them for all: it is compiled once."""
    a, b, out = (np.zeros((256, 256), np.float32) for _ in range(3))
    kernel = wrapped[(4, 4)](a, b, out, 256, 256, 256, 256, 256, 256, BM=64, BN=64, BK=64)
    defined = set(re.findall(r"^define .*@(tw_mk_\w+)\(", kernel.asm["llir"], re.MULTILINE))
    assert defined
    assert not [name for name in defined if f"{name}_exact" in defined]


@triton.jit
def clamped_copies(x, out, first, n, B: tl.constexpr):
    """Gathers and scatters whose rows follow one another up to a bound; lanes behind it write what lane 0 does."""
    lanes = first + tl.arange(0, B)
    places = tl.where(lanes < n, lanes, 0)
    cols = tl.arange(0, 16)
    tile = tl.load(x + places[:, None] * 16 + cols[None, :])
    tl.store(out + places[:, None] * 16 + cols[None, :], tile + 1.0)


@pytest.mark.parametrize(("first", "n"), [(0, 8), (3, 11), (3, 10), (0, 0), (-2, 4), (9, 9)])
def test_clamped_rows_of_loads_and_stores(first: int, n: int) -> None:
    x, out = matrix(20, 16), np.zeros((20, 16), np.float32)
    places = np.where(first + np.arange(8) < n, first + np.arange(8), 0)
    expected = out.copy()
    shifted = 2 if first < 0 else 0
    expected[places + shifted] = x[places + shifted] + 1.0
    clamped_copies[(1,)](x[shifted:], out[shifted:], first, n, 8)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.costly
def test_results_of_a_factor_that_no_store_holds() -> None:
    m, n, k = 20, 128, 34000
    a, b, out = matrix(m, k), matrix(k, n), np.full((33, n), 7, np.float32)
    product[(1, 1)](a, b, out, m, n, k, 32, 128, 64, False)
    np.testing.assert_allclose(out[:m], a @ b, atol=5e-2)
    assert np.all(out[m:] == 7)


@triton.jit
def stored_otherwise(a, b, out, old, N, K, row_stride, B: tl.constexpr, KIND: tl.constexpr):
    rows = tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, K, B):
        ks = start + rows
        x = tl.load(a + rows[:, None] * K + ks[None, :], mask=ks[None, :] < K, other=0.0)
        y = tl.load(b + ks[:, None] * N + rows[None, :], mask=ks[:, None] < K, other=0.0)
        acc = tl.dot(x, y, acc)
    place = out + rows[:, None] * row_stride + rows[None, :]
    if KIND == 1:
        before = tl.load(place)
        tl.store(place, acc)
        tl.store(old + rows[:, None] * B + rows[None, :], before)
    elif KIND == 2:
        tl.store(place, acc * 0.0)
        tl.store(place, acc)
    else:
        tl.store(place, acc)


@pytest.mark.parametrize(
    ("kind", "row_stride"),
    [(kind, stride) for kind in (0, 1, 2) for stride in (32, 40, 7, 0) if kind < 2 or stride >= 32],
)
def test_stores_around_and_rows_that_overlap(kind: int, row_stride: int) -> None:
    size, k = 32, 300
    a, b = matrix(size, k), matrix(k, size)
    out, old = np.full(size * 41, 7, np.float32), np.zeros((size, size), np.float32)
    expected = out.copy()
    first = out.copy()
    for number, row in enumerate(a @ b):
        expected[number * row_stride : number * row_stride + size] = row
    stored_otherwise[(1,)](a, b, out, old, size, k, row_stride, size, kind)
    np.testing.assert_allclose(out, expected, atol=1e-3)
    if kind == 1:
        at = np.arange(size)[:, None] * row_stride + np.arange(size)
        np.testing.assert_array_equal(old, first[at])


@triton.jit
def square_in_place(x, N, K, B: tl.constexpr):
    """Writes the product over the first columns of its own left factor."""
    rows = tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, K, B):
        ks = start + rows
        acc = tl.dot(tl.load(x + rows[:, None] * K + ks[None, :]), tl.load(x + ks[:, None] * K + rows[None, :]), acc)
    tl.store(x + rows[:, None] * K + rows[None, :], acc)


def test_a_product_over_its_own_factor() -> None:
    x = matrix(256, 256)
    expected = x[:32] @ x[:, :32]
    square_in_place[(1,)](x, 256, 256, 32)
    np.testing.assert_allclose(x[:32, :32], expected, atol=1e-3)


@pytest.mark.costly
def test_more_than_a_store_holds() -> None:
    """Columns that do not fit one behind the other, one after the other and several times."""
    m, n, k = 32, 2048, 1300
    a, b, out = matrix(m, k), matrix(k, n), np.zeros((m, n), np.float32)
    for blocks in ((16, 512, 64), (32, 1024, 32)):
        product[(triton.cdiv(m, blocks[0]), triton.cdiv(n, blocks[1]))](a, b, out, m, n, k, *blocks, False)
        np.testing.assert_allclose(out, a @ b, atol=2e-3)


@triton.jit
def weights_over_blocks(q, k, out, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Each program multiplies by all blocks of a matrix that all programs share; the last block may be cut off."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    dims = tl.arange(0, D)
    x = tl.load(q + rows[:, None] * D + dims[None, :])
    acc = tl.zeros((M, D), dtype=tl.float32)
    for start in range(0, n, N):
        keys = start + tl.arange(0, N)
        y = tl.load(k + keys[:, None] * D + dims[None, :], mask=keys[:, None] < n, other=0.0)
        scores = tl.dot(x, tl.trans(y)) * 0.1
        acc += tl.dot((scores / (1.0 + scores * scores)).to(y.dtype), y)
    tl.store(out + rows[:, None] * D + dims[None, :], acc)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n", "block", "d"), [(32, 128, 32, 64), (16, 150, 16, 32), (64, 100, 64, 16)])
def test_blocks_that_programs_share(dtype: str, m: int, n: int, block: int, d: int) -> None:
    q, k = matrix(4 * m, d, dtype=DTYPES[dtype]), matrix(n, d, dtype=DTYPES[dtype])
    out = np.zeros((4 * m, d), np.float32)
    for _ in range(2):
        k[:] = matrix(n, d, dtype=DTYPES[dtype])
        kernel = weights_over_blocks[(4,)](q, k, out, n, d, m, block)
        assert is_cached(kernel) or dtype == "f32"
        scores = wide(q) @ wide(k).T * 0.1
        tolerance = {"f32": 1e-4, "f16": 2e-2, "bf16": 2e-1}[dtype]
        np.testing.assert_allclose(out, scores / (1 + scores**2) @ wide(k), atol=tolerance)


@triton.jit
def products_in_turn(a, b, out, N_MATRICES: tl.constexpr, ROWS: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    """Four programs after each other multiply by the same matrix, then come those of the next, again and again."""
    program = tl.program_id(0)
    matrix = (program // 4) % N_MATRICES
    rows = program * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, K)
    n = tl.arange(0, N)
    x = tl.load(a + rows[:, None] * K + k[None, :])
    y = tl.load(b + matrix * K * N + k[:, None] * N + n[None, :])
    tl.store(out + rows[:, None] * N + n[None, :], tl.dot(x, y, input_precision="ieee"))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_panels_that_are_dropped_for_others_come_back(dtype: Any) -> None:
    """Each matrix is a quarter of what is kept near, or half of it."""
    matrices, rounds, rows, k, n = 11, 3, 16, 512, 128
    rng = np.random.default_rng(0)
    b = rng.integers(-3, 4, (matrices, k, n)).astype(dtype)
    a = rng.integers(-3, 4, (rounds * matrices * 4 * rows, k)).astype(dtype)
    out = np.zeros((len(a), n), np.float32)
    products_in_turn[(rounds * matrices * 4,)](a, b, out, matrices, rows, k, n)
    parts = a.astype(np.float32).reshape(rounds, matrices, 4 * rows, k)
    np.testing.assert_array_equal(out, (parts @ b.astype(np.float32)).reshape(out.shape))
