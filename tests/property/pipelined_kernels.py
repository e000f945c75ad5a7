"""Loops that the pipeliner takes apart: each a kernel, its inputs for some number of iterations, and what NumPy makes
of them. All numbers are small whole ones, so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from suite.arrays import Array
from tilewright import compat
from tilewright.runtime.tensor_descriptor import TensorDescriptor

with compat.standing_in():
    import triton
    import triton.language as tl


ROWS, COLUMNS, DEPTH = 64, 64, 32
"""What one product takes: M, N and K."""


@dataclass(frozen=True)
class Launch:
    """Arguments of a launch, and the arrays that it writes with what they should hold."""

    arguments: tuple[Any, ...]
    written: tuple[Array, ...]
    expected: tuple[Array, ...]
    constants: dict[str, Any]
    grid: int = 1


@dataclass(frozen=True)
class Loop:
    """A kernel with a loop, and a launch in which the loop runs so many times."""

    kernel: Any
    launch: Callable[[int], Launch]

    @property
    def name(self) -> str:
        """As test reports show it."""
        return self.kernel.fn.__name__


def numbers(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    """Whole numbers from -3 to 3; at least one row where memory must be there to point to."""
    return np.random.default_rng(seed).integers(-3, 4, [max(extent, 1) for extent in shape]).astype(dtype)


@triton.jit
def by_pointers(a_ptr, b_ptr, c_ptr, depth, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Masks that cut the last block, and pointers that move."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = a_ptr + m[:, None] * stride + k[None, :]
    b = b_ptr + k[:, None] * N + n[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, depth, K):
        x = tl.load(a, mask=k[None, :] < depth - start, other=0.0)
        y = tl.load(b, mask=k[:, None] < depth - start, other=0.0)
        acc = tl.dot(x, y, acc)
        a += K
        b += K * N
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def filled_masks(a_ptr, b_ptr, c_ptr, depth, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """What is masked off is not zero, and B is used by two products."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    other = tl.zeros((M, N), tl.float32)
    for start in range(0, depth, K):
        x = tl.load(a_ptr + m[:, None] * stride + (start + k)[None, :], mask=(start + k)[None, :] < depth, other=2.0)
        y = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :], mask=(start + k)[:, None] < depth, other=1.0)
        acc = tl.dot(x, y, acc)
        other = tl.dot(x + 1.0, y, other)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc - 3.0 * other)


