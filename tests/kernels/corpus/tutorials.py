"""Kernels of the size and style of Triton's tutorials and of what is built on them."""

# ruff: noqa: E501

import triton
import triton.language as tl


@triton.jit
def strip_order(tile, tiles_m, tiles_n, HEIGHT: tl.constexpr):
    """Row and column of a tile, where strips of HEIGHT tile rows are walked column by column."""
    strip = tile // (tiles_n * HEIGHT) * HEIGHT
    height = min(HEIGHT, tiles_m - strip)
    inside = tile - strip * tiles_n
    column = inside // height
    return strip + inside - column * height, column


@triton.jit
def matmul_persistent(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PROGRAMS: tl.constexpr):  # fmt: skip
    height, width = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(axis=0), height * width, PROGRAMS, flatten=True):
        row, column = strip_order(tile, height, width, GROUP)
        rows, cols = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
        valid_rows, valid_cols = rows < M, cols < N
        from_row = tl.max_contiguous(tl.multiple_of(tl.where(valid_rows, rows, 0), BM), BM)
        from_col = tl.max_contiguous(tl.multiple_of(tl.where(valid_cols, cols, 0), BN), BN)
        left = a_ptr + from_row[:, None] * stride_am
        right = b_ptr + from_col[None, :] * stride_bn
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            depth = start + tl.arange(0, BK)
            valid = depth < K
            x = tl.load(left + depth[None, :] * stride_ak, mask=valid[None, :], other=0.0)
            y = tl.load(right + depth[:, None] * stride_bk, mask=valid[:, None], other=0.0)
            total = tl.dot(x, y, total)
        if c_ptr.dtype.element_ty == tl.float8e4nv:
            rounded = total.to(tl.float8e4nv)
        else:
            rounded = total.to(tl.float16)
        target = c_ptr + (rows[:, None] * stride_cm + cols[None, :] * stride_cn)
        tl.store(target, rounded, mask=valid_cols[None, :] & valid_rows[:, None])


@triton.jit
def matmul_descriptors(a_desc, b_desc, c_desc, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, FP8: tl.constexpr):  # fmt: skip
    """C = A transpose(B) by descriptors that the host makes."""
    row, column = strip_order(tl.program_id(axis=0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in tl.range(0, K, BK, warp_specialize=False):
        right = b_desc.load([column * BN, start])
        total = tl.dot(a_desc.load([row * BM, start]), right.T, total)
    c_desc.store([row * BM, column * BN], total.to(tl.float8e4nv if FP8 else tl.float16))


@triton.jit
def epilogue_subtile(acc, BM: tl.constexpr, BN: tl.constexpr):
    """The left and the right half of a tile: the number of the half becomes the last axis, along which `split` parts."""
    HALF: tl.constexpr = BN // 2
    return acc.reshape(BM, 2, HALF).trans(0, 2, 1).split()


@triton.jit
def matmul_device_descriptors(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr, SUBTILE: tl.constexpr):  # fmt: skip
    """C = A transpose(B), whole or in two halves of a tile, by descriptors that each program makes for itself."""
    WIDTH: tl.constexpr = BN // 2 if SUBTILE else BN
    target = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, WIDTH])
    left = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), across * tl.cdiv(M, BM), PROGRAMS):
        row, column = tile // across, tile % across
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for depth in range(0, K, BK):
            total = tl.dot(left.load([row * BM, depth]), right.load([column * BN, depth]).T, total)
        if SUBTILE:
            parts = epilogue_subtile(total, BM, BN)
            target.store([row * BM, column * BN], parts[0].to(tl.float16))
            target.store([row * BM, column * BN + WIDTH], parts[1].to(tl.float16))
        else:
            target.store([row * BM, column * BN], total.to(tl.float16))


@triton.jit
def attention_preprocess(o_ptr, do_ptr, delta_ptr, CTX, BM: tl.constexpr, D: tl.constexpr):
    """delta = sum(O dO) of each query: what the rows of dS add up to before P is taken out."""
    query = tl.program_id(1) * CTX + tl.program_id(0) * BM + tl.arange(0, BM)
    element = query[:, None] * D + tl.arange(0, D)[None, :]
    slope = tl.load(do_ptr + element).to(tl.float32)
    tl.store(delta_ptr + query, tl.sum(slope * tl.load(o_ptr + element), axis=1))


