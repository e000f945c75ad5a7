"""Results of Hopper's products for which there is too little shared memory, stored in parts on the simulated H100, three
programs at a time: the results, every wait, barrier and fence between two parts, and what ptxas makes of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_overlapped_products import error, is_refused
from test_specialized_warps import check_assembled, has_roles, strides

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from suite.missing_instructions import without_each
from tilewright.codegen.nvptx.ptxas import find_ptxas
from tilewright.support import knobs

pytestmark = pytest.mark.usefixtures("on_hopper")

TF32 = 1e-3
"""Relative error of products of numbers with 11 bits."""
ACROSS, WIDE = (256, 128, 32), (128, 256, 32)
"""Blocks (rows, columns, K) of f32 whose result takes 128 KiB."""

B_COLUMN = 8
"""The number of an argument that is 1, and so none of the compiled kernel's."""


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, b_row, b_column, c_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    wide = tl.cdiv(N, BN)
    rows = tl.program_id(0) // wide * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % wide * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left = a_ptr + (rows % M)[:, None] * a_row + depth[None, :]
    right = b_ptr + depth[:, None] * b_row + (columns % N)[None, :] * b_column
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        live = depth < K - start
        total = tl.dot(tl.load(left, live[None, :], other=0.0), tl.load(right, live[:, None], other=0.0), total)
        left += BK
        right += BK * b_row
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None] * c_row + columns[None, :], total, mask=inside)


def operands(m: int, n: int, k: int, dtype: Any, *, transposed: bool = False) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    a, b = random.standard_normal((m, k)).astype(dtype), random.standard_normal((k, n)).astype(dtype)
    return a, np.ascontiguousarray(b.T).T if transposed else b


def arguments_of(a: Array, b: Array) -> list[Any]:
    (m, k), n = a.shape, b.shape[1]
    return [a, b, np.full((m, n), np.nan, np.float32), m, n, k, strides(a)[0], *strides(b), n]


def multiply(a: Array, b: Array, block: tuple[int, int, int], stages: int = 3) -> Any:
    """Launch and check the product, with a result in f32; returns the compiled kernel."""
    (m, _), n = a.shape, b.shape[1]
    bm, bn, bk = block
    arguments = arguments_of(a, b)
    grid = (-(-m // bm) * -(-n // bn),)
    compiled = product[grid](*arguments, BM=bm, BN=bn, BK=bk, num_warps=8, num_stages=stages)
    assert error(arguments[2], a.astype(np.float64) @ b.astype(np.float64)) < TF32
    return compiled


def parts_of(compiled: Any) -> int:
    """The copies of a result by TMA, of a kernel whose warps have roles."""
    assert has_roles(compiled) and compiled.native.facts.is_persistent
    return compiled.asm["ttgir"].count("async_tma_copy_local_to_global")


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("block", "stages"), [(ACROSS, 3), (WIDE, 3), (ACROSS, 4)], ids=str)
def test_products_of_tf32(block: tuple[int, int, int], stages: int, transposed: bool) -> None:
    """More programs than run at a time, at ragged edges. B along N is A of the product of the transposes, whose result
    has rows of B's columns: rows are cut. Of 128 columns, two of eight parts would share a line of memory: there are
    four then, through one buffer.
    """
    a, b = operands(block[0] + 48, 2 * block[1] - 48, 80, np.float32, transposed=transposed)
    compiled = multiply(a, b, block, stages)
    assert parts_of(compiled) == (4 if stages == 3 or transposed else 8)
    assert ("ttg.copy_rows" in compiled.asm["ttgir"]) != transposed


def test_results_wider_than_operands() -> None:
    """f16 in, f32 out; one column of blocks, so that each program has two results."""
    a, b = operands(700, 256, 96, np.float16)
    assert parts_of(multiply(a, b, (128, 256, 64))) == 4


def test_what_is_asked_for() -> None:
    """Nothing in parts, or products as exact as f32: the older path."""
    a, b = operands(256, 128, 64, np.float32)
    with knobs.scope(store_parts=False):
        assert not multiply(a, b, ACROSS).native.facts.is_persistent
    with knobs.scope(f32_default="ieee"):
        assert not multiply(a, b, ACROSS).native.facts.is_persistent


@triton.jit
def finished(a_ptr, b_ptr, r_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HOW: tl.constexpr):
    """A block of results, and what is made of it."""
    rows, columns, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a_ptr + rows[:, None] * K + (start + depth)[None, :])
        total = tl.dot(x, tl.load(b_ptr + (start + depth)[:, None] * N + columns[None, :]), total)
    if HOW == "columns":
        total = total * 2 + tl.load(r_ptr + columns)[None, :]
    if HOW == "blocks":
        total += tl.load(r_ptr + rows[:, None] * N + columns[None, :])
    if HOW == "sums":
        total = tl.cumsum(total, 1)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(c_ptr.dtype.element_ty))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("how", ["columns", "blocks", "sums"])
def test_what_is_made_of_results(how: str, dtype: Any) -> None:
    """Vectors are added to parts, too. Other blocks, and what threads have to exchange, take shared memory of their
    own, for which there would be none: the older path.
    """
    bm, bn, bk = (128, 256, 64) if dtype is np.float16 else ACROSS
    a, b = operands(bm, bn, 64, dtype)
    added = np.random.default_rng(1).standard_normal((bm, bn)).astype(np.float32)
    out = np.full((bm, bn), np.nan, dtype)
    compiled: Any = finished[(1,)](a, b, added, out, bn, 64, BM=bm, BN=bn, BK=bk, HOW=how, num_warps=8)
    plain = a.astype(np.float64) @ b.astype(np.float64)
    made = {"columns": lambda: plain * 2 + added[0], "blocks": lambda: plain + added, "sums": lambda: plain.cumsum(1)}
    assert error(out, made[how]()) < TF32
    assert compiled.native.facts.is_persistent == (how == "columns")


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize(("block", "transposed"), [(ACROSS, False), (WIDE, True)], ids=str)
def test_ptxas_neither_spills_nor_serialises(block: tuple[int, int, int], transposed: bool) -> None:
    check_assembled(multiply(*operands(256, 256, 64, np.float32, transposed=transposed), block))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("instruction", "count"), [("bar.sync", 8), ("fence.proxy.async", 4), ("cp.async.bulk.wait_group.read", 4)]
)
def test_each_between_two_parts_is_needed(a_gpu: str, instruction: str, count: int) -> None:
    """Each barrier before a part is written and before it is copied, each fence, and each wait for the buffer."""
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    a, b = operands(1024, 128, 32, np.float32)
    compiled = multiply(a, b, ACROSS)
    ptx = compiled.native.ptx
    first, last = (at(ptx, "cp.async.bulk.wait_group.read 1"), at(ptx, "cp.async.bulk.commit_group", last=True))
    changed = [
        (name, kernel)
        for name, kernel in without_each(compiled.native, instruction)
        if first <= int(name.split()[1].rstrip(":")) <= last
    ]
    assert len(changed) == count
    slots = [value for position, value in enumerate(arguments_of(a, b)) if position != B_COLUMN]
    missed = [name for name, kernel in changed if not is_refused(kernel, slots, grid=4)]
    assert not missed, missed


def at(ptx: str, text: str, *, last: bool = False) -> int:
    """The number of the first or the last line with a text, from 1 on."""
    found = [number for number, line in enumerate(ptx.splitlines(), 1) if text in line]
    return found[-1 if last else 0]
