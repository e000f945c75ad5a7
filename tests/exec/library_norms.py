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


@triton.jit
def _row_of(ptr, row, width, BLOCK: tl.constexpr):
    col = tl.arange(0, BLOCK)
    return tl.load(ptr + row * width + col, mask=col < width, other=0.0).to(tl.float32)


@triton.jit
def _write_row(ptr, values, row, pitch, width):
    col = tl.arange(0, values.shape[0])
    tl.store(ptr + row * pitch + col, values, mask=col < width)


@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 4)], key=["width", "ADDS", "CENTRES"])
@triton.heuristics({"SHIFTS": lambda args: args["shift_ptr"] is not None})
@triton.heuristics({"ADDS": lambda args: args["skip_ptr"] is not None})
@triton.heuristics({"KEEPS_SUM": lambda args: args["sum_ptr"] is not None})
@triton.heuristics({"SECOND": lambda args: args["gain2_ptr"] is not None})
@triton.jit
def normalise(
    out_ptr, x_ptr, gain_ptr, shift_ptr, skip_ptr, gain2_ptr, out2_ptr, sum_ptr, factor_ptr, seed_ptr, kept_ptr, centre_ptr,
    inverse_ptr, x_pitch, out_pitch, width, tiny, drop, one_plus_gain,
    CENTRES: tl.constexpr, DROPS: tl.constexpr, BLOCK: tl.constexpr, SHIFTS: tl.constexpr, ADDS: tl.constexpr,
    KEEPS_SUM: tl.constexpr, SECOND: tl.constexpr,
):  # fmt: skip
    """h = dropout(factor x) + skip, then gain (h - mean) / sqrt(variance + tiny) + shift; without `CENTRES` the mean is
    taken to be 0. A second gain gives a second output of the same h."""
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    x_ptr += row * x_pitch
    h = _row_of(x_ptr, 0, width, BLOCK)
    if factor_ptr is not None:
        h *= tl.load(factor_ptr + row).to(tl.float32)
    if DROPS:
        stays = tl.rand(tl.load(seed_ptr + row).to(tl.uint32), col, n_rounds=7) > drop
        _write_row(kept_ptr, stays, row, width, width)
        h = tl.where(stays, h / (1.0 - drop), 0.0)
    if ADDS:
        h += _row_of(skip_ptr, row, width, BLOCK)
    if KEEPS_SUM:
        _write_row(sum_ptr, h, row, width, width)
    if CENTRES:
        centre = tl.sum(h, axis=0) / width
        tl.store(centre_ptr + row, centre)
        h = tl.where(col < width, h - centre, 0.0)
    inverse = 1 / tl.sqrt(tl.sum(h * h, axis=0) / width + tiny)
    tl.store(inverse_ptr + row, inverse)
    unit = h * inverse
    gain = _row_of(gain_ptr, 0, width, BLOCK) + (1.0 if one_plus_gain else 0.0)
    first = unit * gain
    if SHIFTS:
        first += _row_of(shift_ptr, 0, width, BLOCK)
    _write_row(out_ptr, first, row, out_pitch, width)
    if SECOND:
        _write_row(out2_ptr, unit * _row_of(gain2_ptr, 0, width, BLOCK), row, out_pitch, width)


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
        normalise[(m,)](
            y, x, w, b if not rms else None, *extra, mean, rstd, n, n, n, 1e-5, 0.25, centred,
            CENTRES=not rms, BLOCK=triton.next_power_of_2(n), DROPS=full,
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
def rms_norm_gradient(
    x_ptr, gain_ptr, inverse_ptr, dy_ptr, dx_ptr, dgain_ptr, pitch, rows, share, base, width: tl.constexpr,
    PRECISION: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """With u = x r of one row, y = u (gain + base): dx = r (g - u mean(u g)) where g = dy (gain + base).

    Each program takes `share` rows and sums dy u over them. `PRECISION` says where float32 begins: "inputs" or "sums"
    (which rounds u to the gradient's type), or "none" where all is float32 already.
    """
    program = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    live = col < width
    gain = tl.load(gain_ptr + col, mask=live, other=0.0) + base
    dgain = tl.zeros((BLOCK,), dtype=tl.float32)
    todo = min(share, rows - program * share)
    at = program * share * pitch
    x_ptr += at
    dx_ptr += at
    dy_ptr += at
    inverse_ptr += program * share
    while todo > 0:
        r = tl.load(inverse_ptr)
        u = tl.load(x_ptr + col, mask=live, other=0.0).to(tl.float32) * r
        dy = tl.load(dy_ptr + col, mask=live, other=0.0)
        if PRECISION == "inputs":
            dy = dy.to(tl.float32)
        g = dy * gain
        if PRECISION == "sums":
            g = g.to(tl.float32)
            dgain += dy * u.to(dgain_ptr.dtype.element_ty)
        else:
            dgain += dy * u
        dx = r * (g - u * (tl.sum(u * g, axis=0) / width))
        tl.store(dx_ptr + col, dx.to(dx_ptr.dtype.element_ty), mask=live)
        inverse_ptr += 1
        dy_ptr += pitch
        dx_ptr += pitch
        x_ptr += pitch
        todo -= 1
    tl.store(dgain_ptr + program * width + col, dgain, mask=live)


@LIBRARY.case
def rms_norm_gradients() -> Checks:
    results: Checks = []
    rows, n, programs = 11, 70, 3
    for mode, dtype, tolerance in (("sums", BF16, 6e-2), ("inputs", np.float16, 5e-3), ("none", np.float32, 1e-5)):
        x, dy, w = (a.astype(dtype) for a in (normal(rows, n, seed=7), normal(rows, n, seed=8), normal(n, seed=9)))
        rstd = (1 / np.sqrt((wide(x) ** 2).mean(1) + 1e-6)).astype(np.float32)
        dx, parts = np.empty_like(x), np.empty((programs, n), np.float32)
        rms_norm_gradient[(programs,)](
            x, w, rstd, dy, dx, parts, n, rows, triton.cdiv(rows, programs), 1.0, width=n, PRECISION=mode, BLOCK=128
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
def gated_unit_gradient(
    gate_ptr, up_ptr, dout_ptr, pitch, width: tl.constexpr, UNIT: tl.constexpr, BLOCK: tl.constexpr
):
    """out = unit(gate) up: its gradients take the places of gate and up."""
    col = tl.arange(0, BLOCK)
    first = tl.program_id(0).to(tl.int64) * pitch
    gate_ptr += first
    up_ptr += first
    dout_ptr += first
    up = tl.load(up_ptr + col, mask=col < width, other=0)
    dout = tl.load(dout_ptr + col, mask=col < width, other=0)
    unit, slope = UNIT(tl.load(gate_ptr + col, mask=col < width, other=0).to(tl.float32))
    tl.store(up_ptr + col, unit.cast(up.dtype) * dout, mask=col < width)
    tl.store(gate_ptr + col, slope * up * dout, mask=col < width)


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
        gated_unit_gradient[(4,)](da, db, dc, 90, width=90, UNIT=activation, BLOCK=128)
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