@triton.jit
def attention_dkdv(dk, dv, key, value, q_ptr, do_ptr, m_ptr, d_ptr, stride_tok, stride_d, keys, first, last, BM: tl.constexpr, D: tl.constexpr, DIAGONAL: tl.constexpr):  # fmt: skip
    """Adds what the queries from `first` to `last` give: with P = exp2(Q K' - lse), dV += P' dO and dK += (P (dO V' - delta))' Q."""
    inner = tl.arange(0, D)[None, :] * stride_d
    queries = first + tl.arange(0, BM)
    q_ptrs = q_ptr + queries[:, None] * stride_tok + inner
    do_ptrs = do_ptr + queries[:, None] * stride_tok + inner
    for _ in range(first, last, BM):
        query, slope = tl.load(q_ptrs), tl.load(do_ptrs)
        weights = tl.math.exp2(tl.dot(key, tl.trans(query)) - tl.load(m_ptr + queries)[None, :])
        if DIAGONAL:
            weights = tl.where(keys[:, None] <= queries[None, :], weights, 0.0)
        change = tl.dot(value, tl.trans(slope)) - tl.load(d_ptr + queries)[None, :]
        dk += tl.dot((change * weights).to(tl.float16), query)
        dv += tl.dot(weights.to(tl.float16), slope)
        queries += BM
        do_ptrs += stride_tok * BM
        q_ptrs += stride_tok * BM
    return dk, dv


@triton.jit
def attention_backward(q_ptr, k_ptr, v_ptr, scale, do_ptr, dk_ptr, dv_ptr, m_ptr, d_ptr, stride_z, stride_tok, stride_d, CTX, BM1: tl.constexpr, BN1: tl.constexpr, SLICE: tl.constexpr, D: tl.constexpr):  # fmt: skip
    """Gradients of BN1 keys and values: narrow steps along the diagonal, wide ones over the queries after it."""
    NARROW: tl.constexpr = BM1 // SLICE
    tl.static_assert(BN1 % NARROW == 0)
    head = tl.program_id(2)
    q_ptr += (head * stride_z).to(tl.int64)
    do_ptr += (head * stride_z).to(tl.int64)
    m_ptr += (head * CTX).to(tl.int64)
    begin = tl.program_id(0) * BN1
    keys = begin + tl.arange(0, BN1)
    at = (head * stride_z).to(tl.int64) + keys[:, None] * stride_tok + tl.arange(0, D)[None, :] * stride_d
    key, value = tl.load(k_ptr + at), tl.load(v_ptr + at)
    dk, dv = tl.zeros([BN1, D], tl.float32), tl.zeros([BN1, D], tl.float32)
    after = begin + BN1
    dk, dv = attention_dkdv(dk, dv, key, value, q_ptr, do_ptr, m_ptr, d_ptr, stride_tok, stride_d, keys, begin, after, NARROW, D, DIAGONAL=True)  # fmt: skip
    dk, dv = attention_dkdv(dk, dv, key, value, q_ptr, do_ptr, m_ptr, d_ptr, stride_tok, stride_d, keys, after, CTX, BM1, D, DIAGONAL=False)  # fmt: skip
    tl.store(dk_ptr + at, dk * scale)
    tl.store(dv_ptr + at, dv)


