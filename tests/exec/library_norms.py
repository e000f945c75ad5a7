"""Norms, gated units and rotations, forward and backward, as training libraries fuse them."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
from library_cases import BF16, Checks, Library, integers, normal, sigmoid, uniform, wide

from suite.arrays import Array
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
    x_ptr, mean_ptr, rstd_ptr, gain_ptr, dx_ptr, dgain_ptr, dshift_ptr, dy_ptr, PIXELS: tl.constexpr,
    CHANNELS: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr, ELEMENT: tl.constexpr,
):  # fmt: skip
    """dx = rstd (g - mean(g) - n mean(g n)), n = (x - mean) rstd and g = gain dy, over a group of CHANNELS channels.

    Both means come from the gradients of gain and shift, which are sums of dy n and dy over the channel's pixels."""
    group = tl.program_id(0) * GROUPS + tl.program_id(1)
    mean, rstd = tl.load(mean_ptr + group), tl.load(rstd_ptr + group)
    lanes = tl.arange(0, BLOCK)
    along, level = 0.0, 0.0
    for channel in range(CHANNELS):
        products, sums = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
        plane = (group * CHANNELS + channel) * PIXELS
        for start in tl.range(0, PIXELS, BLOCK):
            pixel = start + lanes
            dy = tl.load(dy_ptr + plane + pixel, mask=pixel < PIXELS, other=0.0)
            sums += dy
            products += dy * (tl.load(x_ptr + plane + pixel, mask=pixel < PIXELS, other=0.0) - mean)
        number = tl.program_id(1) * CHANNELS + channel
        dgain, dshift = tl.sum(products) * rstd, tl.sum(sums)
        gain = tl.load(gain_ptr + number)
        along += dgain * gain
        level += dshift * gain
        tl.atomic_add(dshift_ptr + number, dshift.to(ELEMENT))
        tl.atomic_add(dgain_ptr + number, dgain.to(ELEMENT))
    along /= PIXELS * CHANNELS
    level /= PIXELS * CHANNELS
    for channel in tl.static_range(CHANNELS):
        gain = tl.load(gain_ptr + tl.program_id(1) * CHANNELS + channel)
        plane = (group * CHANNELS + channel) * PIXELS
        for start in range(0, PIXELS, BLOCK):
            pixel = start + lanes
            n = rstd * (tl.load(x_ptr + plane + pixel, mask=pixel < PIXELS, other=0.0) - mean)
            g = gain * tl.load(dy_ptr + plane + pixel, mask=pixel < PIXELS, other=0.0)
            tl.store(dx_ptr + plane + pixel, rstd * (g - level - along * n), mask=pixel < PIXELS)


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
        x, mean, rstd, w, dx, dw, db, dy, PIXELS=hidden, CHANNELS=per, GROUPS=groups, BLOCK=16, ELEMENT=tl.float32,
    )  # fmt: skip
    hat = ((grouped - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    wdy = (wide(dy) * w[:, None]).reshape(b, groups, -1)
    ghat = hat.reshape(b, groups, -1)
    expected = (wdy - ghat * (wdy * ghat).mean(-1, keepdims=True) - wdy.mean(-1, keepdims=True)) * rstd[..., None]
    return [
        (dx, expected.reshape(x.shape), 1e-4), (dw, (dy * hat).sum((0, 2)), 1e-4), (db, wide(dy).sum((0, 2)), 1e-4),
    ]  # fmt: skip


@triton.jit
def _pixels(image, pixel, images, pixels, image_step, pixel_step, IMAGES: tl.constexpr, PIXELS: tl.constexpr):
    """Where a tile of one channel lies, and which of it there is."""
    i, j = image + tl.arange(0, IMAGES)[:, None], pixel + tl.arange(0, PIXELS)[None, :]
    return i * image_step + j * pixel_step, (i < images) & (j < pixels)


@triton.jit
def batch_norm_forward(
    x_ptr, gain_ptr, shift_ptr, mean_ptr, rstd_ptr, y_ptr, running_mean_ptr, running_variance_ptr, images, pixels,
    image_step, channel_step, pixel_step, share, eps, AFFINE: tl.constexpr, TRAIN: tl.constexpr, IMAGES: tl.constexpr,
    PIXELS: tl.constexpr,
):  # fmt: skip
    """y = (x - mean) / sqrt(var + eps), a channel a program; sums are of the distances from the channel's first pixel,
    which keeps them small. Training moves the running statistics by `share`, the variance without bias."""
    channel = tl.program_id(0)
    x_ptr += channel * channel_step
    y_ptr += channel * channel_step
    if TRAIN:
        pivot = tl.load(x_ptr).to(tl.float32)
        far, square = 0.0, 0.0
        for image in range(0, images, IMAGES):
            for pixel in range(0, pixels, PIXELS):
                at, live = _pixels(image, pixel, images, pixels, image_step, pixel_step, IMAGES, PIXELS)
                apart = tl.where(live, tl.load(x_ptr + at, mask=live).to(tl.float32) - pivot, 0.0)
                square += tl.sum(apart * apart)
                far += tl.sum(apart)
        count = images * pixels
        far /= count
        mean, variance = pivot + far, square / count - far * far
        tl.store(mean_ptr + channel, mean)
        old = tl.load(running_mean_ptr + channel)
        tl.store(running_mean_ptr + channel, old + share * (mean - old))
        old = tl.load(running_variance_ptr + channel)
        tl.store(running_variance_ptr + channel, old + share * (variance * count / (count - 1) - old))
    else:
        mean, variance = tl.load(running_mean_ptr + channel), tl.load(running_variance_ptr + channel)
    factor, offset = tl.rsqrt(variance + eps), 0.0
    if TRAIN:
        tl.store(rstd_ptr + channel, factor)
    if AFFINE:
        factor *= tl.load(gain_ptr + channel)
        offset += tl.load(shift_ptr + channel)
    for image in range(0, images, IMAGES):
        for pixel in range(0, pixels, PIXELS):
            at, live = _pixels(image, pixel, images, pixels, image_step, pixel_step, IMAGES, PIXELS)
            apart = tl.load(x_ptr + at, mask=live).to(tl.float32) - mean
            tl.store(y_ptr + at, apart * factor + offset, mask=live)


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
            x, w, bias, mean, inv, y, running, variance, b, s, c * s, s, 1, 0.1, 1e-5, AFFINE=affine, TRAIN=train,
            IMAGES=4, PIXELS=8,
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
    q_ptr, q_step, k_ptr, k_step, cos_ptr, sin_ptr, angle_step, length, positions_ptr,
    Q_HEADS: tl.constexpr, K_HEADS: tl.constexpr, WIDTH: tl.constexpr, Q_ROWS: tl.constexpr, K_ROWS: tl.constexpr,
    PAIRS: tl.constexpr, INTERLEAVED: tl.constexpr, INVERSE: tl.constexpr = False,
):  # fmt: skip
    """Turns each pair of a head's elements, taken as a complex number, by an angle that its position gives."""
    token = tl.program_id(0).to(tl.int64)
    position = token % length if positions_ptr is None else tl.load(positions_ptr + token)
    pair = tl.arange(0, PAIRS)
    angle, known = position * angle_step + pair, pair < WIDTH // 2
    cos, sin = tl.load(cos_ptr + angle, mask=known, other=0), tl.load(sin_ptr + angle, mask=known, other=0)
    sin = -sin if INVERSE else sin
    _rotate_heads(k_ptr + token * k_step, cos, sin, K_HEADS, K_ROWS, WIDTH, PAIRS, INTERLEAVED)
    _rotate_heads(q_ptr + token * q_step, cos, sin, Q_HEADS, Q_ROWS, WIDTH, PAIRS, INTERLEAVED)


@triton.jit
def _rotate_heads(
    ptr, cos, sin, HEADS: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, PAIRS: tl.constexpr,
    INTERLEAVED: tl.constexpr,
):  # fmt: skip
    """Of neighbours, or else of an element and the one half a head further."""
    row = tl.arange(0, ROWS)[:, None]
    ptr += row * WIDTH
    if INTERLEAVED:
        column = tl.arange(0, 2 * PAIRS)[None, :]
        live = (column < WIDTH) & (row < HEADS)
        real, imaginary = tl.split(tl.load(ptr + column, mask=live, other=0).reshape(ROWS, PAIRS, 2))
        turned = tl.interleave(real * cos - imaginary * sin, real * sin + imaginary * cos)
        tl.store(ptr + column, turned, mask=live)
    else:
        HALF: tl.constexpr = WIDTH // 2
        column = tl.arange(0, PAIRS)[None, :]
        live = (column < HALF) & (row < HEADS)
        real = tl.load(ptr + column, mask=live, other=0)
        imaginary = tl.load(ptr + HALF + column, mask=live, other=0)
        tl.store(ptr + HALF + column, real * sin + imaginary * cos, mask=live)
        tl.store(ptr + column, real * cos - imaginary * sin, mask=live)


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
                pair[0], qh * hd, pair[1], kh * hd, cos, sin, hd // 2, s, at, qh, kh, hd, 8, 2, 16,
                INTERLEAVED=mixed, INVERSE=backward,
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
