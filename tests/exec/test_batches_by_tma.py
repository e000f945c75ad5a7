"""Products of the matrices of a batch, whose edges are masked, by TMA: the batch is a dimension of the tensor map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_overlapped_products import error
from test_persistent_programs import is_persistent, stores_by_tma
from test_specialized_warps import check_assembled, has_computed_maps, has_roles

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.codegen.nvptx.ptxas import find_ptxas
from tilewright.support import knobs


@pytest.fixture(autouse=True)
def by_tma(a_gpu: str) -> Iterator[None]:
    """Hopper, simulated where the real one was not named."""
    with knobs.scope(override_arch="sm90", specialize_warps="always", tma_loads="always", persist_programs="never"):
        yield


@triton.jit
def products(
    a_ptr, b_ptr, c_ptr, M, N, K, HEADS,
    a_batch, a_head, a_row, b_batch, b_head, b_row, c_batch, c_head, c_row,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    batch, head = tl.program_id(1) // HEADS, tl.program_id(1) % HEADS
    rows = tl.program_id(0) // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left = a_ptr + batch * a_batch + head * a_head + rows[:, None] * a_row + depth[None, :]
    right = b_ptr + batch * b_batch + head * b_head + depth[:, None] * b_row + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(left, (rows < M)[:, None] & (depth < K - k)[None, :], other=0.0)
        y = tl.load(right, (depth < K - k)[:, None] & (columns < N)[None, :], other=0.0)
        total = tl.dot(x, y, total)
        left += BK
        right += BK * b_row
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    result = c_ptr + batch * c_batch + head * c_head + rows[:, None] * c_row + columns[None, :]
    tl.store(result, total.to(tl.float16), inside)


def operands(m: int, n: int, k: int, batch: int, heads: int) -> tuple[Array, Array, Array]:
    """Matrices with NaN behind each row and between them: what is read past an edge shows."""
    rng = np.random.default_rng(m * n * k)
    arrays: list[Array] = []
    for rows, columns in ((m, k), (k, n), (m, n)):
        room = np.full((batch, heads, rows + 3, columns + 32 - columns % 16), np.nan, np.float16)
        room[:, :, :rows, :columns] = rng.standard_normal((batch, heads, rows, columns)) / 2
        arrays.append(room[:, :, :rows, :columns])
    arrays[2][:] = np.nan
    return arrays[0], arrays[1], arrays[2]


def multiply(
    m: int, n: int, k: int, *, swapped: bool = False, block: tuple[int, int, int] = (64, 64, 32), warps: int = 4
) -> Any:
    """Launch and check the products; returns the compiled kernel."""
    batch, heads = 2, 3
    a, b, out = operands(m, n, k, batch, heads)
    around = out.base.copy()
    if swapped:
        a, b, out = (array.swapaxes(0, 1) for array in (a, b, out))
        batch, heads = heads, batch
    steps = [stride // 2 for array in (a, b, out) for stride in array.strides[:3]]
    bm, bn, bk = block
    grid = (-(-m // bm) * -(-n // bn), batch * heads)
    compiled = products[grid](a, b, out, m, n, k, heads, *steps, BM=bm, BN=bn, BK=bk, num_warps=warps)
    assert error(out, a.astype(np.float64) @ b.astype(np.float64)) < 1e-3
    outside = np.isnan(around)
    outside[:, :, :m, :n] = False
    assert np.isnan(out.base[outside]).all()
    return compiled


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (72, 40, 48), (130, 70, 100)])
def test_ragged_matrices(m: int, n: int, k: int, swapped: bool) -> None:
    compiled = multiply(m, n, k, swapped=swapped)
    assert has_roles(compiled) and has_computed_maps(compiled)
    assert compiled.asm["ttgir"].count("!tt.tensordesc<1x1x64x32xf16") > 0


@pytest.mark.parametrize("columns", [70, 72])
def test_programs_that_go_on_with_the_next_matrix(columns: int) -> None:
    """Rows of 70 end within 16 bytes that TMA would write: they are stored in the kernel's other form."""
    with knobs.scope(persist_programs="always"):
        compiled = multiply(130, columns, 100)
    assert is_persistent(compiled) and stores_by_tma(compiled)


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
def test_what_gains_is_done_unasked() -> None:
    """Blocks of 128x256: programs go on with the next matrix, stores are by TMA; ptxas neither spills nor serialises."""
    with knobs.scope(specialize_warps="auto", tma_loads="auto", persist_programs="auto"):
        compiled = multiply(160, 272, 128, block=(128, 256, 64), warps=8)
    assert has_roles(compiled) and is_persistent(compiled) and stores_by_tma(compiled)
    check_assembled(compiled)


def test_a_batch_that_repeats_one_matrix() -> None:
    """A distance of 0 is no stride of a tensor map: the launch takes the kernel's other form."""
    a, b, out = operands(64, 64, 64, 1, 3)
    a = np.broadcast_to(a[:, :1], a.shape)
    steps = [stride // 2 for array in (a, b, out) for stride in array.strides[:3]]
    products[(1, 3)](a, b, out, 64, 64, 64, 3, *steps, BM=64, BN=64, BK=32)
    assert error(out, a.astype(np.float64) @ b.astype(np.float64)) < 1e-3
