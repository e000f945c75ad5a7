"""Kernels over sequences as model libraries have them: attention over pages and ragged batches, scans, linear attention."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from model_cases import case, normal, softmax

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

BF16 = ml_dtypes.bfloat16


# ----------------------------------------------------------------- attention over pages, split along the keys, joined


@triton.jit
def paged_attention_part(
    q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, part_ptr, lse_ptr, scale, heads, kv_heads, max_pages, splits,
    PAGE: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    batch, head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(length_ptr + batch)
    pages = tl.cdiv(length, PAGE)
    per_split = tl.cdiv(pages, splits)
    kv_head = head // (heads // kv_heads)
    d, t = tl.arange(0, D), tl.arange(0, PAGE)
    q = tl.load(q_ptr + (batch * heads + head) * D + d) * scale
    m, l = -float("inf"), 0.0
    acc = tl.zeros([D], tl.float32)
    for i in range(split * per_split, min((split + 1) * per_split, pages)):
        page = tl.load(table_ptr + batch * max_pages + i).to(tl.int64)
        inside = i * PAGE + t < length
        offsets = ((page * PAGE + t)[:, None] * kv_heads + kv_head) * D + d[None, :]
        k = tl.load(k_ptr + offsets, mask=inside[:, None], other=0.0)
        s = tl.where(inside, tl.sum(q[None, :] * k, 1), float("-inf"))
        new = tl.maximum(m, tl.max(s, 0))
        p = tl.exp(s - new)
        alpha = tl.exp(m - new)
        v = tl.load(v_ptr + offsets, mask=inside[:, None], other=0.0)
        acc = acc * alpha + tl.sum(p[:, None] * v, 0)
        l = l * alpha + tl.sum(p, 0)
        m = new
    out = (batch * heads + head) * splits + split
    tl.store(part_ptr + out * D + d, acc / tl.where(l == 0, 1.0, l))
    tl.store(lse_ptr + out, tl.where(l == 0, float("-inf"), m + tl.log(l)))


@triton.jit
def join_parts(part_ptr, lse_ptr, out_ptr, splits, D: tl.constexpr, SPLITS: tl.constexpr):
    row = tl.program_id(0)
    s, d = tl.arange(0, SPLITS), tl.arange(0, D)
    lse = tl.load(lse_ptr + row * splits + s, mask=s < splits, other=float("-inf"))
    parts = tl.load(part_ptr + (row * splits + s)[:, None] * D + d[None, :], mask=(s < splits)[:, None], other=0.0)
    w = tl.exp(lse - tl.max(lse, 0))
    tl.store(out_ptr + row * D + d, tl.sum(parts * w[:, None], 0) / tl.sum(w, 0))


@case
def paged_attention() -> list[tuple[Array, Any, float]]:
    batch, heads, kv_heads, d, page, splits, n_pages = 3, 4, 2, 32, 16, 3, 20
    lengths = np.array([5, 100, 33], np.int32)
    rng = np.random.default_rng(13)
    table = rng.permutation(n_pages)[:18].reshape(3, 6)
    table = np.concatenate([table, np.zeros((3, 1), table.dtype)], 1).astype(np.int32)
    k, v = normal(n_pages, page, kv_heads, d, seed=14), normal(n_pages, page, kv_heads, d, seed=15)
    q = normal(batch, heads, d, seed=16)
    lengths = np.minimum(lengths, 6 * page)
    part, lse = np.empty((batch, heads, splits, d), np.float32), np.empty((batch, heads, splits), np.float32)
    out = np.empty_like(q)
    paged_attention_part[(batch, heads, splits)](
        q, k, v, table, lengths, part, lse, d**-0.5, heads, kv_heads, 7, splits, PAGE=page, D=d
    )
    join_parts[(batch * heads,)](part, lse, out, splits, D=d, SPLITS=4)
    expected = np.empty(q.shape)
    for b in range(batch):
        keys, values = (x[table[b, :6]].reshape(-1, kv_heads, d)[: lengths[b]].astype(np.float64) for x in (k, v))
        for h in range(heads):
            p = softmax(keys[:, h // 2] @ q[b, h] * d**-0.5)
            expected[b, h] = p @ values[:, h // 2]
    return [(out, expected, 1e-5)]


# ------------------------------------------------------------------ sequences of different lengths behind one another


@triton.jit
def varlen_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, starts_ptr, scale, heads, window,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    block, head, seq = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    begin = tl.load(starts_ptr + seq)
    length = tl.load(starts_ptr + seq + 1) - begin
    if block * BM >= length:
        return
    rm, rn, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    rows = (begin + rm)[:, None] * heads * D + head * D + d[None, :]
    q = tl.load(q_ptr + rows, mask=(rm < length)[:, None], other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    m = tl.full((BM,), float("-inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    low = tl.maximum(0, (block * BM - window) // BN * BN)
    for start in range(low, tl.minimum((block + 1) * BM, length), BN):
        cols = start + rn
        offsets = (begin + cols)[:, None] * heads * D + head * D + d[None, :]
        inside = (cols < length)[:, None]
        k = tl.load(k_ptr + offsets, mask=inside, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        keep = (cols[None, :] <= rm[:, None]) & (cols[None, :] > rm[:, None] - window) & (cols < length)[None, :]
        s = tl.where(keep, s, float("-inf"))
        new = tl.maximum(m, tl.max(s, 1))
        base = tl.where(new == float("-inf"), 0.0, new)
        p = tl.exp(s - base[:, None])
        alpha = tl.exp(m - base)
        l = l * alpha + tl.sum(p, 1)
        acc *= alpha[:, None]
        v = tl.load(v_ptr + offsets, mask=inside, other=0.0)
        acc = tl.dot(p, v, acc, input_precision="ieee")
        m = new
    tl.store(out_ptr + rows, acc / l[:, None], mask=(rm < length)[:, None])


@case
def sliding_window_varlen() -> list[tuple[Array, Any, float]]:
    lengths, heads, d, window = [19, 1, 40], 2, 16, 12
    starts = np.array([0, 19, 20, 60], np.int32)
    q, k, v = (normal(60, heads, d, seed=s) for s in (17, 18, 19))
    out, expected = np.zeros_like(q), np.zeros(q.shape)
    varlen_attention[(3, heads, 3)](q, k, v, out, starts, 0.25, heads, window, BM=16, BN=16, D=d)
    for s, length in enumerate(lengths):
        rows = slice(starts[s], starts[s] + length)
        i, j = np.arange(length)[:, None], np.arange(length)[None]
        for h in range(heads):
            scores = q[rows, h].astype(np.float64) @ k[rows, h].T * 0.25
            expected[rows, h] = softmax(np.where((j <= i) & (j > i - window), scores, -np.inf)) @ v[rows, h]
    return [(out, expected, 1e-5)]


# --------------------------------------------------------------------------- selective scan: a first-order recurrence


@triton.jit
def first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def selective_scan(x_ptr, dt_ptr, a_ptr, b_ptr, c_ptr, y_ptr, seq, dim, T: tl.constexpr, N: tl.constexpr):
    channel = tl.program_id(0)
    t, n = tl.arange(0, T), tl.arange(0, N)
    a = tl.load(a_ptr + channel * N + n)
    carry = tl.zeros((N,), tl.float32)
    for start in range(0, seq, T):
        rows = start + t
        live = rows < seq
        x = tl.load(x_ptr + rows * dim + channel, mask=live, other=0.0)
        dt = tl.load(dt_ptr + rows * dim + channel, mask=live, other=0.0)
        b = tl.load(b_ptr + rows[:, None] * N + n[None, :], mask=live[:, None], other=0.0)
        c = tl.load(c_ptr + rows[:, None] * N + n[None, :], mask=live[:, None], other=0.0)
        decay = tl.exp(dt[:, None] * a[None, :])
        entry = (dt * x)[:, None] * b
        decays, states = tl.associative_scan((decay, entry), 0, first_order)
        states += decays * carry[None, :]
        tl.store(y_ptr + rows * dim + channel, tl.sum(states * c, 1), mask=live)
        carry = tl.sum(tl.where((t == T - 1)[:, None], states, 0.0), 0)


@case
def state_space_scan() -> list[tuple[Array, Any, float]]:
    seq, dim, n = 37, 5, 8
    x, b, c = normal(seq, dim, seed=20), normal(seq, n, seed=21), normal(seq, n, seed=22)
    rng = np.random.default_rng(23)
    dt, a = rng.uniform(0.01, 0.5, (seq, dim)).astype(np.float32), -rng.uniform(0.1, 2, (dim, n)).astype(np.float32)
    y, expected, state = np.empty_like(x), np.empty(x.shape), np.zeros((dim, n))
    selective_scan[(dim,)](x, dt, a, b, c, y, seq, dim, T=16, N=n)
    for i in range(seq):
        state = state * np.exp(dt[i][:, None].astype(np.float64) * a) + (dt[i] * x[i])[:, None] * b[i][None]
        expected[i] = (state * c[i]).sum(1)
    return [(y, expected, 1e-4)]


# -------------------------------------------------------------------------- linear attention in chunks, with a decay


@triton.jit
def retention(q_ptr, k_ptr, v_ptr, o_ptr, seq, decay, C: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    i = tl.arange(0, C)
    q_block = tl.make_block_ptr(q_ptr + head * seq * D, (seq, D), (D, 1), (0, 0), (C, D), (1, 0))
    k_block = tl.make_block_ptr(k_ptr + head * seq * D, (D, seq), (1, D), (0, 0), (D, C), (0, 1))
    v_block = tl.make_block_ptr(v_ptr + head * seq * D, (seq, D), (D, 1), (0, 0), (C, D), (1, 0))
    o_block = tl.make_block_ptr(o_ptr + head * seq * D, (seq, D), (D, 1), (0, 0), (C, D), (1, 0))
    rate = tl.log2(1.0 - decay)
    inner = tl.where(i[:, None] >= i[None, :], tl.exp2((i[:, None] - i[None, :]) * rate), 0.0)
    state = tl.zeros((D, D), tl.float32)
    for _ in range(tl.cdiv(seq, C)):
        q = tl.load(q_block, boundary_check=(0,))
        k = tl.load(k_block, boundary_check=(1,))
        v = tl.load(v_block, boundary_check=(0,))
        o = tl.dot(tl.dot(q, k, input_precision="ieee") * inner, v, input_precision="ieee")
        o += tl.dot(q * tl.exp2((i + 1) * rate)[:, None], state, input_precision="ieee")
        state = state * tl.exp2(C * rate)
        state += tl.dot(k * tl.exp2((C - 1 - i) * rate)[None, :], v, input_precision="ieee")
        tl.store(o_block, o, boundary_check=(0,))
        q_block = tl.advance(q_block, (C, 0))
        k_block = tl.advance(k_block, (0, C))
        v_block = tl.advance(v_block, (C, 0))
        o_block = tl.advance(o_block, (C, 0))


@case
def chunked_retention() -> list[tuple[Array, Any, float]]:
    heads, seq, d = 2, 45, 16
    q, k, v = (normal(heads, seq, d, seed=s) for s in (24, 25, 26))
    o = np.zeros_like(q)
    retention[(heads,)](q, k, v, o, seq, 0.1, C=16, D=d)
    i, j = np.arange(seq)[:, None], np.arange(seq)[None]
    weight = np.where(i >= j, 0.9 ** (i - j).astype(np.float64), 0)
    return [(o, (q.astype(np.float64) @ k.transpose(0, 2, 1) * weight) @ v, 1e-4)]
