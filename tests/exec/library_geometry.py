"""Points, graphs and pixels: neighbours, clusters, splats, filters; and text as bytes."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import base64

import numpy as np
from library_cases import Checks, Library, integers, normal, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()

# ------------------------------------------------------------------------------------------------------------ points


@triton.jit
def nearest_neighbours(
    query_ptr, point_ptr, place_ptr, M, N, K: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):  # fmt: skip
    """The K nearest of all points for each query: distance and place in one number, the smallest kept by sorting."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(query_ptr + m[:, None] * D + d[None, :], mask=m[:, None] < M, other=0.0)
    best = tl.full((BM, K), 0x7FFFFFFFFFFFFFFF, tl.int64)
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN)
        point = tl.load(point_ptr + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        difference = query[:, None, :] - point[None, :, :]
        distance = tl.sum(difference * difference, axis=2)
        bits = tl.where(n[None, :] < N, distance, float("inf")).to(tl.int32, bitcast=True)
        packed = (bits.to(tl.int64) << 32) | n[None, :]
        nearest = -tl.topk(-packed, K)
        both = tl.reshape(tl.join(best, nearest), (BM, 2 * K))
        best = -tl.topk(-both, K)
    k = tl.arange(0, K)
    tl.store(place_ptr + m[:, None] * K + k[None, :], best & 0xFFFFFFFF, mask=m[:, None] < M)


@LIBRARY.case
def neighbours_of_points() -> Checks:
    query, points = normal(11, 4, seed=1), normal(70, 4, seed=2)
    place = np.zeros((11, 4), np.int32)
    nearest_neighbours[(triton.cdiv(11, 8),)](query, points, place, 11, 70, K=4, D=4, BM=8, BN=32)
    distance = ((query[:, None] - points[None]) ** 2).sum(2)
    return [(place, np.argsort(distance, axis=1, kind="stable")[:, :4], 0.0)]


@triton.jit
def farthest_points(xyz_ptr, distance_ptr, chosen_ptr, N, COUNT, BLOCK: tl.constexpr):
    """A sample of points that are far from each other; the next is the one farthest from all before it."""
    xyz_ptr += tl.program_id(0) * N * 3
    distance_ptr += tl.program_id(0) * N
    last = 0
    for step in range(COUNT):
        tl.store(chosen_ptr + tl.program_id(0) * COUNT + step, last)
        x, y, z = tl.load(xyz_ptr + last * 3), tl.load(xyz_ptr + last * 3 + 1), tl.load(xyz_ptr + last * 3 + 2)
        top, place = float("-inf"), 0
        for start in range(0, N, BLOCK):
            n = start + tl.arange(0, BLOCK)
            dx = tl.load(xyz_ptr + n * 3, mask=n < N, other=0.0) - x
            dy = tl.load(xyz_ptr + n * 3 + 1, mask=n < N, other=0.0) - y
            dz = tl.load(xyz_ptr + n * 3 + 2, mask=n < N, other=0.0) - z
            known = tl.load(distance_ptr + n, mask=n < N, other=float("-inf"))
            known = tl.minimum(known, dx * dx + dy * dy + dz * dz)
            tl.store(distance_ptr + n, known, mask=n < N)
            here, where = tl.max(known, axis=0, return_indices=True)
            if here > top:
                top = here
                place = start + where
        last = place


@LIBRARY.case
def samples_of_point_clouds() -> Checks:
    cloud = normal(2, 50, 3, seed=3)
    distance, chosen = np.full((2, 50), np.inf, np.float32), np.zeros((2, 6), np.int32)
    farthest_points[(2,)](cloud, distance, chosen, 50, 6, BLOCK=16)
    expected = np.zeros((2, 6))
    for row in range(2):
        known, last = np.full(50, np.inf), 0
        for step in range(6):
            expected[row, step] = last
            known = np.minimum(known, ((cloud[row] - cloud[row, last]) ** 2).sum(1))
            last = int(known.argmax())
    return [(chosen, expected, 0.0)]


@triton.jit
def splat(mean_ptr, conic_ptr, colour_ptr, opacity_ptr, image_ptr, COUNT, WIDTH, TILE: tl.constexpr):
    """Gaussians in order of depth, blended into a tile of pixels until hardly any light comes through."""
    y = tl.program_id(1) * TILE + tl.arange(0, TILE)[:, None]
    x = tl.program_id(0) * TILE + tl.arange(0, TILE)[None, :]
    light = tl.full((TILE, TILE), 1.0, tl.float32)
    red, green, blue = tl.zeros_like(light), tl.zeros_like(light), tl.zeros_like(light)
    g = 0
    while (g < COUNT) & (tl.max(light) > 1e-3):
        dx, dy = x - tl.load(mean_ptr + 2 * g), y - tl.load(mean_ptr + 2 * g + 1)
        a, b, c = tl.load(conic_ptr + 3 * g), tl.load(conic_ptr + 3 * g + 1), tl.load(conic_ptr + 3 * g + 2)
        power = -0.5 * (a * dx * dx + c * dy * dy) - b * dx * dy
        alpha = tl.minimum(0.99, tl.load(opacity_ptr + g) * tl.exp(power))
        alpha = tl.where((power > 0) | (alpha < 1 / 255), 0.0, alpha)
        weight = alpha * light
        red += weight * tl.load(colour_ptr + 3 * g)
        green += weight * tl.load(colour_ptr + 3 * g + 1)
        blue += weight * tl.load(colour_ptr + 3 * g + 2)
        light *= 1 - alpha
        g += 1
    pixel = image_ptr + (y * WIDTH + x) * 3
    tl.store(pixel, red)
    tl.store(pixel + 1, green)
    tl.store(pixel + 2, blue)


@LIBRARY.case
def gaussian_splats() -> Checks:
    count, size = 9, 16
    mean, colour, opacity = uniform(count, 2, seed=4, high=16.0), uniform(count, 3, seed=5), uniform(count, seed=6)
    conic = np.stack([uniform(count, seed=7) + 0.1, 0.05 * normal(count, seed=8), uniform(count, seed=9) + 0.1], 1)
    image = np.zeros((size, size, 3), np.float32)
    splat[(2, 2)](mean, np.ascontiguousarray(conic), colour, opacity, image, count, size, TILE=8)
    y, x = np.mgrid[:size, :size].astype(np.float64)
    light, expected = np.ones((size, size)), np.zeros((size, size, 3))
    for g in range(count):
        dx, dy = x - mean[g, 0], y - mean[g, 1]
        power = -0.5 * (conic[g, 0] * dx * dx + conic[g, 2] * dy * dy) - conic[g, 1] * dx * dy
        alpha = np.minimum(0.99, opacity[g] * np.exp(power))
        alpha[(power > 0) | (alpha < 1 / 255)] = 0
        expected += (alpha * light)[..., None] * colour[g]
        light *= 1 - alpha
    return [(image, expected, 5e-3)]


# ------------------------------------------------------------------------------------------------------------ graphs


@triton.jit
def find_root(parent_ptr, node, mask):
    parent = tl.load(parent_ptr + node, mask=mask, other=0, volatile=True)
    above = tl.load(parent_ptr + parent, mask=mask, other=0, volatile=True)
    while tl.max((mask & (parent != above)).to(tl.int32)) > 0:
        parent = above
        above = tl.load(parent_ptr + parent, mask=mask, other=0, volatile=True)
    return parent


@triton.jit
def hook_components(source_ptr, target_ptr, parent_ptr, changed_ptr, E, BLOCK: tl.constexpr):
    """One round of joining trees: the larger root hangs itself below the smaller one."""
    e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = e < E
    a = find_root(parent_ptr, tl.load(source_ptr + e, mask=mask, other=0), mask)
    b = find_root(parent_ptr, tl.load(target_ptr + e, mask=mask, other=0), mask)
    low, high = tl.minimum(a, b), tl.maximum(a, b)
    differs = mask & (low != high)
    tl.atomic_min(parent_ptr + high, low, mask=differs, sem="relaxed")
    tl.atomic_or(changed_ptr, tl.max(differs.to(tl.int32)))


@LIBRARY.case
def connected_components() -> Checks:
    nodes, edges = 40, 30
    source, target = integers(0, nodes, edges, seed=10), integers(0, nodes, edges, seed=11)
    parent, changed = np.arange(nodes, dtype=np.int32), np.ones(1, np.int32)
    while changed[0]:
        changed[0] = 0
        hook_components[(triton.cdiv(edges, 16),)](source, target, parent, changed, edges, BLOCK=16)
    labels = np.arange(nodes)
    for _ in range(nodes):
        for s, t in zip(source, target, strict=True):
            labels[[s, t]] = min(labels[s], labels[t])
    roots = parent
    for _ in range(nodes):
        roots = roots[roots]
    return [(roots, labels, 0.0)]


@triton.jit
def edge_softmax_aggregate(
    start_ptr, neighbour_ptr, left_ptr, right_ptr, x_ptr, out_ptr, SLOPE, H: tl.constexpr, D: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """A layer of graph attention: a program per node and head runs over the edges once, rescaling as maxima grow."""
    node, head = tl.program_id(0), tl.program_id(1)
    first, last = tl.load(start_ptr + node), tl.load(start_ptr + node + 1)
    left = tl.load(left_ptr + node * H + head)
    d = tl.arange(0, D)
    total, top = 0.0, float("-inf")
    out = tl.zeros((D,), tl.float32)
    for start in range(first, last, BLOCK):
        e = start + tl.arange(0, BLOCK)
        mask = e < last
        neighbour = tl.load(neighbour_ptr + e, mask=mask, other=0)
        score = left + tl.load(right_ptr + neighbour * H + head, mask=mask, other=0.0)
        score = tl.where(mask, tl.where(score > 0, score, score * SLOPE), float("-inf"))
        new_top = tl.maximum(top, tl.max(score))
        weight = tl.exp(score - new_top)
        rescale = tl.exp(top - new_top)
        x = tl.load(x_ptr + (neighbour[:, None] * H + head) * D + d[None, :], mask=mask[:, None], other=0.0)
        out = out * rescale + tl.sum(weight[:, None] * x, axis=0)
        total = total * rescale + tl.sum(weight)
        top = new_top
    tl.store(out_ptr + (node * H + head) * D + d, out / tl.maximum(total, 1e-9))


@LIBRARY.case
def graph_attention() -> Checks:
    counts = np.array([3, 0, 9, 1, 20])
    start = np.concatenate([[0], counts.cumsum()]).astype(np.int32)
    neighbour = integers(0, 5, int(start[-1]), seed=12)
    left, right, x = normal(5, 2, seed=13), normal(5, 2, seed=14), normal(5, 2, 16, seed=15)
    out = np.zeros_like(x)
    edge_softmax_aggregate[(5, 2)](start, neighbour, left, right, x, out, 0.2, H=2, D=16, BLOCK=8)
    expected = np.zeros(x.shape)
    for node in range(5):
        mine = neighbour[start[node] : start[node + 1]]
        if mine.size:
            score = wide(left)[node] + wide(right)[mine]
            weight = np.exp(np.where(score > 0, score, 0.2 * score))
            expected[node] = np.einsum("eh,ehd->hd", weight / weight.sum(0), wide(x)[mine])
    return [(out, expected, 1e-5)]


# ------------------------------------------------------------------------------------------------------------ pixels


@triton.jit
def ordered(a, b):
    return tl.minimum(a, b), tl.maximum(a, b)


@triton.jit
def at(image_ptr, y, x, H, W):
    """Pixels, those beyond an edge being the ones at it."""
    y = tl.minimum(tl.maximum(y, 0), H - 1)
    x = tl.minimum(tl.maximum(x, 0), W - 1)
    return tl.load(image_ptr + y * W + x)


@triton.jit
def median_filter(image_ptr, out_ptr, H, W, BLOCK: tl.constexpr):
    """The median of 3 x 3 pixels by a network of exchanges: columns sorted, then the middle of what is left."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y, x = i // W, i % W
    a, b, c = at(image_ptr, y - 1, x - 1, H, W), at(image_ptr, y, x - 1, H, W), at(image_ptr, y + 1, x - 1, H, W)
    d, e, f = at(image_ptr, y - 1, x, H, W), at(image_ptr, y, x, H, W), at(image_ptr, y + 1, x, H, W)
    g, h, k = at(image_ptr, y - 1, x + 1, H, W), at(image_ptr, y, x + 1, H, W), at(image_ptr, y + 1, x + 1, H, W)
    a, b = ordered(a, b)
    b, c = ordered(b, c)
    a, b = ordered(a, b)
    d, e = ordered(d, e)
    e, f = ordered(e, f)
    d, e = ordered(d, e)
    g, h = ordered(g, h)
    h, k = ordered(h, k)
    g, h = ordered(g, h)
    largest_low = tl.maximum(tl.maximum(a, d), g)
    smallest_high = tl.minimum(tl.minimum(c, f), k)
    b, e = ordered(b, e)
    middle = tl.maximum(b, tl.minimum(e, h))
    low, high = ordered(largest_low, smallest_high)
    tl.store(out_ptr + i, tl.maximum(low, tl.minimum(middle, high)), mask=i < H * W)


@LIBRARY.case
def medians_of_pixels() -> Checks:
    results: Checks = []
    for dtype in (np.uint8, np.float32):
        image = integers(0, 256, 13, 17, seed=16, dtype=dtype)
        out = np.zeros_like(image)
        median_filter[(triton.cdiv(image.size, 64),)](image, out, *image.shape, BLOCK=64)
        padded = np.pad(image, 1, mode="edge")
        stacked = np.stack([padded[y : y + 13, x : x + 17] for y in range(3) for x in range(3)])
        results.append((out, np.median(stacked, axis=0), 0.0))
    return results


@triton.jit
def integral_image(image_ptr, out_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    """Sums over all pixels above and to the left, along rows and then along columns of a block."""
    y, x = tl.arange(0, BH)[:, None], tl.arange(0, BW)[None, :]
    mask = (y < H) & (x < W)
    image = tl.load(image_ptr + y * W + x, mask=mask, other=0).to(tl.int32)
    tl.store(out_ptr + y * W + x, tl.cumsum(tl.cumsum(image, axis=1), axis=0), mask=mask)


@triton.jit
def box_filter(sums_ptr, out_ptr, H, W, R: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < H * W
    y, x = i // W, i % W
    top, bottom = tl.maximum(y - R, 0) - 1, tl.minimum(y + R, H - 1)
    left, right = tl.maximum(x - R, 0) - 1, tl.minimum(x + R, W - 1)
    total = tl.load(sums_ptr + bottom * W + right, mask=inside, other=0)
    total -= tl.load(sums_ptr + top * W + right, mask=inside & (top >= 0), other=0)
    total -= tl.load(sums_ptr + bottom * W + left, mask=inside & (left >= 0), other=0)
    total += tl.load(sums_ptr + top * W + left, mask=inside & (top >= 0) & (left >= 0), other=0)
    tl.store(out_ptr + i, total / ((bottom - top) * (right - left)), mask=inside)


@LIBRARY.case
def box_filters_by_integral_images() -> Checks:
    image = integers(0, 256, 11, 21, seed=17, dtype=np.uint8)
    sums, out = np.zeros(image.shape, np.int32), np.zeros(image.shape, np.float32)
    integral_image[(1,)](image, sums, 11, 21, BH=16, BW=32)
    box_filter[(triton.cdiv(image.size, 64),)](sums, out, 11, 21, R=2, BLOCK=64)
    expected = np.array(
        [[image[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3].mean() for x in range(21)] for y in range(11)]
    )
    return [(sums, image.cumsum(0).cumsum(1), 0.0), (out, expected, 1e-5)]


# ------------------------------------------------------------------------------------------------------------- bytes


@triton.jit
def base64_digit(six):
    digit = tl.where(six < 26, six + 65, tl.where(six < 52, six + 71, six - 4))
    return tl.where(six < 62, digit, tl.where(six == 62, 43, 47))


@triton.jit
def encode_base64(data_ptr, out_ptr, N, BLOCK: tl.constexpr):
    """Three bytes become four digits; what is missing at the end becomes padding."""
    group = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first = group * 3
    live = first < N
    a = tl.load(data_ptr + first, mask=live, other=0).to(tl.int32)
    b = tl.load(data_ptr + first + 1, mask=first + 1 < N, other=0).to(tl.int32)
    c = tl.load(data_ptr + first + 2, mask=first + 2 < N, other=0).to(tl.int32)
    bits = (a << 16) | (b << 8) | c
    third = tl.where(first + 1 < N, base64_digit((bits >> 6) & 63), 61)
    fourth = tl.where(first + 2 < N, base64_digit(bits & 63), 61)
    even = tl.join(base64_digit(bits >> 18), third)
    odd = tl.join(base64_digit((bits >> 12) & 63), fourth)
    digits = tl.reshape(tl.join(even, odd), (4 * BLOCK,))
    place = tl.program_id(0) * 4 * BLOCK + tl.arange(0, 4 * BLOCK)
    tl.store(out_ptr + place, digits.to(tl.uint8), mask=place < tl.cdiv(N, 3) * 4)


@LIBRARY.case
def bytes_as_digits() -> Checks:
    results: Checks = []
    for size in (48, 100, 101):
        data = integers(0, 256, size, seed=size, dtype=np.uint8)
        expected: Array = np.frombuffer(base64.b64encode(data.tobytes()), np.uint8)
        out = np.zeros(expected.size, np.uint8)
        encode_base64[(triton.cdiv(size, 3 * 16),)](data, out, size, BLOCK=16)
        results.append((out, expected.astype(np.float64), 0.0))
    return results


@triton.jit
def affine(scale_a, sum_a, scale_b, sum_b):
    return scale_a * scale_b, sum_a * scale_b + sum_b


@triton.jit
def parse_numbers(text_ptr, value_ptr, ends_ptr, N, BLOCK: tl.constexpr):
    """Numbers with signs between commas: a digit maps a value v to 10 v + digit, and a scan composes these maps."""
    i = tl.arange(0, BLOCK)
    byte = tl.load(text_ptr + i, mask=i < N, other=44).to(tl.int64)
    is_digit = (byte >= 48) & (byte <= 57)
    scale = tl.where(is_digit, 10, 0).to(tl.int64)
    _, value = tl.associative_scan((scale, tl.where(is_digit, byte - 48, 0)), 0, affine)
    place = tl.where(byte == 45, i, -1)
    comma = tl.where(byte == 44, i, -1)
    last_minus, last_comma = tl.associative_scan((place, comma), 0, larger_pair)
    following = tl.load(text_ptr + i + 1, mask=i + 1 < N, other=44)
    ends = (i < N) & is_digit & (following == 44)
    tl.store(value_ptr + i, tl.where(last_minus > last_comma, -value, value), mask=ends)
    tl.store(ends_ptr + i, ends.to(tl.int8), mask=i < N)


@triton.jit
def larger_pair(a, b, c, d):
    return tl.maximum(a, c), tl.maximum(b, d)


@LIBRARY.case
def numbers_in_text() -> Checks:
    numbers = [0, -7, 123456789012, 42, -99999, 5]
    text = np.frombuffer(",".join(map(str, numbers)).encode(), np.uint8)
    value, ends = np.zeros(text.size, np.int64), np.zeros(text.size, np.int8)
    parse_numbers[(1,)](text, value, ends, text.size, BLOCK=64)
    return [(value[ends == 1], np.array(numbers, np.float64), 0.0)]
