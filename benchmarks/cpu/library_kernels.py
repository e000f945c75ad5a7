"""Kernels of libraries for training and inference, as their authors write them, for the benchmark table."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def softmax_gradient(y_ptr, dy_ptr, dx_ptr, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < cols
    y = tl.load(y_ptr + r * cols + c, mask=m, other=0.0)
    dy = tl.load(dy_ptr + r * cols + c, mask=m, other=0.0)
    s = tl.sum(y * dy, 0)
    tl.store(dx_ptr + r * cols + c, y * (dy - s), mask=m)


@triton.jit
def rms_norm_gradient(x_ptr, w_ptr, dy_ptr, dx_ptr, dw_ptr, rows, cols, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < cols
    w = tl.load(w_ptr + c, mask=m, other=0.0)
    dw = tl.zeros([BLOCK], tl.float32)
    for i in range(ROWS):
        r = p * ROWS + i
        x = tl.load(x_ptr + r * cols + c, mask=m, other=0.0)
        dy = tl.load(dy_ptr + r * cols + c, mask=m, other=0.0)
        rstd = tl.rsqrt(tl.sum(x * x, 0) / cols + eps)
        xhat = x * rstd
        wdy = w * dy
        s = tl.sum(xhat * wdy, 0) / cols
        tl.store(dx_ptr + r * cols + c, (wdy - xhat * s) * rstd, mask=m)
        dw += dy * xhat
    tl.atomic_add(dw_ptr + c, dw, mask=m)


@triton.jit
def matmul_int8(a_ptr, b_ptr, c_ptr, sa_ptr, sb_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], tl.int32)
    for k0 in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + k0 + k[None, :])
        b = tl.load(b_ptr + (k0 + k[:, None]) * N + n[None, :])
        acc = tl.dot(a, b, acc)
    out = acc.to(tl.float32) * tl.load(sa_ptr + m)[:, None] * tl.load(sb_ptr + n)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], out)


@triton.jit
def matmul_int4(a_ptr, q_ptr, s_ptr, c_ptr, M, N, K, G: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """B: K/8 x N words of eight 4-bit values along K, scale per group of G rows."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, G)
    acc = tl.zeros([BM, BN], tl.float32)
    for k0 in range(0, K, G):
        a = tl.load(a_ptr + m[:, None] * K + k0 + k[None, :])
        q = tl.load(q_ptr + ((k0 + k[:, None]) // 8) * N + n[None, :])
        v = (q >> ((k[:, None] % 8) * 4)) & 15
        s = tl.load(s_ptr + (k0 // G) * N + n)
        acc = tl.dot(a, (v - 8).to(tl.float32) * s[None, :], acc)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)


@triton.jit
def causal_conv1d(x_ptr, w_ptr, b_ptr, y_ptr, D, L, W: tl.constexpr, BLOCK: tl.constexpr):
    bd = tl.program_id(0)
    d = bd % D
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32) + tl.load(b_ptr + d)
    for j in tl.static_range(W):
        s = t + j - (W - 1)
        acc += tl.load(x_ptr + bd * L + s, mask=(s >= 0) & (t < L), other=0.0) * tl.load(w_ptr + d * W + j)
    tl.store(y_ptr + bd * L + t, acc * tl.sigmoid(acc), mask=t < L)


@triton.jit
def state_update(state_ptr, x_ptr, dt_ptr, A_ptr, B_ptr, C_ptr, D_ptr, out_ptr, dim, BD: tl.constexpr, N: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    n = tl.arange(0, N)
    at = (b * dim + d[:, None]) * N + n[None, :]
    s = tl.load(state_ptr + at)
    x = tl.load(x_ptr + b * dim + d)
    dt = tl.load(dt_ptr + b * dim + d)
    dt = tl.where(dt <= 20.0, tl.log(1 + tl.exp(dt)), dt)
    A = tl.load(A_ptr + d[:, None] * N + n[None, :])
    B = tl.load(B_ptr + b * N + n)
    C = tl.load(C_ptr + b * N + n)
    s = s * tl.exp(A * dt[:, None]) + B[None, :] * (dt * x)[:, None]
    tl.store(state_ptr + at, s)
    tl.store(out_ptr + b * dim + d, tl.sum(s * C[None, :], 1) + x * tl.load(D_ptr + d))


@triton.jit
def depthwise_3x3(x_ptr, w_ptr, y_ptr, C, H, W, BLOCK: tl.constexpr):
    bc = tl.program_id(0)
    h = tl.program_id(1)
    c = bc % C
    w = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            hh = h + i - 1
            ww = w + j - 1
            v = tl.load(x_ptr + (bc * H + hh) * W + ww, mask=(hh >= 0) & (hh < H) & (ww >= 0) & (ww < W), other=0.0)
            acc += v * tl.load(w_ptr + c * 9 + i * 3 + j)
    tl.store(y_ptr + (bc * H + h) * W + w, acc, mask=w < W)


@triton.jit
def batch_norm(x_ptr, w_ptr, b_ptr, y_ptr, B, C, HW, eps, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    s = tl.zeros([BLOCK], tl.float32)
    q = tl.zeros([BLOCK], tl.float32)
    for b in range(B):
        for h0 in range(0, HW, BLOCK):
            x = tl.load(x_ptr + (b * C + c) * HW + h0 + i, mask=h0 + i < HW, other=0.0)
            s += x
            q += x * x
    n = B * HW
    mean = tl.sum(s, 0) / n
    var = tl.sum(q, 0) / n - mean * mean
    k = tl.load(w_ptr + c) * tl.rsqrt(var + eps)
    o = tl.load(b_ptr + c) - mean * k
    for b in range(B):
        for h0 in range(0, HW, BLOCK):
            x = tl.load(x_ptr + (b * C + c) * HW + h0 + i, mask=h0 + i < HW, other=0.0)
            tl.store(y_ptr + (b * C + c) * HW + h0 + i, x * k + o, mask=h0 + i < HW)


@triton.jit
def divergence(x_ptr, t_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    s = tl.zeros([BLOCK], tl.float32)
    for c0 in range(0, cols, BLOCK):
        c = c0 + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + r * cols + c, mask=c < cols, other=0.0)
        t = tl.load(t_ptr + r * cols + c, mask=c < cols, other=0.0)
        s += tl.where(t > 0, t * (tl.log(t) - x), 0.0)
    tl.store(out_ptr + r, tl.sum(s, 0))


@triton.jit
def log_softmax(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * cols + c, mask=c < cols, other=-float("inf"))
    x = x - tl.max(x, 0)
    tl.store(y_ptr + r * cols + c, x - tl.log(tl.sum(tl.exp(x), 0)), mask=c < cols)


@triton.jit
def count(i_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.load(i_ptr + o, mask=o < n, other=0)
    tl.atomic_add(out_ptr + i, 1, mask=o < n)


@triton.jit
def add_rows(x_ptr, i_ptr, out_ptr, n, W: tl.constexpr, R: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.arange(0, W)
    i = tl.load(i_ptr + r, mask=r < n, other=0)
    x = tl.load(x_ptr + r[:, None] * W + c[None, :], mask=r[:, None] < n, other=0.0)
    tl.atomic_add(out_ptr + i[:, None] * W + c[None, :], x, mask=r[:, None] < n)


@triton.jit
def dequantise_nf4(q_ptr, t_ptr, s_ptr, y_ptr, n, G: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(q_ptr + o // 2, mask=o < n, other=0).to(tl.int32)
    v = tl.load(t_ptr + ((q >> ((o % 2) * 4)) & 15))
    s = tl.load(s_ptr + o // G, mask=o < n, other=0.0)
    tl.store(y_ptr + o, v * s, mask=o < n)


@triton.jit
def matvec(a_ptr, x_ptr, y_ptr, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros([BM, BN], tl.float32)
    for n0 in range(0, N, BN):
        n = n0 + tl.arange(0, BN)
        acc += tl.load(a_ptr + m[:, None] * N + n[None, :]) * tl.load(x_ptr + n)[None, :]
    tl.store(y_ptr + m, tl.sum(acc, 1))


@triton.jit
def linear(x_ptr, w_ptr, y_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """x @ w.T: w has a row for each column of the result."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x_at = x_ptr + (m % M)[:, None] * K + k[None, :]
    w_at = w_ptr + (n % N)[None, :] * K + k[:, None]
    acc = tl.zeros([BM, BN], tl.float32)
    for k0 in range(0, K, BK):
        x = tl.load(x_at, mask=k[None, :] < K - k0, other=0.0)
        w = tl.load(w_at, mask=k[:, None] < K - k0, other=0.0)
        acc = tl.dot(x, w, acc)
        x_at += BK
        w_at += BK
    y = acc.to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def column_maxima(x_ptr, out_ptr, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + r[:, None] * cols + c[None, :])
    tl.atomic_max(out_ptr + c, tl.max(x, 0))


@triton.jit
def decode_pages(
    q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, o_ptr, scale, blocks, H: tl.constexpr, D: tl.constexpr, P: tl.constexpr
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    d = tl.arange(0, D)
    p = tl.arange(0, P)
    q = tl.load(q_ptr + (b * H + h) * D + d) * scale
    n = tl.load(len_ptr + b)
    m = -float("inf")
    total = 0.0
    acc = tl.zeros([D], tl.float32)
    for i in range(tl.cdiv(n, P)):
        page = tl.load(table_ptr + b * blocks + i)
        at = ((page * P + p[:, None]) * H + h) * D + d[None, :]
        live = i * P + p < n
        k = tl.load(k_ptr + at, mask=live[:, None], other=0.0)
        s = tl.sum(q[None, :] * k, 1)
        s = tl.where(live, s, -float("inf"))
        m2 = tl.maximum(m, tl.max(s, 0))
        a = tl.exp(m - m2)
        e = tl.exp(s - m2)
        v = tl.load(v_ptr + at, mask=live[:, None], other=0.0)
        acc = acc * a + tl.sum(e[:, None] * v, 0)
        total = total * a + tl.sum(e, 0)
        m = m2
    tl.store(o_ptr + (b * H + h) * D + d, acc / total)


@triton.jit
def upsample_bilinear(x_ptr, y_ptr, H, W, BLOCK: tl.constexpr):
    bc = tl.program_id(0)
    oy = tl.program_id(1)
    ox = tl.arange(0, BLOCK)
    sy = tl.maximum((oy + 0.5) * 0.5 - 0.5, 0.0)
    sx = tl.maximum((ox + 0.5) * 0.5 - 0.5, 0.0)
    y0 = sy.to(tl.int32)
    x0 = sx.to(tl.int32)
    fy = sy - y0
    fx = sx - x0
    y1 = tl.minimum(y0 + 1, H - 1)
    x1 = tl.minimum(x0 + 1, W - 1)
    m = ox < 2 * W
    base = x_ptr + bc * H * W
    a = tl.load(base + y0 * W + x0, mask=m, other=0.0)
    b = tl.load(base + y0 * W + x1, mask=m, other=0.0)
    c = tl.load(base + y1 * W + x0, mask=m, other=0.0)
    d = tl.load(base + y1 * W + x1, mask=m, other=0.0)
    top = a + (b - a) * fx
    bot = c + (d - c) * fx
    tl.store(y_ptr + (bc * 2 * H + oy) * 2 * W + ox, top + (bot - top) * fy, mask=m)
