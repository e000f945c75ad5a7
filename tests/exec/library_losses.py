"""Softmax, cross entropy with every term, divergences: losses that write gradients over their input."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import Array, Checks, Library, normal, softmax, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl
    from triton.language.extra.libdevice import tanh

LIBRARY = Library()


# --------------------------------------------------------------------------------------- softmax and its gradient in tiles


@triton.jit
def softmax_gradient(
    out_ptr, out_grad_ptr, in_grad_ptr, M, N, scale, TILE_M: tl.constexpr, TILE_N: tl.constexpr, ONE_TILE: tl.constexpr,
    LOG: tl.constexpr,
):  # fmt: skip
    m_offsets = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    if ONE_TILE:
        n_offsets = tl.arange(0, TILE_N)
        offsets = m_offsets[:, None] * N + n_offsets
        mask = (m_offsets[:, None] < M) & (n_offsets < N)
        out, grad = tl.load(out_ptr + offsets, mask=mask, other=0), tl.load(out_grad_ptr + offsets, mask=mask, other=0)
        total = tl.sum(grad if LOG else out * grad, axis=1)
        result = grad - tl.exp(out) * total[:, None] if LOG else out * (grad - total[:, None])
        tl.store(in_grad_ptr + offsets, result, mask=mask)
    else:
        n_offsets = tl.arange(0, TILE_N)
        offsets = m_offsets[:, None] * N + n_offsets
        total = tl.zeros([TILE_M, TILE_N], dtype=tl.float32)
        for _ in range(0, N, TILE_N):
            mask = (m_offsets[:, None] < M) & (n_offsets < N)
            grad = tl.load(out_grad_ptr + offsets, mask=mask, other=0, eviction_policy="evict_last")
            total += (
                grad if LOG else grad * tl.load(out_ptr + offsets, mask=mask, other=0, eviction_policy="evict_last")
            )
            n_offsets += TILE_N
            offsets += TILE_N
        scale_row = tl.sum(total, 1)
        n_offsets = tl.arange(0, TILE_N)
        offsets = m_offsets[:, None] * N + n_offsets
        for _ in range(0, N, TILE_N):
            mask = (m_offsets[:, None] < M) & (n_offsets < N)
            out = tl.load(out_ptr + offsets, mask=mask, eviction_policy="evict_first")
            grad = tl.load(out_grad_ptr + offsets, mask=mask, eviction_policy="evict_first")
            result = grad - tl.exp(out) * scale_row[:, None] if LOG else out * (grad - scale_row[:, None])
            tl.store(in_grad_ptr + offsets, result, mask=mask)
            n_offsets += TILE_N
            offsets += TILE_N


@LIBRARY.case
def gradients_of_softmax() -> Checks:
    m, n = 7, 45
    dy, p = normal(m, n, seed=18), softmax(normal(m, n, seed=19).astype(np.float64))
    results: Checks = []
    for log in (False, True):
        y = np.log(p) if log else p
        expected = dy - p * dy.sum(1, keepdims=True) if log else p * (dy - (p * dy).sum(1, keepdims=True))
        for one in (True, False):
            dx = np.empty_like(dy)
            softmax_gradient[(2,)](
                y.astype(np.float32), dy, dx, m, n, 1.0, TILE_M=4, TILE_N=64 if one else 16, ONE_TILE=one, LOG=log
            )
            results.append((dx, expected, 1e-5))
    return results


# ----------------------------------------------------- losses that write gradients over their input, all terms optional


@triton.jit
def liger_cross_entropy(
    X_ptr, X_stride, Y_ptr, Y_stride, weight_ptr, loss_ptr, z_loss_ptr, loss_stride, n_cols, n_non_ignore, sum_weight,
    ignore_index, lse_square_scale: tl.constexpr, label_smoothing: tl.constexpr, reduction: tl.constexpr, softcap,
    RETURN_Z_LOSS: tl.constexpr, BLOCK_SIZE: tl.constexpr, HAS_WEIGHT: tl.constexpr, HAS_SOFTCAPPING: tl.constexpr,
    HAS_GRADIENTS: tl.constexpr,
):  # fmt: skip
    program_id = tl.program_id(0).to(tl.int64)
    Y_ptr += program_id * Y_stride
    y = tl.load(Y_ptr)
    X_ptr += program_id * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        return
    loss_ptr += program_id * loss_stride
    if RETURN_Z_LOSS:
        z_loss_ptr += program_id * loss_stride
    if HAS_WEIGHT:
        weight_y = tl.load(weight_ptr + y).cast(tl.float32)
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y).cast(tl.float32)
    if HAS_SOFTCAPPING:
        ori_X_y = softcap * tanh(ori_X_y / softcap)
    scaled_x_sum = 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        if HAS_SOFTCAPPING:
            X_block = tl.where(X_offsets < n_cols, softcap * tanh(X_block / softcap), float("-inf"))
        block_max = tl.max(X_block)
        if label_smoothing > 0:
            if HAS_WEIGHT:
                weight_block = tl.load(weight_ptr + X_offsets, mask=X_offsets < n_cols)
                scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block * weight_block, 0.0))
            else:
                scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    lse = m + tl.log(d)
    if HAS_GRADIENTS:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
            if HAS_SOFTCAPPING:
                intermediate = tanh(X_block / softcap)
                X_block = softcap * intermediate
            softmax_X = tl.exp(X_block - m) / d
            if not HAS_WEIGHT:
                X_block = softmax_X + 2 * lse_square_scale * lse * softmax_X
                X_block += -eps
                X_block = tl.where(X_offsets != y, X_block, X_block - (1 - label_smoothing))
                if reduction == "mean":
                    X_block = X_block / n_non_ignore
            else:
                weight_block = tl.load(weight_ptr + X_offsets, mask=X_offsets < n_cols)
                dloss_ori = (1 - label_smoothing) * softmax_X
                dloss_ori = tl.where(X_offsets != y, dloss_ori, dloss_ori - (1 - label_smoothing))
                dloss_ori = dloss_ori * weight_y
                dloss_smooth = eps * (-weight_block + softmax_X * sum_weight)
                dz_loss = 2 * lse_square_scale * lse * softmax_X
                if reduction == "mean":
                    dloss_ori = dloss_ori / sum_weight
                    dloss_smooth = dloss_smooth / sum_weight
                    dz_loss = dz_loss / n_non_ignore
                X_block = dloss_ori + dloss_smooth + dz_loss
            if HAS_SOFTCAPPING:
                X_block = X_block * (1 - intermediate * intermediate)
            tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)
    tl.debug_barrier()
    loss = lse - ori_X_y
    if HAS_WEIGHT:
        loss = weight_y * loss
    if label_smoothing > 0:
        smooth_loss = scaled_x_sum + eps * lse * sum_weight if HAS_WEIGHT else scaled_x_sum + label_smoothing * lse
        loss = loss * (1 - label_smoothing) + smooth_loss
    z_loss = lse_square_scale * lse * lse
    if reduction == "mean":
        loss = loss / sum_weight if HAS_WEIGHT else loss / n_non_ignore
        z_loss = z_loss / n_non_ignore
    loss += z_loss
    tl.store(loss_ptr, loss)
    if RETURN_Z_LOSS:
        tl.store(z_loss_ptr, z_loss)


def cross_entropy_of(
    x: Array, y: Array, w: Array | None, z: float, smooth: float, cap: float | None, index: int
) -> float:
    """The mean loss with row `index` alone as its numerator."""
    alive = y != -100
    capped = wide(x[index]) if cap is None else cap * np.tanh(x[index] / cap)
    lse = np.log(np.exp(capped).sum())
    weights = np.ones(len(capped)) if w is None else w
    count = alive.sum() if w is None else weights.sum()
    loss = weights[y[index]] * (lse - capped[y[index]]) * (1 - smooth)
    loss += smooth / len(capped) * (weights * (lse - capped)).sum()
    return loss / count + z * lse * lse / alive.sum()


@LIBRARY.case
def cross_entropy_of_every_kind() -> Checks:
    results: Checks = []
    rows, n = 5, 37
    x, y = wide(normal(rows, n, seed=20)), np.array([3, 36, -100, 0, 11], np.int64)
    weight = uniform(n, seed=21, low=0.5)
    for w, z, smooth, cap in (
        (None, 0.0, 0.0, None),
        (None, 0.01, 0.1, None),
        (weight, 0.02, 0.2, None),
        (None, 0.0, 0.1, 2.0),
    ):
        got, loss, z_loss = x.astype(np.float32), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
        liger_cross_entropy[(rows,)](
            got, n, y, 1, w, loss, z_loss if z else None, 1, n, 4, 0.0 if w is None else float(w.sum()), -100, z, smooth,
            "mean", cap, RETURN_Z_LOSS=z > 0, BLOCK_SIZE=16, HAS_WEIGHT=w is not None, HAS_SOFTCAPPING=cap is not None,
            HAS_GRADIENTS=True,
        )  # fmt: skip
        expected, slope, h = np.zeros(rows), np.zeros((rows, n)), 1e-5
        for i in np.flatnonzero(y != -100):
            expected[i] = cross_entropy_of(x, y, w, z, smooth, cap, i)
            for j in range(n):
                step = np.zeros_like(x)
                step[i, j] = h
                up, down = (cross_entropy_of(x + s, y, w, z, smooth, cap, i) for s in (step, -step))
                slope[i, j] = (up - down) / (2 * h)
        results += [(loss, expected, 1e-5), (got, slope, 1e-5)]
    return results


@triton.jit
def jensen_shannon(
    X_ptr, X_stride, Y_ptr, Y_stride, loss_ptr, dX_ptr, label_ptr, beta: tl.constexpr, n_non_ignore: int,
    ignore_index: tl.constexpr, n_cols, BLOCK_SIZE: tl.constexpr, HAS_LABEL: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0).to(tl.int64)
    X_ptr += pid * X_stride
    dX_ptr += pid * X_stride
    Y_ptr += pid * Y_stride
    loss_ptr += pid * X_stride
    label_ptr += pid
    if HAS_LABEL:
        label = tl.load(label_ptr)
        if label == ignore_index:
            for i in range(0, n_cols, BLOCK_SIZE):
                offsets = i + tl.arange(0, BLOCK_SIZE)
                tl.store(dX_ptr + offsets, 0.0, mask=offsets < n_cols)
            return
    for i in range(0, n_cols, BLOCK_SIZE):
        offsets = i + tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_cols
        X = tl.load(X_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        Y = tl.load(Y_ptr + offsets, mask=mask, other=float("-inf")).to(tl.float32)
        if beta == 0.0:
            Y_max = tl.max(Y, axis=0)
            Y_shifted = Y - Y_max
            Y_prob = tl.exp(Y_shifted) * tl.exp(Y_max)
            loss = Y_prob * (Y - X)
            dX = -Y_prob
        elif beta == 1.0:
            X_max = tl.max(X, axis=0)
            X_prob = tl.exp(X - X_max) * tl.exp(X_max)
            loss = X_prob * (X - Y)
            dX = loss + X_prob
        else:
            max_val = tl.maximum(tl.max(X, axis=0), tl.max(Y, axis=0))
            exp_max = tl.exp(max_val)
            Q, P = tl.exp(X - max_val) * exp_max, tl.exp(Y - max_val) * exp_max
            beta_P, one_minus_beta_Q = beta * P, (1 - beta) * Q
            M = beta_P + one_minus_beta_Q
            log_M = tl.log(M)
            loss = beta_P * Y + one_minus_beta_Q * X - M * log_M
            dX = one_minus_beta_Q * (X - log_M)
        scale = 1.0 / n_non_ignore
        tl.store(loss_ptr + offsets, loss * scale, mask=mask)
        tl.store(dX_ptr + offsets, dX * scale, mask=mask)


@LIBRARY.case
def divergences() -> Checks:
    results: Checks = []
    rows, n = 4, 50
    x, y = np.log(softmax(wide(normal(rows, n, seed=22)))), np.log(softmax(wide(normal(rows, n, seed=23))))
    labels = np.array([1, -100, 3, 4], np.int64)
    for beta, labelled in ((0.0, False), (1.0, True), (0.3, True)):
        loss, dx = np.zeros((rows, n), np.float32), np.zeros((rows, n), np.float32)
        jensen_shannon[(rows,)](
            x.astype(np.float32), n, y.astype(np.float32), n, loss, dx, labels, beta, 3, -100, n,
            BLOCK_SIZE=32, HAS_LABEL=labelled,
        )  # fmt: skip
        p, q = np.exp(y), np.exp(x)
        m = beta * p + (1 - beta) * q
        if beta == 0:
            wanted, slope = p * (y - x), -p
        elif beta == 1:
            wanted, slope = q * (x - y), q * (x - y + 1)
        else:
            wanted = beta * p * (y - np.log(m)) + (1 - beta) * q * (x - np.log(m))
            slope = (1 - beta) * q * (x - np.log(m))
        live = (labels != -100)[:, None] if labelled else 1
        results += [(loss, wanted * live / 3, 1e-5), (dx, slope * live / 3, 1e-5)]
    return results
