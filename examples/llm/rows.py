"""Quantised matrices times two to sixteen vectors, as drafts that are checked together and small batches have them.

Matrices are those of `kernels.py`. Of the vectors come the same 256 elements one after the other, then the next 256,
and so do their scales and sums (`by_blocks`): what a block of the matrix is multiplied by lies together in the caches.
A block of the matrix comes from memory once for all of them.
"""
# pyright: basic, reportAttributeAccessIssue=false

import numpy as np
import triton
import triton.language as tl


@triton.jit
def q4k_times_vectors(
    w_ptr, half_ptr, x_ptr, scale_ptr, sums16_ptr, sums32_ptr, out_ptr, N, K: tl.constexpr, VECTORS: tl.constexpr,
    GROUPS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """out[v, n] = sum of w[n, k] x[v, k], of Q4_K."""
    r = tl.arange(0, ROWS)
    v = tl.arange(0, VECTORS)
    g = tl.arange(0, 2)[:, None]
    j = tl.arange(0, 8)[None, :, None, None]
    z = tl.arange(0, 4)[None, None, None, :]
    for group in range(tl.program_id(0) * GROUPS, tl.program_id(0) * GROUPS + GROUPS):
        acc = tl.zeros([VECTORS, ROWS], tl.float32)
        for k in range(K // 256):
            block = group * (K // 256) + k
            at = w_ptr + block.to(tl.int64) * (144 * ROWS)
            dots = tl.zeros([VECTORS, ROWS], tl.float32)
            minima = tl.zeros([VECTORS, ROWS], tl.float32)
            for h in tl.static_range(2):
                q = tl.load(
                    at
                    + ROWS * (16 + h * 64)
                    + (g * (32 * ROWS) + r[None, :] * 4)[:, None, :, None]
                    + j * (4 * ROWS)
                    + z
                )
                first = x_ptr + (k * VECTORS + v[:, None, None, None, None]) * 256 + h * 128
                x = first + (g[:, :, None, None] * 64 + j * 4 + z)[None]
                low = tl.sum(tl.sum((q & 15)[None].to(tl.int32) * tl.load(x).to(tl.int32), 4), 2)
                high = tl.sum(tl.sum((q >> 4)[None].to(tl.int32) * tl.load(x + 32).to(tl.int32), 4), 2)
                s = at + 4 * ROWS + g * ROWS + r[None, :]
                if h == 0:
                    scale_low, scale_high = tl.load(s) & 63, tl.load(s + 2 * ROWS) & 63
                    least_low, least_high = tl.load(s + 4 * ROWS) & 63, tl.load(s + 6 * ROWS) & 63
                else:
                    scale_low = (tl.load(s + 8 * ROWS) & 15) | ((tl.load(s) >> 6) << 4)
                    scale_high = (tl.load(s + 10 * ROWS) & 15) | ((tl.load(s + 2 * ROWS) >> 6) << 4)
                    least_low = (tl.load(s + 8 * ROWS) >> 4) | ((tl.load(s + 4 * ROWS) >> 6) << 4)
                    least_high = (tl.load(s + 10 * ROWS) >> 4) | ((tl.load(s + 6 * ROWS) >> 6) << 4)
                scaled = low.to(tl.float32) * scale_low[None].to(tl.float32)
                dots += tl.sum(scaled + high.to(tl.float32) * scale_high[None].to(tl.float32), 1)
                sums = sums32_ptr + (k * VECTORS + v[:, None, None]) * 8 + h * 4 + 2 * g[None]
                lifted = least_low[None].to(tl.float32) * tl.load(sums)
                minima += tl.sum(lifted + least_high[None].to(tl.float32) * tl.load(sums + 1), 1)
            head = half_ptr + block.to(tl.int64) * (72 * ROWS) + r
            d, dmin = tl.load(head).to(tl.float32), tl.load(head + ROWS).to(tl.float32)
            acc += (dots * d[None] - minima * dmin[None]) * tl.load(scale_ptr + k * VECTORS + v)[:, None]
        tl.store(out_ptr + v[:, None] * N + group * ROWS + r[None, :], acc)


@triton.jit
def q6k_times_vectors(
    w_ptr, half_ptr, x_ptr, scale_ptr, sums16_ptr, sums32_ptr, out_ptr, N, K: tl.constexpr, VECTORS: tl.constexpr,
    GROUPS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """out[v, n] = sum of w[n, k] x[v, k], of Q6_K."""
    r, v = tl.arange(0, ROWS), tl.arange(0, VECTORS)
    s = tl.arange(0, 2)[:, None]
    word = (tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :])[:, :, None, None]
    lane = r[None, None, :, None] * 4 + tl.arange(0, 4)[None, None, None, :]
    z = tl.arange(0, 4)[None, None, None, :]
    for group in range(tl.program_id(0) * GROUPS, tl.program_id(0) * GROUPS + GROUPS):
        acc = tl.zeros([VECTORS, ROWS], tl.float32)
        for k in range(K // 256):
            block = group * (K // 256) + k
            at = w_ptr + block.to(tl.int64) * (210 * ROWS)
            dots = tl.zeros([VECTORS, ROWS], tl.float32)
            for h in tl.static_range(2):
                upper = tl.load(at + ROWS * (146 + h * 32) + word * (4 * ROWS) + lane)
                for t in tl.static_range(4):
                    low = tl.load(at + ROWS * (18 + h * 64 + t % 2 * 32) + word * (4 * ROWS) + lane)
                    if t == 0:
                        q = (low & 15) | ((upper & 3) << 4)
                    elif t == 1:
                        q = (low & 15) | ((upper & 12) << 2)
                    elif t == 2:
                        q = (low >> 4) | (upper & 48)
                    else:
                        q = (low >> 4) | ((upper >> 2) & 48)
                    first = h * 128 + t * 32
                    vectors = x_ptr + (k * VECTORS + v[:, None, None, None, None]) * 256
                    x = tl.load(vectors + (first + word * 4 + z)[None])
                    part = tl.sum(tl.sum(q[None].to(tl.int32) * x.to(tl.int32), 4), 2).to(tl.float32)
                    scale = tl.load(at + (2 + h * 8 + t * 2 + s) * ROWS + r[None, :]).to(tl.int8, bitcast=True)
                    sums = tl.load(sums16_ptr + (k * VECTORS + v[:, None, None]) * 16 + (first // 16 + s)[None])
                    dots += tl.sum((part - 32.0 * sums) * scale[None].to(tl.float32), 1)
            d = tl.load(half_ptr + block.to(tl.int64) * (105 * ROWS) + r).to(tl.float32)
            acc += dots * d[None] * tl.load(scale_ptr + k * VECTORS + v)[:, None]
        tl.store(out_ptr + v[:, None] * N + group * ROWS + r[None, :], acc)


@triton.jit
def q8_0_times_vectors(
    w_ptr, half_ptr, x_ptr, scale_ptr, sums16_ptr, sums32_ptr, out_ptr, N, K: tl.constexpr, VECTORS: tl.constexpr,
    GROUPS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """out[v, n] = sum of w[n, k] x[v, k], of Q8_0."""
    r = tl.arange(0, ROWS)
    v = tl.arange(0, VECTORS)
    word, z = tl.arange(0, 8)[:, None, None], tl.arange(0, 4)[None, None, :]
    for group in range(tl.program_id(0) * GROUPS, tl.program_id(0) * GROUPS + GROUPS):
        acc = tl.zeros([VECTORS, ROWS], tl.float32)
        for k in range(K // 32):
            block = (group * (K // 32) + k).to(tl.int64)
            q = tl.load(w_ptr + block * (34 * ROWS) + 2 * ROWS + word * (4 * ROWS) + r[None, :, None] * 4 + z)
            at = (k // 8 * VECTORS + v[:, None, None, None]) * 256 + k % 8 * 32
            x = tl.load(x_ptr + at + (word * 4 + z)[None])
            part = tl.sum(tl.sum(q.to(tl.int8, bitcast=True).to(tl.int32)[None] * x.to(tl.int32), 3), 1)
            d = tl.load(half_ptr + block * (17 * ROWS) + r).to(tl.float32)
            acc += part.to(tl.float32) * (d[None] * tl.load(scale_ptr + k // 8 * VECTORS + v)[:, None])
        tl.store(out_ptr + v[:, None] * N + group * ROWS + r[None, :], acc)


def by_blocks(vectors):
    """Several vectors, each as a kernel of `kernels.py` reads it, as kernels here do."""
    parts = (np.stack(part) for part in zip(*vectors, strict=True))
    blocks = vectors[0][0].size // 256
    return [np.ascontiguousarray(part.reshape(len(part), blocks, -1).swapaxes(0, 1)).reshape(-1) for part in parts]


PRODUCTS = {"q4_k": q4k_times_vectors, "q6_k": q6k_times_vectors, "q8_0": q8_0_times_vectors}
"""Kernels by the kind of blocks; the number of vectors is a power of two."""
