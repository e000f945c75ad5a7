"""Kernels that count several dimensions in one index and take it apart by // and %, as PyTorch's Inductor writes
everything and hand-written kernels many things: permutes, concatenations, pooling, im2col, channels of images."""

from __future__ import annotations

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl


@triton.jit
def permute_kernel(x_ptr, y_ptr, n, C, HW, BLOCK: tl.constexpr):
    """NCHW to NHWC."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    channel, pixel, image = i % C, (i // C) % HW, i // (C * HW)
    tl.store(y_ptr + i, tl.load(x_ptr + pixel + HW * channel + C * HW * image, live), live)


@triton.jit
def permute_back_kernel(x_ptr, y_ptr, n, C, HW, BLOCK: tl.constexpr):
    """NHWC to NCHW."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    pixel, channel, image = i % HW, (i // HW) % C, i // (C * HW)
    tl.store(y_ptr + i, tl.load(x_ptr + channel + C * pixel + C * HW * image, live), live)


@triton.jit
def permute_heads_kernel(x_ptr, y_ptr, n, S, H, D, BLOCK: tl.constexpr):
    """(N, S, H, D) to (N, H, S, D), as around attention."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    d, s, h, b = i % D, (i // D) % S, (i // (D * S)) % H, i // (D * S * H)
    tl.store(y_ptr + i, tl.load(x_ptr + d + D * (h + H * (s + S * b)), live), live)


@triton.jit
def cat_kernel(a_ptr, b_ptr, y_ptr, n, CA, CB, HW, BLOCK: tl.constexpr):
    """Two tensors side by side along the channels."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    C = CA + CB
    pixel, channel, image = i % HW, (i // HW) % C, i // (C * HW)
    first = channel < CA
    a = tl.load(a_ptr + pixel + HW * channel + CA * HW * image, live & first, other=0.0)
    b = tl.load(b_ptr + pixel + HW * (channel - CA) + CB * HW * image, live & (channel >= CA), other=0.0)
    tl.store(y_ptr + i, tl.where(first, a, b), live)


@triton.jit
def batch_norm_kernel(x_ptr, mean_ptr, var_ptr, weight_ptr, bias_ptr, y_ptr, n, C, HW, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    c = (i // HW) % C
    scale = tl.rsqrt(tl.load(var_ptr + c, live, other=1.0) + eps) * tl.load(weight_ptr + c, live)
    y = (tl.load(x_ptr + i, live) - tl.load(mean_ptr + c, live)) * scale + tl.load(bias_ptr + c, live)
    tl.store(y_ptr + i, tl.maximum(y, 0.0), live)


@triton.jit
def im2col_kernel(x_ptr, y_ptr, n, C, H, W, K: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    """(N, C, H, W) to (N, C * K * K, H * W) with a border of zeros."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    col, row = i % W, (i // W) % H
    k = (i // (H * W)) % (K * K)
    plane = i // (H * W * K * K)
    h, w = row + k // K - PAD, col + k % K - PAD
    inside = (h >= 0) & (h < H) & (w >= 0) & (w < W)
    tl.store(y_ptr + i, tl.load(x_ptr + w + W * (h + H * plane), live & inside, other=0.0), live)


@triton.jit
def avg_pool_kernel(x_ptr, y_ptr, n, H, W, BLOCK: tl.constexpr):
    """Means of 3 x 3 windows, one element apart."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    oh, ow = H - 2, W - 2
    col, row, plane = i % ow, (i // ow) % oh, i // (oh * ow)
    total = tl.zeros((BLOCK,), tl.float32)
    for kh in tl.static_range(3):
        for kw in tl.static_range(3):
            total += tl.load(x_ptr + (col + kw) + W * (row + kh) + H * W * plane, live)
    tl.store(y_ptr + i, total * (1.0 / 9), live)


@triton.jit
def max_pool_kernel(x_ptr, y_ptr, n, H, W, BLOCK: tl.constexpr):
    """Maxima of 2 x 2 windows, two elements apart."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    oh, ow = H // 2, W // 2
    col, row, plane = i % ow, (i // ow) % oh, i // (oh * ow)
    at = x_ptr + 2 * col + W * (2 * row) + H * W * plane
    upper = tl.maximum(tl.load(at, live), tl.load(at + 1, live))
    tl.store(y_ptr + i, tl.maximum(upper, tl.maximum(tl.load(at + W, live), tl.load(at + W + 1, live))), live)


@triton.jit
def bias_kernel(x_ptr, bias_ptr, y_ptr, n, C, HW, BLOCK: tl.constexpr):
    """NCHW plus one number for each channel."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    tl.store(y_ptr + i, tl.load(x_ptr + i, live) + tl.load(bias_ptr + (i // HW) % C, live), live)


@triton.jit
def upsample_kernel(x_ptr, y_ptr, n, H, W, BLOCK: tl.constexpr):
    """Each element of (N, H, W) in a square of four."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    col, row, plane = i % (2 * W), (i // (2 * W)) % (2 * H), i // (4 * H * W)
    tl.store(y_ptr + i, tl.load(x_ptr + col // 2 + W * (row // 2) + H * W * plane, live), live)


@triton.jit
def pixel_shuffle_kernel(x_ptr, y_ptr, n, C, H, W, R: tl.constexpr, BLOCK: tl.constexpr):
    """(N, C * R * R, H, W) to (N, C, H * R, W * R)."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    col, row = i % (W * R), (i // (W * R)) % (H * R)
    plane = i // (W * R * H * R)
    channel = plane * R * R + (row % R) * R + col % R
    tl.store(y_ptr + i, tl.load(x_ptr + col // R + W * (row // R + H * channel), live), live)


@triton.jit
def embedding_kernel(ids_ptr, table_ptr, positions_ptr, y_ptr, n, S, D, BLOCK: tl.constexpr):
    """Rows of a table plus rows of positions."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    d, token = i % D, i // D
    word = tl.load(ids_ptr + token, live, other=0)
    table = tl.load(table_ptr + word * D + d, live)
    tl.store(y_ptr + i, table + tl.load(positions_ptr + (token % S) * D + d, live), live)


@triton.jit
def channels_last_add_kernel(x_ptr, bias_ptr, y_ptr, n, C, BLOCK: tl.constexpr):
    """NHWC plus one number for each channel."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    tl.store(y_ptr + i, tl.load(x_ptr + i, live) + tl.load(bias_ptr + i % C, live), live)


@triton.jit
def channel_sums_kernel(x_ptr, y_ptr, N, C, HW, BLOCK: tl.constexpr):
    """The sum of each channel of NCHW, over images and pixels at once."""
    channel = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N * HW, BLOCK):
        r = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + r % HW + HW * channel + C * HW * (r // HW), r < N * HW, other=0.0)
    tl.store(y_ptr + channel, tl.sum(total))
