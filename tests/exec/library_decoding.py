"""Attention of a few queries over what is cached: split along the keys, latent, over pages, over blocks that a list names;
caches written, states merged."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false
# pyright: reportInvalidTypeForm=false

from __future__ import annotations

import math

import numpy as np
from library_attention import soft_capped
from library_cases import E4M3, Array, Checks, Library, integers, normal, softmax, strides, uniform, wide

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
    Q, K_Buffer, V_Buffer, kv_indptr, kv_indices, Att_Out, Att_Lse, sm_scale,
    stride_qb, stride_qh, stride_kb, stride_kh, stride_mid_b, stride_mid_h, stride_mid_s,
    kv_group_num: tl.constexpr, q_head_num: tl.constexpr, D: tl.constexpr, ROPE: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_H: tl.constexpr, SPLITS: tl.constexpr, logit_cap: tl.constexpr,
):  # fmt: skip
    cur_batch, cur_head_id, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    cur_kv_head = cur_head_id // tl.cdiv(kv_group_num, BLOCK_H)
    if kv_group_num > BLOCK_H:
        VALID: tl.constexpr = BLOCK_H
    else:
        VALID: tl.constexpr = kv_group_num
    cur_head = cur_head_id * VALID + tl.arange(0, BLOCK_H)
    mask_h = (cur_head < (cur_head_id + 1) * VALID) & (cur_head < q_head_num)
    offs_d = tl.arange(0, D)
    begin = tl.load(kv_indptr + cur_batch)
    length = tl.load(kv_indptr + cur_batch + 1) - begin
    per_split = tl.cdiv(length, SPLITS)
    split_start = per_split * split
    split_end = tl.minimum(split_start + per_split, length)
    q = tl.load(
        Q + cur_batch * stride_qb + cur_head[:, None] * stride_qh + offs_d[None, :], mask=mask_h[:, None], other=0.0
    )
    if ROPE > 0:
        offs_r = D + tl.arange(0, ROPE)
        q_pe = tl.load(
            Q + cur_batch * stride_qb + cur_head[:, None] * stride_qh + offs_r[None, :], mask=mask_h[:, None], other=0.0
        )
    e_max = tl.zeros([BLOCK_H], tl.float32) - float("inf")
    e_sum = tl.zeros([BLOCK_H], tl.float32)
    acc = tl.zeros([BLOCK_H, D], tl.float32)
    if split_end > split_start:
        for start_n in range(split_start, split_end, BLOCK_N):
            offs_n = start_n + tl.arange(0, BLOCK_N)
            live = offs_n < split_end
            loc = tl.load(kv_indices + begin + offs_n, mask=live, other=0)
            at = loc[None, :] * stride_kb + cur_kv_head * stride_kh
            k = tl.load(K_Buffer + at + offs_d[:, None], mask=live[None, :], other=0.0)
            qk = tl.dot(q, k.to(q.dtype))
            if ROPE > 0:
                k_pe = tl.load(K_Buffer + at + offs_r[:, None], mask=live[None, :], other=0.0)
                qk += tl.dot(q_pe, k_pe.to(q_pe.dtype))
            qk *= sm_scale
            if logit_cap > 0:
                qk = soft_capped(qk, logit_cap)
            qk = tl.where(mask_h[:, None] & live[None, :], qk, float("-inf"))
            v_at = loc[:, None] * stride_kb + cur_kv_head * stride_kh + offs_d[None, :]
            v = tl.load(V_Buffer + v_at, mask=live[:, None], other=0.0)
            n_max = tl.maximum(tl.max(qk, 1), e_max)
            re_scale = tl.exp(e_max - n_max)
            p = tl.exp(qk - n_max[:, None])
            acc *= re_scale[:, None]
            acc += tl.dot(p.to(v.dtype), v)
            e_sum = e_sum * re_scale + tl.sum(p, 1)
            e_max = n_max
        mid = cur_batch * stride_mid_b + cur_head * stride_mid_h + split * stride_mid_s
        tl.store(Att_Out + mid[:, None] + offs_d[None, :], acc / e_sum[:, None], mask=mask_h[:, None])
        tl.store(Att_Lse + mid // D, e_max + tl.log(e_sum), mask=mask_h)


@triton.jit
def decode_stage2(
    Mid_O, Mid_Lse, O, kv_indptr, stride_mid_b, stride_mid_h, stride_mid_s, stride_ob, stride_oh,
    SPLITS: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    cur_batch, cur_head = tl.program_id(0), tl.program_id(1)
    length = tl.load(kv_indptr + cur_batch + 1) - tl.load(kv_indptr + cur_batch)
    offs_d = tl.arange(0, D)
    e_sum = 0.0
    e_max = -float("inf")
    acc = tl.zeros([D], dtype=tl.float32)
    base = cur_batch * stride_mid_b + cur_head * stride_mid_h
    for split in range(0, SPLITS):
        per_split = tl.cdiv(length, SPLITS)
        start = per_split * split
        end = tl.minimum(start + per_split, length)
        if end > start:
            tv = tl.load(Mid_O + base + split * stride_mid_s + offs_d)
            tlogic = tl.load(Mid_Lse + (base + split * stride_mid_s) // D)
            n_max = tl.maximum(tlogic, e_max)
            old_scale = tl.exp(e_max - n_max)
            acc *= old_scale
            exp_logic = tl.exp(tlogic - n_max)
            acc += exp_logic * tv
            e_sum = e_sum * old_scale + exp_logic
            e_max = n_max
    tl.store(O + cur_batch * stride_ob + cur_head * stride_oh + offs_d, acc / e_sum)


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
        kv_group_num=group, q_head_num=heads, D=d, ROPE=rope, BLOCK_N=16, BLOCK_H=16, SPLITS=splits, logit_cap=cap,
    )  # fmt: skip
    decode_stage2[(batch, heads)](mid, mid_lse, out, indptr, *strides(mid)[:3], *strides(out)[:2], SPLITS=splits, D=d)
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
    output, output_lse, prefix_output, prefix_lse, suffix_output, suffix_lse,
    HEAD_SIZE: tl.constexpr, PADDED_HEAD_SIZE: tl.constexpr, OUTPUT_LSE: tl.constexpr,
):  # fmt: skip
    token_idx, num_tokens = tl.program_id(0), tl.num_programs(0)
    head_idx, num_heads = tl.program_id(1), tl.num_programs(1)
    p_lse = tl.load(prefix_lse + head_idx * num_tokens + token_idx)
    s_lse = tl.load(suffix_lse + head_idx * num_tokens + token_idx)
    p_lse = float("-inf") if p_lse == float("inf") else p_lse
    s_lse = float("-inf") if s_lse == float("inf") else s_lse
    max_lse = tl.maximum(p_lse, s_lse)
    p_lse = p_lse - max_lse
    s_lse = s_lse - max_lse
    p_se, s_se = tl.exp(p_lse), tl.exp(s_lse)
    out_se = p_se + s_se
    if OUTPUT_LSE:
        tl.store(output_lse + head_idx * num_tokens + token_idx, tl.log(out_se) + max_lse)
    head = tl.arange(0, PADDED_HEAD_SIZE)
    head_mask = head < HEAD_SIZE
    at = token_idx * num_heads * HEAD_SIZE + head_idx * HEAD_SIZE + head
    p_out = tl.load(prefix_output + at, mask=head_mask)
    s_out = tl.load(suffix_output + at, mask=head_mask)
    tl.store(output + at, p_out * (p_se / out_se) + s_out * (s_se / out_se), mask=head_mask)


@LIBRARY.case
def merged_attention_states() -> Checks:
    tokens, heads, size = 5, 3, 24
    a, b = normal(tokens, heads, size, seed=18), normal(tokens, heads, size, seed=19)
    la, lb = normal(heads, tokens, seed=20), normal(heads, tokens, seed=21)
    la[0, 1], lb[2, 3] = np.inf, -np.inf
    out, lse = np.empty_like(a), np.empty_like(la)
    merge_states[(tokens, heads)](out, lse, a, la, b, lb, HEAD_SIZE=size, PADDED_HEAD_SIZE=32, OUTPUT_LSE=True)
    wa, wb = np.exp(np.where(la == np.inf, -np.inf, wide(la))), np.exp(wide(lb))
    share = (wa / (wa + wb)).T[..., None]
    return [(out, a * share + b * (1 - share), 1e-6), (lse, np.log(wa + wb), 1e-6)]


@triton.jit
def reshape_and_cache(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_mapping_ptr, k_scale, v_scale,
    key_stride: tl.int64, value_stride: tl.int64, block_stride: tl.int64, page_stride: tl.int64,
    num_heads: tl.constexpr, head_size: tl.constexpr, block_size: tl.constexpr, FP8: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(axis=0)
    slot = tl.load(slot_mapping_ptr + token).to(tl.int64)
    if slot < 0:
        return
    tile = tl.program_id(axis=1) * TILE + tl.arange(0, TILE)
    inside = tile < num_heads * head_size
    target = (slot // block_size) * block_stride + (slot % block_size) * page_stride + tile
    key = tl.load(key_ptr + token * key_stride + tile, mask=inside)
    value = tl.load(value_ptr + token * value_stride + tile, mask=inside)
    if FP8:
        key = key if key.dtype.is_fp8() else key / tl.load(k_scale)
        value = value if value.dtype.is_fp8() else value / tl.load(v_scale)
    tl.store(key_cache_ptr + target, key.to(key_cache_ptr.dtype.element_ty), mask=inside)
    tl.store(value_cache_ptr + target, value.to(value_cache_ptr.dtype.element_ty), mask=inside)


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
            num_heads=heads, head_size=size, block_size=page, FP8=dtype is E4M3, TILE=32,
        )  # fmt: skip
        for source, cache in ((key, k_cache), (value, v_cache)):
            expected = np.zeros((blocks * page, heads, size))
            stored = (source / 0.5).astype(E4M3) if dtype is E4M3 else source
            expected[slots[slots >= 0]] = stored[slots >= 0]
            results.append((cache, expected.reshape(cache.shape), 0))
    return results


# ------------------------------------------------------------ prefixes in pages, new tokens behind them: chunked prefill


@triton.jit
def chunked_prefill(
    Q, K, V, K_cache, V_cache, B_Loc, sm_scale, B_Start_Loc, B_Seqlen, Out,
    stride_b_loc_b, stride_qbs, stride_qh, stride_kbs, stride_kh, stride_pg, stride_pt, stride_ph, num_queries_per_kv,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    cur_batch, cur_head, start_m = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    cur_kv_head = cur_head // num_queries_per_kv
    seq_start = tl.load(B_Start_Loc + cur_batch)
    query_len = tl.load(B_Start_Loc + cur_batch + 1) - seq_start
    ctx_len = tl.load(B_Seqlen + cur_batch) - query_len
    if start_m * BLOCK_M >= query_len:
        return
    offs_n, offs_d = tl.arange(0, BLOCK_N), tl.arange(0, D)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    off_q = (seq_start + offs_m[:, None]) * stride_qbs + cur_head * stride_qh + offs_d[None, :]
    q = tl.load(Q + off_q, mask=offs_m[:, None] < query_len, other=0.0)
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i, acc = tl.zeros([BLOCK_M], tl.float32), tl.zeros([BLOCK_M, D], tl.float32)
    for start_n in range(0, ctx_len, BLOCK_N):
        token = start_n + offs_n
        bn = tl.load(B_Loc + cur_batch * stride_b_loc_b + token // PAGE, mask=token < ctx_len, other=0).to(tl.int64)
        at = bn * stride_pg + (token % PAGE) * stride_pt + cur_kv_head * stride_ph
        k = tl.load(K_cache + at[None, :] + offs_d[:, None], mask=token[None, :] < ctx_len, other=0.0)
        qk = tl.where(
            token[None, :] < ctx_len, tl.dot(q, k.to(q.dtype), input_precision="ieee") * sm_scale, float("-inf")
        )
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_ij[:, None])
        alpha = tl.exp(m_i - m_ij)
        acc = acc * alpha[:, None]
        v = tl.load(V_cache + at[:, None] + offs_d[None, :], mask=token[:, None] < ctx_len, other=0.0)
        acc = tl.dot(p.to(q.dtype), v.to(q.dtype), acc, input_precision="ieee")
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_ij
    block_mask = tl.where(start_m * BLOCK_M < query_len, 1, 0)
    for start_n in range(0, block_mask * (start_m + 1) * BLOCK_M, BLOCK_N):
        col = tl.multiple_of(start_n, BLOCK_N) + offs_n
        at = (seq_start + col) * stride_kbs + cur_kv_head * stride_kh
        k = tl.load(K + at[None, :] + offs_d[:, None], mask=col[None, :] < query_len, other=0.0)
        qk = tl.dot(q, k, acc=tl.zeros([BLOCK_M, BLOCK_N], tl.float32), input_precision="ieee") * sm_scale
        qk = tl.where(offs_m[:, None] >= col[None, :], qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_ij[:, None])
        alpha = tl.exp(m_i - m_ij)
        acc = acc * alpha[:, None]
        v = tl.load(V + at[:, None] + offs_d[None, :], mask=col[:, None] < query_len, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc, input_precision="ieee")
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_ij
    tl.store(Out + off_q, acc / l_i[:, None], mask=offs_m[:, None] < query_len)


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
        *strides(k)[:2], *strides(k_cache)[:3], heads // kv_heads, BLOCK_M=16, BLOCK_N=16, D=d, PAGE=page,
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
    Q, K, V, crow_ptr, col_ptr, tree_ptr, Out, scale, n_ctx, BLOCK: tl.constexpr, D: tl.constexpr
):
    row_block, head = tl.program_id(0), tl.program_id(1)
    rows, d = row_block * BLOCK + tl.arange(0, BLOCK), tl.arange(0, D)
    q = tl.load(Q + (head * n_ctx + rows[:, None]) * D + d[None, :])
    m_i = tl.zeros([BLOCK], tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    at, end = tl.load(crow_ptr + row_block), tl.load(crow_ptr + row_block + 1)
    while at < end:
        cols = tl.load(col_ptr + at) * BLOCK + tl.arange(0, BLOCK)
        k = tl.load(K + (head * n_ctx + cols[None, :]) * D + d[:, None])
        v = tl.load(V + (head * n_ctx + cols[:, None]) * D + d[None, :])
        s = tl.dot(q, k, input_precision="ieee") * scale
        allowed = tl.load(tree_ptr + rows[:, None] * n_ctx + cols[None, :]).to(tl.int1)
        s = tl.where(allowed, s, -1.0e30)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        acc = tl.dot(p, v, acc * alpha[:, None], input_precision="ieee")
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_new
        at += 1
    tl.store(Out + (head * n_ctx + rows[:, None]) * D + d[None, :], acc / l_i[:, None])


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
        q, k, v, crow, col, tree.astype(np.uint8), out, 1 / math.sqrt(d), n, BLOCK=block, D=d
    )
    keep = np.kron(chosen, np.ones((block, block))).astype(bool) & tree
    s = np.where(keep, wide(q) @ wide(k).swapaxes(-1, -2) / math.sqrt(d), -np.inf)
    return [(out, softmax(s) @ wide(v), 1e-5)]
