"""The kernels that everybody starts with."""

# ruff: noqa: E501
# pyright: basic

import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


@triton.jit
def fused_softmax(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """exp(x - top) / sum(exp(x - top)) of whole rows, dealt out to the programs in turn."""
    lanes = tl.arange(0, BLOCK)
    live = lanes < n_cols
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(in_ptr + (lanes + row * in_stride), mask=live, other=float("-inf"))
        weights = tl.exp(x - tl.max(x, axis=0))
        weights = weights / tl.sum(weights, axis=0)
        tl.store(out_ptr + (lanes + row * out_stride), weights, mask=live)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    """Walks strips of GROUP tile rows column by column; the last strip may be lower."""
    width = tl.cdiv(N, BN)
    strip = tl.program_id(axis=0) // (width * GROUP) * GROUP
    height = min(GROUP, tl.cdiv(M, BM) - strip)
    inside = tl.program_id(axis=0) - strip * width
    column = inside // height
    rows = (strip + inside - column * height) * BM + tl.arange(0, BM)
    cols = column * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left = a_ptr + depth[None, :] * stride_ak + (rows % M)[:, None] * stride_am
    right = b_ptr + (cols % N)[None, :] * stride_bn + depth[:, None] * stride_bk
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        valid = start + depth < K
        total = tl.dot(tl.load(left, valid[None, :], 0.0), tl.load(right, valid[:, None], 0.0), total)
        left += stride_ak * BK
        right += stride_bk * BK
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    target = c_ptr + (rows[:, None] * stride_cm + cols[None, :] * stride_cn)
    tl.store(target, total.to(c_ptr.dtype.element_ty), (cols < N)[None, :] & (rows < M)[:, None])


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, n, eps, BLOCK: tl.constexpr):
    """Merges mean and squared deviations block by block (Chan, Golub and LeVeque 1979), then normalises."""
    lanes = tl.arange(0, BLOCK)
    x_ptr += tl.program_id(0) * stride
    mean, deviation = 0.0, 0.0
    for seen in range(0, n, BLOCK):
        valid = lanes < n - seen
        values = tl.load(x_ptr + seen + lanes, mask=valid, other=0.0).to(tl.float32)
        size = min(n - seen, BLOCK)
        middle = tl.sum(values, axis=0) / size
        apart = tl.where(valid, values - middle, 0.0)
        step = middle - mean
        share = size / (seen + size)
        mean += step * share
        deviation += tl.sum(apart * apart, axis=0) + step * step * share * seen
    rstd = 1 / tl.sqrt(deviation / n + eps)
    y_ptr += tl.program_id(0) * stride
    for start in range(0, n, BLOCK):
        at = start + lanes
        values = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
        gain, bias = tl.load(w_ptr + at, mask=at < n), tl.load(b_ptr + at, mask=at < n)
        tl.store(y_ptr + at, bias + gain * (rstd * (values - mean)), mask=at < n)
    tl.store(rstd_ptr + tl.program_id(0), rstd)
    tl.store(mean_ptr + tl.program_id(0), mean)


