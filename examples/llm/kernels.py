"""Kernels of decoding one token at a time: quantised matrices times a vector, attention over a paged cache, sampling.

Matrices keep GGUF's blocks of Q4_K, Q6_K and Q8_0, with several rows side by side: what one block has of each kind
(scales, words of four bytes) comes row after row, so that `ROWS` rows are the lanes of a vector (see `blocks.py`).
Vectors come as int8 with a scale for 256 elements, and the sums of 16 and of 32 of them.
"""
# pyright: basic, reportAttributeAccessIssue=false

import triton
import triton.language as tl

# ------------------------------------------------------------------------------------------------ int8 vectors


@triton.jit
def store_quantised(y, block, q_ptr, scale_ptr, sums16_ptr, sums32_ptr):
    """256 numbers as int8, their scale, and the sums of what they became."""
    lane = tl.arange(0, 256)
    scale = tl.max(tl.abs(y), 0) / 127.0
    q = tl.floor(y * tl.where(scale > 0.0, 1.0 / scale, 0.0) + 0.5)
    tl.store(q_ptr + block * 256 + lane, q.to(tl.int8))
    tl.store(scale_ptr + block, scale)
    sums = tl.sum(tl.reshape(q, [16, 16]), 1)
    tl.store(sums16_ptr + block * 16 + tl.arange(0, 16), sums)
    tl.store(sums32_ptr + block * 8 + tl.arange(0, 8), tl.sum(tl.reshape(sums, [8, 2]), 1))


@triton.jit
def normalised(x_ptr, weight_ptr, q_ptr, scale_ptr, sums16_ptr, sums32_ptr, eps, K: tl.constexpr):
    """weight * x / rms(x), quantised; a program has 256 elements."""
    block = tl.program_id(0)
    row = tl.load(x_ptr + tl.arange(0, K))
    factor = tl.math.rsqrt(tl.sum(row * row, 0) / K + eps)
    at = block * 256 + tl.arange(0, 256)
    y = tl.load(x_ptr + at) * factor * tl.load(weight_ptr + at)
    store_quantised(y, block, q_ptr, scale_ptr, sums16_ptr, sums32_ptr)


@triton.jit
def gated(gate_ptr, up_ptr, q_ptr, scale_ptr, sums16_ptr, sums32_ptr):
    """silu(gate) * up, quantised; a program has 256 elements."""
    block = tl.program_id(0)
    at = block * 256 + tl.arange(0, 256)
    gate = tl.load(gate_ptr + at)
    store_quantised(gate * tl.sigmoid(gate) * tl.load(up_ptr + at), block, q_ptr, scale_ptr, sums16_ptr, sums32_ptr)


# ------------------------------------------------------------------------------------- matrices times a vector


@triton.jit
def store_rows(out_ptr, group, acc, ADD: tl.constexpr, ROWS: tl.constexpr):
    at = out_ptr + group * ROWS + tl.arange(0, ROWS)
    tl.store(at, acc + tl.load(at) if ADD else acc)


