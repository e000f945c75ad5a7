"""Recurrences in chunks, as products: the delta rule, gated linear attention, the chunk kernels of state spaces."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import itertools

import numpy as np
from library_cases import BF16, Checks, Library, normal, sigmoid, strides, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# -------------------------------------------------------------- the delta rule in chunks: four kernels behind each other


@triton.heuristics({"IS_VARLEN": lambda args: args["cu_seqlens"] is not None})
@triton.jit
def chunk_cumsum(g, o, cu_seqlens, chunk_indices, T, H: tl.constexpr, BT: tl.constexpr, IS_VARLEN: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    if IS_VARLEN:
        i_n, i_t = tl.load(chunk_indices + i_t * 2).to(tl.int32), tl.load(chunk_indices + i_t * 2 + 1).to(tl.int32)
        bos, eos = tl.load(cu_seqlens + i_n).to(tl.int32), tl.load(cu_seqlens + i_n + 1).to(tl.int32)
        T = eos - bos
    else:
        bos, eos = i_b * T, i_b * T + T
    p_g = tl.make_block_ptr(g + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    p_o = tl.make_block_ptr(o + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    b_g = tl.load(p_g, boundary_check=(0,)).to(tl.float32)
    tl.store(p_o, tl.cumsum(b_g, axis=0).to(p_o.dtype.element_ty), boundary_check=(0,))


@LIBRARY.case
def sums_within_chunks() -> Checks:
    b, t, h, bt = 2, 21, 3, 8
    g = normal(b, t, h, seed=1)
    out = np.empty_like(g)
    chunk_cumsum[(triton.cdiv(t, bt), b * h)](g, out, None, None, t, H=h, BT=bt)
    expected = np.concatenate([np.cumsum(wide(g[:, i : i + bt]), 1) for i in range(0, t, bt)], 1)
    ragged, starts = np.empty((42, h), np.float32), np.array([0, 5, 22, 42], np.int64)
    pieces = [(n, c) for n, length in enumerate(np.diff(starts)) for c in range(triton.cdiv(int(length), bt))]
    chunk_cumsum[(len(pieces), h)](g, ragged, starts, np.array(pieces, np.int64), 42, H=h, BT=bt)
    parts = [
        wide(g).reshape(42, h)[a:b][i : i + bt] for a, b in itertools.pairwise(starts) for i in range(0, b - a, bt)
    ]
    return [(out, expected, 1e-6), (ragged, np.concatenate([np.cumsum(p, 0) for p in parts]), 1e-6)]


@triton.jit
def chunk_inverse(k, beta, A, T, stride_t, D: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr):
    """A = (1 + tril(diag(beta) K K^T, -1))^-1 of each chunk, row by row."""
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    o_i = tl.arange(0, BT)
    p_beta = tl.make_block_ptr(beta + i_h * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
    b_beta = tl.load(p_beta, boundary_check=(0,))
    b_A = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(D, BK)):
        p_k = tl.make_block_ptr(k + i_h * T * D, (T, D), (stride_t, 1), (i_t * BT, i_k * BK), (BT, BK), (1, 0))
        b_k = tl.load(p_k, boundary_check=(0, 1))
        b_kb = (b_k * b_beta[:, None]).to(b_k.dtype)
        b_A += tl.dot(b_kb, tl.trans(b_k), allow_tf32=False)
    b_A = -tl.where(o_i[:, None] > o_i[None, :], b_A, 0)
    for i in range(1, BT):
        mask = o_i == i
        b_a = tl.sum(tl.where(mask[:, None], b_A, 0), 0)
        b_a = b_a + tl.sum(b_a[:, None] * b_A, 0) * (o_i < i)
        b_A = tl.where(mask[:, None], b_a, b_A)
    b_A += o_i[:, None] == o_i[None, :]
    p_A = tl.make_block_ptr(A + i_h * T * BT, (T, BT), (BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
    tl.store(p_A, b_A.to(p_A.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def chunk_states(
    k, v, beta, A, o_h, o_u, h0, ht, T, D: tl.constexpr, BT: tl.constexpr,
    USE_INITIAL_STATE: tl.constexpr, STORE_FINAL_STATE: tl.constexpr,
):  # fmt: skip
    i_h = tl.program_id(0)
    NT = tl.cdiv(T, BT)
    b_h = tl.zeros([D, D], dtype=tl.float32)
    if USE_INITIAL_STATE:
        b_h += tl.load(tl.make_block_ptr(h0 + i_h * D * D, (D, D), (D, 1), (0, 0), (D, D), (1, 0))).to(tl.float32)
    for i_t in range(NT):
        p_state = tl.make_block_ptr(o_h + (i_h * NT + i_t) * D * D, (D, D), (D, 1), (0, 0), (D, D), (1, 0))
        tl.store(p_state, b_h.to(p_state.dtype.element_ty), boundary_check=(0, 1))
        p_k = tl.make_block_ptr(k + i_h * T * D, (T, D), (D, 1), (i_t * BT, 0), (BT, D), (1, 0))
        p_v = tl.make_block_ptr(v + i_h * T * D, (T, D), (D, 1), (i_t * BT, 0), (BT, D), (1, 0))
        p_u = tl.make_block_ptr(o_u + i_h * T * D, (T, D), (D, 1), (i_t * BT, 0), (BT, D), (1, 0))
        p_A = tl.make_block_ptr(A + i_h * T * BT, (T, BT), (BT, 1), (i_t * BT, 0), (BT, BT), (1, 0))
        p_beta = tl.make_block_ptr(beta + i_h * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
        b_k, b_v = tl.load(p_k, boundary_check=(0, 1)), tl.load(p_v, boundary_check=(0, 1))
        b_A = tl.load(p_A, boundary_check=(0, 1))
        b_beta = tl.load(p_beta, boundary_check=(0,))
        b_w = tl.dot(b_A, b_k * b_beta[:, None], allow_tf32=False)
        b_u = tl.dot(b_A, b_v * b_beta[:, None], allow_tf32=False)
        b_u -= tl.dot(b_w, b_h, allow_tf32=False)
        tl.store(p_u, b_u.to(p_u.dtype.element_ty), boundary_check=(0, 1))
        b_h += tl.dot(tl.trans(b_k), b_u, allow_tf32=False)
    if STORE_FINAL_STATE:
        p_ht = tl.make_block_ptr(ht + i_h * D * D, (D, D), (D, 1), (0, 0), (D, D), (1, 0))
        tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def chunk_outputs(q, k, u, h, o, scale, T, D: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    i_v, i_t, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    NT = tl.cdiv(T, BT)
    o_i = tl.arange(0, BT)
    p_q = tl.make_block_ptr(q + i_h * T * D, (T, D), (D, 1), (i_t * BT, 0), (BT, D), (1, 0))
    p_k = tl.make_block_ptr(k + i_h * T * D, (D, T), (1, D), (0, i_t * BT), (D, BT), (0, 1))
    p_h = tl.make_block_ptr(h + (i_h * NT + i_t) * D * D, (D, D), (D, 1), (0, i_v * BV), (D, BV), (1, 0))
    p_u = tl.make_block_ptr(u + i_h * T * D, (T, D), (D, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    b_q = tl.load(p_q, boundary_check=(0, 1))
    b_q = (b_q * scale).to(b_q.dtype)
    b_s = tl.dot(b_q, tl.load(p_k, boundary_check=(0, 1)), allow_tf32=False)
    b_s = tl.where(o_i[:, None] >= o_i[None, :], b_s, 0)
    b_o = tl.dot(b_q, tl.load(p_h, boundary_check=(0, 1)), allow_tf32=False)
    b_o += tl.dot(b_s, tl.load(p_u, boundary_check=(0, 1)), allow_tf32=False)
    p_o = tl.make_block_ptr(o + i_h * T * D, (T, D), (D, 1), (i_t * BT, i_v * BV), (BT, BV), (1, 0))
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0, 1))


@LIBRARY.case
def delta_rule_in_chunks() -> Checks:
    heads, t, d, bt = 2, 45, 16, 16
    nt = triton.cdiv(t, bt)
    q, k, v = normal(heads, t, d, seed=2), normal(heads, t, d, seed=3), normal(heads, t, d, seed=4)
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    beta, h0 = uniform(heads, t, seed=5), normal(heads, d, d, seed=6)
    A, h = np.zeros((heads, t, bt), np.float32), np.zeros((heads, nt, d, d), np.float32)
    u, o, ht = np.empty_like(v), np.empty_like(v), np.empty_like(h0)
    chunk_inverse[(nt, heads)](k, beta, A, t, d, D=d, BT=bt, BK=16)
    chunk_states[(heads,)](k, v, beta, A, h, u, h0, ht, t, D=d, BT=bt, USE_INITIAL_STATE=True, STORE_FINAL_STATE=True)
    chunk_outputs[(2, nt, heads)](q, k, u, h, o, 0.25, t, D=d, BT=bt, BV=8)
    expected = np.empty(o.shape)
    states = np.empty(h0.shape)
    for i in range(heads):
        state = wide(h0[i])
        for j in range(t):
            state = state + beta[i, j] * np.outer(k[i, j], v[i, j] - k[i, j] @ state)
            expected[i, j] = q[i, j] @ state * 0.25
        states[i] = state
    return [(o, expected, 2e-5), (ht, states, 2e-5)]


# ---------------------------------------------------------------------- gated linear attention, one step after another


@triton.heuristics(
    {
        "USE_INITIAL_STATE": lambda args: args["h0"] is not None,
        "STORE_FINAL_STATE": lambda args: args["ht"] is not None,
        "USE_GK": lambda args: args["gk"] is not None,
    }
)
@triton.jit(do_not_specialize=["T"])
def fused_recurrent(
    q, k, v, gk, o, h0, ht, scale, T, B: tl.constexpr, H: tl.constexpr, K: tl.constexpr, V: tl.constexpr,
    BK: tl.constexpr, BV: tl.constexpr, REVERSE: tl.constexpr, USE_GK: tl.constexpr,
    USE_INITIAL_STATE: tl.constexpr, STORE_FINAL_STATE: tl.constexpr,
):  # fmt: skip
    i_v, i_k, i_nh = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    i_n, i_h = i_nh // H, i_nh % H
    bos = i_n * T
    o_k, o_v = i_k * BK + tl.arange(0, BK), i_v * BV + tl.arange(0, BV)
    p_q = q + (bos + ((T - 1) if REVERSE else 0)) * H * K + i_h * K + o_k
    p_k = k + (bos + ((T - 1) if REVERSE else 0)) * H * K + i_h * K + o_k
    p_v = v + (bos + ((T - 1) if REVERSE else 0)) * H * V + i_h * V + o_v
    p_o = o + ((i_k * B + i_n) * T + ((T - 1) if REVERSE else 0)) * H * V + i_h * V + o_v
    if USE_GK:
        p_gk = gk + (bos + ((T - 1) if REVERSE else 0)) * H * K + i_h * K + o_k
    m_k, m_v = o_k < K, o_v < V
    m_h = m_k[:, None] & m_v[None, :]
    b_h = tl.zeros([BK, BV], dtype=tl.float32)
    if USE_INITIAL_STATE:
        b_h += tl.load(h0 + i_nh * K * V + o_k[:, None] * V + o_v[None, :], mask=m_h, other=0).to(tl.float32)
    for _ in range(0, T):
        b_q = tl.load(p_q, mask=m_k, other=0).to(tl.float32) * scale
        b_k = tl.load(p_k, mask=m_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=m_v, other=0).to(tl.float32)
        if USE_GK:
            b_gk = tl.load(p_gk, mask=m_k, other=0).to(tl.float32)
            b_h = b_h * tl.exp(b_gk)[:, None]
        b_h += b_k[:, None] * b_v[None, :]
        tl.store(p_o, tl.sum(b_h * b_q[:, None], axis=0).to(p_o.dtype.element_ty), mask=m_v)
        p_q += (-1 if REVERSE else 1) * H * K
        p_k += (-1 if REVERSE else 1) * H * K
        p_v += (-1 if REVERSE else 1) * H * V
        p_o += (-1 if REVERSE else 1) * H * V
        if USE_GK:
            p_gk += (-1 if REVERSE else 1) * H * K
    if STORE_FINAL_STATE:
        p_ht = ht + i_nh * K * V + o_k[:, None] * V + o_v[None, :]
        tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), mask=m_h)


@LIBRARY.case
def gated_linear_attention_steps() -> Checks:
    b, t, h, kd, vd, bk, bv = 2, 9, 2, 20, 12, 16, 8
    results: Checks = []
    for reverse, gated, stateful in ((False, True, True), (True, True, False), (False, False, True)):
        q, k, v = (normal(b, t, h, n, seed=s).astype(BF16) for s, n in ((7, kd), (8, kd), (9, vd)))
        gate = -uniform(b, t, h, kd, seed=10) if gated else None
        h0 = normal(b, h, kd, vd, seed=11) if stateful else None
        nk = triton.cdiv(kd, bk)
        o, ht = np.zeros((nk, b, t, h, vd), np.float32), np.zeros((b, h, kd, vd), np.float32) if stateful else None
        fused_recurrent[(triton.cdiv(vd, bv), nk, b * h)](
            q, k, v, gate, o, h0, ht, kd**-0.5, t, B=b, H=h, K=kd, V=vd, BK=bk, BV=bv, REVERSE=reverse
        )
        expected, state = np.empty((b, t, h, vd)), np.zeros((b, h, kd, vd)) if h0 is None else wide(h0)
        for i in reversed(range(t)) if reverse else range(t):
            decay = 1 if gate is None else np.exp(wide(gate[:, i]))[..., None]
            state = state * decay + wide(k[:, i])[..., None] * wide(v[:, i])[..., None, :]
            expected[:, i] = (wide(q[:, i])[..., None] * state).sum(-2) * kd**-0.5
        results.append((o.sum(0), expected, 2e-5))
        if ht is not None:
            results.append((ht, state, 2e-5))
    return results


# ------------------------------------------------------------------------- Mamba 2: states of chunks, passed on, scanned


@triton.jit
def ssd_chunk_state(
    x_ptr, b_ptr, states_ptr, dt_ptr, dA_cumsum_ptr, hdim, dstate, chunk_size, seqlen, nheads_ngroups_ratio,
    stride_x_seqlen, stride_x_head, stride_b_seqlen, stride_b_head, stride_states_chunk, stride_states_head,
    stride_dt_chunk, stride_dt_head,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
):  # fmt: skip
    pid_c, pid_h = tl.program_id(axis=1), tl.program_id(axis=2)
    num_pid_n = tl.cdiv(dstate, BLOCK_SIZE_N)
    pid_m, pid_n = tl.program_id(axis=0) // num_pid_n, tl.program_id(axis=0) % num_pid_n
    b_ptr += pid_c * chunk_size * stride_b_seqlen + (pid_h // nheads_ngroups_ratio) * stride_b_head
    x_ptr += pid_c * chunk_size * stride_x_seqlen + pid_h * stride_x_head
    dt_ptr += pid_c * stride_dt_chunk + pid_h * stride_dt_head
    dA_cumsum_ptr += pid_c * stride_dt_chunk + pid_h * stride_dt_head
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    x_ptrs = x_ptr + (offs_m[:, None] + offs_k[None, :] * stride_x_seqlen)
    b_ptrs = b_ptr + (offs_n[None, :] + offs_k[:, None] * stride_b_seqlen)
    dt_ptrs, dA_ptrs = dt_ptr + offs_k, dA_cumsum_ptr + offs_k
    limit = min(chunk_size, seqlen - pid_c * chunk_size)
    dA_last = tl.load(dA_cumsum_ptr + chunk_size - 1).to(tl.float32)
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, limit, BLOCK_SIZE_K):
        x = tl.load(x_ptrs, mask=(offs_m[:, None] < hdim) & (offs_k[None, :] < limit - k), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < limit - k) & (offs_n[None, :] < dstate), other=0.0).to(tl.float32)
        dA = tl.load(dA_ptrs, mask=offs_k < chunk_size - k, other=0.0).to(tl.float32)
        dt = tl.load(dt_ptrs, mask=offs_k < chunk_size - k, other=0.0).to(tl.float32)
        b *= (tl.exp(dA_last - dA) * dt)[:, None]
        acc += tl.dot(x, b.to(x_ptr.dtype.element_ty), input_precision="ieee")
        x_ptrs += BLOCK_SIZE_K * stride_x_seqlen
        b_ptrs += BLOCK_SIZE_K * stride_b_seqlen
        dt_ptrs += BLOCK_SIZE_K
        dA_ptrs += BLOCK_SIZE_K
    out = states_ptr + pid_c * stride_states_chunk + pid_h * stride_states_head
    out_ptrs = out + (offs_m[:, None] * dstate + offs_n[None, :])
    tl.store(out_ptrs, acc.to(states_ptr.dtype.element_ty), mask=(offs_m[:, None] < hdim) & (offs_n[None, :] < dstate))


@triton.jit
def ssd_state_passing(
    states_ptr, out_ptr, final_ptr, dA_ptr, init_ptr, dim, nchunks, stride_chunk, stride_head, stride_dA_chunk,
    HAS_INIT: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    pid_m, pid_h = tl.program_id(0), tl.program_id(1)
    offs = pid_m * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    states_ptrs = states_ptr + pid_h * stride_head + offs
    out_ptrs = out_ptr + pid_h * stride_head + offs
    dA_ptr += pid_h
    if not HAS_INIT:
        states = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    else:
        states = tl.load(init_ptr + pid_h * dim + offs, mask=offs < dim, other=0.0).to(tl.float32)
    tl.store(out_ptrs, states, mask=offs < dim)
    out_ptrs += stride_chunk
    for c in range(nchunks):
        new_states = tl.load(states_ptrs, mask=offs < dim, other=0.0).to(tl.float32)
        scale = tl.exp(tl.load(dA_ptr).to(tl.float32))
        states = scale * states + new_states
        if c < nchunks - 1:
            tl.store(out_ptrs, states, mask=offs < dim)
        else:
            tl.store(final_ptr + pid_h * dim + offs, states, mask=offs < dim)
        states_ptrs += stride_chunk
        dA_ptr += stride_dA_chunk
        out_ptrs += stride_chunk


@triton.jit
def ssd_chunk_scan(
    x_ptr, z_ptr, out_ptr, dt_ptr, dA_cumsum_ptr, C_ptr, B_ptr, prev_states_ptr, D_ptr, chunk_size, hdim, dstate, seqlen,
    ratio, stride_x_seqlen, stride_x_head, stride_c_seqlen, stride_c_head, stride_states_chunk, stride_states_head,
    stride_dt_chunk, stride_dt_head, HAS_Z: tl.constexpr, D_HAS_HDIM: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_S: tl.constexpr,
):  # fmt: skip
    pid_m, pid_c, pid_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    offs_m, offs_n = pid_m * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N)
    offs_s, offs_k = tl.arange(0, BLOCK_S), tl.arange(0, BLOCK_K)
    first = pid_c * chunk_size
    limit = min(chunk_size, seqlen - first)
    dt_ptr += pid_c * stride_dt_chunk + pid_h * stride_dt_head
    dA_cumsum_ptr += pid_c * stride_dt_chunk + pid_h * stride_dt_head
    C_ptr += first * stride_c_seqlen + (pid_h // ratio) * stride_c_head
    B_ptr += first * stride_c_seqlen + (pid_h // ratio) * stride_c_head
    x_ptr += first * stride_x_seqlen + pid_h * stride_x_head
    dA_m = tl.load(dA_cumsum_ptr + offs_m, mask=offs_m < limit, other=0.0)
    state_ptrs = prev_states_ptr + pid_c * stride_states_chunk + pid_h * stride_states_head
    prev = tl.load(
        state_ptrs + offs_n[None, :] * dstate + offs_s[:, None],
        mask=(offs_s[:, None] < dstate) & (offs_n[None, :] < hdim), other=0.0,
    )  # fmt: skip
    C = tl.load(
        C_ptr + offs_m[:, None] * stride_c_seqlen + offs_s[None, :],
        mask=(offs_m[:, None] < limit) & (offs_s[None, :] < dstate), other=0.0,
    )  # fmt: skip
    acc = tl.dot(C, prev, input_precision="ieee") * tl.exp(dA_m)[:, None]
    K_MAX = min((pid_m + 1) * BLOCK_M, limit)
    for k in range(0, K_MAX, BLOCK_K):
        k = tl.multiple_of(k, BLOCK_K)
        cols = k + offs_k
        B = tl.load(
            B_ptr + cols[None, :] * stride_c_seqlen + offs_s[:, None],
            mask=(cols[None, :] < limit) & (offs_s[:, None] < dstate), other=0.0,
        )  # fmt: skip
        cb = tl.dot(C, B, input_precision="ieee")
        dA_k = tl.load(dA_cumsum_ptr + cols, mask=cols < limit, other=0.0)
        cb *= tl.exp(tl.minimum(dA_m[:, None] - dA_k[None, :], 0.0))
        cb *= tl.load(dt_ptr + cols, mask=cols < limit, other=0.0)
        cb = tl.where(offs_m[:, None] >= cols[None, :], cb, 0.0)
        x = tl.load(
            x_ptr + cols[:, None] * stride_x_seqlen + offs_n[None, :],
            mask=(cols[:, None] < limit) & (offs_n[None, :] < hdim), other=0.0,
        )  # fmt: skip
        acc += tl.dot(cb.to(x.dtype), x, input_precision="ieee")
    here = offs_m[:, None] * stride_x_seqlen + offs_n[None, :]
    live = (offs_m[:, None] < limit) & (offs_n[None, :] < hdim)
    if D_HAS_HDIM:
        D = tl.load(D_ptr + pid_h * hdim + offs_n, mask=offs_n < hdim, other=0.0).to(tl.float32)
    else:
        D = tl.load(D_ptr + pid_h).to(tl.float32)
    acc += tl.load(x_ptr + here, mask=live, other=0.0).to(tl.float32) * D
    if HAS_Z:
        z = tl.load(z_ptr + first * stride_x_seqlen + pid_h * stride_x_head + here, mask=live, other=0.0).to(tl.float32)
        acc *= z * tl.sigmoid(z)
    tl.store(out_ptr + first * stride_x_seqlen + pid_h * stride_x_head + here, acc, mask=live)


@LIBRARY.case
def state_space_duality() -> Checks:
    results: Checks = []
    for seq, heads, groups, p, n, chunk, gated in ((29, 4, 2, 20, 16, 16, True), (32, 2, 2, 16, 20, 32, False)):
        nchunks = triton.cdiv(seq, chunk)
        x, z = normal(seq, heads, p, seed=12), normal(seq, heads, p, seed=13) if gated else None
        b, c = normal(seq, groups, n, seed=14), normal(seq, groups, n, seed=15)
        dt, a = uniform(seq, heads, seed=16, high=0.3), -uniform(heads, seed=17, low=0.5, high=2)
        skip = normal(heads, p, seed=18) if gated else normal(heads, seed=18)
        init = normal(heads, p, n, seed=19) if gated else None
        padded = np.zeros((nchunks * chunk, heads), np.float32)
        padded[:seq] = dt
        dt_chunks = np.ascontiguousarray(padded.reshape(nchunks, chunk, heads).transpose(0, 2, 1))
        dA = np.cumsum(dt_chunks * a[None, :, None], axis=-1, dtype=np.float32)
        states, passed = np.zeros((nchunks, heads, p, n), np.float32), np.zeros((nchunks, heads, p, n), np.float32)
        final, out = np.zeros((heads, p, n), np.float32), np.empty_like(x)
        ratio = heads // groups
        ssd_chunk_state[
            lambda meta: (
                triton.cdiv(p, meta["BLOCK_SIZE_M"]) * triton.cdiv(n, meta["BLOCK_SIZE_N"]), nchunks, heads,  # noqa: B023
            )
        ](
            x, b, states, dt_chunks, dA, p, n, chunk, seq, ratio, *strides(x)[:2], *strides(b)[:2], *strides(states)[:2],
            *strides(dA)[:2], BLOCK_SIZE_M=16, BLOCK_SIZE_N=16, BLOCK_SIZE_K=16,
        )  # fmt: skip
        last = np.ascontiguousarray(dA[:, :, -1])
        ssd_state_passing[(triton.cdiv(p * n, 128), heads)](
            states, passed, final, last, init, p * n, nchunks, *strides(states)[:2], heads,
            HAS_INIT=init is not None, BLOCK_SIZE=128,
        )  # fmt: skip
        ssd_chunk_scan[(triton.cdiv(chunk, 16), nchunks, heads)](
            x, z, out, dt_chunks, dA, c, b, passed, skip, chunk, p, n, seq, ratio, *strides(x)[:2], *strides(c)[:2],
            *strides(passed)[:2], *strides(dA)[:2], HAS_Z=gated, D_HAS_HDIM=gated, BLOCK_M=16, BLOCK_N=32, BLOCK_K=16,
            BLOCK_S=32,
        )  # fmt: skip
        state = np.zeros((heads, p, n)) if init is None else wide(init)
        expected = np.empty(out.shape)
        for t in range(seq):
            bt, ct = np.repeat(wide(b[t]), ratio, 0), np.repeat(wide(c[t]), ratio, 0)
            state = state * np.exp(dt[t] * a)[:, None, None] + (dt[t][:, None] * x[t])[..., None] * bt[:, None]
            expected[t] = (state * ct[:, None]).sum(-1) + x[t] * (skip if gated else skip[:, None])
        if z is not None:
            expected *= wide(z) * sigmoid(wide(z))
        results += [(out, expected, 5e-5), (final, state, 5e-5)]
    return results
