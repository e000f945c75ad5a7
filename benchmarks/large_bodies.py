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