@triton.jit
def q4k_times_vector(
    w_ptr, half_ptr, x_ptr, scale_ptr, sums16_ptr, sums32_ptr, out_ptr, K: tl.constexpr, GROUPS: tl.constexpr,
    ADD: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Blocks of 256: d and dmin, 12 bytes of eight scales and eight minima of six bits, 256 nibbles."""
    r = tl.arange(0, ROWS)
    g = tl.arange(0, 2)[:, None]
    j = tl.arange(0, 8)[None, :, None, None]
    z = tl.arange(0, 4)[None, None, None, :]
    for group in range(tl.program_id(0) * GROUPS, tl.program_id(0) * GROUPS + GROUPS):
        acc = tl.zeros([ROWS], tl.float32)
        for k in range(K // 256):
            block = group * (K // 256) + k
            at = w_ptr + block.to(tl.int64) * (144 * ROWS)
            dots = tl.zeros([ROWS], tl.float32)
            minima = tl.zeros([ROWS], tl.float32)
            for h in tl.static_range(2):
                q = tl.load(
                    at
                    + ROWS * (16 + h * 64)
                    + (g * (32 * ROWS) + r[None, :] * 4)[:, None, :, None]
                    + j * (4 * ROWS)
                    + z
                )
                x = x_ptr + k * 256 + h * 128 + g[:, :, None, None] * 64 + j * 4 + z
                low = tl.sum(tl.sum((q & 15).to(tl.int32) * tl.load(x).to(tl.int32), 3), 1)
                high = tl.sum(tl.sum((q >> 4).to(tl.int32) * tl.load(x + 32).to(tl.int32), 3), 1)
                s = at + 4 * ROWS + g * ROWS + r[None, :]
                if h == 0:
                    scale_low, scale_high = tl.load(s) & 63, tl.load(s + 2 * ROWS) & 63
                    least_low, least_high = tl.load(s + 4 * ROWS) & 63, tl.load(s + 6 * ROWS) & 63
                else:
                    scale_low = (tl.load(s + 8 * ROWS) & 15) | ((tl.load(s) >> 6) << 4)
                    scale_high = (tl.load(s + 10 * ROWS) & 15) | ((tl.load(s + 2 * ROWS) >> 6) << 4)
                    least_low = (tl.load(s + 8 * ROWS) >> 4) | ((tl.load(s + 4 * ROWS) >> 6) << 4)
                    least_high = (tl.load(s + 10 * ROWS) >> 4) | ((tl.load(s + 6 * ROWS) >> 6) << 4)
                part = low.to(tl.float32) * scale_low.to(tl.float32) + high.to(tl.float32) * scale_high.to(tl.float32)
                dots += tl.sum(part, 0)
                sums = sums32_ptr + k * 8 + h * 4 + 2 * g
                part = least_low.to(tl.float32) * tl.load(sums) + least_high.to(tl.float32) * tl.load(sums + 1)
                minima += tl.sum(part, 0)
            head = half_ptr + block.to(tl.int64) * (72 * ROWS) + r
            d, dmin = tl.load(head).to(tl.float32), tl.load(head + ROWS).to(tl.float32)
            acc += (dots * d - minima * dmin) * tl.load(scale_ptr + k)
        store_rows(out_ptr, group, acc, ADD, ROWS)


@triton.jit
def q6k_times_vector(
    w_ptr, half_ptr, x_ptr, scale_ptr, sums16_ptr, sums32_ptr, out_ptr, K: tl.constexpr, GROUPS: tl.constexpr,
    ADD: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Blocks of 256: d, sixteen signed scales, four low bits of 256 weights, then two high bits; all less 32."""
    r = tl.arange(0, ROWS)
    s = tl.arange(0, 2)[:, None]
    word = (tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :])[:, :, None, None]
    lane = r[None, None, :, None] * 4 + tl.arange(0, 4)[None, None, None, :]
    z = tl.arange(0, 4)[None, None, None, :]
    for group in range(tl.program_id(0) * GROUPS, tl.program_id(0) * GROUPS + GROUPS):
        acc = tl.zeros([ROWS], tl.float32)
        for k in range(K // 256):
            block = group * (K // 256) + k
            at = w_ptr + block.to(tl.int64) * (210 * ROWS)
            dots = tl.zeros([ROWS], tl.float32)
            for h in tl.static_range(2):
                upper = tl.load(at + ROWS * (146 + h * 32) + word * (4 * ROWS) + lane)
                for t in tl.static_range(4):
                    low = tl.load(at + ROWS * (18 + h * 64 + t % 2 * 32) + word * (4 * ROWS) + lane)
                    if t == 0:
                        q = (low & 15) | ((upper & 3) << 4)
                    elif t == 1:
                        q = (low & 15) | ((upper & 12) << 2)
                    elif t == 2:
                        q = (low >> 4) | (upper & 48)
                    else:
                        q = (low >> 4) | ((upper >> 2) & 48)
                    x = tl.load(x_ptr + k * 256 + h * 128 + t * 32 + word * 4 + z)
                    part = tl.sum(tl.sum(q.to(tl.int32) * x.to(tl.int32), 3), 1)
                    scale = tl.load(at + (2 + h * 8 + t * 2 + s) * ROWS + r[None, :]).to(tl.int8, bitcast=True)
                    sums = tl.load(sums16_ptr + k * 16 + h * 8 + t * 2 + s)
                    dots += tl.sum((part.to(tl.float32) - 32.0 * sums) * scale.to(tl.float32), 0)
            d = tl.load(half_ptr + block.to(tl.int64) * (105 * ROWS) + r).to(tl.float32)
            acc += dots * d * tl.load(scale_ptr + k)
        store_rows(out_ptr, group, acc, ADD, ROWS)


@triton.jit
def q8_0_times_vector(
    w_ptr, half_ptr, x_ptr, scale_ptr, sums16_ptr, sums32_ptr, out_ptr, K: tl.constexpr, GROUPS: tl.constexpr,
    ADD: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Blocks of 32: d and 32 signed bytes."""
    r = tl.arange(0, ROWS)
    word, z = tl.arange(0, 8)[:, None, None], tl.arange(0, 4)[None, None, :]
    for group in range(tl.program_id(0) * GROUPS, tl.program_id(0) * GROUPS + GROUPS):
        acc = tl.zeros([ROWS], tl.float32)
        for k in range(K // 32):
            block = (group * (K // 32) + k).to(tl.int64)
            q = tl.load(w_ptr + block * (34 * ROWS) + 2 * ROWS + word * (4 * ROWS) + r[None, :, None] * 4 + z)
            x = tl.load(x_ptr + k * 32 + word * 4 + z)
            part = tl.sum(tl.sum(q.to(tl.int8, bitcast=True).to(tl.int32) * x.to(tl.int32), 2), 0)
            d = tl.load(half_ptr + block * (17 * ROWS) + r).to(tl.float32)
            acc += part.to(tl.float32) * (d * tl.load(scale_ptr + k // 8))
        store_rows(out_ptr, group, acc, ADD, ROWS)


@triton.jit
def q6k_row(w_ptr, half_ptr, row_ptr, out_ptr, K: tl.constexpr, ROWS: tl.constexpr):
    """One row of a matrix, which a number in memory chooses; a program has a block."""
    row = tl.load(row_ptr)
    block = (row // ROWS * (K // 256) + tl.program_id(0)).to(tl.int64)
    at, r = w_ptr + block * (210 * ROWS), row % ROWS
    i = tl.arange(0, 256)
    half, t, in_32 = i // 128, i // 32 % 4, i % 32
    word = in_32 // 4 * (4 * ROWS) + r * 4 + in_32 % 4
    low = tl.load(at + ROWS * 18 + half * (64 * ROWS) + t % 2 * (32 * ROWS) + word) >> (t // 2 * 4).to(tl.uint8)
    upper = tl.load(at + ROWS * 146 + half * (32 * ROWS) + word) >> (t * 2).to(tl.uint8)
    scale = tl.load(at + (2 + i // 16) * ROWS + r).to(tl.int8, bitcast=True).to(tl.float32)
    q = ((low & 15) | ((upper & 3) << 4)).to(tl.float32) - 32.0
    d = tl.load(half_ptr + block * (105 * ROWS) + r).to(tl.float32)
    tl.store(out_ptr + tl.program_id(0) * 256 + i, q * scale * d)


# ---------------------------------------------------------------------------------------------------- attention


@triton.jit
def rotate_and_cache(
    q_ptr, k_ptr, v_ptr, cache_ptr, page_ptr, position, log2_base, KV: tl.constexpr, GROUP: tl.constexpr,
    HEAD: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    """Turns pairs of neighbours by angles that fall along the head; a program has a head of keys and its queries. The
    cache has pages of [2, KV, PAGE, HEAD]: keys, then values."""
    kv = tl.program_id(0)
    pair = tl.arange(0, HEAD // 2)
    angle = position * tl.math.exp2(pair.to(tl.float32) * (-2.0 / HEAD) * log2_base)
    cos, sin = tl.cos(angle), tl.sin(angle)
    for head in range(kv * GROUP, kv * GROUP + GROUP):
        even, odd = tl.load(q_ptr + head * HEAD + 2 * pair), tl.load(q_ptr + head * HEAD + 2 * pair + 1)
        tl.store(q_ptr + head * HEAD + 2 * pair, even * cos - odd * sin)
        tl.store(q_ptr + head * HEAD + 2 * pair + 1, even * sin + odd * cos)
    page = tl.load(page_ptr + position // PAGE).to(tl.int64)
    at = cache_ptr + ((page * 2 * KV + kv) * PAGE + position % PAGE) * HEAD
    even, odd = tl.load(k_ptr + kv * HEAD + 2 * pair), tl.load(k_ptr + kv * HEAD + 2 * pair + 1)
    tl.store(at + 2 * pair, (even * cos - odd * sin).to(tl.float16))
    tl.store(at + 2 * pair + 1, (even * sin + odd * cos).to(tl.float16))
    lane = tl.arange(0, HEAD)
    tl.store(at + KV * PAGE * HEAD + lane, tl.load(v_ptr + kv * HEAD + lane).to(tl.float16))


@triton.jit
def attend(
    q_ptr, cache_ptr, page_ptr, part_ptr, stats_ptr, length, scale, KV: tl.constexpr, GROUP: tl.constexpr,
    HEAD: tl.constexpr, PAGE: tl.constexpr, SPLITS: tl.constexpr,
):  # fmt: skip
    """The queries that share keys, over a share of the pages: their mixture, its weight and its maximum."""
    kv, split = tl.program_id(0), tl.program_id(1)
    lane, key = tl.arange(0, HEAD), tl.arange(0, PAGE)
    head = kv * GROUP + tl.arange(0, GROUP)
    q = tl.load(q_ptr + head[:, None] * HEAD + lane[None, :]) * (scale * 1.4426950408889634)
    pages = tl.cdiv(length, PAGE)
    share = tl.cdiv(pages, SPLITS)
    top, weight = tl.full([GROUP], -1e30, tl.float32), tl.zeros([GROUP], tl.float32)
    mixed = tl.zeros([GROUP, HEAD], tl.float32)
    for number in range(split * share, tl.minimum(split * share + share, pages)):
        at = cache_ptr + (tl.load(page_ptr + number).to(tl.int64) * 2 * KV + kv) * (PAGE * HEAD)
        k = tl.load(at + key[:, None] * HEAD + lane[None, :]).to(tl.float32)
        score = tl.sum(q[:, None, :] * k[None, :, :], 2)
        score = tl.where((number * PAGE + key < length)[None, :], score, -1e30)
        higher = tl.maximum(top, tl.max(score, 1))
        p = tl.math.exp2(score - higher[:, None])
        decay = tl.math.exp2(top - higher)
        v = tl.load(at + KV * PAGE * HEAD + key[:, None] * HEAD + lane[None, :]).to(tl.float32)
        mixed = mixed * decay[:, None] + tl.sum(p[:, :, None] * v[None, :, :], 1)
        weight, top = weight * decay + tl.sum(p, 1), higher
    part = head * SPLITS + split
    tl.store(part_ptr + part[:, None] * HEAD + lane[None, :], mixed)
    tl.store(stats_ptr + part, top)
    tl.store(stats_ptr + KV * GROUP * SPLITS + part, weight)


@triton.jit
def merged(
    part_ptr, stats_ptr, q_ptr, scale_ptr, sums16_ptr, sums32_ptr, HEADS: tl.constexpr, HEAD: tl.constexpr,
    SPLITS: tl.constexpr,
):  # fmt: skip
    """The shares of the heads that 256 elements belong to, as one, quantised."""
    block = tl.program_id(0)
    at = block * 256 + tl.arange(0, 256)
    head, lane = at // HEAD, at % HEAD
    top = tl.full([256], -1e30, tl.float32)
    for split in range(SPLITS):
        top = tl.maximum(top, tl.load(stats_ptr + head * SPLITS + split))
    weight, mixed = tl.zeros([256], tl.float32), tl.zeros([256], tl.float32)
    for split in range(SPLITS):
        part = head * SPLITS + split
        factor = tl.math.exp2(tl.load(stats_ptr + part) - top)
        weight += factor * tl.load(stats_ptr + HEADS * SPLITS + part)
        mixed += factor * tl.load(part_ptr + part * HEAD + lane)
    store_quantised(mixed / weight, block, q_ptr, scale_ptr, sums16_ptr, sums32_ptr)


# ----------------------------------------------------------------------------------------------------- sampling


@triton.jit
def sample(
    logits_ptr, kept_ptr, token_ptr, V, k, p, temperature, seed, position, KEPT: tl.constexpr, BLOCK: tl.constexpr
):
    """One of the `k` largest logits (at most KEPT), of these one of the fewest that have `p` of their probability.
    Logits of minus infinity are never chosen, unless all are."""
    lane = tl.arange(0, BLOCK)
    high, low = -float("inf"), float("inf")
    for start in range(0, V, BLOCK):
        live = start + lane < V
        high = tl.maximum(high, tl.max(tl.load(logits_ptr + start + lane, mask=live, other=-float("inf")), 0))
        low = tl.minimum(low, tl.min(tl.load(logits_ptr + start + lane, mask=live, other=float("inf")), 0))
    top = high
    low = tl.maximum(low, top - 128.0 * temperature)  # below, chances are 0 in float32
    reached = V
    for _ in range(32):  # between `low`, which k logits reach if they have a chance, and `high`, which fewer do
        if reached > KEPT:
            middle, count = 0.5 * (low + high), 0
            for start in range(0, V, BLOCK):
                x = tl.load(logits_ptr + start + lane, mask=start + lane < V, other=-float("inf"))
                count += tl.sum((x >= middle).to(tl.int32), 0)
            is_low = count >= k
            low, high = tl.where(is_low, middle, low), tl.where(is_low, high, middle)
            reached = tl.where(is_low, count, reached)
    found = 0
    for start in range(0, V, BLOCK):
        x = tl.load(logits_ptr + start + lane, mask=start + lane < V, other=-float("inf"))
        reaches = (x >= low).to(tl.int32)
        place = found + tl.cumsum(reaches, 0) - 1
        tl.store(kept_ptr + place, start + lane, mask=(reaches == 1) & (place < KEPT))
        found += tl.sum(reaches, 0)
    number = tl.arange(0, KEPT)
    live = number < found
    token = tl.load(kept_ptr + number, mask=live, other=0)
    x = tl.load(logits_ptr + token, mask=live, other=-float("inf"))
    chance = tl.where(live, tl.exp((x - top) / temperature), 0.0)
    bits = chance.to(tl.int32, bitcast=True).to(tl.int64)  # of a number that is not negative: in its order
    order = tl.sort((bits << 32) | token.to(tl.int64), descending=True)
    chance = tl.where(number < k, (order >> 32).to(tl.int32).to(tl.float32, bitcast=True), 0.0)
    total = tl.cumsum(chance, 0)
    nucleus = tl.where(total - chance < p * tl.sum(chance, 0), chance, 0.0)
    drawn = tl.rand(seed, position) * tl.sum(nucleus, 0)
    place = tl.minimum(tl.sum((total <= drawn).to(tl.int32), 0), tl.sum((nucleus > 0.0).to(tl.int32), 0) - 1)
    chosen = tl.sum(tl.where(number == place, order & 0x7FFFFFFF, 0), 0)
    tl.store(token_ptr, chosen.to(tl.int32))
