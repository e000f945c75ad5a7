"""Kernels of the kinds that model libraries have, as their authors write them, with what each computes in NumPy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
from model_cases import case, normal, softmax

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

BF16 = ml_dtypes.bfloat16


# ------------------------------------------------------------------------------------------- rms norm, with residual


@triton.jit
def rms_norm_residual(x_ptr, r_ptr, w_ptr, y_ptr, stride, n_cols, eps, BLOCK: tl.constexpr):
    """r += x in place, then y = w r / sqrt(mean(r r) + eps); the second walk goes back from the end of the row."""
    lanes = tl.arange(0, BLOCK)
    begin = tl.program_id(0).to(tl.int64) * stride
    r_ptr += begin
    power = 0.0
    for start in range(0, n_cols, BLOCK):
        valid = lanes < n_cols - start
        added = tl.load(x_ptr + begin + start + lanes, mask=valid, other=0.0).to(tl.float32)
        summed = added + tl.load(r_ptr + lanes, mask=valid, other=0.0).to(tl.float32)
        power += tl.sum(summed * summed, axis=0)
        tl.store(r_ptr + lanes, summed.to(r_ptr.dtype.element_ty), mask=valid)
        r_ptr += BLOCK
    y_ptr += begin
    scale = tl.rsqrt(power / n_cols + eps)
    for start in range(tl.cdiv(n_cols, BLOCK) * BLOCK - BLOCK, -1, -BLOCK):
        r_ptr -= BLOCK
        at = start + lanes
        normal = scale * tl.load(r_ptr + lanes, mask=at < n_cols, other=0.0).to(tl.float32)
        gain = tl.load(w_ptr + at, mask=at < n_cols)
        tl.store(y_ptr + at, gain * normal.to(y_ptr.dtype.element_ty), mask=at < n_cols)


@case
def rms_norm() -> list[tuple[Array, Any, float]]:
    x, r, w = normal(5, 300, seed=1), normal(5, 300, seed=2), normal(300, seed=3)
    y, h = np.empty_like(x), x.astype(np.float64) + r
    rms_norm_residual[(5,)](x, r, w, y, x.strides[0] // 4, 300, 1e-6, BLOCK=128)
    expected = h / np.sqrt((h * h).mean(axis=1, keepdims=True) + 1e-6) * w
    return [(y, expected, 1e-5), (r, h, 1e-6)]


# ------------------------------------------------------------------------------------------------- rotary embeddings


@triton.jit
def rotary(q_ptr, cos_ptr, sin_ptr, seq_len, heads, HALF: tl.constexpr, BACKWARD: tl.constexpr):
    token, head = tl.program_id(0), tl.program_id(1)
    cols = tl.arange(0, HALF)
    position = token % seq_len
    cos = tl.load(cos_ptr + position * HALF + cols)
    sin = tl.load(sin_ptr + position * HALF + cols)
    if BACKWARD:
        sin = -sin
    base = q_ptr + (token * heads + head) * HALF * 2
    first, second = tl.load(base + cols), tl.load(base + HALF + cols)
    tl.store(base + cols, first * cos - second * sin)
    tl.store(base + HALF + cols, second * cos + first * sin)


@case
def rotary_forward_and_back() -> list[tuple[Array, Any, float]]:
    q = normal(2 * 6, 3, 32, seed=4)
    angle = np.random.default_rng(5).uniform(0, 6, (6, 16)).astype(np.float32)
    cos, sin, original = np.cos(angle), np.sin(angle), q.copy()
    rotary[(12, 3)](q, cos, sin, 6, 3, HALF=16, BACKWARD=False)
    c, s = np.tile(cos, (2, 1))[:, None], np.tile(sin, (2, 1))[:, None]
    a, b = original[..., :16], original[..., 16:]
    forward = q.copy()
    rotary[(12, 3)](q, cos, sin, 6, 3, HALF=16, BACKWARD=True)
    return [(forward, np.concatenate([a * c - b * s, b * c + a * s], -1), 1e-5), (q, original, 1e-5)]


# ------------------------------------------------------------------------ cross entropy with an online log-sum-exp


@triton.jit
def cross_entropy(x_ptr, target_ptr, loss_ptr, n_cols, ignore_index, smoothing: tl.constexpr, BLOCK: tl.constexpr):
    """Loss against (1 - s) onehot + s / n, and its gradient over the logits; each lane has its own running softmax."""
    lanes = tl.arange(0, BLOCK)
    target = tl.load(target_ptr + tl.program_id(0))
    x_ptr += tl.program_id(0) * n_cols + lanes
    if target == ignore_index:
        for start in range(0, n_cols, BLOCK):
            tl.store(x_ptr + start, 0.0, mask=lanes < n_cols - start)
        return
    tops = tl.full([BLOCK], -1e30, tl.float32)
    sums, logits, hits = tl.zeros_like(tops), tl.zeros_like(tops), tl.zeros_like(tops)
    for start in range(0, n_cols, BLOCK):
        valid = lanes < n_cols - start
        x = tl.load(x_ptr + start, mask=valid, other=0.0).to(tl.float32)
        higher = tl.where(valid, tl.maximum(tops, x), tops)
        sums = sums * tl.exp(tops - higher) + tl.where(valid, tl.exp(x - higher), 0.0)
        hits += tl.where(start + lanes == target, x, 0.0)
        if smoothing > 0:
            logits += x
        tops = higher
    top = tl.max(tops)
    lse = top + tl.log(tl.sum(sums * tl.exp(tops - top)))
    hot, even = 1 - smoothing, smoothing / n_cols
    loss = lse - hot * tl.sum(hits)
    if smoothing > 0:
        loss -= even * tl.sum(logits)
    tl.store(loss_ptr + tl.program_id(0), loss)
    for start in range(0, n_cols, BLOCK):
        valid = lanes < n_cols - start
        share = tl.exp(tl.load(x_ptr + start, mask=valid, other=0.0).to(tl.float32) - lse)
        tl.store(x_ptr + start, share - tl.where(start + lanes == target, hot + even, even), mask=valid)


@case
def cross_entropy_with_gradient() -> list[tuple[Array, Any, float]]:
    results: list[tuple[Array, Any, float]] = []
    for smoothing in (0.0, 0.1):
        x = normal(6, 203, seed=6) * 3
        target = np.array([3, 0, 202, -100, 17, 64], np.int64)
        loss, grad = np.zeros(6, np.float32), x.copy()
        cross_entropy[(6,)](grad, target, loss, 203, -100, smoothing=smoothing, BLOCK=64)
        wide = x.astype(np.float64)
        p = softmax(wide)
        lse = np.log(np.exp(wide - wide.max(1, keepdims=True)).sum(1)) + wide.max(1)
        alive = target != -100
        picked = wide[np.arange(6), np.where(alive, target, 0)]
        expected = (1 - smoothing) * (lse - picked) + smoothing * (lse - wide.mean(1))
        hot = np.zeros_like(p)
        hot[np.arange(6), np.where(alive, target, 0)] = 1
        slope = p - smoothing / 203 - (1 - smoothing) * hot
        results += [(loss, np.where(alive, expected, 0), 1e-5), (grad, np.where(alive[:, None], slope, 0), 1e-6)]
    return results


# ------------------------------------------------------------------------------------------------------ gated units


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def gelu_tanh(x):
    return 0.5 * x * (1 + libdevice.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


@triton.jit
def gated(x_ptr, y_ptr, n, ACT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < n
    gate = tl.load(x_ptr + row * 2 * n + cols, mask=mask, other=0).to(tl.float32)
    up = tl.load(x_ptr + row * 2 * n + n + cols, mask=mask, other=0)
    tl.store(y_ptr + row * n + cols, ACT(gate).to(up.dtype) * up, mask=mask)


@case
def swiglu_and_geglu() -> list[tuple[Array, Any, float]]:
    results: list[tuple[Array, Any, float]] = []
    for act, reference in (
        (silu, lambda g: g / (1 + np.exp(-g))),
        (gelu_tanh, lambda g: 0.5 * g * (1 + np.tanh(0.7978845608028654 * (g + 0.044715 * g**3)))),
    ):
        x = normal(4, 2 * 100, seed=7).astype(BF16)
        y = np.empty((4, 100), BF16)
        gated[(4, 2)](x, y, 100, ACT=act, BLOCK=64)
        wide = x.astype(np.float64)
        results.append((y, reference(wide[:, :100]) * wide[:, 100:], 0.03))
    return results


# --------------------------------------------------------------------------- weights of four bits, unpacked in place


@triton.jit
def int4_matmul(
    a_ptr, packed_ptr, scale_ptr, zero_ptr, c_ptr, M, N, K,
    GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    rm, rn, rk = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    shifts = (rk % 8) * 4
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptr + rm[:, None] * K + (k * BK + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        words = tl.load(packed_ptr + ((k * BK + rk) // 8)[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0)
        group = k * BK // GROUP
        scale = tl.load(scale_ptr + group * N + rn, mask=rn < N, other=0.0)
        zero = tl.load(zero_ptr + group * N + rn, mask=rn < N, other=0.0)
        b = ((words >> shifts[:, None]) & 0xF).to(tl.float32)
        acc += tl.dot(a, (b - zero[None, :]) * scale[None, :], input_precision="ieee")
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@case
def quantised_weights() -> list[tuple[Array, Any, float]]:
    m, n, k, group = 20, 40, 128, 64
    rng = np.random.default_rng(8)
    q = rng.integers(0, 16, (k, n))
    packed = np.zeros((k // 8, n), np.uint32)
    for i in range(8):
        packed |= q[i::8].astype(np.uint32) << np.uint32(4 * i)
    scale, zero = rng.uniform(0.5, 1, (2, n)).astype(np.float32), rng.integers(0, 16, (2, n)).astype(np.float32)
    a, c = normal(m, k, seed=9), np.empty((m, n), np.float32)
    int4_matmul[(2, 2)](a, packed.view(np.int32), scale, zero, c, m, n, k, GROUP=group, BM=16, BN=32, BK=32)
    dense = (q - np.repeat(zero, group, 0)) * np.repeat(scale.astype(np.float64), group, 0)
    return [(c, a.astype(np.float64) @ dense, 2e-3)]


# --------------------------------------------------------------------------------- experts: rows sorted by their own


@triton.jit
def expert_matmul(
    a_ptr, b_ptr, c_ptr, ids_ptr, experts_ptr, n_tokens, N, K, top_k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """C[i] = W[expert] A[i // top_k] for each choice i of a token; a program's choices all have one expert, and those
    past the last one are padding."""
    block, column = tl.program_id(0), tl.program_id(1) * BN + tl.arange(0, BN)
    choice = tl.load(ids_ptr + block * BM + tl.arange(0, BM)).to(tl.int64)
    is_choice = choice < top_k * n_tokens
    weight_ptr = b_ptr + tl.load(experts_ptr + block) * (N * K) + (column % N)[None, :] * K
    token_ptr = a_ptr + (choice // top_k)[:, None] * K
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        depth = start + tl.arange(0, BK)
        weight = tl.load(weight_ptr + depth[:, None], mask=(depth < K)[:, None], other=0.0)
        token = tl.load(token_ptr + depth[None, :], mask=(depth < K)[None, :] & is_choice[:, None], other=0.0)
        total = tl.dot(token, weight, total, input_precision="ieee")
    tl.store(c_ptr + (choice[:, None] * N + column[None, :]), total, mask=(column < N)[None, :] & is_choice[:, None])


@case
def mixture_of_experts() -> list[tuple[Array, Any, float]]:
    tokens, top_k, experts, n, k, block = 11, 2, 3, 24, 50, 16
    rng = np.random.default_rng(10)
    a, b = normal(tokens, k, seed=11), normal(experts, n, k, seed=12)
    choice = np.stack([rng.permutation(experts)[:top_k] for _ in range(tokens)]).ravel()
    ids: list[int] = []
    owners: list[int] = []
    for expert in range(experts):
        mine = list(np.flatnonzero(choice == expert))
        mine += [tokens * top_k] * (-len(mine) % block)
        ids += mine
        owners += [expert] * (len(mine) // block)
    c = np.zeros((tokens * top_k, n), np.float32)
    expert_matmul[(len(owners), 1)](
        a, b, c, np.array(ids, np.int32), np.array(owners, np.int32), tokens, n, k, top_k, BM=block, BN=32, BK=16
    )
    expected = np.stack([b[e].astype(np.float64) @ a[i // top_k] for i, e in enumerate(choice)])
    return [(c, expected, 1e-4)]


# ------------------------------------------------------------------------------- products of eight-bit floats, scaled


@triton.jit
def quantise_rows(x_ptr, q_ptr, s_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-12) / 448.0
    tl.store(q_ptr + row * n + cols, (x / scale).to(tl.float8e4nv), mask=cols < n)
    tl.store(s_ptr + row, scale)


@triton.jit
def scaled_matmul(a_ptr, b_ptr, sa_ptr, sb_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, num_stages=2):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm < M)[:, None] & (rk < K)[None, :], other=0.0)
        b = tl.load(b_ptr + rn[None, :] * K + rk[:, None], mask=(rn < N)[None, :] & (rk < K)[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
    sa, sb = tl.load(sa_ptr + rm, mask=rm < M), tl.load(sb_ptr + rn, mask=rn < N)
    out = (acc * sa[:, None] * sb[None, :]).to(tl.bfloat16)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], out, mask=(rm < M)[:, None] & (rn < N)[None, :])


@case
def float8_matmul() -> list[tuple[Array, Any, float]]:
    m, n, k = 20, 33, 70
    x, y = normal(m, k, seed=27), normal(n, k, seed=28)
    a, b = np.empty((m, k), ml_dtypes.float8_e4m3fn), np.empty((n, k), ml_dtypes.float8_e4m3fn)
    sa, sb, c = np.empty(m, np.float32), np.empty(n, np.float32), np.empty((m, n), BF16)
    quantise_rows[(m,)](x, a, sa, k, BLOCK=128)
    quantise_rows[(n,)](y, b, sb, k, BLOCK=128)
    scaled_matmul[(2, 3)](a, b, sa, sb, c, m, n, k, BM=16, BN=16, BK=32)
    expected = (a.astype(np.float64) * sa[:, None]) @ (b.astype(np.float64) * sb[:, None]).T
    scales = np.abs(x).max(1) / 448
    return [(c, expected, 0.15), (sa, scales, 1e-6), (a.astype(np.float32) * sa[:, None], x, 0.13)]


# --------------------------------------------------------------------------------- a convolution as an implicit matmul


@triton.jit
def conv2d(
    x_ptr, w_ptr, y_ptr, H, W, OH, OW, C_IN: tl.constexpr, C_OUT: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr,
    STRIDE: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    image = tl.program_id(1)
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    oy, ox = pixel // OW, pixel % OW
    ci, co = tl.arange(0, C_IN), tl.arange(0, C_OUT)
    acc = tl.zeros((BLOCK, C_OUT), tl.float32)
    for kh in tl.static_range(KH):
        for kw in range(KW):
            iy, ix = oy * STRIDE - PAD + kh, ox * STRIDE - PAD + kw
            inside = (iy >= 0) & (iy < H) & (ix >= 0) & (ix < W) & (pixel < OH * OW)
            place = ((image * H + iy) * W + ix)[:, None] * C_IN + ci[None, :]
            x = tl.load(x_ptr + place, mask=inside[:, None], other=0.0)
            w = tl.load(w_ptr + ((kh * KW + kw) * C_IN + ci)[:, None] * C_OUT + co[None, :])
            acc += tl.dot(x, w, input_precision="ieee")
    out = y_ptr + (image * OH * OW + pixel)[:, None] * C_OUT + co[None, :]
    tl.store(out, acc, mask=(pixel < OH * OW)[:, None])


@case
def convolution() -> list[tuple[Array, Any, float]]:
    n, h, w, ci, co, stride, pad = 2, 9, 7, 16, 32, 2, 1
    oh, ow = (h + 2 * pad - 3) // stride + 1, (w + 2 * pad - 3) // stride + 1
    x, weight, y = normal(n, h, w, ci, seed=29), normal(3, 3, ci, co, seed=30), np.empty((n, oh, ow, co), np.float32)
    conv2d[(triton.cdiv(oh * ow, 16), n)](
        x, weight, y, h, w, oh, ow, C_IN=ci, C_OUT=co, KH=3, KW=3, STRIDE=stride, PAD=pad, BLOCK=16
    )
    padded = np.pad(x.astype(np.float64), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    expected = np.zeros(y.shape)
    for kh in range(3):
        for kw in range(3):
            expected += padded[:, kh : kh + oh * 2 : 2, kw : kw + ow * 2 : 2] @ weight[kh, kw]
    return [(y, expected, 1e-4)]


# ------------------------------------------------------------------------------------------------ statistics in one pass


@triton.jit
def merge_moments(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    delta = mean_b - mean_a
    n = n_a + n_b
    share = tl.where(n == 0.0, 0.0, n_b / n)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@triton.jit
def group_norm(x_ptr, y_ptr, per_group, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0) * per_group
    cols = tl.arange(0, BLOCK)
    mean, m2, count = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, per_group, BLOCK):
        live = start + cols < per_group
        x = tl.load(x_ptr + base + start + cols, mask=live, other=0.0)
        one = live.to(tl.float32)
        mean, m2, count = merge_moments(mean, m2, count, x * one, tl.zeros_like(x), one)
    mean, m2, count = tl.reduce((mean, m2, count), 0, merge_moments)
    rstd = 1.0 / tl.sqrt(m2 / count + eps)
    for start in range(0, per_group, BLOCK):
        live = start + cols < per_group
        x = tl.load(x_ptr + base + start + cols, mask=live)
        tl.store(y_ptr + base + start + cols, (x - mean) * rstd, mask=live)


@case
def welford_group_norm() -> list[tuple[Array, Any, float]]:
    x = normal(6, 250, seed=31) * 3 + 100
    y, wide = np.empty_like(x), x.astype(np.float64)
    group_norm[(6,)](x, y, 250, 1e-5, BLOCK=64)
    return [(y, (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5), 2e-4)]


# ------------------------------------------------------------------------------------- sampling: top k, nucleus, choice


@triton.jit
def sample(logits_ptr, u_ptr, token_ptr, kept_ptr, vocab, p, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    logits = tl.load(logits_ptr + row * vocab + cols, mask=cols < vocab, other=float("-inf"))
    best = tl.topk(logits, K)
    weights = tl.exp(best - tl.max(best, 0))
    probs = weights / tl.sum(weights, 0)
    before = tl.cumsum(probs, 0) - probs
    kept = before < p
    probs = tl.where(kept, probs, 0.0)
    total = tl.cumsum(probs, 0)
    u = tl.load(u_ptr + row) * tl.sum(probs, 0)
    choice = tl.sum((total <= u).to(tl.int32), 0)
    value = tl.max(tl.where(tl.arange(0, K) == choice, best, float("-inf")), 0)
    token = tl.min(tl.where(logits == value, cols, BLOCK), 0)
    tl.store(token_ptr + row, token)
    tl.store(kept_ptr + row, tl.sum(kept.to(tl.int32), 0))


@case
def nucleus_sampling() -> list[tuple[Array, Any, float]]:
    rows, vocab, k, p = 7, 200, 16, 0.8
    logits = normal(rows, vocab, seed=32) * 2
    u = np.random.default_rng(33).uniform(0, 0.999, rows).astype(np.float32)
    token, kept = np.empty(rows, np.int32), np.empty(rows, np.int32)
    sample[(rows,)](logits, u, token, kept, vocab, p, K=k, BLOCK=256)
    tokens: list[int] = []
    counts: list[int] = []
    for row in range(rows):
        order = np.argsort(-logits[row])[:k]
        probs = softmax(logits[row][order].astype(np.float64))
        alive = np.cumsum(probs) - probs < p
        probs = np.where(alive, probs, 0)
        tokens.append(int(order[int((np.cumsum(probs) <= u[row] * probs.sum()).sum())]))
        counts.append(int(alive.sum()))
    return [(token, np.array(tokens), 0), (kept, np.array(counts), 0)]


# ----------------------------------------------------------------------- split along K, parts added by atomics or locks


@triton.jit
def split_k(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.program_id(2) * BK + tl.arange(0, BK)
    a_ptrs, b_ptrs = a_ptr + rm[:, None] * K + rk[None, :], b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT)):
        left = K - k * BK * SPLIT
        a = tl.load(a_ptrs, mask=(rk[None, :] < left) & (rm[:, None] < M), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < left) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        a_ptrs += BK * SPLIT
        b_ptrs += BK * SPLIT * N
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N), sem="relaxed")


@case
def split_k_matmul() -> list[tuple[Array, Any, float]]:
    m, n, k = 30, 20, 150
    a, b, c = normal(m, k, seed=34), normal(k, n, seed=35), np.zeros((m, n), np.float32)
    split_k[(2, 2, 4)](a, b, c, m, n, k, BM=16, BN=16, BK=16, SPLIT=4)
    return [(c, a.astype(np.float64) @ b, 1e-4)]


# ---------------------------------------------------------------------------------- embeddings: bags, and their gradient


@triton.jit
def embedding_bag(table_ptr, index_ptr, offset_ptr, out_ptr, dim, MODE: tl.constexpr, BLOCK: tl.constexpr):
    bag = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < dim
    begin, end = tl.load(offset_ptr + bag), tl.load(offset_ptr + bag + 1)
    acc = tl.full((BLOCK,), float("-inf") if MODE == "max" else 0.0, tl.float32)
    i = begin
    while i < end:
        row = tl.load(table_ptr + tl.load(index_ptr + i) * dim + cols, mask=mask)
        acc = tl.maximum(acc, row) if MODE == "max" else acc + row
        i += 1
    if MODE == "mean":
        acc /= tl.maximum(end - begin, 1).to(tl.float32)
    tl.store(out_ptr + bag * dim + cols, acc, mask=mask)


@triton.jit
def embedding_gradient(grad_ptr, index_ptr, table_grad_ptr, count, dim, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Adds each row of `grad` to the row of the table that it was read from; several may be the same."""
    row, lane = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, BLOCK)[None, :]
    live = (lane < dim) & (row < count)
    target = table_grad_ptr + tl.load(index_ptr + row, mask=row < count, other=0) * dim
    tl.atomic_add(target + lane, tl.load(grad_ptr + (row * dim + lane), mask=live), mask=live)


@case
def embeddings() -> list[tuple[Array, Any, float]]:
    table, index = normal(30, 20, seed=36), np.random.default_rng(37).integers(0, 30, 25)
    offsets = np.array([0, 4, 4, 17, 25], np.int64)
    results: list[tuple[Array, Any, float]] = []
    for mode, reduce in (("sum", np.sum), ("mean", np.mean), ("max", np.max)):
        out = np.empty((4, 20), np.float32)
        embedding_bag[(4,)](table, index, offsets, out, 20, MODE=mode, BLOCK=32)
        empty = -np.inf if mode == "max" else 0.0
        bags = [table[index[a:b]] for a, b in pairwise(offsets)]
        results.append((out, np.stack([reduce(bag, 0) if len(bag) else np.full(20, empty) for bag in bags]), 1e-5))
    grad, table_grad = normal(25, 20, seed=38), np.zeros_like(table)
    embedding_gradient[(4,)](grad, index, table_grad, 25, 20, ROWS=8, BLOCK=32)
    expected = np.zeros(table.shape)
    np.add.at(expected, index, grad)
    return [*results, (table_grad, expected, 1e-5)]
