"""Attention of a few queries over what is cached: split along the keys, latent, over pages, over blocks that a list names;
caches written, states merged."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import math

import numpy as np
from library_attention import soft_capped
from library_cases import E4M3, Checks, Library, integers, normal, softmax, strides, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NEGATIVE = tl.constexpr(float("-inf"))


# --------------------------------------------------------- decoding: indices of tokens, heads of a group as rows of a tile


@triton.jit
def decode_stage1(
    q_ptr, k_ptr, v_ptr, begin_ptr, token_ptr, part_ptr, lse_ptr, scale,
    q_batch, q_head, token_step, head_step, part_batch, part_head, part_split,
    GROUP: tl.constexpr, HEADS: tl.constexpr, WIDTH: tl.constexpr, ROTATED: tl.constexpr,
    KEYS: tl.constexpr, ROWS: tl.constexpr, SPLITS: tl.constexpr, CAP: tl.constexpr,
):  # fmt: skip
    """One query of each head to a share of the sequence's keys. GROUP heads have the same keys, up to ROWS of them go in
    one tile; scores take ROTATED more elements behind the WIDTH that values have. Keeps the mixture and log-sum-exp."""
    sequence, split = tl.program_id(0), tl.program_id(2)
    USED: tl.constexpr = min(GROUP, ROWS)
    row = tl.arange(0, ROWS)
    head = tl.program_id(1) * USED + row
    live = (row < USED) & (head < HEADS)
    shared = tl.program_id(1) // tl.cdiv(GROUP, ROWS) * head_step
    begin, end = tl.load(begin_ptr + sequence), tl.load(begin_ptr + sequence + 1)
    share = tl.cdiv(end - begin, SPLITS)
    first, last = begin + share * split, tl.minimum(begin + share * (split + 1), end)
    if first >= last:
        return
    element, further = tl.arange(0, WIDTH), WIDTH + tl.arange(0, ROTATED if ROTATED else 1)
    query_ptr = q_ptr + sequence * q_batch + head[:, None] * q_head
    query = tl.load(query_ptr + element[None, :], mask=live[:, None], other=0.0)
    if ROTATED:
        rotated = tl.load(query_ptr + further[None, :], mask=live[:, None], other=0.0)
    top, weight = tl.full([ROWS], float("-inf"), tl.float32), tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS, WIDTH], tl.float32)
    for start in range(first, last, KEYS):
        place = start + tl.arange(0, KEYS)
        known = place < last
        token = shared + token_step * tl.load(token_ptr + place, mask=known, other=0)
        key = tl.load(k_ptr + token[None, :] + element[:, None], mask=known[None, :], other=0.0)
        score = tl.dot(query, key.to(query.dtype))
        if ROTATED:
            key = tl.load(k_ptr + token[None, :] + further[:, None], mask=known[None, :], other=0.0)
            score += tl.dot(rotated, key.to(rotated.dtype))
        score = soft_capped(score * scale, CAP) if CAP > 0 else score * scale
        score = tl.where(known[None, :] & live[:, None], score, float("-inf"))
        higher = tl.maximum(tl.max(score, 1), top)
        decay, parts = tl.exp(top - higher), tl.exp(score - higher[:, None])
        value = tl.load(v_ptr + token[:, None] + element[None, :], mask=known[:, None], other=0.0)
        mixed = decay[:, None] * mixed + tl.dot(parts.to(value.dtype), value)
        weight = tl.sum(parts, 1) + decay * weight
        top = higher
    part = sequence * part_batch + head * part_head + split * part_split
    tl.store(lse_ptr + part // WIDTH, tl.log(weight) + top, mask=live)
    tl.store(part_ptr + part[:, None] + element[None, :], mixed / weight[:, None], mask=live[:, None])


@triton.jit
def decode_stage2(
    part_ptr, lse_ptr, out_ptr, begin_ptr, part_batch, part_head, part_split, out_batch, out_head,
    SPLITS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Mixes the parts of one head by their log-sum-exps; the last splits of a short sequence have none."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    length = tl.load(begin_ptr + sequence + 1) - tl.load(begin_ptr + sequence)
    parts = tl.cdiv(length, tl.cdiv(length, SPLITS))
    element = tl.arange(0, WIDTH)
    part = sequence * part_batch + head * part_head
    top, weight, mixed = float("-inf"), 0.0, tl.zeros([WIDTH], tl.float32)
    for _ in range(parts):
        lse = tl.load(lse_ptr + part // WIDTH)
        higher = tl.maximum(lse, top)
        old, new = tl.exp(top - higher), tl.exp(lse - higher)
        mixed = old * mixed + new * tl.load(part_ptr + part + element)
        weight = old * weight + new
        top = higher
        part += part_split
    tl.store(out_ptr + sequence * out_batch + head * out_head + element, mixed / weight)


def decode(
    q: Array, k: Array, v: Array, lengths: list[int], d: int, rope: int, splits: int, cap: float, tolerance: float
) -> Checks:
    """k and v: (tokens, heads, d + rope); the tokens of each sequence lie anywhere."""
    batch, heads = q.shape[:2]
    kv_heads, scale = k.shape[1], 0.2
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = np.random.default_rng(3).permutation(len(k))[: indptr[-1]].astype(np.int64)
    mid, mid_lse = np.zeros((batch, heads, splits, d), np.float32), np.zeros((batch, heads, splits), np.float32)
    out = np.empty((batch, heads, d), q.dtype)
    group = heads // kv_heads
    decode_stage1[(batch, triton.cdiv(heads, min(16, group)), splits)](
        q, k, v, indptr, indices, mid, mid_lse, scale, *strides(q)[:2], *strides(k)[:2], *strides(mid)[:3],
        GROUP=group, HEADS=heads, WIDTH=d, ROTATED=rope, KEYS=16, ROWS=16, SPLITS=splits, CAP=cap,
    )  # fmt: skip
    decode_stage2[(batch, heads)](
        mid, mid_lse, out, indptr, *strides(mid)[:3], *strides(out)[:2], SPLITS=splits, WIDTH=d
    )
    expected = np.empty(out.shape)
    for b in range(batch):
        here = indices[indptr[b] : indptr[b + 1]]
        for h in range(heads):
            s = wide(k[here, h // group]) @ wide(q[b, h]) * scale
            p = softmax(cap * np.tanh(s / cap) if cap else s)
            expected[b, h] = p @ wide(v[here, h // group])[:, :d]
    return [(out, expected, tolerance)]


@LIBRARY.case
def decoding_in_splits() -> Checks:
    q, k, v = (normal(n, h, 32, seed=s, dtype=np.float16) for n, h, s in ((3, 8, 13), (90, 2, 14), (90, 2, 15)))
    return decode(q, k, v, [3, 50, 20], 32, 0, 4, 0.0, 4e-3) + decode(q, k, v, [3, 50, 20], 32, 0, 3, 10.0, 4e-3)


@LIBRARY.case
def decoding_of_latent_attention() -> Checks:
    """One compressed head for all query heads: values are the first columns of the keys, 16 more carry positions."""
    q, cache = normal(2, 20, 48, seed=16), normal(60, 1, 48, seed=17)
    return decode(q, cache, cache, [37, 20], 32, 16, 2, 0.0, 1e-5)


# --------------------------------------------------------------------------------- two states merged; keys into a cache


@triton.jit
def merge_states(
    out_ptr, out_lse_ptr, a_ptr, a_lse_ptr, b_ptr, b_lse_ptr,
    WIDTH: tl.constexpr, BLOCK: tl.constexpr, WITH_LSE: tl.constexpr,
):  # fmt: skip
    """Two attentions of the same queries to different keys as one: (e^la a + e^lb b) / (e^la + e^lb). A log-sum-exp of
    +inf stands for no keys, as -inf does."""
    token, head = tl.program_id(0), tl.program_id(1)
    place = head * tl.num_programs(0) + token
    la, lb = tl.load(a_lse_ptr + place), tl.load(b_lse_ptr + place)
    if la == float("inf"):
        la = float("-inf")
    lb = float("-inf") if lb == float("inf") else lb
    top = tl.maximum(la, lb)
    wa, wb = tl.exp(la - top), tl.exp(lb - top)
    element = tl.arange(0, BLOCK)
    at = (token * tl.num_programs(1) + head) * WIDTH + element
    a, b = tl.load(a_ptr + at, mask=element < WIDTH), tl.load(b_ptr + at, mask=element < WIDTH)
    tl.store(out_ptr + at, (wa * a + wb * b) / (wa + wb), mask=element < WIDTH)
    if WITH_LSE:
        tl.store(out_lse_ptr + place, top + tl.log(wa + wb))


@LIBRARY.case
def merged_attention_states() -> Checks:
    tokens, heads, size = 5, 3, 24
    a, b = normal(tokens, heads, size, seed=18), normal(tokens, heads, size, seed=19)
    la, lb = normal(heads, tokens, seed=20), normal(heads, tokens, seed=21)
    la[0, 1], lb[2, 3] = np.inf, -np.inf
    out, lse = np.empty_like(a), np.empty_like(la)
    merge_states[(tokens, heads)](out, lse, a, la, b, lb, WIDTH=size, BLOCK=32, WITH_LSE=True)
    wa, wb = np.exp(np.where(la == np.inf, -np.inf, wide(la))), np.exp(wide(lb))
    share = (wa / (wa + wb)).T[..., None]
    return [(out, a * share + b * (1 - share), 1e-6), (lse, np.log(wa + wb), 1e-6)]


@triton.jit
def _kept(x, scale_ptr, cache_ptr, SCALED: tl.constexpr):
    """x as the cache holds it: divided by the scale, unless it has eight bits already."""
    if SCALED and not x.dtype.is_fp8():
        x = x / tl.load(scale_ptr)
    return x.to(cache_ptr.dtype.element_ty)


@triton.jit
def reshape_and_cache(
    k_ptr, v_ptr, k_cache_ptr, v_cache_ptr, slot_ptr, k_scale_ptr, v_scale_ptr,
    k_token: tl.int64, v_token: tl.int64, page_step: tl.int64, place_step: tl.int64,
    ELEMENTS: tl.constexpr, PAGE: tl.constexpr, SCALED: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Writes the keys and values of new tokens to their slots in a cache of pages; tokens without a slot are left out."""
    slot = tl.load(slot_ptr + tl.program_id(axis=0)).to(tl.int64)
    if slot >= 0:
        element = TILE * tl.program_id(axis=1) + tl.arange(0, TILE)
        live = element < ELEMENTS
        to = slot // PAGE * page_step + slot % PAGE * place_step + element
        value = tl.load(v_ptr + tl.program_id(axis=0) * v_token + element, mask=live)
        tl.store(v_cache_ptr + to, _kept(value, v_scale_ptr, v_cache_ptr, SCALED), mask=live)
        key = tl.load(k_ptr + tl.program_id(axis=0) * k_token + element, mask=live)
        tl.store(k_cache_ptr + to, _kept(key, k_scale_ptr, k_cache_ptr, SCALED), mask=live)


