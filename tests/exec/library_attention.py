"""Attention with every option in one forward kernel, its two backward kernels, dropout and sinks."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

from typing import Any

import numpy as np
from library_cases import Array, Checks, Library, normal, softmax, strides, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()

LOG2E: tl.constexpr = tl.constexpr(1.4426950408889634)
NEGATIVE = tl.constexpr(float("-inf"))


# --------------------------------------------------------- forward: groups of heads, windows, slopes, caps, even or not


@triton.jit
def soft_capped(s, cap: tl.constexpr):
    e = tl.exp(2.0 * s / cap)
    return cap * (1.0 - 2.0 / (e + 1.0))


@triton.jit
def _attend(
    acc, m_i, l_i, q, k_block, v_block, slope, offs_m, offs_n, lo, hi, n_ctx, q_shift, qk_scale,
    BLOCK_N: tl.constexpr, WINDOW: tl.constexpr, SOFTCAP: tl.constexpr, HAS_ALIBI: tl.constexpr,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    k_block = tl.advance(k_block, (0, lo))
    v_block = tl.advance(v_block, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        cols = start_n + offs_n
        k = tl.load(k_block, boundary_check=(1,), padding_option="zero") if MASKED else tl.load(k_block)
        s = tl.dot(q, k, allow_tf32=False) * qk_scale
        if SOFTCAP > 0:
            s = soft_capped(s, SOFTCAP)
        distance = (offs_m + q_shift)[:, None] - cols[None, :]
        if HAS_ALIBI:
            s -= slope * tl.abs(distance).to(tl.float32)
        if MASKED:
            keep = cols[None, :] < n_ctx
            if CAUSAL:
                keep = keep & (distance >= 0)
            if WINDOW is not None:
                keep = keep & (distance < WINDOW)
            s = tl.where(keep, s, NEGATIVE)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        m_safe = tl.where(m_new == NEGATIVE, 0.0, m_new)
        p = tl.math.exp2((s - m_safe[:, None]) * LOG2E)
        alpha = tl.math.exp2((m_i - m_safe) * LOG2E)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_block, boundary_check=(0,), padding_option="zero") if MASKED else tl.load(v_block)
        acc = tl.dot(p.to(v.type.element_ty), v, acc, allow_tf32=False)
        m_i = m_new
        k_block = tl.advance(k_block, (0, BLOCK_N))
        v_block = tl.advance(v_block, (BLOCK_N, 0))
    return acc, m_i, l_i


@triton.heuristics({"HAS_ALIBI": lambda args: args["Slopes"] is not None})
@triton.jit
def flash_forward(
    Q, K, V, Slopes, Out, Lse, sm_scale,
    stride_qz, stride_qh, stride_qm, stride_kz, stride_kh, stride_kn, stride_vz, stride_vh, stride_vn,
    stride_oz, stride_oh, stride_om, H, GROUP, m_ctx, n_ctx,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr, SOFTCAP: tl.constexpr, HAS_ALIBI: tl.constexpr,
):  # fmt: skip
    tl.static_assert(BLOCK_M % BLOCK_N == 0, "whole blocks on the diagonal")
    start_m, off_hz = tl.program_id(0), tl.program_id(1)
    off_z, off_h = off_hz // H, off_hz % H
    off_kv = off_h // GROUP
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    k_block = tl.make_block_ptr(
        base=K + off_z.to(tl.int64) * stride_kz + off_kv.to(tl.int64) * stride_kh, shape=(HEAD_DIM, n_ctx),
        strides=(1, stride_kn), offsets=(0, 0), block_shape=(HEAD_DIM, BLOCK_N), order=(0, 1),
    )  # fmt: skip
    v_block = tl.make_block_ptr(
        base=V + off_z.to(tl.int64) * stride_vz + off_kv.to(tl.int64) * stride_vh, shape=(n_ctx, HEAD_DIM),
        strides=(stride_vn, 1), offsets=(0, 0), block_shape=(BLOCK_N, HEAD_DIM), order=(1, 0),
    )  # fmt: skip
    q_ptrs = Q + off_z * stride_qz + off_h * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :]
    q = tl.load(q_ptrs, mask=offs_m[:, None] < m_ctx, other=0.0)
    slope = 0.0
    if HAS_ALIBI:
        slope = tl.load(Slopes + off_h)
    m_i = tl.full([BLOCK_M], NEGATIVE, dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    q_shift = n_ctx - m_ctx
    lo, hi, whole = 0, n_ctx, n_ctx // BLOCK_N * BLOCK_N
    if CAUSAL:
        hi = tl.maximum(tl.minimum(n_ctx, (start_m + 1) * BLOCK_M + q_shift), 0)
        whole = tl.maximum(tl.minimum(whole, (start_m * BLOCK_M + q_shift + 1) // BLOCK_N * BLOCK_N), 0)
    if WINDOW is not None:
        lo = tl.maximum(0, (start_m * BLOCK_M + q_shift - WINDOW + 1) // BLOCK_N * BLOCK_N)
        whole = lo
    acc, m_i, l_i = _attend(
        acc, m_i, l_i, q, k_block, v_block, slope, offs_m, offs_n, lo, whole, n_ctx, q_shift, sm_scale,
        BLOCK_N, WINDOW, SOFTCAP, HAS_ALIBI, CAUSAL, MASKED=False,
    )  # fmt: skip
    acc, m_i, l_i = _attend(
        acc, m_i, l_i, q, k_block, v_block, slope, offs_m, offs_n, whole, hi, n_ctx, q_shift, sm_scale,
        BLOCK_N, WINDOW, SOFTCAP, HAS_ALIBI, CAUSAL, MASKED=True,
    )  # fmt: skip
    l_safe = tl.where(l_i == 0.0, 1.0, l_i)
    acc = acc / l_safe[:, None]
    o_ptrs = Out + off_z * stride_oz + off_h * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :]
    tl.store(o_ptrs, acc.to(Out.dtype.element_ty), mask=offs_m[:, None] < m_ctx)
    tl.store(Lse + off_hz * m_ctx + offs_m, m_i + tl.log(l_safe), mask=offs_m < m_ctx)


def flash(
    q: Array, k: Array, v: Array, slopes: Array | None, scale: float, causal: bool, window: int | None, cap: float
) -> tuple[Array, Array]:
    z, h, m, d = q.shape
    out, lse = np.empty_like(q), np.empty((z, h, m), np.float32)

    def grid(meta: dict[str, Any]) -> tuple[Any, int]:
        return (triton.cdiv(m, meta["BLOCK_M"]), z * h)

    flash_forward[grid](
        q, k, v, slopes, out, lse, scale, *strides(q)[:3], *strides(k)[:3], *strides(v)[:3], *strides(out)[:3],
        h, h // k.shape[1], m, k.shape[2], HEAD_DIM=d, BLOCK_M=32, BLOCK_N=16, CAUSAL=causal, WINDOW=window, SOFTCAP=cap,
        num_warps=4, num_stages=2,
    )  # fmt: skip
    return out, lse


def attention_scores(
    q: Array, k: Array, slopes: Array | None, scale: float, causal: bool, window: int | None, cap: float
) -> Array:
    group = q.shape[1] // k.shape[1]
    s = wide(q) @ np.repeat(wide(k), group, 1).swapaxes(-1, -2) * scale
    s = cap * np.tanh(s / cap) if cap else s
    distance = np.arange(q.shape[2])[:, None] + k.shape[2] - q.shape[2] - np.arange(k.shape[2])[None]
    s = s - (0 if slopes is None else slopes[None, :, None, None] * abs(distance))
    if causal:
        s = np.where(distance >= 0, s, -np.inf)
    return s if window is None else np.where(distance < window, s, -np.inf)


@LIBRARY.case
def flash_forward_with_every_option() -> Checks:
    results: Checks = []
    slopes = np.array([0.5, 0.25, 0.125, 0.0625], np.float32)
    for m, n, kv, bias, causal, window, cap, dtype in (
        (37, 37, 2, None, True, None, 0.0, np.float32),
        (33, 50, 4, slopes, True, None, 0.0, np.float16),
        (40, 64, 1, None, True, 20, 0.0, np.float32),
        (20, 45, 4, slopes, False, None, 8.0, np.float32),
    ):
        q, k, v = normal(2, 4, m, 16, seed=1), normal(2, kv, n, 16, seed=2), normal(2, kv, n, 16, seed=3)
        q, k, v = q.astype(dtype), k.astype(dtype), v.astype(dtype)
        out, lse = flash(q, k, v, bias, 0.25, causal, window, cap)
        s = attention_scores(q, k, bias, 0.25, causal, window, cap)
        tolerance = 1e-5 if dtype == np.float32 else 3e-3
        results.append((out, softmax(s) @ np.repeat(wide(v), 4 // kv, 1), tolerance))
        results.append((lse, np.log(np.exp(s).sum(-1)), tolerance))
    return results


@LIBRARY.case
def flash_forward_of_views() -> Checks:
    """Tensors of layout (batch, length, heads, dim), permuted without a copy, as model code hands them over."""
    packed = normal(1, 35, 3, 2, 16, seed=4)
    q, k, v = (packed[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    base = np.ascontiguousarray(packed)
    out, lse = np.empty((1, 2, 35, 16), np.float32), np.empty((1, 2, 35), np.float32)
    flash_forward[(2, 2)](
        base, base.reshape(-1)[32:], base.reshape(-1)[64:], None, out, lse, 0.25, *strides(q)[:3], *strides(k)[:3],
        *strides(v)[:3], *strides(out)[:3], 2, 1, 35, 35, HEAD_DIM=16, BLOCK_M=32, BLOCK_N=32, CAUSAL=True, WINDOW=None,
        SOFTCAP=0.0,
    )  # fmt: skip
    return [(out, softmax(attention_scores(q, k, None, 0.25, True, None, 0.0)) @ wide(v), 1e-5)]


# ------------------------------------------------------------------------------- backward: keys and values, then queries


@triton.jit
def backward_preprocess(O, DO, Delta, stride_h, stride_m, n_ctx, BLOCK_M: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.program_id(1)
    at = head * stride_h + rows[:, None] * stride_m + tl.arange(0, D)[None, :]
    o = tl.load(O + at, mask=rows[:, None] < n_ctx, other=0.0).to(tl.float32)
    do = tl.load(DO + at, mask=rows[:, None] < n_ctx, other=0.0).to(tl.float32)
    tl.store(Delta + head * n_ctx + rows, tl.sum(o * do, axis=1), mask=rows < n_ctx)


@triton.jit
def _dkdv_step(dk, dv, k, v, q_ptrs, do_ptrs, lse, delta, rows, cols, n_ctx, scale, cap, CAUSAL: tl.constexpr):
    live = rows < n_ctx
    q = tl.load(q_ptrs, mask=live[:, None], other=0.0)
    do = tl.load(do_ptrs, mask=live[:, None], other=0.0)
    m = tl.load(lse + rows, mask=live, other=0.0)
    di = tl.load(delta + rows, mask=live, other=0.0)
    s = tl.dot(k, tl.trans(q), input_precision="ieee") * scale
    squash = cap * (1 - 2 / (tl.exp(2 * s / cap) + 1)) if cap is not None else s
    p = tl.exp(squash - m[None, :])
    keep = live[None, :] & (cols[:, None] < n_ctx)
    if CAUSAL:
        keep &= rows[None, :] >= cols[:, None]
    p = tl.where(keep, p, 0.0)
    dv += tl.dot(p.to(do.dtype), do, input_precision="ieee")
    dp = tl.dot(v, tl.trans(do), input_precision="ieee")
    ds = p * (dp - di[None, :])
    if cap is not None:
        ratio = squash / cap
        ds *= 1 - ratio * ratio
    dk += tl.dot(ds.to(q.dtype), q, input_precision="ieee")
    return dk, dv


@triton.jit
def backward_keys(
    Q, K, V, DO, DK, DV, Lse, Delta, scale, cap, stride_h, stride_m, stride_kh, n_ctx, GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start, head = tl.program_id(0) * BLOCK_N, tl.program_id(1)
    cols, d = start + tl.arange(0, BLOCK_N), tl.arange(0, D)
    here = head * stride_kh + cols[:, None] * stride_m + d[None, :]
    k = tl.load(K + here, mask=cols[:, None] < n_ctx, other=0.0)
    v = tl.load(V + here, mask=cols[:, None] < n_ctx, other=0.0)
    dk, dv = tl.zeros([BLOCK_N, D], tl.float32), tl.zeros([BLOCK_N, D], tl.float32)
    for g in tl.static_range(GROUP):
        q_head = head * GROUP + g
        first = start if CAUSAL else 0
        for start_m in tl.range(first, n_ctx, BLOCK_M, num_stages=2):
            rows = start_m + tl.arange(0, BLOCK_M)
            there = q_head * stride_h + rows[:, None] * stride_m + d[None, :]
            dk, dv = _dkdv_step(
                dk, dv, k, v, Q + there, DO + there, Lse + q_head * n_ctx, Delta + q_head * n_ctx, rows, cols, n_ctx,
                scale, cap, CAUSAL,
            )  # fmt: skip
    tl.store(DK + here, (dk * scale).to(DK.type.element_ty), mask=cols[:, None] < n_ctx)
    tl.store(DV + here, dv.to(DV.type.element_ty), mask=cols[:, None] < n_ctx)


@triton.jit
def backward_queries(
    Q, K, V, DO, DQ, Lse, Delta, scale, cap, stride_h, stride_m, stride_kh, n_ctx, GROUP,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    rows, d = start + tl.arange(0, BLOCK_M), tl.arange(0, D)
    here = head * stride_h + rows[:, None] * stride_m + d[None, :]
    q = tl.load(Q + here, mask=rows[:, None] < n_ctx, other=0.0)
    do = tl.load(DO + here, mask=rows[:, None] < n_ctx, other=0.0)
    m = tl.load(Lse + head * n_ctx + rows, mask=rows < n_ctx, other=float("inf"))
    di = tl.load(Delta + head * n_ctx + rows, mask=rows < n_ctx, other=0.0)
    base = (head // GROUP) * stride_kh + tl.arange(0, BLOCK_N)[None, :] * stride_m + d[:, None]
    k_ptrs, v_ptrs = K + base, V + base
    dq = tl.zeros([BLOCK_M, D], tl.float32)
    end = tl.minimum(start + BLOCK_M, n_ctx) if CAUSAL else n_ctx
    for start_n in range(0, end, BLOCK_N):
        cols = start_n + tl.arange(0, BLOCK_N)
        kt = tl.load(k_ptrs, mask=cols[None, :] < n_ctx, other=0.0)
        vt = tl.load(v_ptrs, mask=cols[None, :] < n_ctx, other=0.0)
        s = tl.dot(q, kt, input_precision="ieee") * scale
        if cap is not None:
            s = cap * (1 - 2 / (tl.exp(2 * s / cap) + 1))
        p = tl.exp(s - m[:, None])
        if CAUSAL:
            p = tl.where(rows[:, None] >= cols[None, :], p, 0.0)
        p = tl.where(cols[None, :] < n_ctx, p, 0.0)
        ds = p * (tl.dot(do, vt, input_precision="ieee") - di[:, None])
        if cap is not None:
            ds = ds * (1 - (s / cap) * (s / cap))
        dq += tl.dot(ds.to(kt.dtype), tl.trans(kt), input_precision="ieee")
        k_ptrs += BLOCK_N * stride_m
        v_ptrs += BLOCK_N * stride_m
    tl.store(DQ + here, (dq * scale).to(DQ.type.element_ty), mask=rows[:, None] < n_ctx)


@LIBRARY.case
def flash_backward_of_grouped_heads() -> Checks:
    results: Checks = []
    for causal, cap, dtype, tolerance in ((True, None, np.float32, 2e-5), (False, 5.0, np.float16, 6e-3)):
        h, kv, n, d, scale = 4, 2, 41, 16, 0.25
        q, k, v = normal(1, h, n, d, seed=5), normal(1, kv, n, d, seed=6), normal(1, kv, n, d, seed=7)
        q, k, v, do = (x.astype(dtype) for x in (q, k, v, normal(1, h, n, d, seed=8)))
        out, lse = flash(q, k, v, None, scale, causal, None, cap or 0.0)
        delta, dq, dk, dv = np.empty_like(lse), np.empty_like(q), np.empty_like(k), np.empty_like(v)
        backward_preprocess[(triton.cdiv(n, 16), h)](out, do, delta, n * d, d, n, BLOCK_M=16, D=d)
        shared = (lse, delta, scale, cap, n * d, d, n * d, n, h // kv)
        backward_keys[(triton.cdiv(n, 16), kv)](
            q, k, v, do, dk, dv, *shared, BLOCK_M=32, BLOCK_N=16, D=d, CAUSAL=causal
        )
        backward_queries[(triton.cdiv(n, 32), h)](q, k, v, do, dq, *shared, BLOCK_M=32, BLOCK_N=16, D=d, CAUSAL=causal)
        s = attention_scores(q, k, None, scale, causal, None, cap or 0.0)
        p, kw, vw = softmax(s), np.repeat(wide(k), 2, 1), np.repeat(wide(v), 2, 1)
        ds = p * (wide(do) @ vw.swapaxes(-1, -2) - (wide(out) * do).sum(-1, keepdims=True))
        ds = ds if cap is None else ds * (1 - (np.where(np.isfinite(s), s, 0) / cap) ** 2)
        results.append((dq, ds @ kw * scale, tolerance))
        grouped = (ds.swapaxes(-1, -2) @ wide(q) * scale).reshape(1, kv, 2, n, d).sum(2)
        results.append((dk, grouped, tolerance * 2))
        results.append((dv, (p.swapaxes(-1, -2) @ wide(do)).reshape(1, kv, 2, n, d).sum(2), tolerance * 2))
    return results


# ---------------------------------------------------------------------------------- dropout within, and a column of sinks


@triton.jit
def dropped_attention(
    Q, K, V, Sink, Out, Kept, scale, p_drop, seed, n_ctx,
    N: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    rows, head = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M), tl.program_id(1)
    cols, d = tl.arange(0, N), tl.arange(0, D)
    base = head * n_ctx * D
    q = tl.load(Q + base + rows[:, None] * D + d, mask=(rows < n_ctx)[:, None], other=0.0)
    k = tl.load(K + base + cols[:, None] * D + d, mask=(cols < n_ctx)[:, None], other=0.0)
    v = tl.load(V + base + cols[:, None] * D + d, mask=(cols < n_ctx)[:, None], other=0.0)
    s = tl.dot(q, k.T, input_precision="ieee") * scale
    s = tl.where(cols[None, :] < n_ctx, s, float("-inf"))
    sink = tl.load(Sink + head)
    top = tl.maximum(tl.max(s, 1), sink)
    p = tl.exp(s - top[:, None])
    p /= (tl.sum(p, 1) + tl.exp(sink - top))[:, None]
    counter = (head * n_ctx + rows)[:, None] * n_ctx + cols[None, :]
    kept = tl.rand(seed, counter) > p_drop
    if KEEP:
        tl.store(Kept + counter, kept, mask=(rows < n_ctx)[:, None] & (cols < n_ctx)[None, :])
    p = tl.where(kept, p / (1 - p_drop), 0.0)
    tl.store(Out + base + rows[:, None] * D + d, tl.dot(p, v, input_precision="ieee"), mask=(rows < n_ctx)[:, None])


@LIBRARY.case
def attention_with_dropout_and_sinks() -> Checks:
    h, n, d = 2, 27, 16
    q, k, v, sink = normal(h, n, d, seed=9), normal(h, n, d, seed=10), normal(h, n, d, seed=11), normal(h, seed=12)
    out, kept = np.empty_like(q), np.zeros((h, n, n), np.bool_)
    dropped_attention[(2, h)](q, k, v, sink, out, kept, 0.25, 0.3, 1234, n, N=32, D=d, BLOCK_M=16, KEEP=True)
    again = np.empty_like(q)
    dropped_attention[(2, h)](q, k, v, sink, again, None, 0.25, 0.3, 1234, n, N=32, D=d, BLOCK_M=16, KEEP=False)
    s = np.concatenate([wide(q) @ wide(k).swapaxes(-1, -2) * 0.25, np.broadcast_to(sink[:, None, None], (h, n, 1))], -1)
    p = softmax(s)[..., :-1] * kept / 0.7
    return [(out, p @ v, 1e-5), (again, out, 0), (np.array(kept.mean()), 0.7, 0.05)]