@triton.jit
def norm_weights_gradient(dw_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Sums of BN columns over M rows, a tile with running sums in every lane until the end."""
    column = tl.program_id(0) * BN + tl.arange(0, BN)[None, :]
    place = tl.arange(0, BM)[:, None]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for above in range(0, M, BM):
        live = (column < N) & (above + place < M)
        sums += tl.load(dw_ptr + ((above + place) * N + column), mask=live, other=0.0)
    tl.store(out_ptr + column, tl.sum(sums, axis=0, keep_dims=True), mask=column < N)


@triton.jit
def seeded_dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    """The mask of dropout is made again from the seed wherever it is needed, never stored."""
    i = BLOCK * tl.program_id(0) + tl.arange(0, BLOCK)
    scale = 1 / (1 - p)
    factor = tl.where(tl.rand(seed, i) > p, scale, 0.0)
    tl.store(out_ptr + i, factor * tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def rotary(q_ptr, cos_ptr, sin_ptr, stride, HALF: tl.constexpr, HEADS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    half = tl.arange(0, HALF)
    heads = tl.arange(0, HEADS)
    cos = tl.load(cos_ptr + row * HALF + half)
    sin = tl.load(sin_ptr + row * HALF + half)
    first = q_ptr + row * stride + heads[:, None] * (HALF * 2) + half[None, :]
    second = first + HALF
    a = tl.load(first).to(sin.dtype)
    b = tl.load(second).to(sin.dtype)
    tl.store(first, a * cos - b * sin)
    tl.store(second, b * cos + a * sin)


@triton.jit
def cross_entropy(
    logits_ptr, labels_ptr, loss_ptr, stride, n_cols, ignore, BLOCK: tl.constexpr, SMOOTHING: tl.constexpr
):
    """log(sum(exp(x))) - (1 - s) x[label] - s mean(x), with s = SMOOTHING; 0 where the label is `ignore`."""
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(labels_ptr + row)
    if label == ignore:
        tl.store(loss_ptr + row, 0.0)
        return
    logits_ptr += stride * row
    top, weight, plain_sum = float("-inf"), 0.0, 0.0
    for start in range(0, n_cols, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + column, mask=column < n_cols, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(tl.max(x), top)
        weight = tl.sum(tl.exp(x - higher)) + weight * tl.exp(top - higher)
        top = higher
        if SMOOTHING > 0:
            plain_sum += tl.sum(tl.where(column < n_cols, x, 0.0))
    wanted = tl.load(logits_ptr + label).to(tl.float32)
    if SMOOTHING > 0:
        wanted += SMOOTHING * (plain_sum / n_cols - wanted)
    tl.store(loss_ptr + row, tl.log(weight) + top - wanted)


@triton.jit
def quantize_rows(x_ptr, q_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + row * n + offs, mask=mask, other=0.0).to(tl.float32)
    top = tl.max(tl.abs(x), 0)
    scale = tl.where(top == 0, 1.0, top / 127.0)
    q = tl.clamp(x / scale, -127.0, 127.0)
    q = tl.extra.libdevice.rint(q).to(tl.int8)
    tl.store(q_ptr + row * n + offs, q, mask=mask)
    tl.store(scale_ptr + row, scale)


@triton.jit
def unpack_int4(packed_ptr, out_ptr, scales_ptr, N: tl.constexpr, GROUP: tl.constexpr):
    i = tl.arange(0, N)
    packed = tl.load(packed_ptr + i)
    low = (packed & 0xF).to(tl.int8) - 8
    high = (packed >> 4).to(tl.int8) - 8
    both = tl.interleave(low, high).to(tl.float16)
    j = tl.arange(0, 2 * N)
    tl.store(out_ptr + j, both * tl.load(scales_ptr + j // GROUP))


@triton.jit
def segment_sums(x_ptr, ids_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds each x to the sum of its segment; elements of no segment have a negative id."""
    i = BLOCK * tl.program_id(0) + tl.arange(0, BLOCK)
    segment = tl.load(ids_ptr + i, mask=i < n, other=-1)
    counts = segment >= 0
    tl.atomic_add(out_ptr + segment, tl.load(x_ptr + i, mask=i < n, other=0.0), mask=counts, sem="relaxed")


@triton.jit
def binary_search(values_ptr, keys_ptr, out_ptr, n, BLOCK: tl.constexpr):
    keys = tl.load(keys_ptr + tl.arange(0, BLOCK))
    low = tl.zeros([BLOCK], tl.int32)
    high = tl.zeros([BLOCK], tl.int32) + n
    while tl.max(high - low, 0) > 0:
        middle = (low + high) // 2
        active = low < high
        smaller = tl.load(values_ptr + middle, mask=active, other=0.0) < keys
        low = tl.where(active & smaller, middle + 1, low)
        high = tl.where(active & ~smaller, middle, high)
    tl.store(out_ptr + tl.arange(0, BLOCK), low)


@triton.jit
def top2_gating(logits_ptr, weights_ptr, index_ptr, n_experts, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    logits = tl.load(logits_ptr + row * n_experts + offs, mask=offs < n_experts, other=-float("inf"))
    best, first = tl.max(logits, 0, return_indices=True)
    rest = tl.where(offs == first, -float("inf"), logits)
    next_best, second = tl.max(rest, 0, return_indices=True)
    share = 1.0 / (1.0 + tl.exp(next_best - best))
    tl.store(weights_ptr + row * 2, share)
    tl.store(weights_ptr + row * 2 + 1, 1.0 - share)
    tl.store(index_ptr + row * 2, first)
    tl.store(index_ptr + row * 2 + 1, second)


@triton.jit
def conv1d(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr, TAPS: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for t in tl.static_range(TAPS):
        at = offs + t - TAPS // 2
        acc += tl.load(x_ptr + at, mask=(at >= 0) & (at < n), other=0.0) * tl.load(w_ptr + t)
    tl.store(out_ptr + offs, acc, mask=offs < n)


@triton.jit
def gelu(x, APPROXIMATE: tl.constexpr):
    if APPROXIMATE:
        return 0.5 * x * (1 + tl.extra.libdevice.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))


@triton.jit
def swiglu(x_ptr, out_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    gate = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    up = tl.load(x_ptr + n + offs, mask=mask).to(tl.float32)
    if KIND == "silu":
        y = gate * tl.sigmoid(gate) * up
    elif KIND == "gelu":
        y = gelu(gate, False) * up
    else:
        y = gelu(gate, True) * up
    tl.store(out_ptr + offs, y, mask=mask)


CASES = [
    (matmul_persistent, "*fp16 *fp16 *fp16 i32 i32 i32 i32 =1 i32 =1 i32 =1 =64 =64 =32 =8 =84"),
    (matmul_persistent, "*fp8e4nv *fp8e4nv *fp8e4nv i32 i32 i32 i32 =1 =1 i32 i32 =1 =64 =64 =64 =8 =84"),
    (
        matmul_descriptors,
        "tensordesc<fp16[64;32]> tensordesc<fp16[64;32]> tensordesc<fp16[64;64]> i32 i32 i32 =64 =64 =32 =8 =False",
    ),
    (matmul_device_descriptors, "*fp16 *fp16 *fp16 i32 i32 i32 =64 =64 =32 =84 =False"),
    (matmul_device_descriptors, "*fp16 *fp16 *fp16 i32 i32 i32 =64 =64 =32 =84 =True"),
    (attention_preprocess, "*fp16 *fp16 *fp32 i32 =64 =64"),
    (attention_backward, "*fp16 *fp16 *fp16 fp32 *fp16 *fp16 *fp16 *fp32 *fp32 i32 i32 =1 i32 =32 =128 =2 =64"),
    (norm_weights_gradient, "*fp32 *fp32 i32 i32 =32 =64"),
    (seeded_dropout, "*fp32 *fp32 i32 fp32 i32 =256"),
    (rotary, "*fp16 *fp32 *fp32 i32 =32 =8"),
    (cross_entropy, "*bf16 *i64 *fp32 i32 i32 i32 =256 =0.0"),
    (cross_entropy, "*bf16 *i64 *fp32 i32 i32 i32 =256 =0.1"),
    (quantize_rows, "*fp16 *i8 *fp32 i32 =256"),
    (unpack_int4, "*u8 *fp16 *fp16 =64 =32"),
    (segment_sums, "*fp32 *i64 *fp32 i32 =128"),
    (binary_search, "*fp32 *fp32 *i32 i32 =64"),
    (top2_gating, "*fp32 *fp32 *i32 i32 =16"),
    (conv1d, "*fp32 *fp32 *fp32 i32 =128 =5"),
    (swiglu, "*bf16 *bf16 i32 =128 ='silu'"),
    (swiglu, "*bf16 *bf16 i32 =128 ='gelu'"),
    (swiglu, "*bf16 *bf16 i32 =128 ='gelu_tanh'"),
]