@triton.jit
def layer_norm_backward(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, n,
    GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """dx = rstd (g - mean(g) - h mean(g h)) with g = w dy and h = (x - mean) rstd; rows share GROUP sums of dw and db."""
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    valid = lanes < n
    at = row * stride + lanes
    dy = tl.load(dy_ptr + at, mask=valid, other=0).to(tl.float32)
    rstd = tl.load(rstd_ptr + row)
    h = (tl.load(x_ptr + at, mask=valid, other=0).to(tl.float32) - tl.load(mean_ptr + row)) * rstd
    w = tl.load(w_ptr + lanes, mask=valid)
    g = tl.where(valid, dy * w.to(tl.float32), 0.0)
    centred = g - tl.sum(g, axis=0) / n
    projection = tl.sum(tl.where(valid, g * h, 0.0), axis=0) / n
    dx_ptr += at
    tl.store(dx_ptr, rstd * (centred - projection * h), mask=valid)
    slot = row % GROUP
    dw_ptr += slot * n
    db_ptr += slot * n
    lock_ptr += slot
    db, dw = dy.to(w.dtype), (h * dy).to(w.dtype)
    while tl.atomic_cas(lock_ptr, 0, 1) != 0:
        pass
    if tl.load(lock_ptr + GROUP) != 0:
        db += tl.load(db_ptr + lanes, mask=valid)
        dw += tl.load(dw_ptr + lanes, mask=valid)
    else:
        tl.store(lock_ptr + GROUP, 1)
    tl.store(db_ptr + lanes, db, mask=valid)
    tl.store(dw_ptr + lanes, dw, mask=valid)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def attend(top, weight, mixed, query, keys, values, scale, rows, first, last, BN: tl.constexpr, DIAGONAL: tl.constexpr):  # fmt: skip
    """Takes the keys from `first` to `last` into a running softmax: its largest score, sum of weights and mixture."""
    values = tl.advance(values, (first, 0))
    keys = tl.advance(keys, (0, first))
    for at in range(first, last, BN):
        scores = tl.dot(query, tl.load(keys)) * scale
        if DIAGONAL:
            seen = tl.multiple_of(at, BN) + tl.arange(0, BN)
            scores = tl.where(seen[None, :] <= rows[:, None], scores, float("-inf"))
        higher = tl.maximum(tl.max(scores, 1), top)
        decay = tl.math.exp2(top - higher)
        parts = tl.math.exp2(scores - higher[:, None])
        mixed = tl.dot(parts.to(tl.float16), tl.load(values), mixed * decay[:, None])
        weight = tl.sum(parts, 1) + decay * weight
        top = higher
        keys = tl.advance(keys, (0, BN))
        values = tl.advance(values, (BN, 0))
    return top, weight, mixed


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, scale, m_ptr, out_ptr, stride_h, stride_m, stride_k, CTX: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, STAGE: tl.constexpr):  # fmt: skip
    """Attention of BM queries; causal where STAGE is 3, over all keys where it is 1."""
    head = tl.program_id(1)
    q_ptr += head.to(tl.int64) * stride_h
    k_ptr += head.to(tl.int64) * stride_h
    v_ptr += head.to(tl.int64) * stride_h
    out_ptr += head.to(tl.int64) * stride_h
    begin = tl.program_id(0) * BM
    rows = begin + tl.arange(0, BM)
    keys = tl.make_block_ptr(k_ptr, (D, CTX), (stride_k, stride_m), (0, 0), (D, BN), (0, 1))
    values = tl.make_block_ptr(v_ptr, (CTX, D), (stride_m, stride_k), (0, 0), (BN, D), (1, 0))
    query = tl.load(tl.make_block_ptr(q_ptr, (CTX, D), (stride_m, stride_k), (begin, 0), (BM, D), (1, 0)))
    top = tl.full([BM], float("-inf"), tl.float32)
    weight, mixed = tl.zeros([BM], tl.float32), tl.zeros([BM, D], tl.float32)
    scale = scale * 1.4426950408889634  # exp(x) = exp2(x log2(e))
    if STAGE == 3:
        top, weight, mixed = attend(top, weight, mixed, query, keys, values, scale, rows, 0, begin, BN, False)
        top, weight, mixed = attend(top, weight, mixed, query, keys, values, scale, rows, begin, begin + BM, BN, True)
    else:
        top, weight, mixed = attend(top, weight, mixed, query, keys, values, scale, rows, 0, CTX, BN, False)
    out = tl.make_block_ptr(out_ptr, (CTX, D), (stride_m, stride_k), (begin, 0), (BM, D), (1, 0))
    tl.store(out, (mixed / weight[:, None]).to(out_ptr.type.element_ty))
    tl.store(m_ptr + head * CTX + rows, tl.math.log2(weight) + top)


@triton.jit
def grouped_gemm(a_ptrs, b_ptrs, c_ptrs, sizes, strides, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):  # fmt: skip
    """Deals the tiles of all groups out in turn; `turn` is the first tile of the group that is this program's."""
    turn = tl.program_id(0)
    for _group in range(groups):
        m, n, k = tl.load(sizes), tl.load(sizes + 1), tl.load(sizes + 2)
        width = tl.cdiv(n, BN)
        tiles = width * tl.cdiv(m, BM)
        while turn < tiles:
            rows = turn // width * BM + tl.arange(0, BM)[:, None]
            cols = turn % width * BN + tl.arange(0, BN)[None, :]
            depth = tl.arange(0, BK)
            row_step = tl.load(strides + 1)
            left = tl.load(a_ptrs).to(tl.pointer_type(tl.float16)) + rows * tl.load(strides) + depth[None, :]
            right = tl.load(b_ptrs).to(tl.pointer_type(tl.float16)) + depth[:, None] * row_step + cols
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for _start in range(0, k, BK):
                tl.multiple_of(left, [16, 16])
                total += tl.dot(tl.load(left), tl.load(right))
                right += row_step * BK
                left += BK
            target = tl.load(c_ptrs).to(tl.pointer_type(tl.float16)) + rows * tl.load(strides + 2)
            tl.store(target + cols, total.to(tl.float16))
            turn += PROGRAMS
        turn -= tiles
        sizes += 3
        strides += 3
        a_ptrs += 1
        b_ptrs += 1
        c_ptrs += 1


CASES = [
    (vector_add, "*fp32:16 *fp32:16 *fp32:16 i32 =1024"),
    (vector_add, "*bf16 *bf16 *bf16 i32 =256"),
    (vector_add, "*i64 *i32 *i64 i64 =128"),
    (fused_softmax, "*fp32 *fp32 i32 i32 i32 i32 =1024 =2"),
    (matmul, "*fp16 *fp16 *fp16 i32 i32 i32 i32 =1 i32 =1 i32 =1 =64 =64 =32 =8 ='leaky_relu'"),
    (matmul, "*bf16 *bf16 *fp32 i32 i32 i32 i32 i32 i32 i32 i32 i32 =32 =64 =32 =1 =''"),
    (dropout, "*fp32 *fp32 i32 fp32 i32 =512"),
    (layer_norm, "*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 i32 i32 fp32 =1024"),
    (layer_norm_backward, "*fp16 *fp16 *fp16 *fp16 *fp16 *fp16 *fp32 *fp32 *i32 i32 i32 =64 =1024"),
    (attention, "*fp16 *fp16 *fp16 fp32 *fp32 *fp16 i32 i32 =1 =1024 =64 =128 =64 =3"),
    (attention, "*fp16 *fp16 *fp16 fp32 *fp32 *fp16 i32 i32 =1 =1024 =64 =128 =64 =1"),
    (grouped_gemm, "*i64 *i64 *i64 *i32 *i32 i32 =32 =32 =32 =84"),
]