@triton.jit
def by_descriptors(a, b, c, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Blocks through descriptors, B transposed."""
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, depth, K):
        acc = tl.dot(a.load([0, start]), b.load([0, start]).T, acc)
    c.store([0, 0], acc)


@triton.jit
def summed(x_ptr, out_ptr, count, SIZE: tl.constexpr, STAGES: tl.constexpr):
    """Loads that no product uses, in a loop that asks for stages, and a store in each iteration."""
    lanes = tl.arange(0, SIZE)
    total = tl.zeros((SIZE,), tl.float32)
    for i in tl.range(0, count, num_stages=STAGES):
        total += tl.load(x_ptr + i * SIZE + lanes)
        tl.store(out_ptr + i * SIZE + lanes, total)


@triton.jit
def gathered(rows_ptr, x_ptr, out_ptr, count, SIZE: tl.constexpr, STAGES: tl.constexpr):
    """Loads whose addresses are loaded."""
    lanes = tl.arange(0, SIZE)
    total = tl.zeros((SIZE,), tl.float32)
    for i in tl.range(0, count, num_stages=STAGES):
        rows = tl.load(rows_ptr + i * SIZE + lanes)
        total += tl.load(x_ptr + rows * SIZE + lanes)
    tl.store(out_ptr + lanes, total)


@triton.jit
def gathered_product(rows_ptr, x_ptr, b_ptr, c_ptr, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product whose operand is gathered: two levels of loads."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(count):
        rows = tl.load(rows_ptr + i * K + k)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :])
        y = tl.load(b_ptr + rows[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def two_products(q_ptr, k_ptr, v_ptr, out_ptr, count, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """As in attention: the second product uses the first, and sums are scaled in between."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    most = tl.full((M,), -1e6, tl.float32)
    for i in range(count):
        keys = tl.load(k_ptr + (i * N + n)[None, :] * D + d[:, None])
        scores = tl.dot(q, keys)
        most = tl.maximum(most, tl.max(scores, 1))
        values = tl.load(v_ptr + (i * N + n)[:, None] * D + d[None, :])
        chosen = tl.where(scores > 0.0, 1.0, 0.0).to(tl.float16)
        acc = tl.dot(chosen, values, acc - tl.where(most > 5.0, 1.0, 0.0)[:, None])
    tl.store(out_ptr + m[:, None] * D + d[None, :], acc)


@triton.jit
def with_condition(a_ptr, b_ptr, c_ptr, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Sums that some iterations set back, and a conditional with a store."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(count):
        x = tl.load(a_ptr + i * M * K + m[:, None] * K + k[None, :])
        y = tl.load(b_ptr + i * K * N + k[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
        if i % 2 == 1:
            tl.store(c_ptr + (i // 2) * M * N + m[:, None] * N + n[None, :], acc)
            acc = tl.zeros((M, N), tl.float32)


@triton.jit
def flat_by_pointers(a_ptr, b_ptr, c_ptr, tiles, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Tiles whose loop is one with that over K."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):  # pyright: ignore[reportGeneralTypeIssues]
        rows = tile * M + m
        acc = tl.zeros((M, N), tl.float32)
        for i in range(count):
            x = tl.load(a_ptr + rows[:, None] * (count * K) + (i * K + k)[None, :])
            y = tl.load(b_ptr + (i * K + k)[:, None] * N + n[None, :])
            acc = tl.dot(x, y, acc)
        tl.store(c_ptr + rows[:, None] * N + n[None, :], acc)


@triton.jit
def flat_by_descriptors(a, b, c, tiles, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The same through descriptors, stores too."""
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):  # pyright: ignore[reportGeneralTypeIssues]
        acc = tl.zeros((M, N), tl.float32)
        for i in range(count):
            acc = tl.dot(a.load([tile * M, i * K]), b.load([i * K, 0]), acc)
        c.store([tile * M, 0], acc)


BLOCK = {"M": ROWS, "N": COLUMNS, "K": DEPTH}


def _product(kernel: Any, dtype: Any = np.float16, cut: int = 8) -> Loop:
    def launch(trips: int) -> Launch:
        depth = max(trips * DEPTH - cut, 0)
        width = max(trips, 1) * DEPTH
        a, b = numbers((ROWS, width), dtype, 1), numbers((width, COLUMNS), dtype, 2)
        c = np.full((ROWS, COLUMNS), 7, np.float32)
        left, right = a.astype(np.float32), b.astype(np.float32)
        if kernel is filled_masks:
            left[:, depth:], right[depth:] = 2, 1
            rest = slice(0, trips * DEPTH)
            expected = left[:, rest] @ right[rest] - 3 * ((left[:, rest] + 1) @ right[rest])
        else:
            expected = left[:, :depth] @ right[:depth]
        return Launch((a, b, c, depth, width), (c,), (expected,), BLOCK)

    return Loop(kernel, launch)


def _descriptors(trips: int) -> Launch:
    width = max(trips, 1) * DEPTH
    a, b = numbers((ROWS, width), np.float16, 1), numbers((COLUMNS, width), np.float16, 2)
    c = np.full((ROWS, COLUMNS), 7, np.float32)
    descriptors = [
        TensorDescriptor.from_tensor(x, list(box))
        for x, box in ((a, (ROWS, DEPTH)), (b, (COLUMNS, DEPTH)), (c, (ROWS, COLUMNS)))
    ]
    depth = trips * DEPTH
    expected = a[:, :depth].astype(np.float32) @ b[:, :depth].astype(np.float32).T
    return Launch((*descriptors, depth), (c,), (expected,), BLOCK)


def _summed(trips: int) -> Launch:
    x, out = numbers((trips, 256), np.float32, 3), np.zeros((max(trips, 1), 256), np.float32)
    expected = np.cumsum(x, 0) if trips else np.zeros_like(out)
    return Launch((x, out, trips), (out,), (expected,), {"SIZE": 256})


def _gathered(trips: int) -> Launch:
    x, out = numbers((16, 256), np.float32, 4), np.full(256, 7, np.float32)
    rows = np.random.default_rng(5).integers(0, 16, (max(trips, 1), 256)).astype(np.int32)
    taken = np.take_along_axis(x, rows[:trips], 0)
    return Launch((rows, x, out, trips), (out,), (taken.sum(0),), {"SIZE": 256})


def _gathered_product(trips: int) -> Launch:
    x, b = numbers((ROWS, DEPTH), np.float16, 6), numbers((64, COLUMNS), np.float16, 7)
    rows = np.random.default_rng(8).integers(0, 64, (max(trips, 1), DEPTH)).astype(np.int32)
    c = np.full((ROWS, COLUMNS), 7, np.float32)
    expected = np.zeros((ROWS, COLUMNS), np.float32)
    for step in range(trips):
        expected += x.astype(np.float32) @ b[rows[step]].astype(np.float32)
    return Launch((rows, x, b, c, trips), (c,), (expected,), BLOCK)


def _two_products(trips: int) -> Launch:
    m, n, d = 64, 32, 64
    q, keys, values = (
        numbers((count, d), np.float16, seed)
        for count, seed in ((m, 9), (max(trips, 1) * n, 10), (max(trips, 1) * n, 11))
    )
    out, acc, most = np.full((m, d), 7, np.float32), np.zeros((m, d), np.float32), np.full(m, -1e6, np.float32)
    for step in range(trips):
        part = slice(step * n, (step + 1) * n)
        scores = q.astype(np.float32) @ keys[part].astype(np.float32).T
        most = np.maximum(most, scores.max(1))
        acc = acc - (most > 5)[:, None] + (scores > 0).astype(np.float32) @ values[part].astype(np.float32)
    return Launch((q, keys, values, out, trips), (out,), (acc,), {"M": m, "N": n, "D": d})


def _with_condition(trips: int) -> Launch:
    a, b = numbers((trips, ROWS, DEPTH), np.float16, 12), numbers((trips, DEPTH, COLUMNS), np.float16, 13)
    c = np.full((trips // 2 + 1, ROWS, COLUMNS), 7, np.float32)
    expected = c.copy()
    for pair in range(trips // 2):
        both = slice(2 * pair, 2 * pair + 2)
        expected[pair] = np.einsum("imk,ikn->mn", a[both].astype(np.float32), b[both].astype(np.float32))
    return Launch((a, b, c, trips), (c,), (expected,), BLOCK)


def _flat(kernel: Any) -> Loop:
    def launch(trips: int) -> Launch:
        tiles, width = 3, max(trips, 1) * DEPTH
        a, b = numbers((tiles * ROWS, width), np.float16, 14), numbers((width, COLUMNS), np.float16, 15)
        c = np.full((tiles * ROWS, COLUMNS), 7, np.float32)
        depth = trips * DEPTH
        expected = a[:, :depth].astype(np.float32) @ b[:depth].astype(np.float32)
        arguments: list[Any] = [a, b, c]
        if kernel is flat_by_descriptors:
            boxes = (ROWS, DEPTH), (DEPTH, COLUMNS), (ROWS, COLUMNS)
            arguments = [TensorDescriptor.from_tensor(x, list(box)) for x, box in zip(arguments, boxes, strict=True)]
        return Launch((*arguments, tiles, trips), (c,), (expected,), BLOCK, grid=2)

    return Loop(kernel, launch)


LOOPS = (
    _product(by_pointers),
    _product(filled_masks),
    Loop(by_descriptors, _descriptors),
    Loop(summed, _summed),
    Loop(gathered, _gathered),
    Loop(gathered_product, _gathered_product),
    Loop(two_products, _two_products),
    Loop(with_condition, _with_condition),
    _flat(flat_by_pointers),
    _flat(flat_by_descriptors),
)
