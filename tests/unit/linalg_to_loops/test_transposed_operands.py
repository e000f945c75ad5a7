"""Products of operands that are transposed in memory: read in place, packed once, copied only where they must be."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

rng = np.random.default_rng(0)
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8}


@triton.jit
def wrapped(
    a, b, out, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr
):
    """Rows of A and columns of B wrap around; any strides."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    x_ptr = a + (rows % M)[:, None] * sam + ks[None, :] * sak
    y_ptr = b + ks[:, None] * sbk + (columns % N)[None, :] * sbn
    acc = tl.zeros((BM, BN), ACC)
    for k in range(tl.cdiv(K, BK)):
        x = tl.load(x_ptr, mask=ks[None, :] < K - k * BK, other=0.0)
        y = tl.load(y_ptr, mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
        x_ptr += BK * sak
        y_ptr += BK * sbk
    live = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out + rows[:, None] * N + columns[None, :], acc, mask=live)


def operand(rows: int, columns: int, kind: str, layout: str) -> Any:
    """Random numbers in memory where the rows of a matrix, its columns, or neither are contiguous."""
    value = rng.integers(-8, 9, (rows, columns)).astype(DTYPES[kind])
    if layout == "transposed":
        return np.asfortranarray(value)
    if layout == "rows":
        return value
    memory = np.zeros((2 * rows, 3 * columns), DTYPES[kind])
    memory[::2, ::3] = value
    return memory[::2, ::3]


def multiply(a: Any, b: Any, blocks: tuple[int, int, int]) -> tuple[Any, Any]:
    (m, k), n = a.shape, b.shape[1]
    is_integer = a.dtype == np.int8
    out = np.full((m, n), 7, np.int32 if is_integer else np.float32)
    strides = [stride // array.itemsize for array in (a, b) for stride in array.strides]
    grid = triton.cdiv(m, blocks[0]), triton.cdiv(n, blocks[1])
    kernel = wrapped[grid](a, b, out, m, n, k, *strides, *blocks, ACC=tl.int32 if is_integer else tl.float32)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-6)
    return kernel, out


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (70, 33, 50), (33, 100, 130), (1, 64, 32)])
def test_columns_of_a_transposed_b_wrap_around(kind: str, m: int, n: int, k: int) -> None:
    kernel, _ = multiply(operand(m, k, kind, "rows"), operand(k, n, kind, "transposed"), (32, 64, 32))
    assert re.search(r"call @tw_mk_(cache|reserve)_\w+_nt\(", kernel.asm["loops"]), "packed once, where it is"


@pytest.mark.pairwise
@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("layout", ["transposed", "neither"])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 64), (70, 33, 50), (33, 100, 600), (150, 64, 1)])
def test_a_transposed_a_is_multiplied_by_packed_panels(kind: str, layout: str, m: int, n: int, k: int) -> None:
    """Copied where the machine multiplies whole rows of tiles, read in place elsewhere."""
    kernel, _ = multiply(operand(m, k, kind, layout), operand(k, n, kind, "rows"), (64, 64, 32))
    if layout == "transposed" and k > 1:
        assert re.search(r"call @tw_mk_(cache|reserve)_", kernel.asm["loops"])


@pytest.mark.costly
def test_both_are_transposed() -> None:
    for kind in DTYPES:
        multiply(operand(75, 90, kind, "transposed"), operand(90, 65, kind, "transposed"), (32, 64, 32))


@pytest.mark.parametrize(("m", "n"), [(20, 200), (20, 60), (100, 200), (100, 30)])
def test_only_programs_that_share_panels_keep_them(m: int, n: int) -> None:
    """With one block of rows there are no more programs than blocks of columns: each packs what it needs then."""
    kernel, _ = multiply(operand(m, 90, "f32", "rows"), operand(90, n, "f32", "transposed"), (32, 64, 32))
    guarded = r"(%\w+) = arith.cmpi sge, .*[\s\S]+ = scf\.if \1 -> \(index\) \{[^}]+call @tw_mk_(cache|reserve)_"
    assert re.search(guarded, kernel.asm["loops"])


