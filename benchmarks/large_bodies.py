"""Kernels whose size is a number `N`: one body for each kind of op that programs write many of."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def copies(p, q, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.store(q + i, tl.load(p + i) + 1)


@triton.jit
def copies_in_place(p, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.store(p + i + 1, tl.load(p + i) + 1)


@triton.jit
def masked_copies(p, q, n, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.store(q + i, tl.load(p + i, i < n, 0) + 1, i < n)


@triton.jit
def tile_copies(p, q, n, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    for i in tl.static_range(N):
        mask = i * 64 + lanes < n
        tl.store(q + i * 64 + lanes, tl.load(p + i * 64 + lanes, mask, 0) + 1, mask)


@triton.jit
def tiles_in_place(p, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    for i in tl.static_range(N):
        tl.store(p + i * 64 + 64 + lanes, tl.load(p + i * 64 + lanes) + 1)


@triton.jit
def loads_then_sum(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    total = tl.zeros([64], tl.float32)
    for i in tl.static_range(N):
        total += tl.load(p + i * 64 + lanes)
    tl.store(q + lanes, total)


@triton.jit
def gathers_from_memory(p, t, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    places = tl.load(t + lanes)
    for _ in tl.static_range(N):
        places = tl.load(t + places)
    tl.store(q + lanes, tl.load(p + places))


@triton.jit
def elementwise_chain(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):
        x = x * x + i
    tl.store(q + lanes, x)


@triton.jit
def scalar_chain(p, q, N: tl.constexpr):
    x = tl.load(p)
    for i in tl.static_range(N):
        x = x * x + i
    tl.store(q, x)


@triton.jit
def choices(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):
        x = tl.where(lanes > i % 64, x + i, x * 2)
    tl.store(q + lanes, x)


@triton.jit
def shared_by_many(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):
        x = x * x + i
        tl.store(q + i * 64 + lanes, x)


@triton.jit
def products(p, q, o, N: tl.constexpr):
    r = tl.arange(0, 16)
    at = r[:, None] * 16 + r[None, :]
    a, b = tl.load(p + at), tl.load(q + at)
    for _ in tl.static_range(N):
        a = tl.dot(a, b).to(a.dtype)
    tl.store(o + at, a)


@triton.jit
def independent_products(p, q, o, N: tl.constexpr):
    r = tl.arange(0, 16)
    at = r[:, None] * 16 + r[None, :]
    for i in tl.static_range(N):
        a, b = tl.load(p + i * 256 + at), tl.load(q + i * 256 + at)
        tl.store(o + i * 256 + at, tl.dot(a, b))


@triton.jit
def sums(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    for i in tl.static_range(N):
        tl.store(q + i, tl.sum(tl.load(p + i * 64 + lanes), 0))


@triton.jit
def dependent_sums(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for _ in tl.static_range(N):
        x = x - tl.sum(x, 0)
    tl.store(q + lanes, x)


@triton.jit
def row_sums(p, q, N: tl.constexpr):
    r = tl.arange(0, 16)
    x = tl.load(p + r[:, None] * 16 + r[None, :])
    for _ in tl.static_range(N):
        x = x - tl.max(x, 1)[:, None]
    tl.store(q + r[:, None] * 16 + r[None, :], x)


@triton.jit
def scans(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for _ in tl.static_range(N):
        x = tl.cumsum(x, 0)
    tl.store(q + lanes, x)


@triton.jit
def additions(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    for i in tl.static_range(N):
        tl.atomic_add(q + i * 64 + lanes, tl.load(p + i * 64 + lanes))


@triton.jit
def scalar_additions(q, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.atomic_add(q + i, 1.0)


@triton.jit
def tensor_conditionals(p, q, n, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):
        if n > i:
            x = x + i
            x = x * x
        else:
            x = x * 2
    tl.store(q + lanes, x)


@triton.jit
def scalar_conditionals(p, q, n, N: tl.constexpr):
    x = tl.load(p)
    for i in tl.static_range(N):
        if n > i:
            x = x + i
            x = x * x
        else:
            x = x * 2
    tl.store(q, x)


@triton.jit
def stores_in_conditionals(p, q, n, N: tl.constexpr):
    for i in tl.static_range(N):
        if n > i:
            tl.store(q + i, tl.load(p + i))


@triton.jit(noinline=True)
def step(x, i):
    return x * 2 + i


@triton.jit
def calls(p, q, N: tl.constexpr):
    x = tl.load(p)
    for i in tl.static_range(N):
        x = step(x, i)
    tl.store(q, x)


@triton.jit
def inlined_step(x, i):
    return x * 2 + tl.maximum(x, i)


@triton.jit
def inlined_calls(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):
        x = inlined_step(x, i)
    tl.store(q + lanes, x)


@triton.jit
def loops(p, q, n, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):
        for j in range(n):
            x = x + tl.load(p + (i + j) * 64 + lanes)
    tl.store(q + lanes, x)


@triton.jit
def scalar_loops(p, q, n, N: tl.constexpr):
    x = tl.load(p)
    for _ in tl.static_range(N):
        for j in range(n):
            x = x * 2 + j
    tl.store(q, x)


@triton.jit
def halves(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for _ in tl.static_range(N):
        a, b = tl.split(x.reshape(32, 2))
        x = tl.join(b, a).reshape(64)
    tl.store(q + lanes, x)


@triton.jit
def transposes(p, q, N: tl.constexpr):
    r = tl.arange(0, 16)
    x = tl.load(p + r[:, None] * 16 + r[None, :])
    for i in tl.static_range(N):
        x = tl.trans(x) + i
    tl.store(q + r[:, None] * 16 + r[None, :], x)


@triton.jit
def permutations(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):
        x = (x.reshape(4, 4, 4).permute(2, 0, 1) + i).reshape(64)
    tl.store(q + lanes, x)


@triton.jit
def gathers(p, t, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x, places = tl.load(p + lanes), tl.load(t + lanes)
    for _ in tl.static_range(N):
        x = tl.gather(x, places, 0)
    tl.store(q + lanes, x)


@triton.jit
def sampler(q, seed, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    for i in tl.static_range(N):
        a, b, c, d = tl.rand4x(seed, lanes + i * 64)
        tl.store(q + (4 * i) * 64 + lanes, a)
        tl.store(q + (4 * i + 1) * 64 + lanes, b)
        tl.store(q + (4 * i + 2) * 64 + lanes, c)
        tl.store(q + (4 * i + 3) * 64 + lanes, d)


@triton.jit
def hashes(q, seed, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    state = lanes * seed
    for i in tl.static_range(N):
        state = (state ^ (state >> 3)) * 0x1E3779B1 + i
    for i in tl.static_range(N):
        tl.store(q + i * 64 + lanes, (state ^ (state >> i % 31)) * i)


@triton.jit
def integer_chain(p, q, N: tl.constexpr):
    """One tile, one chain."""
    r = tl.arange(0, 16)
    x = tl.load(p + r)
    for i in tl.static_range(N):
        x = x * 3 + i
    tl.store(q + r, x)


@triton.jit
def exchanges(p, q, N: tl.constexpr):
    """Steps of a bitonic sort of values with their indices."""
    r = tl.arange(0, 512)
    x = tl.load(p + r)
    index = r
    first = (tl.arange(0, 2) == 0)[None, :, None]
    for i in tl.static_range(N):
        shape: tl.constexpr = [512 >> (i % 9 + 1), 2, 1 << (i % 9)]
        pairs = tl.reshape(x, shape)
        places = tl.reshape(index, shape)
        low = tl.broadcast_to(tl.sum(tl.where(first, pairs, 0), 1)[:, None, :], shape).reshape(512)
        high = tl.broadcast_to(tl.sum(tl.where(first, 0, pairs), 1)[:, None, :], shape).reshape(512)
        low_index = tl.broadcast_to(tl.sum(tl.where(first, places, 0), 1)[:, None, :], shape).reshape(512)
        high_index = tl.broadcast_to(tl.sum(tl.where(first, 0, places), 1)[:, None, :], shape).reshape(512)
        swap = (low > high) == (((r >> (i % 9 + 1)) & 1) == 0)
        x = tl.where(swap, tl.where(x == low, high, low), x)
        index = tl.where(swap, tl.where(index == low_index, high_index, low_index), index)
    tl.store(q + r, x + index)


@triton.jit
def searches(p, q, n, N: tl.constexpr):
    """Thresholds above which some share of a row lies, as samplers of tokens look for them: thirds of an interval."""
    for i in tl.static_range(N):
        low = tl.load(q)
        high = tl.load(q + 1)
        steps = 0
        while (high - low > 1e-6) & (steps < 40):
            a = low + (high - low) / 3
            b = low + (high - low) * 2 / 3
            above_a = 0.0
            above_b = 0.0
            least = float("inf")
            for start in range(0, n, 4096):
                r = start + tl.arange(0, 4096)
                x = tl.exp(tl.load(p + r, mask=r < n, other=-float("inf")) - high)
                above_a += tl.sum(tl.where(x > a, x, 0.0), 0)
                above_b += tl.sum(tl.where(x > b, x, 0.0), 0)
                least = tl.minimum(least, tl.min(tl.where(x > a, x, float("inf")), 0))
            if above_b >= i + 1:
                low = b
            elif above_a >= i + 1:
                low = a
                high = tl.minimum(b, least)
            else:
                high = a
            steps += 1
        tl.store(q + 2 + i, low)


@triton.jit
def chunk_scans(p, q, o, n, N: tl.constexpr):
    """Products whose first operand decays with the distance, as in scans of state space models by chunks."""
    r = tl.arange(0, 64)
    k = tl.arange(0, 32)
    for i in tl.static_range(N):
        decay = tl.load(q + i * 64 + r, mask=r < n, other=0.0)
        total = tl.zeros([64, 64], tl.float32)
        for start in range(0, n, 32):
            kept = k < n - start
            a = tl.load(p + r[:, None] * 64 + start + k[None, :], mask=kept[None, :], other=0.0)
            step = tl.load(q + start + k, mask=kept, other=0.0)
            a *= tl.exp(decay[:, None] - step[None, :])
            a = tl.where(r[:, None] >= start + k[None, :], a, 0.0)
            b = tl.load(p + (start + k)[:, None] * 64 + r[None, :], mask=kept[:, None], other=0.0)
            total += tl.dot(a, b)
        gate = tl.load(q + r)
        tl.store(o + i * 4096 + r[:, None] * 64 + r[None, :], total * gate * tl.sigmoid(gate), mask=r[:, None] < n)