@LIBRARY.case
def caches_of_keys_and_values() -> Checks:
    tokens, heads, size, blocks, page = 7, 3, 20, 4, 4
    key, value = normal(tokens, heads, size, seed=22), normal(tokens, heads, size, seed=23)
    slots = np.array([0, 13, -1, 5, 6, 15, -1], np.int64)
    scale = np.array([0.5], np.float32)
    results: Checks = []
    for dtype in (np.float32, E4M3):
        k_cache, v_cache = np.zeros((blocks, page, heads, size), dtype), np.zeros((blocks, page, heads, size), dtype)
        reshape_and_cache[lambda meta: (tokens, triton.cdiv(heads * size, meta["TILE"]))](
            key, value, k_cache, v_cache, slots, scale, scale, heads * size, heads * size, page * heads * size, heads * size,
            ELEMENTS=heads * size, PAGE=page, SCALED=dtype is E4M3, TILE=32,
        )  # fmt: skip
        for source, cache in ((key, k_cache), (value, v_cache)):
            expected = np.zeros((blocks * page, heads, size))
            stored = (source / 0.5).astype(E4M3) if dtype is E4M3 else source
            expected[slots[slots >= 0]] = stored[slots >= 0]
            results.append((cache, expected.reshape(cache.shape), 0))
    return results