@triton.jit
def batched(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A product for each program along the last axis, of whole blocks."""
    batch, ks = tl.program_id(2), tl.arange(0, BK)
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + (batch * M + rows)[:, None] * K + (k + ks)[None, :])
        y = tl.load(b + (batch * K + k + ks)[:, None] * N + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(out + (batch * M + rows)[:, None] * N + columns[None, :], acc)


@pytest.mark.parametrize("m", [32, 96])
def test_programs_with_a_b_of_their_own_do_not_keep_it(m: int) -> None:
    """Where B starts depends on two axes of the grid: only programs along the third one share it."""
    batches, n, k = 3, 128, 64
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((batches, m, k), (batches, k, n)))
    out = np.zeros((batches, m, n), np.float32)
    kernel = batched[m // 32, n // 64, batches](a, b, out, m, n, k, 32, 64, 32)
    np.testing.assert_array_equal(out, a @ b)
    guarded = r"(%\w+) = arith.cmpi sgt, .*[\s\S]+ = scf\.if \1 -> \(index\) \{[^}]+call @tw_mk_(cache|reserve)_"
    assert re.search(guarded, kernel.asm["loops"])


@triton.jit
def product_of_transposed_tile(a, b, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """One product without a loop, of sizes that are known: A is the transpose of a tile in memory."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.trans(tl.load(a + k[:, None] * M + m[None, :]))
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=tl.float32))


@pytest.mark.parametrize("kind", ["f32", "bf16"])
@pytest.mark.parametrize("size", [(32, 32, 32), (16, 32, 64), (128, 64, 64)])
def test_products_of_known_size(kind: str, size: tuple[int, int, int]) -> None:
    m, n, k = size
    a, b = operand(k, m, kind, "rows"), operand(k, n, kind, "rows")
    out = np.zeros((m, n), np.float32)
    product_of_transposed_tile[(1,)](a, b, out, *size)
    np.testing.assert_allclose(out, a.T.astype(np.float64) @ b.astype(np.float64), rtol=1e-6)


@triton.jit
def grouped(x, w, out, rows, groups, N, K, sxk, swn, live, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows that a table chooses, each block of them times the transposed matrix of its group; columns wrap around."""
    block, ks = tl.program_id(0), tl.arange(0, BK)
    row = tl.load(rows + block * BM + tl.arange(0, BM)).to(tl.int64)
    group = tl.load(groups + block).to(tl.int64)
    columns = (tl.program_id(1) * BN + tl.arange(0, BN).to(tl.int64)) % N
    x_ptr = x + row[:, None] * K * sxk + ks[None, :] * sxk
    w_ptr = w + group * N * swn + ks[:, None] + columns[None, :] * swn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(x_ptr, mask=(row < live)[:, None] & (ks[None, :] < K - k * BK), other=0.0)
        b = tl.load(w_ptr, mask=ks[:, None] < K - k * BK, other=0.0)
        acc += tl.dot(a, b, out_dtype=tl.float32)
        x_ptr += BK * sxk
        w_ptr += BK
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(out + row[:, None] * N + columns[None, :], acc, mask=(row < live)[:, None] & (columns[None, :] < N))


@pytest.mark.pairwise
@pytest.mark.parametrize("kind", ["f32", "bf16", "f16"])
@pytest.mark.parametrize(("n", "k"), [(64, 64), (100, 50), (33, 1), (5, 40), (70, 0)])
@pytest.mark.parametrize("direction", [1, -1])
def test_transposed_weights_of_groups_are_read_where_they_are(kind: str, n: int, k: int, direction: int) -> None:
    """Columns that wrap around in a block are copied as they lie in memory: both sides have adjacent rows."""
    live, groups, bm = 40, np.array([2, 0, 2, 1], np.int32), 16
    x, w = operand(live, k, kind, "rows"), operand(3 * n, k + 3, kind, "rows")
    rows = np.append(rng.permutation(live), [live] * (len(groups) * bm - live)).astype(np.int32)
    out = np.full((live, n), 7, np.float32)
    first = x.reshape(-1) if direction > 0 else x.reshape(-1)[::-1].copy()[::-1]
    grid = len(groups), triton.cdiv(n, 32)
    kernel = grouped[grid](first, w, out, rows, groups, n, k, direction, k + 3, live, bm, 32, 16)
    expected = np.zeros((live, n))
    for number, row in enumerate(rows[rows < live]):
        matrix = w[n * groups[number // bm] :][:n, :k].astype(np.float64)
        expected[row] = matrix @ x[row].astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    if direction > 0:
        assert "vector.gather" not in kernel.asm["loops"], "B is in place, or in a copy that is laid out like it"
