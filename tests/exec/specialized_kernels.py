"""Kernels in Gluon whose warps do different work: for the simulated GPU, GPUs and the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright import gluon
from tilewright.gluon.nvidia.hopper import TensorDescriptor
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)


# -- a product: one warp copies, a warp group multiplies, the kernel's own warps store --------------------------------
@gluon.jit
def copies(a, b, full, empty, a_tiles, b_tiles, row, column, K):
    STAGES: gl.constexpr = a_tiles.shape[0]
    BK: gl.constexpr = a.block_type.shape[1]
    for k in range(0, K, BK):
        turn = k // BK
        slot = turn % STAGES
        mbarrier.wait(empty.index(slot), (turn // STAGES & 1) ^ 1)
        mbarrier.expect(full.index(slot), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [row, k], full.index(slot), a_tiles.index(slot))
        tma.async_load(b, [k, column], full.index(slot), b_tiles.index(slot))


@gluon.jit
def multiplies(full, empty, done, a_tiles, b_tiles, result, K, WARPS: gl.constexpr):
    STAGES: gl.constexpr = a_tiles.shape[0]
    BM: gl.constexpr = a_tiles.shape[1]
    BK: gl.constexpr = a_tiles.shape[2]
    BN: gl.constexpr = b_tiles.shape[2]
    mma: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS, 1], [16, BN, 16])
    acc = warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, mma))
    for k in range(0, K, BK):
        turn = k // BK
        slot = turn % STAGES
        mbarrier.wait(full.index(slot), turn // STAGES & 1)
        acc = warpgroup_mma(a_tiles.index(slot), b_tiles.index(slot), acc, is_async=True)
        acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=[acc]))
        mbarrier.arrive(empty.index(slot), count=1)
    result.store(warpgroup_mma_wait(0, deps=[acc]).to(result.dtype))
    fence_async_shared()
    mbarrier.arrive(done, count=1)


@gluon.jit
def stores(c, done, result, row, column):
    mbarrier.wait(done, 0)
    tma.async_store(c, [row, column], result)
    tma.store_wait(0)


@gluon.jit
def product(a, b, c, K, STAGES: gl.constexpr, WARPS: gl.constexpr, REGISTERS: gl.constexpr):
    BM: gl.constexpr = a.block_type.shape[0]
    BN: gl.constexpr = b.block_type.shape[1]
    BK: gl.constexpr = a.block_type.shape[1]
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES, BM, BK], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES, BK, BN], b.layout)
    result = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    done = mbarrier.allocate_mbarrier()
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    mbarrier.init(done, count=1)
    row = gl.program_id(0) * BM
    column = gl.program_id(1) * BN
    gl.warp_specialize(
        [
            (stores, (c, done, result, row, column)),
            (copies, (a, b, full, empty, a_tiles, b_tiles, row, column, K)),
            (multiplies, (full, empty, done, a_tiles, b_tiles, result, K, WARPS)),
        ],
        [1, WARPS],
        [24, REGISTERS],
    )


def described(array: Any, block: list[int]) -> TensorDescriptor:
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.float16)
    return TensorDescriptor.from_tensor(array, block, layout)


# -- exchanges of partitions: each has its own barriers and its own scratch -------------------------------------------
@gluon.jit
def row_sums(x_ptr, y_ptr, start, N: gl.constexpr, WARPS: gl.constexpr):
    """Sums of the rows of a square, by way of a transposed layout: both go through shared memory."""
    layout: gl.constexpr = gl.BlockedLayout([1, 1], [4, 8], [1, WARPS], [1, 0])
    other: gl.constexpr = gl.BlockedLayout([1, 1], [8, 4], [WARPS, 1], [0, 1])
    i = gl.arange(0, N, layout=gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    x = gl.load(x_ptr + start + i * N + j)
    total = gl.sum(gl.convert_layout(x, other) * 2.0, axis=1)
    gl.store(y_ptr + gl.arange(0, N, layout=gl.SliceLayout(1, other)), total)
    return gl.sum(total, axis=0)


@gluon.jit
def worker_sums(x_ptr, y_ptr, start, N: gl.constexpr, WARPS: gl.constexpr):
    row_sums(x_ptr, y_ptr, start, N, WARPS)


@gluon.jit
def in_rounds(x_ptr, y_ptr, totals_ptr, rounds, N: gl.constexpr):
    """In each round two ops with partitions of several sizes; squares are told apart by what the kernel computes."""
    for r in range(rounds):
        square = (gl.program_id(0) * rounds + r) * 5
        total = gl.warp_specialize(
            [
                (row_sums, (x_ptr, y_ptr + square * N, square * N * N, N, 4)),
                (worker_sums, (x_ptr, y_ptr + (square + 1) * N, (square + 1) * N * N, N, 1)),
                (worker_sums, (x_ptr, y_ptr + (square + 2) * N, (square + 2) * N * N, N, 4)),
            ],
            [1, 4],
        )
        if r % 2 == 0:
            total += gl.warp_specialize(
                [
                    (row_sums, (x_ptr, y_ptr + (square + 3) * N, (square + 3) * N * N, N, 4)),
                    (worker_sums, (x_ptr, y_ptr + (square + 4) * N, (square + 4) * N * N, N, 2)),
                ],
                [2],
            )
        gl.store(totals_ptr + gl.program_id(0) * rounds + r, total)


# -- what both have to give -------------------------------------------------------------------------------------------
def check_product(rows: int, warps: int, registers: int) -> Any:
    """Launch `product` and check it; returns the compiled kernel."""
    rng = np.random.default_rng(11)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((rows, 320), (320, 128)))
    c = np.zeros((rows, 128), np.float16)
    operands = (described(a, [rows, 64]), described(b, [64, 64]), described(c, [rows, 64]))
    compiled = product[(1, 2)](*operands, 320, STAGES=3, WARPS=warps, REGISTERS=registers)
    np.testing.assert_allclose(c.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32), atol=0.1)
    return compiled


def check_rounds() -> None:
    """Launch `in_rounds`, and check what each of its partitions makes."""
    x = np.random.default_rng(11).standard_normal((2, 3, 5, 16, 16)).astype(np.float32)
    y, totals = np.zeros((2, 3, 5, 16), np.float32), np.zeros((2, 3), np.float32)
    in_rounds[(2,)](x, y, totals, 3, 16)
    expected = 2 * x.sum(-1)
    expected[:, 1, 3:] = 0
    np.testing.assert_allclose(y, expected, atol=1e-4)
    of_squares = expected.sum(-1)
    np.testing.assert_allclose(totals, of_squares[:, :, 0] + of_squares[:, :, 3], atol=1e-3)
