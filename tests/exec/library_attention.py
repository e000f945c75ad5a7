"""Attention with every option in one forward kernel, its two backward kernels, dropout and sinks."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

from typing import Any

import numpy as np
from library_cases import Checks, Library, normal, softmax, strides, wide

from suite.arrays import Array
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
    mixed, top, weight, query, k_block, v_block, slope, rows, first, last, length, scale,
    KEYS: tl.constexpr, WINDOW: tl.constexpr, SOFTCAP: tl.constexpr, SLOPED: tl.constexpr,
    CAUSAL: tl.constexpr, CHECKED: tl.constexpr,
):  # fmt: skip
    """Takes keys `first` to `last` into a running softmax: its largest score, sum of weights, and mixture of values.

    `rows` are the queries' places among the keys. Keys that may lie beyond the end, the diagonal or the window are
    CHECKED; a row that has seen none yet has the largest score -inf."""
    values, keys = tl.advance(v_block, (first, 0)), tl.advance(k_block, (0, first))
    for at in range(first, last, KEYS):
        columns = tl.multiple_of(at, KEYS) + tl.arange(0, KEYS)
        away = rows[:, None] - columns[None, :]
        key = tl.load(keys, boundary_check=(1,), padding_option="zero") if CHECKED else tl.load(keys)
        score = scale * tl.dot(query, key, allow_tf32=False)
        if SOFTCAP > 0:
            score = soft_capped(score, SOFTCAP)
        if SLOPED:
            score -= tl.abs(away).to(tl.float32) * slope
        if CHECKED:
            seen = columns[None, :] < length
            if WINDOW is not None:
                seen &= away < WINDOW
            if CAUSAL:
                seen &= away >= 0
            score = tl.where(seen, score, NEGATIVE)
        higher = tl.maximum(tl.max(score, 1), top)
        level = LOG2E * tl.where(higher == NEGATIVE, 0.0, higher)
        decay = tl.math.exp2(top * LOG2E - level)
        parts = tl.math.exp2(score * LOG2E - level[:, None])
        value = tl.load(values, boundary_check=(0,), padding_option="zero") if CHECKED else tl.load(values)
        mixed = tl.dot(parts.to(value.type.element_ty), value, decay[:, None] * mixed, allow_tf32=False)
        weight = decay * weight + tl.sum(parts, 1)
        top = higher
        values, keys = tl.advance(values, (KEYS, 0)), tl.advance(keys, (0, KEYS))
    return mixed, top, weight


@triton.heuristics({"SLOPED": lambda args: args["slopes_ptr"] is not None})
@triton.jit
def flash_forward(
    q_ptr, k_ptr, v_ptr, slopes_ptr, out_ptr, lse_ptr, scale,
    q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row, out_batch, out_head, out_row,
    heads, sharing, queries, length,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, KEYS: tl.constexpr, CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr, SOFTCAP: tl.constexpr, SLOPED: tl.constexpr,
):  # fmt: skip
    """Attention of the last `queries` places to all `length`; `sharing` heads have the same keys and values."""
    tl.static_assert(ROWS % KEYS == 0, "whole blocks on the diagonal")
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    shared = (head // sharing).to(tl.int64)
    keys = tl.make_block_ptr(
        k_ptr + batch.to(tl.int64) * k_batch + shared * k_head,
        shape=(WIDTH, length), strides=(1, k_row), offsets=(0, 0), block_shape=(WIDTH, KEYS), order=(0, 1),
    )  # fmt: skip
    values = tl.make_block_ptr(
        v_ptr + batch.to(tl.int64) * v_batch + shared * v_head,
        shape=(length, WIDTH), strides=(v_row, 1), offsets=(0, 0), block_shape=(KEYS, WIDTH), order=(1, 0),
    )  # fmt: skip
    slope = tl.load(slopes_ptr + head) if SLOPED else 0.0
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    element, live = tl.arange(0, WIDTH)[None, :], row[:, None] < queries
    query = tl.load(q_ptr + batch * q_batch + head * q_head + row[:, None] * q_row + element, mask=live, other=0.0)
    begin = tl.program_id(0) * ROWS + length - queries  # the first row's place among the keys
    # Blocks from `first` to `sure` need no check, those to `last` do.
    first, sure, last = 0, length // KEYS * KEYS, length
    if CAUSAL:
        last = tl.maximum(tl.minimum(begin + ROWS, length), 0)
        sure = tl.maximum(tl.minimum((begin + 1) // KEYS * KEYS, sure), 0)
    if WINDOW is not None:
        first = tl.maximum((begin - WINDOW + 1) // KEYS * KEYS, 0)
        sure = first
    rows = length - queries + row
    top, weight = tl.full([ROWS], NEGATIVE, tl.float32), tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS, WIDTH], tl.float32)
    mixed, top, weight = _attend(
        mixed, top, weight, query, keys, values, slope, rows, first, sure, length, scale,
        KEYS, WINDOW, SOFTCAP, SLOPED, CAUSAL, CHECKED=False,
    )  # fmt: skip
    mixed, top, weight = _attend(
        mixed, top, weight, query, keys, values, slope, rows, sure, last, length, scale,
        KEYS, WINDOW, SOFTCAP, SLOPED, CAUSAL, CHECKED=True,
    )  # fmt: skip
    weight = tl.where(weight > 0.0, weight, 1.0)
    tl.store(lse_ptr + tl.program_id(1) * queries + row, tl.log(weight) + top, mask=row < queries)
    target = out_ptr + batch * out_batch + head * out_head + row[:, None] * out_row + element
    tl.store(target, (mixed / weight[:, None]).to(out_ptr.dtype.element_ty), mask=live)


def flash(
    q: Array, k: Array, v: Array, slopes: Array | None, scale: float, causal: bool, window: int | None, cap: float
) -> tuple[Array, Array]:
    z, h, m, d = q.shape
    out, lse = np.empty_like(q), np.empty((z, h, m), np.float32)

    def grid(meta: dict[str, Any]) -> tuple[Any, int]:
        return (triton.cdiv(m, meta["ROWS"]), z * h)

    flash_forward[grid](
        q, k, v, slopes, out, lse, scale, *strides(q)[:3], *strides(k)[:3], *strides(v)[:3], *strides(out)[:3],
        h, h // k.shape[1], m, k.shape[2], WIDTH=d, ROWS=32, KEYS=16, CAUSAL=causal, WINDOW=window, SOFTCAP=cap,
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
        *strides(v)[:3], *strides(out)[:3], 2, 1, 35, 35, WIDTH=16, ROWS=32, KEYS=32, CAUSAL=True, WINDOW=None,
        SOFTCAP=0.0,
    )  # fmt: skip
    return [(out, softmax(attention_scores(q, k, None, 0.25, True, None, 0.0)) @ wide(v), 1e-5)]


# ------------------------------------------------------------------------------- backward: keys and values, then queries


@triton.jit
def backward_preprocess(o_ptr, do_ptr, delta_ptr, head_step, row_step, length, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """delta = sum(O dO) of each query."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    live = row < length
    element = tl.program_id(1) * head_step + row[:, None] * row_step + tl.arange(0, WIDTH)[None, :]
    slope = tl.load(do_ptr + element, mask=live[:, None], other=0.0).to(tl.float32)
    out = tl.load(o_ptr + element, mask=live[:, None], other=0.0).to(tl.float32)
    tl.store(delta_ptr + tl.program_id(1) * length + row, tl.sum(slope * out, axis=1), mask=live)


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
        backward_preprocess[(triton.cdiv(n, 16), h)](out, do, delta, n * d, d, n, ROWS=16, WIDTH=d)
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