# ------------------------------------------------------------ prefixes in pages, new tokens behind them: chunked prefill


@triton.jit
def _take_keys(top, weight, mixed, query, key, value, seen, scale):
    """Takes keys (transposed) and values into a running softmax; `seen` says which row sees which."""
    score = tl.where(seen, scale * tl.dot(query, key.to(query.dtype), input_precision="ieee"), float("-inf"))
    higher = tl.maximum(tl.max(score, 1), top)
    decay, parts = tl.exp(top - higher), tl.exp(score - higher[:, None])
    mixed = tl.dot(parts.to(query.dtype), value.to(query.dtype), decay[:, None] * mixed, input_precision="ieee")
    return higher, decay * weight + tl.sum(parts, 1), mixed


@triton.jit
def chunked_prefill(
    q_ptr, k_ptr, v_ptr, k_cache_ptr, v_cache_ptr, page_ptr, scale, begin_ptr, length_ptr, out_ptr,
    table_step, q_token, q_head, k_token, k_head, page_step, place_step, cache_head, sharing,
    ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    """New tokens of each sequence see the keys of its cache, by way of a table of pages, and those of the new tokens up
    to themselves."""
    sequence, head = tl.program_id(0), tl.program_id(1)
    begin, first = tl.load(begin_ptr + sequence), tl.program_id(2) * ROWS
    new = tl.load(begin_ptr + sequence + 1) - begin
    if first >= new:
        return
    cached = tl.load(length_ptr + sequence) - new
    shared = head // sharing
    element, row = tl.arange(0, WIDTH), first + tl.arange(0, ROWS)
    of_query = (begin + row[:, None]) * q_token + head * q_head + element[None, :]
    query = tl.load(q_ptr + of_query, mask=(row < new)[:, None], other=0.0)
    top, weight = tl.full([ROWS], float("-inf"), tl.float32), tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS, WIDTH], tl.float32)
    for start in range(0, cached, KEYS):
        place = start + tl.arange(0, KEYS)
        known = place < cached
        page = tl.load(page_ptr + sequence * table_step + place // PAGE, mask=known, other=0).to(tl.int64)
        at = shared * cache_head + page * page_step + place % PAGE * place_step
        key = tl.load(k_cache_ptr + at[None, :] + element[:, None], mask=known[None, :], other=0.0)
        value = tl.load(v_cache_ptr + at[:, None] + element[None, :], mask=known[:, None], other=0.0)
        top, weight, mixed = _take_keys(top, weight, mixed, query, key, value, known[None, :], scale)
    for start in range(0, tl.minimum(first + ROWS, new), KEYS):
        place = tl.multiple_of(start, KEYS) + tl.arange(0, KEYS)
        at, known = shared * k_head + (begin + place) * k_token, place < new
        key = tl.load(k_ptr + at[None, :] + element[:, None], mask=known[None, :], other=0.0)
        value = tl.load(v_ptr + at[:, None] + element[None, :], mask=known[:, None], other=0.0)
        top, weight, mixed = _take_keys(top, weight, mixed, query, key, value, place[None, :] <= row[:, None], scale)
    tl.store(out_ptr + of_query, mixed / weight[:, None], mask=(row < new)[:, None])


@LIBRARY.case
def prefill_behind_cached_pages() -> Checks:
    heads, kv_heads, d, page, scale = 4, 2, 16, 8, 0.25
    queries, contexts = [17, 1, 20], [11, 30, 0]
    starts = np.array([0, 17, 18, 38], np.int32)
    lengths = np.array([q + c for q, c in zip(queries, contexts, strict=True)], np.int32)
    table = np.random.default_rng(24).permutation(16)[:12].reshape(3, 4).astype(np.int32)
    q, k, v = normal(38, heads, d, seed=25), normal(38, kv_heads, d, seed=26), normal(38, kv_heads, d, seed=27)
    k_cache, v_cache = normal(16, page, kv_heads, d, seed=28), normal(16, page, kv_heads, d, seed=29)
    out, expected = np.zeros_like(q), np.zeros(q.shape)
    chunked_prefill[(3, heads, triton.cdiv(max(queries), 16))](
        q, k, v, k_cache, v_cache, table, scale, starts, lengths, out, strides(table)[0], *strides(q)[:2],
        *strides(k)[:2], *strides(k_cache)[:3], heads // kv_heads, ROWS=16, KEYS=16, WIDTH=d, PAGE=page,
    )  # fmt: skip
    for b in range(3):
        rows, context = slice(starts[b], starts[b + 1]), contexts[b]
        keys, values = (
            np.concatenate([wide(cache[table[b]]).reshape(-1, kv_heads, d)[:context], wide(new[rows])])
            for cache, new in ((k_cache, k), (v_cache, v))
        )
        i, j = np.arange(queries[b])[:, None] + context, np.arange(len(keys))[None]
        for h in range(heads):
            s = np.where(j <= i, wide(q[rows, h]) @ keys[:, h // 2].T * scale, -np.inf)
            expected[rows, h] = softmax(s) @ values[:, h // 2]
    return [(out, expected, 1e-5)]


# ----------------------------------------------------------------------------- blocks chosen by a table; a tree of drafts


@triton.jit
def block_sparse_attention(
    q_ptr,
    k_ptr,
    v_ptr,
    begin_ptr,
    block_ptr,
    sees_ptr,
    out_ptr,
    scale,
    length,
    BLOCK: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Queries of a block see the blocks of keys that a table lists for them, and of these what `sees` says."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    element, of_head = tl.arange(0, WIDTH), tl.program_id(1) * length
    of_query = (of_head + rows[:, None]) * WIDTH + element[None, :]
    query = tl.load(q_ptr + of_query)
    top, weight = tl.full([BLOCK], float("-inf"), tl.float32), tl.zeros([BLOCK], tl.float32)
    mixed = tl.zeros([BLOCK, WIDTH], tl.float32)
    entry, end = tl.load(begin_ptr + tl.program_id(0)), tl.load(begin_ptr + tl.program_id(0) + 1)
    while entry < end:
        columns = tl.arange(0, BLOCK) + BLOCK * tl.load(block_ptr + entry)
        seen = tl.load(sees_ptr + (rows[:, None] * length + columns[None, :])).to(tl.int1)
        key = tl.load(k_ptr + (of_head + columns[None, :]) * WIDTH + element[:, None])
        # A finite number, so that a row of a block in which it sees nothing has a largest score.
        score = tl.where(seen, scale * tl.dot(query, key, input_precision="ieee"), -1.0e30)
        higher = tl.maximum(tl.max(score, 1), top)
        decay, parts = tl.exp(top - higher), tl.exp(score - higher[:, None])
        value = tl.load(v_ptr + (of_head + columns[:, None]) * WIDTH + element[None, :])
        mixed = tl.dot(parts, value, decay[:, None] * mixed, input_precision="ieee")
        weight = tl.sum(parts, 1) + decay * weight
        top = higher
        entry += 1
    tl.store(out_ptr + of_query, mixed / weight[:, None])


@LIBRARY.case
def attention_over_chosen_blocks() -> Checks:
    heads, n, d, block = 2, 64, 16, 16
    chosen = integers(0, 2, 4, 4, seed=30).astype(bool) | np.eye(4, dtype=bool)
    crow = np.concatenate([[0], np.cumsum(chosen.sum(1))]).astype(np.int32)
    col = np.nonzero(chosen)[1].astype(np.int32)
    tree = (uniform(n, n, seed=31) < 0.5) | np.eye(n, dtype=bool)
    q, k, v = normal(heads, n, d, seed=32), normal(heads, n, d, seed=33), normal(heads, n, d, seed=34)
    out = np.empty_like(q)
    block_sparse_attention[(4, heads)](
        q, k, v, crow, col, tree.astype(np.uint8), out, 1 / math.sqrt(d), n, BLOCK=block, WIDTH=d
    )
    keep = np.kron(chosen, np.ones((block, block))).astype(bool) & tree
    s = np.where(keep, wide(q) @ wide(k).swapaxes(-1, -2) / math.sqrt(d), -np.inf)
    return [(out, softmax(s) @ wide(v), 1e-5)]
