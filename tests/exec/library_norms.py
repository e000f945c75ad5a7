"""Norms, gated units and rotations, forward and backward, as training libraries fuse them."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
from library_cases import BF16, Array, Checks, Library, integers, normal, sigmoid, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

LIBRARY = Library()


# --------------------------------------------- a norm with everything optional: residual, dropout, scales, second weights


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 4)], key=["N", "HAS_RESIDUAL", "IS_RMS_NORM"])
@triton.heuristics({"HAS_BIAS": lambda args: args["B"] is not None})
@triton.heuristics({"HAS_RESIDUAL": lambda args: args["RESIDUAL"] is not None})
@triton.heuristics({"STORE_RESIDUAL_OUT": lambda args: args["RESIDUAL_OUT"] is not None})
@triton.heuristics({"HAS_W1": lambda args: args["W1"] is not None})
@triton.jit
def norm_forward(
    X, Y, W, B, RESIDUAL, W1, Y1, RESIDUAL_OUT, ROWSCALE, SEEDS, DROPOUT_MASK, Mean, Rstd, stride_x_row, stride_y_row, M, N,
    eps, dropout_p, zero_centered_weight,
    IS_RMS_NORM: tl.constexpr, BLOCK_N: tl.constexpr, HAS_DROPOUT: tl.constexpr, HAS_BIAS: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr, STORE_RESIDUAL_OUT: tl.constexpr, HAS_W1: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    X += row * stride_x_row
    Y += row * stride_y_row
    cols = tl.arange(0, BLOCK_N)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    if ROWSCALE is not None:
        x *= tl.load(ROWSCALE + row).to(tl.float32)
    if HAS_DROPOUT:
        keep_mask = tl.rand(tl.load(SEEDS + row).to(tl.uint32), cols, n_rounds=7) > dropout_p
        x = tl.where(keep_mask, x / (1.0 - dropout_p), 0.0)
        tl.store(DROPOUT_MASK + row * N + cols, keep_mask, mask=cols < N)
    if HAS_RESIDUAL:
        x += tl.load(RESIDUAL + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
    if STORE_RESIDUAL_OUT:
        tl.store(RESIDUAL_OUT + row * N + cols, x, mask=cols < N)
    if not IS_RMS_NORM:
        mean = tl.sum(x, axis=0) / N
        tl.store(Mean + row, mean)
        xbar = tl.where(cols < N, x - mean, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    else:
        xbar = tl.where(cols < N, x, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Rstd + row, rstd)
    mask = cols < N
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    if zero_centered_weight:
        w += 1.0
    if HAS_BIAS:
        b = tl.load(B + cols, mask=mask).to(tl.float32)
    x_hat = (x - mean) * rstd if not IS_RMS_NORM else x * rstd
    y = x_hat * w + b if HAS_BIAS else x_hat * w
    tl.store(Y + cols, y, mask=mask)
    if HAS_W1:
        tl.store(Y1 + row * stride_y_row + cols, x_hat * tl.load(W1 + cols, mask=mask).to(tl.float32), mask=mask)


@LIBRARY.case
def norms_with_everything_optional() -> Checks:
    results: Checks = []
    m, n = 5, 50
    x = normal(m, n, seed=1, dtype=np.float16)
    w, b, w1, r = normal(n, seed=2), normal(n, seed=3), normal(n, seed=4), normal(m, n, seed=5)
    scale, seeds = uniform(m, seed=6), np.arange(m, dtype=np.int64) * 977
    for rms, full, centred in ((False, True, True), (True, False, False), (True, True, False)):
        y, y1, out = np.empty_like(x), np.empty_like(x), np.empty((m, n), np.float32)
        kept = np.zeros((m, n), np.bool_)
        mean, rstd = np.zeros(m, np.float32), np.empty(m, np.float32)
        extra = (r, w1, y1, out, scale, seeds, kept) if full else (None,) * 7
        norm_forward[(m,)](
            x, y, w, b if not rms else None, *extra, mean, rstd, n, n, m, n, 1e-5, 0.25, centred,
            IS_RMS_NORM=rms, BLOCK_N=triton.next_power_of_2(n), HAS_DROPOUT=full,
        )  # fmt: skip
        h = wide(x)
        if full:
            h = h * scale[:, None] * kept / 0.75 + r
            results += [(out, h, 1e-5), (np.array(kept.mean()), 0.75, 0.1)]
        mu = 0 if rms else h.mean(1, keepdims=True)
        hat = (h - mu) / np.sqrt(((h - mu) ** 2).mean(1, keepdims=True) + 1e-5)
        results.append((y, hat * (w + centred) + (0 if rms else b), 4e-3))
        if full:
            results.append((y1, hat * w1, 4e-3))
    return results


# ------------------------------------------------------------------- gradients of rows in a block, of weights by programs


@triton.jit
def rms_norm_backward(
    dY_ptr, dX_ptr, X_ptr, RSTD_ptr, W_ptr, dW_ptr, row_stride, n_rows, n_cols: tl.constexpr, offset, rows_per_program,
    CASTING_MODE: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row_block_id = tl.program_id(0).to(tl.int64)
    row_start = row_block_id * rows_per_program
    row_end = min((row_block_id + 1) * rows_per_program, n_rows)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dW_row = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    dY_ptr += row_start * row_stride
    dX_ptr += row_start * row_stride
    X_ptr += row_start * row_stride
    RSTD_ptr += row_start
    W_row = tl.load(W_ptr + col_offsets, mask=mask, other=0.0)
    W_row = W_row + offset
    for _ in range(row_start, row_end):
        dY_row = tl.load(dY_ptr + col_offsets, mask=mask, other=0.0)
        X_row = tl.load(X_ptr + col_offsets, mask=mask, other=0.0)
        rstd_row = tl.load(RSTD_ptr)
        X_row = X_row.to(tl.float32)
        if CASTING_MODE == 0:
            m = (dY_row * W_row).to(tl.float32)
            dW_row += dY_row * (X_row * rstd_row).to(dW_ptr.dtype.element_ty)
        elif CASTING_MODE == 1:
            dY_row = dY_row.to(tl.float32)
            m = dY_row * W_row
            dW_row += dY_row * (X_row * rstd_row)
        else:
            m = dY_row * W_row
            dW_row += dY_row * (X_row * rstd_row)
        dX_row = rstd_row * m
        dX_row += rstd_row * (-(1 / n_cols) * rstd_row * rstd_row * tl.sum(m * X_row, axis=0) * X_row)
        tl.store(dX_ptr + col_offsets, dX_row.to(dX_ptr.dtype.element_ty), mask=mask)
        dY_ptr += row_stride
        dX_ptr += row_stride
        X_ptr += row_stride
        RSTD_ptr += 1
    tl.store(dW_ptr + row_block_id * n_cols + col_offsets, dW_row, mask=mask)


@LIBRARY.case
def rms_norm_gradients() -> Checks:
    results: Checks = []
    rows, n, programs = 11, 70, 3
    for mode, dtype, tolerance in ((0, BF16, 6e-2), (1, np.float16, 5e-3), (-1, np.float32, 1e-5)):
        x, dy, w = (a.astype(dtype) for a in (normal(rows, n, seed=7), normal(rows, n, seed=8), normal(n, seed=9)))
        rstd = (1 / np.sqrt((wide(x) ** 2).mean(1) + 1e-6)).astype(np.float32)
        dx, parts = np.empty_like(x), np.empty((programs, n), np.float32)
        rms_norm_backward[(programs,)](
            dy, dx, x, rstd, w, parts, n, rows, n, 1.0, triton.cdiv(rows, programs), CASTING_MODE=mode, BLOCK_SIZE=128
        )
        m = wide(dy) * (wide(w) + 1)
        mean = (m * wide(x)).mean(1, keepdims=True)
        expected = rstd[:, None] * (m - rstd[:, None].astype(np.float64) ** 2 * mean * wide(x))
        results += [
            (dx, expected, tolerance),
            (parts.sum(0), (wide(dy) * wide(x) * rstd[:, None]).sum(0), tolerance * 3),
        ]
    return results


@triton.jit
def group_norm_backward(
    X, Mean, Rstd, W, DX, DW, DB, UPSTREAM, hidden_size: tl.constexpr, channels_per_group: tl.constexpr,
    num_groups: tl.constexpr, BLOCK_SIZE: tl.constexpr, dtype: tl.constexpr,
):  # fmt: skip
    batch_idx, group_idx = tl.program_id(0), tl.program_id(1)
    channels: tl.constexpr = channels_per_group * num_groups
    base = (batch_idx * channels + group_idx * channels_per_group) * hidden_size
    X += base
    DX += base
    UPSTREAM += base
    mean = tl.load(Mean + batch_idx * num_groups + group_idx)
    rstd = tl.load(Rstd + batch_idx * num_groups + group_idx)
    c1, c2 = 0.0, 0.0
    block_range = tl.arange(0, BLOCK_SIZE)
    for channel_idx in range(group_idx * channels_per_group, (group_idx + 1) * channels_per_group):
        dW, dB = 0.0, 0.0
        W_val = tl.load(W + channel_idx)
        for i in tl.range(0, hidden_size, BLOCK_SIZE):
            at = (channel_idx - group_idx * channels_per_group) * hidden_size + i + block_range
            mask = i + block_range < hidden_size
            x = tl.load(X + at, mask=mask, other=0.0)
            dy = tl.load(UPSTREAM + at, mask=mask, other=0.0)
            x_hat = (x - mean) * rstd
            dW += tl.sum(tl.where(mask, dy * x_hat, 0.0))
            dB += tl.sum(dy)
            wdy = W_val * dy
            c1 += tl.sum(tl.where(mask, x_hat * wdy, 0.0))
            c2 += tl.sum(wdy)
        tl.atomic_add(DW + channel_idx, dW.to(dtype))
        tl.atomic_add(DB + channel_idx, dB.to(dtype))
    N = hidden_size * channels_per_group
    c1, c2 = c1 / N, c2 / N
    for c in tl.static_range(channels_per_group):
        W_val = tl.load(W + group_idx * channels_per_group + c)
        for i in range(0, hidden_size, BLOCK_SIZE):
            at = c * hidden_size + i + block_range
            mask = i + block_range < hidden_size
            x = tl.load(X + at, mask=mask, other=0.0)
            dy = tl.load(UPSTREAM + at, mask=mask, other=0.0)
            tl.store(DX + at, (W_val * dy - ((x - mean) * rstd * c1 + c2)) * rstd, mask=mask)


@LIBRARY.case
def group_norm_gradients() -> Checks:
    b, groups, per, hidden = 3, 2, 3, 35
    x, dy, w = (
        normal(b, groups * per, hidden, seed=10),
        normal(b, groups * per, hidden, seed=11),
        normal(groups * per, seed=12),
    )
    grouped = wide(x).reshape(b, groups, -1)
    mean, rstd = grouped.mean(-1).astype(np.float32), (1 / np.sqrt(grouped.var(-1) + 1e-5)).astype(np.float32)
    dx, dw, db = np.empty_like(x), np.zeros(groups * per, np.float32), np.zeros(groups * per, np.float32)
    group_norm_backward[(b, groups)](
        x, mean, rstd, w, dx, dw, db, dy, hidden_size=hidden, channels_per_group=per, num_groups=groups, BLOCK_SIZE=16,
        dtype=tl.float32,
    )  # fmt: skip
    hat = ((grouped - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    wdy = (wide(dy) * w[:, None]).reshape(b, groups, -1)
    ghat = hat.reshape(b, groups, -1)
    expected = (wdy - ghat * (wdy * ghat).mean(-1, keepdims=True) - wdy.mean(-1, keepdims=True)) * rstd[..., None]
    return [
        (dx, expected.reshape(x.shape), 1e-4), (dw, (dy * hat).sum((0, 2)), 1e-4), (db, wide(dy).sum((0, 2)), 1e-4),
    ]  # fmt: skip


@triton.jit
def batch_norm_forward(
    input_pointer, weight_pointer, bias_pointer, mean_pointer, inv_std_pointer, output_pointer, running_mean_pointer,
    running_var_pointer, batch_dim, spatial_dim, input_batch_stride, input_feat_stride, input_spatial_stride, momentum, eps,
    affine: tl.constexpr, is_train: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    feat_pid = tl.program_id(axis=0)
    input_pointer += input_feat_stride * feat_pid
    output_pointer += input_feat_stride * feat_pid
    if is_train:
        mean, m2, count = 0.0, 0.0, 0
        for m_step in range(0, tl.cdiv(batch_dim, BLOCK_M)):
            for n_step in range(0, tl.cdiv(spatial_dim, BLOCK_N)):
                spatial_offset = n_step * BLOCK_N + tl.arange(0, BLOCK_N)
                batch_offset = m_step * BLOCK_M + tl.arange(0, BLOCK_M)
                mask = (batch_offset < batch_dim)[:, None] & (spatial_offset < spatial_dim)[None, :]
                at = input_batch_stride * batch_offset[:, None] + input_spatial_stride * spatial_offset[None, :]
                x = tl.load(input_pointer + at, mask=mask).to(tl.float32)
                number = tl.sum(mask.to(tl.int32))
                block_mean = tl.sum(tl.where(mask, x, 0.0)) / number
                delta = tl.where(mask, x - block_mean, 0.0)
                total = count + number
                shift = block_mean - mean
                m2 += tl.sum(delta * delta) + shift * shift * count * number / total
                mean += shift * number / total
                count = total
        var = m2 / count
        inv_std = tl.rsqrt(var + eps)
        tl.store(feat_pid + mean_pointer, mean)
        tl.store(feat_pid + inv_std_pointer, inv_std)
        running_mean_pointer += feat_pid
        running_var_pointer += feat_pid
        tl.store(running_mean_pointer, (1 - momentum) * tl.load(running_mean_pointer) + momentum * mean)
        n = batch_dim * spatial_dim
        tl.store(running_var_pointer, (1 - momentum) * tl.load(running_var_pointer) + momentum * var * n / (n - 1))
    else:
        mean = tl.load(feat_pid + running_mean_pointer)
        inv_std = tl.rsqrt(tl.load(feat_pid + running_var_pointer) + eps)
    if affine:
        weight, bias = tl.load(feat_pid + weight_pointer), tl.load(feat_pid + bias_pointer)
    else:
        weight, bias = 1.0, 0.0
    for m_step in range(0, tl.cdiv(batch_dim, BLOCK_M)):
        for n_step in range(0, tl.cdiv(spatial_dim, BLOCK_N)):
            spatial_offset = n_step * BLOCK_N + tl.arange(0, BLOCK_N)
            batch_offset = m_step * BLOCK_M + tl.arange(0, BLOCK_M)
            mask = (batch_offset < batch_dim)[:, None] & (spatial_offset < spatial_dim)[None, :]
            at = input_batch_stride * batch_offset[:, None] + input_spatial_stride * spatial_offset[None, :]
            x = tl.load(input_pointer + at, mask=mask).to(tl.float32)
            tl.store(output_pointer + at, weight * (x - mean) * inv_std + bias, mask=mask)


@LIBRARY.case
def batch_norm_with_running_statistics() -> Checks:
    results: Checks = []
    b, c, s = 5, 3, 21
    x, w, bias = normal(b, c, s, seed=13) * 2 + 3, normal(c, seed=14), normal(c, seed=15)
    for train, affine in ((True, True), (False, False)):
        y, mean, inv = np.empty_like(x), np.zeros(c, np.float32), np.zeros(c, np.float32)
        running, variance = normal(c, seed=16), uniform(c, seed=17, low=0.5)
        old = wide(running), wide(variance)
        batch_norm_forward[(c,)](
            x, w, bias, mean, inv, y, running, variance, b, s, c * s, s, 1, 0.1, 1e-5, affine=affine, is_train=train,
            BLOCK_M=4, BLOCK_N=8,
        )  # fmt: skip
        mu, var = (wide(x).mean((0, 2)), wide(x).var((0, 2))) if train else old
        expected = (x - mu[:, None]) / np.sqrt(var + 1e-5)[:, None]
        results.append((y, expected * w[:, None] + bias[:, None] if affine else expected, 1e-4))
        if train:
            results.append((running, 0.9 * old[0] + 0.1 * mu, 1e-5))
            results.append((variance, 0.9 * old[1] + 0.1 * var * b * s / (b * s - 1), 1e-5))
    return results


# --------------------------------------------------------------------------------------- gated units and their gradients


@triton.jit
def _silu_and_slope(x):
    s = tl.sigmoid(x)
    return x * s, s + x * s * (1 - s)


@triton.jit
def _gelu_and_slope(x):
    cdf = 0.5 * (1.0 + libdevice.erf(x * 0.7071067811865476))
    pdf = 0.3989422804014327 * libdevice.exp(-0.5 * x * x)
    return x * cdf, cdf + x * pdf


@triton.jit
def _gelu_tanh_and_slope(x):
    inner = 0.7978845608028654 * (x + 0.044715 * libdevice.pow(x, 3.0))
    t = libdevice.tanh(inner)
    slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 0.134145 * x * x)
    return 0.5 * x * (1 + t), slope


@triton.jit
def gated_backward(
    dc_ptr, a_ptr, b_ptr, stride, n_cols: tl.constexpr, ACTIVATION: tl.constexpr, BLOCK_SIZE: tl.constexpr
):
    """Writes gradients over the inputs."""
    program_id = tl.program_id(0).to(tl.int64)
    dc_ptr += program_id * stride
    a_ptr += program_id * stride
    b_ptr += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dc_row = tl.load(dc_ptr + col_offsets, mask=mask, other=0)
    a_row = tl.load(a_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b_ptr + col_offsets, mask=mask, other=0)
    value, slope = ACTIVATION(a_row)
    tl.store(a_ptr + col_offsets, dc_row * b_row * slope, mask=mask)
    tl.store(b_ptr + col_offsets, dc_row * value.cast(b_row.dtype), mask=mask)


@LIBRARY.case
def gradients_of_gated_units() -> Checks:
    results: Checks = []
    erf = np.vectorize(math.erf)

    def tanh_gelu(x: Array) -> Array:
        return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))

    values: tuple[tuple[Any, Any], ...] = (
        (_silu_and_slope, lambda x: x * sigmoid(x)),
        (_gelu_and_slope, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
        (_gelu_tanh_and_slope, tanh_gelu),
    )
    for activation, value in values:
        a, b, dc = normal(4, 90, seed=24), normal(4, 90, seed=25), normal(4, 90, seed=26)
        da, db = a.copy(), b.copy()
        gated_backward[(4,)](dc, da, db, 90, n_cols=90, ACTIVATION=activation, BLOCK_SIZE=128)
        slope = (value(wide(a) + 1e-6) - value(wide(a) - 1e-6)) / 2e-6
        results += [(da, dc * b * slope, 2e-5), (db, dc * value(wide(a)), 2e-5)]
    return results


# ------------------------------------------------------------------------------ rotations of queries and keys in one launch


@triton.jit
def rotate_queries_and_keys(
    q_ptr, q_row_stride, k_ptr, k_row_stride, cos_ptr, sin_ptr, cos_row_stride, sl, positions_ptr,
    cos_bs: tl.constexpr, n_qh: tl.constexpr, n_kh: tl.constexpr, hd: tl.constexpr, pad_n_qh: tl.constexpr,
    pad_n_kh: tl.constexpr, pad_hd: tl.constexpr, INTERLEAVED: tl.constexpr, BACKWARD_PASS: tl.constexpr = False,
):  # fmt: skip
    pid = tl.program_id(0).to(tl.int64)
    q_ptr = q_ptr + pid * q_row_stride
    k_ptr = k_ptr + pid * k_row_stride
    row = pid % sl if positions_ptr is None else tl.load(positions_ptr + pid)
    half = tl.arange(0, pad_hd // 2)
    cos_row = tl.load(cos_ptr + row * cos_row_stride + half, mask=half < hd // 2, other=0)
    sin_row = tl.load(sin_ptr + row * cos_row_stride + half, mask=half < hd // 2, other=0)
    if BACKWARD_PASS:
        sin_row = -sin_row
    _rotate_heads(q_ptr, cos_row, sin_row, n_qh, hd, pad_n_qh, pad_hd, INTERLEAVED)
    _rotate_heads(k_ptr, cos_row, sin_row, n_kh, hd, pad_n_kh, pad_hd, INTERLEAVED)


@triton.jit
def _rotate_heads(
    ptr, cos_row, sin_row, heads: tl.constexpr, hd: tl.constexpr, pad_heads: tl.constexpr, pad_hd: tl.constexpr,
    INTERLEAVED: tl.constexpr,
):  # fmt: skip
    head = tl.arange(0, pad_heads)[:, None] * hd
    if INTERLEAVED:
        at = head + tl.arange(0, pad_hd)[None, :]
        mask = (tl.arange(0, pad_heads)[:, None] < heads) & (tl.arange(0, pad_hd)[None, :] < hd)
        pairs = tl.reshape(tl.load(ptr + at, mask=mask, other=0), (pad_heads, pad_hd // 2, 2))
        even, odd = tl.split(pairs)
        first, second = even * cos_row - odd * sin_row, odd * cos_row + even * sin_row
        tl.store(ptr + at, tl.interleave(first, second), mask=mask)
    else:
        at = head + tl.arange(0, pad_hd // 2)[None, :]
        mask = (tl.arange(0, pad_heads)[:, None] < heads) & (tl.arange(0, pad_hd // 2)[None, :] < hd // 2)
        first, second = tl.load(ptr + at, mask=mask, other=0), tl.load(ptr + at + hd // 2, mask=mask, other=0)
        tl.store(ptr + at, first * cos_row - second * sin_row, mask=mask)
        tl.store(ptr + at + hd // 2, second * cos_row + first * sin_row, mask=mask)


@LIBRARY.case
def rotations_of_queries_and_keys() -> Checks:
    results: Checks = []
    b, s, qh, kh, hd = 2, 5, 6, 2, 24
    angles = uniform(16, hd // 2, seed=27, high=6)
    cos, sin = np.cos(angles), np.sin(angles)
    places = integers(0, 16, b * s, seed=28, dtype=np.int64)
    for interleaved, positions in ((False, None), (True, places), (False, places)):
        q, k = normal(b * s, qh, hd, seed=29), normal(b * s, kh, hd, seed=30)
        got = q.copy(), k.copy()

        def rotate(backward: bool, pair: tuple[Array, Array], at: Array | None, mixed: bool) -> None:
            rotate_queries_and_keys[(b * s,)](
                pair[0], qh * hd, pair[1], kh * hd, cos, sin, hd // 2, s, at, 1, qh, kh, hd, 8, 2, 32,
                INTERLEAVED=mixed, BACKWARD_PASS=backward,
            )  # fmt: skip

        rotate(False, got, positions, interleaved)
        rows = np.tile(np.arange(s), b) if positions is None else positions
        turn = np.exp(1j * wide(angles))[rows][:, None]
        for x, y in ((q, got[0]), (k, got[1])):
            z = (
                wide(x[..., ::2]) + 1j * x[..., 1::2]
                if interleaved
                else wide(x[..., : hd // 2]) + 1j * x[..., hd // 2 :]
            )
            z = z * turn
            expected = (
                np.stack([z.real, z.imag], -1).reshape(x.shape) if interleaved else np.concatenate([z.real, z.imag], -1)
            )
            results.append((y.copy(), expected, 1e-5))
        rotate(True, got, positions, interleaved)
        results += [(got[0], q, 1e-5), (got[1], k, 1e-5)]
    return results
