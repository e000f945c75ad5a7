"""The peers written for Numba: `njit(parallel=True, fastmath=True)`, one loop over rows or elements each.

Without Numba every function raises RuntimeError, which the table shows as an absent peer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import numba
    from numba import prange
except ImportError:
    numba, prange = None, range


def compiled(function: Callable[..., None]) -> Callable[..., None]:
    """The function as Numba compiles it at its first call."""
    if numba is not None:
        return numba.njit(parallel=True, fastmath=True)(function)

    def absent(*_: Any) -> None:
        raise RuntimeError("Numba is not installed")

    return absent


ONE, TWO, HALF = np.float32(1), np.float32(2), np.float32(0.5)
CUBIC, SCALE = np.float32(0.044715), np.float32(0.7978845608028654)


@compiled
def vector_add(x, y, out):
    for i in prange(x.size):
        out[i] = x[i] + y[i]


@compiled
def gelu(x, out):
    for i in prange(x.size):
        v = x[i]
        out[i] = HALF * v * (ONE + np.tanh(SCALE * (v + CUBIC * v * v * v)))


@compiled
def softmax(x, out):
    rows, cols = x.shape
    for i in prange(rows):
        top = x[i, 0]
        for j in range(cols):
            top = max(top, x[i, j])
        total = np.float32(0)
        for j in range(cols):
            e = np.exp(x[i, j] - top)
            out[i, j] = e
            total += e
        share = ONE / total
        for j in range(cols):
            out[i, j] *= share


@compiled
def layer_norm(x, w, b, out):
    rows, cols = x.shape
    for i in prange(rows):
        total = np.float32(0)
        for j in range(cols):
            total += x[i, j]
        mean = total / np.float32(cols)
        squares = np.float32(0)
        for j in range(cols):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        rstd = ONE / np.sqrt(squares / np.float32(cols) + np.float32(1e-5))
        for j in range(cols):
            out[i, j] = (x[i, j] - mean) * rstd * w[j] + b[j]


@compiled
def gather(table, index, out):
    width = table.shape[1]
    for i in prange(index.size):
        row = index[i]
        for j in range(width):
            out[i, j] = table[row, j]


@compiled
def column_sums(x, out):
    rows, cols = x.shape
    width = 512
    for block in prange((cols + width - 1) // width):
        low, high = block * width, min(cols, (block + 1) * width)
        out[low:high] = np.float32(0)
        for i in range(rows):
            for j in range(low, high):
                out[j] += x[i, j]


@compiled
def cumsum(x, out):
    rows, cols = x.shape
    for i in prange(rows):
        total = np.float32(0)
        for j in range(cols):
            total += x[i, j]
            out[i, j] = total


@compiled
def rms_norm_residual(x, r, w, y, eps):
    rows, cols = x.shape
    for i in prange(rows):
        total = np.float32(0)
        for j in range(cols):
            h = x[i, j] + r[i, j]
            r[i, j] = h
            total += h * h
        rstd = ONE / np.sqrt(total / np.float32(cols) + eps)
        for j in range(cols):
            y[i, j] = r[i, j] * rstd * w[j]


@compiled
def swiglu(x, y):
    rows, cols = y.shape
    for i in prange(rows):
        for j in range(cols):
            gate = x[i, j]
            y[i, j] = gate / (ONE + np.exp(-gate)) * x[i, cols + j]


@compiled
def rotary(q, cos, sin, seq_len):
    tokens, heads, width = q.shape
    half = width // 2
    for t in prange(tokens):
        position = t % seq_len
        for h in range(heads):
            for j in range(half):
                first, second = q[t, h, j], q[t, h, half + j]
                q[t, h, j] = first * cos[position, j] - second * sin[position, j]
                q[t, h, half + j] = second * cos[position, j] + first * sin[position, j]


@compiled
def transpose(x, out):
    rows, cols = x.shape
    side = 32
    across = (cols + side - 1) // side
    for block in prange(((rows + side - 1) // side) * across):
        r0, c0 = block // across * side, block % across * side
        for j in range(c0, min(cols, c0 + side)):
            for i in range(r0, min(rows, r0 + side)):
                out[j, i] = x[i, j]


@compiled
def embedding_bag(table, index, offsets, out):
    width = table.shape[1]
    for bag in prange(offsets.size - 1):
        begin, end = offsets[bag], offsets[bag + 1]
        out[bag, :] = np.float32(0)
        for i in range(begin, end):
            for j in range(width):
                out[bag, j] += table[index[i], j]
        share = ONE / np.float32(max(end - begin, 1))
        for j in range(width):
            out[bag, j] *= share
