"""Kernels over images, grids and graphs: resampling, pooling, convolutions by hand, equalisation, suppression of boxes,
cellular automata, shortest paths, strings."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import Checks, Library, integers, normal, strides, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# ----------------------------------------------------------------------------------------- resampling: bilinear, by a grid


@triton.jit
def _pixel(ptr, y, x, stride_y, stride_x, H, W, live):
    inside = (y >= 0) & (y < H) & (x >= 0) & (x < W)
    return tl.load(ptr + y * stride_y + x * stride_x, mask=inside & live, other=0.0).to(tl.float32)


@triton.jit
def _neighbours(out, size, scale, ALIGN_CORNERS: tl.constexpr):
    """The two pixels on either side of an output pixel along one axis, and how near it is to the second."""
    place = out * scale if ALIGN_CORNERS else tl.maximum((out + 0.5) * scale - 0.5, 0.0)
    low = tl.floor(place).to(tl.int32)
    return low, tl.minimum(low + 1, size - 1), place - low


@triton.jit
def upsample_bilinear(
    in_ptr,
    out_ptr,
    OH,
    OW,
    H,
    W,
    scale_h,
    scale_w,
    ALIGN_CORNERS: tl.constexpr,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """A tile of an output plane; what lies past an edge is made again at the other one."""
    row = (ROWS * tl.program_id(1) + tl.arange(0, ROWS)) % OH
    column = (COLUMNS * tl.program_id(0) + tl.arange(0, COLUMNS)) % OW
    left, right, to_right = _neighbours(column, W, scale_w, ALIGN_CORNERS)
    above, below, to_below = _neighbours(row, H, scale_h, ALIGN_CORNERS)
    upper_row = in_ptr + (tl.program_id(2) * H + above[:, None]) * W
    lower_row = in_ptr + (tl.program_id(2) * H + below[:, None]) * W
    upper, lower = tl.load(upper_row + left[None, :]), tl.load(lower_row + left[None, :])
    upper += (tl.load(upper_row + right[None, :]) - upper) * to_right[None, :]
    lower += (tl.load(lower_row + right[None, :]) - lower) * to_right[None, :]
    target = out_ptr + (tl.program_id(2) * OH + row[:, None]) * OW + column[None, :]
    tl.store(target, upper + (lower - upper) * to_below[:, None])


@triton.jit
def grid_sample(in_ptr, grid_ptr, out_ptr, C, H, W, n, stride_c, stride_h, stride_w, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    gx, gy = tl.load(grid_ptr + 2 * i, mask=live, other=0.0), tl.load(grid_ptr + 2 * i + 1, mask=live, other=0.0)
    x, y = ((gx + 1) * W - 1) / 2, ((gy + 1) * H - 1) / 2
    x0, y0 = tl.floor(x), tl.floor(y)
    fx, fy = x - x0, y - y0
    ix, iy = x0.to(tl.int32), y0.to(tl.int32)
    for c in range(C):
        plane = in_ptr + c * stride_c
        value = _pixel(plane, iy, ix, stride_h, stride_w, H, W, live) * (1 - fx) * (1 - fy)
        value += _pixel(plane, iy, ix + 1, stride_h, stride_w, H, W, live) * fx * (1 - fy)
        value += _pixel(plane, iy + 1, ix, stride_h, stride_w, H, W, live) * (1 - fx) * fy
        value += _pixel(plane, iy + 1, ix + 1, stride_h, stride_w, H, W, live) * fx * fy
        tl.store(out_ptr + c * n + i, value, mask=live)


@LIBRARY.case
def images_resampled() -> Checks:
    ih, iw, oh, ow, planes = 5, 7, 9, 12, 3
    x, results = normal(planes, ih, iw, seed=1), Checks()
    for corners in (True, False):
        sy, sx = ((ih - 1) / (oh - 1), (iw - 1) / (ow - 1)) if corners else (ih / oh, iw / ow)
        out = np.empty((planes, oh, ow), np.float32)
        upsample_bilinear[lambda meta: (triton.cdiv(ow, meta["COLUMNS"]), triton.cdiv(oh, meta["ROWS"]), planes)](
            x, out, oh, ow, ih, iw, sy, sx, ALIGN_CORNERS=corners, COLUMNS=8, ROWS=4
        )
        y, z = np.arange(oh), np.arange(ow)
        y, z = (
            (y * sy, z * sx) if corners else (np.maximum((y + 0.5) * sy - 0.5, 0), np.maximum((z + 0.5) * sx - 0.5, 0))
        )
        rows = np.array([[max(0.0, 1 - abs(v - j)) for j in range(ih)] for v in np.minimum(y, ih - 1)])
        cols = np.array([[max(0.0, 1 - abs(v - j)) for j in range(iw)] for v in np.minimum(z, iw - 1)])
        results.append((out, rows @ wide(x) @ cols.T, 1e-5))
    image, grid = normal(6, 8, 3, seed=2), uniform(40, 2, seed=3, low=-1.2, high=1.2)
    sampled = np.empty((3, 40), np.float32)
    grid_sample[(2,)](image, grid, sampled, 3, 6, 8, 40, 1, 24, 3, BLOCK=32)
    px, py = ((wide(grid[:, 0]) + 1) * 8 - 1) / 2, ((wide(grid[:, 1]) + 1) * 6 - 1) / 2
    wy = np.maximum(0, 1 - abs(py[:, None] - np.arange(6)))
    wx = np.maximum(0, 1 - abs(px[:, None] - np.arange(8)))
    return [*results, (sampled, np.einsum("ny,nx,yxc->cn", wy, wx, wide(image)), 1e-4)]


# ------------------------------------------------------------------------------------- pooling, depthwise and unrolled


@triton.jit
def max_pool_with_places(
    x_ptr, out_ptr, index_ptr, stride_nc, stride_h, stride_w, H, W, OH, OW,
    KH: tl.constexpr, KW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PH: tl.constexpr, PW: tl.constexpr,
    DH: tl.constexpr, DW: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr,
):  # fmt: skip
    nc, tile = tl.program_id(0), tl.program_id(1)
    tiles_w = tl.cdiv(OW, BLOCK_W)
    oh = (tile // tiles_w) * BLOCK_H + tl.arange(0, BLOCK_H)
    ow = (tile % tiles_w) * BLOCK_W + tl.arange(0, BLOCK_W)
    lowest = tl.full((), float("-inf"), x_ptr.type.element_ty)
    best = tl.full((BLOCK_H, BLOCK_W), float("-inf"), dtype=x_ptr.type.element_ty)
    where = tl.full((BLOCK_H, BLOCK_W), -1, dtype=tl.int64)
    for kh in tl.static_range(0, KH):
        for kw in tl.static_range(0, KW):
            ih, iw = oh[:, None] * SH - PH + kh * DH, ow[None, :] * SW - PW + kw * DW
            inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
            value = tl.load(x_ptr + nc * stride_nc + ih * stride_h + iw * stride_w, mask=inside, other=lowest)
            better = value > best
            where = tl.where(better & inside, ih * W + iw, where)
            best = tl.where(better, value, best)
    at = (nc * OH + oh[:, None]) * OW + ow[None, :]
    mask = (oh < OH)[:, None] & (ow < OW)[None, :]
    tl.store(out_ptr + at, best, mask=mask)
    tl.store(index_ptr + at, where, mask=mask)


@triton.jit
def depthwise_conv(
    x_ptr, w_ptr, bias_ptr, y_ptr, C, H, W, GELU: tl.constexpr, K: tl.constexpr, BLOCK_C: tl.constexpr,
    BLOCK_W: tl.constexpr,
):  # fmt: skip
    """Images with their channels last; K x K, same size."""
    row, cols = tl.program_id(0), tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    c = tl.program_id(2) * BLOCK_C + tl.arange(0, BLOCK_C)
    image, y = row // H, row % H
    acc = tl.zeros([BLOCK_W, BLOCK_C], tl.float32) + tl.load(bias_ptr + c, mask=c < C, other=0.0)[None, :]
    for ky in range(K):
        sy = y + ky - K // 2
        if sy >= 0 and sy < H:
            for kx in tl.static_range(K):
                sx = cols + kx - K // 2
                live = ((sx >= 0) & (sx < W))[:, None] & (c < C)[None, :]
                x = tl.load(x_ptr + ((image * H + sy) * W + sx)[:, None] * C + c[None, :], mask=live, other=0.0)
                acc += x * tl.load(w_ptr + (ky * K + kx) * C + c, mask=c < C, other=0.0)[None, :]
    if GELU:
        acc = acc * tl.sigmoid(1.702 * acc)
    tl.store(y_ptr + ((row * W) + cols)[:, None] * C + c[None, :], acc, mask=(cols < W)[:, None] & (c < C)[None, :])


@triton.jit
def unroll_patches(
    x_ptr, out_ptr, C, H, W, OW, K: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr, BACK: tl.constexpr
):
    """One output pixel a program; backwards, patches are added to the image."""
    pixel, channel = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, BLOCK)
    ky, kx = i // K, i % K
    y, x = (pixel // OW) * STRIDE + ky, (pixel % OW) * STRIDE + kx
    live = (i < K * K) & (y < H) & (x < W)
    image = x_ptr + (channel * H + y) * W + x
    patch = out_ptr + (pixel * C + channel) * K * K + i
    if BACK:
        tl.atomic_add(image, tl.load(patch, mask=live, other=0.0), mask=live, sem="relaxed")
    else:
        tl.store(patch, tl.load(image, mask=live, other=0.0), mask=i < K * K)


@LIBRARY.case
def pools_and_patches() -> Checks:
    n, h, w = 3, 9, 11
    x = normal(n, h, w, seed=4, dtype=np.float16)
    oh, ow = (h + 2 - 2 * 2 - 1) // 2 + 1, (w + 2 - 2 * 1 - 1) // 2 + 1
    out, index = np.empty((n, oh, ow), np.float16), np.empty((n, oh, ow), np.int64)
    max_pool_with_places[(n, triton.cdiv(oh, 4) * triton.cdiv(ow, 4))](
        x, out, index, *strides(x), h, w, oh, ow, 3, 3, 2, 2, 1, 1, 2, 1, BLOCK_H=4, BLOCK_W=4
    )
    padded = np.pad(wide(x), ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    taps = np.stack(
        [padded[:, i * 2 : i * 2 + 2 * oh - 1 : 2, j : j + 2 * ow - 1 : 2] for i in range(3) for j in range(3)]
    )
    images = normal(2, 5, 9, 20, seed=5)
    weight, bias, y = normal(3, 3, 20, seed=6), normal(20, seed=7), np.empty((2, 5, 9, 20), np.float32)
    depthwise_conv[(10, 2, 2)](images, weight, bias, y, 20, 5, 9, GELU=True, K=3, BLOCK_C=16, BLOCK_W=8)
    around = np.pad(wide(images), ((0, 0), (1, 1), (1, 1), (0, 0)))
    conv = sum(around[:, i : i + 5, j : j + 9] * weight[i, j] for i in range(3) for j in range(3)) + bias
    image, patches, back = normal(2, 8, 8, seed=8), np.empty((9, 2, 9), np.float32), np.zeros((2, 8, 8), np.float32)
    unroll_patches[(9, 2)](image, patches, 2, 8, 8, 3, K=3, STRIDE=2, BLOCK=16, BACK=False)
    unroll_patches[(9, 2)](back, patches, 2, 8, 8, 3, K=3, STRIDE=2, BLOCK=16, BACK=True)
    views = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2))[:, ::2, ::2]
    times: Array = np.zeros((8, 8))
    for i in range(3):
        for j in range(3):
            times[2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += 1
    return [
        (out, taps.max(0), 0), (np.take_along_axis(x.reshape(n, -1), index.reshape(n, -1), 1), taps.max(0).reshape(n, -1), 0),
        (y, conv / (1 + np.exp(-1.702 * conv)), 1e-4),
        (patches, views.transpose(1, 2, 0, 3, 4).reshape(9, 2, 9), 0), (back, image * times, 1e-5),
    ]  # fmt: skip


# ----------------------------------------------------------------------------- histograms, boxes, automata, paths, strings


@triton.jit
def count_levels(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    levels = tl.load(x_ptr + i, mask=i < n, other=0)
    counts = tl.histogram(levels.to(tl.int32), 256, mask=i < n)
    tl.atomic_add(counts_ptr + tl.arange(0, 256), counts, mask=counts > 0)


@triton.jit
def equalise(x_ptr, counts_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sums = tl.cumsum(tl.load(counts_ptr + tl.arange(0, 256)), 0)
    lowest = tl.min(tl.where(sums > 0, sums, n), 0)
    table = ((sums - lowest) * 255.0 / (n - lowest) + 0.5).to(tl.int32)
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.int32)
    tl.store(out_ptr + i, tl.gather(table, x, 0).to(tl.uint8), mask=i < n)


@triton.jit
def box_overlaps(boxes_ptr, mask_ptr, n, threshold, BLOCK: tl.constexpr):
    """One bit a pair: row i, word j."""
    i, word = tl.program_id(0), tl.program_id(1)
    j = word * BLOCK + tl.arange(0, BLOCK)
    x0, y0 = tl.load(boxes_ptr + i * 4), tl.load(boxes_ptr + i * 4 + 1)
    x1, y1 = tl.load(boxes_ptr + i * 4 + 2), tl.load(boxes_ptr + i * 4 + 3)
    live = (j < n) & (j > i)
    u0, v0 = tl.load(boxes_ptr + j * 4, mask=live, other=0.0), tl.load(boxes_ptr + j * 4 + 1, mask=live, other=0.0)
    u1, v1 = tl.load(boxes_ptr + j * 4 + 2, mask=live, other=0.0), tl.load(boxes_ptr + j * 4 + 3, mask=live, other=0.0)
    w = tl.maximum(tl.minimum(x1, u1) - tl.maximum(x0, u0), 0.0)
    h = tl.maximum(tl.minimum(y1, v1) - tl.maximum(y0, v0), 0.0)
    both = w * h
    union = (x1 - x0) * (y1 - y0) + (u1 - u0) * (v1 - v0) - both
    hit = live & (both > threshold * union)
    bits = tl.where(hit, tl.full([BLOCK], 1, tl.int64) << tl.arange(0, BLOCK).to(tl.int64), 0)
    tl.store(mask_ptr + i * tl.num_programs(1) + word, tl.sum(bits, 0))


@triton.jit
def suppress(mask_ptr, keep_ptr, n, words, WORDS: tl.constexpr):
    """One program walks the boxes, best first."""
    w = tl.arange(0, WORDS)
    removed = tl.zeros([WORDS], tl.int64)
    for i in range(n):
        mine = tl.sum(tl.where(w == i // 64, removed, 0), 0)
        alive = (mine >> (i % 64).to(tl.int64)) & 1 == 0
        tl.store(keep_ptr + i, alive)
        if alive:
            removed |= tl.load(mask_ptr + i * words + w, mask=w < words, other=0)


@LIBRARY.case
def equalised_levels_and_suppressed_boxes() -> Checks:
    image = (integers(0, 256, 30, 31, seed=9) // 4 + 60).astype(np.uint8)
    counts, out = np.zeros(256, np.int32), np.empty_like(image)
    count_levels[(8,)](image, counts, image.size, BLOCK=128)
    equalise[(8,)](image, counts, out, image.size, BLOCK=128)
    levels = np.bincount(image.ravel(), minlength=256)
    sums = levels.cumsum()
    lowest = sums[sums > 0].min()
    table = ((sums - lowest) * 255.0 / (image.size - lowest) + 0.5).astype(int)
    n, words = 100, 2
    corner = uniform(n, 2, seed=10, high=10)
    boxes = np.concatenate([corner, corner + uniform(n, 2, seed=11, low=1, high=5)], 1)
    masks, keep = np.zeros((n, words), np.int64), np.zeros(n, np.int8)
    box_overlaps[(n, words)](boxes, masks, n, 0.3, BLOCK=64)
    suppress[(1,)](masks, keep, n, words, WORDS=2)
    alive = np.ones(n, bool)
    low, high = np.maximum(boxes[:, None, :2], boxes[None, :, :2]), np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    both = np.prod(np.maximum(high - low, 0), -1)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], -1)
    overlaps = both > 0.3 * (area[:, None] + area[None] - both)
    for i in range(n):
        if alive[i]:
            alive[i + 1 :] &= ~overlaps[i, i + 1 :]
    return [(counts, levels, 0), (out, table[image], 0), (keep, alive, 0)]


@triton.jit
def life(x_ptr, out_ptr, H, W, BLOCK: tl.constexpr):
    y, x = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    around = tl.zeros([BLOCK], tl.int32)
    for dy in tl.static_range(-1, 2):
        for dx in tl.static_range(-1, 2):
            if dy != 0 or dx != 0:
                there = ((y + dy + H) % H) * W + (x + dx + W) % W
                around += tl.load(x_ptr + there, mask=x < W, other=0).to(tl.int32)
    here = tl.load(x_ptr + y * W + x, mask=x < W, other=0) != 0
    tl.store(out_ptr + y * W + x, (around == 3) | (here & (around == 2)), mask=x < W)


@triton.jit
def relax_paths(d_ptr, k, n, BLOCK: tl.constexpr):
    """d[i, j] = min(d[i, j], d[i, k] + d[k, j]), in place."""
    i, j = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    through = tl.load(d_ptr + i * n + k) + tl.load(d_ptr + k * n + j, mask=j < n, other=0.0)
    here = tl.load(d_ptr + i * n + j, mask=j < n)
    tl.store(d_ptr + i * n + j, tl.minimum(here, through), mask=j < n)


@triton.jit
def find_word(text_ptr, word_ptr, out_ptr, length, WORD: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    same = i + WORD <= length
    for k in tl.static_range(WORD):
        same &= tl.load(text_ptr + i + k, mask=i + k < length, other=0) == tl.load(word_ptr + k)
    tl.store(out_ptr + i, same, mask=i < length)


@triton.jit
def edit_distance(a_ptr, b_ptr, rows_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    """Anti-diagonals of the table; the last two are kept in three rows of memory."""
    i = tl.arange(0, BLOCK)
    for d in range(n + m + 1):
        j = d - i
        live = (i <= n) & (j >= 0) & (j <= m)
        a = tl.load(a_ptr + i - 1, mask=live & (i > 0), other=0)
        b = tl.load(b_ptr + j - 1, mask=live & (j > 0), other=1)
        one, two = rows_ptr + ((d + 2) % 3) * BLOCK, rows_ptr + ((d + 1) % 3) * BLOCK
        delete = tl.load(one + i - 1, mask=live & (i > 0), other=100000) + 1
        insert = tl.load(one + i, mask=live & (j > 0), other=100000) + 1
        replace = tl.load(two + i - 1, mask=live & (i > 0) & (j > 0), other=100000) + (a != b).to(tl.int32)
        best = tl.minimum(tl.minimum(delete, insert), replace)
        best = tl.where(d == 0, 0, best)
        tl.debug_barrier()
        tl.store(rows_ptr + (d % 3) * BLOCK + i, best, mask=live)
        tl.debug_barrier()
    tl.store(out_ptr, tl.load(rows_ptr + ((n + m) % 3) * BLOCK + n))


@LIBRARY.case
def automata_paths_and_strings() -> Checks:
    board = integers(0, 2, 12, 21, seed=12, dtype=np.bool_)
    after = np.empty_like(board)
    life[(12, 2)](board, after, 12, 21, BLOCK=16)
    around = sum(np.roll(board.astype(int), (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
    n = 21
    d = np.where(uniform(n, n, seed=13) < 0.3, uniform(n, n, seed=14, low=1, high=9), np.inf).astype(np.float32)
    np.fill_diagonal(d, 0)
    paths = wide(d)
    for k in range(n):
        relax_paths[(n, 1)](d, k, n, BLOCK=32)
        paths = np.minimum(paths, paths[:, k, None] + paths[None, k])
    text = b"tile the tiles till the tiling tilts"
    found = np.empty(len(text), np.bool_)
    find_word[(2,)](np.frombuffer(text, np.uint8), np.frombuffer(b"til", np.uint8), found, len(text), WORD=3, BLOCK=32)
    a, b = b"intention", b"execution"
    rows, distance = np.zeros((3, 16), np.int32), np.zeros(1, np.int32)
    edit_distance[(1,)](
        np.frombuffer(a, np.uint8), np.frombuffer(b, np.uint8), rows, distance, len(a), len(b), BLOCK=16
    )
    return [
        (after, (around == 3) | (board & (around == 2)), 0), (d, paths, 1e-5),
        (found, np.array([text[i : i + 3] == b"til" for i in range(len(text))]), 0), (distance, np.array([5]), 0),
    ]  # fmt: skip
