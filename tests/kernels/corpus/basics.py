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
    first = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(first, n_rows, step, num_stages=STAGES):
        cols = tl.arange(0, BLOCK)
        mask = cols < n_cols
        values = tl.load(in_ptr + row * in_stride + cols, mask=mask, other=-float("inf"))
        shifted = values - tl.max(values, axis=0)
        numerator = tl.exp(shifted)
        denominator = tl.sum(numerator, axis=0)
        tl.store(out_ptr + row * out_stride + cols, numerator / denominator, mask=mask)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    per_group = GROUP * tiles_n
    group = pid // per_group
    first_m = group * GROUP
    rows = min(tiles_m - first_m, GROUP)
    pid_m = first_m + ((pid % per_group) % rows)
    pid_n = (pid % per_group) // rows
    offs_m = (pid_m * BM + tl.arange(0, BM)) % M
    offs_n = (pid_n * BN + tl.arange(0, BN)) % N
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + (offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    c = acc.to(c_ptr.dtype.element_ty)
    out_m = pid_m * BM + tl.arange(0, BM)
    out_n = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + stride_cm * out_m[:, None] + stride_cn * out_n[None, :]
    tl.store(c_ptrs, c, mask=(out_m[:, None] < M) & (out_n[None, :] < N))


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    y_ptr += row * stride
    x_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
        x = tl.where(cols < n, x - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def layer_norm_backward(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, n,
    GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x_ptr += row * stride
    dy_ptr += row * stride
    dx_ptr += row * stride
    lock_id = row % GROUP
    lock_ptr += lock_id
    count_ptr = lock_ptr + GROUP
    dw_ptr = dw_ptr + lock_id * n + cols
    db_ptr = db_ptr + lock_id * n + cols
    x = tl.load(x_ptr + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / n
    c2 = tl.sum(wdy, axis=0) / n
    tl.store(dx_ptr + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = dy.to(w.dtype)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        partial_dw += tl.load(dw_ptr, mask=mask)
        partial_db += tl.load(db_ptr, mask=mask)
    tl.store(dw_ptr, partial_dw, mask=mask)
    tl.store(db_ptr, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def attention_inner(acc, l_i, m_i, q, k_block, v_block, start, scale, offs_m, offs_n, BM: tl.constexpr, BN: tl.constexpr, STAGE: tl.constexpr, CTX: tl.constexpr):  # fmt: skip
    if STAGE == 1:
        lo, hi = 0, start * BM
    elif STAGE == 2:
        lo, hi = start * BM, (start + 1) * BM
        lo = tl.multiple_of(lo, BM)
    else:
        lo, hi = 0, CTX
    k_block = tl.advance(k_block, (0, lo))
    v_block = tl.advance(v_block, (lo, 0))
    for start_n in range(lo, hi, BN):
        start_n = tl.multiple_of(start_n, BN)
        k = tl.load(k_block)
        qk = tl.dot(q, k)
        if STAGE == 2:
            causal = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * scale + tl.where(causal, 0, -1.0e6)
            m_new = tl.maximum(m_i, tl.max(qk, 1))
            qk -= m_new[:, None]
        else:
            m_new = tl.maximum(m_i, tl.max(qk, 1) * scale)
            qk = qk * scale - m_new[:, None]
        p = tl.math.exp2(qk)
        alpha = tl.math.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_block)
        acc = tl.dot(p.to(tl.float16), v, acc)
        m_i = m_new
        v_block = tl.advance(v_block, (BN, 0))
        k_block = tl.advance(k_block, (0, BN))
    return acc, l_i, m_i


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, scale, m_ptr, out_ptr, stride_h, stride_m, stride_k, CTX: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, STAGE: tl.constexpr):  # fmt: skip
    start = tl.program_id(0)
    head = tl.program_id(1)
    base = head.to(tl.int64) * stride_h
    q_block = tl.make_block_ptr(q_ptr + base, (CTX, D), (stride_m, stride_k), (start * BM, 0), (BM, D), (1, 0))
    v_block = tl.make_block_ptr(v_ptr + base, (CTX, D), (stride_m, stride_k), (0, 0), (BN, D), (1, 0))
    k_block = tl.make_block_ptr(k_ptr + base, (D, CTX), (stride_k, stride_m), (0, 0), (D, BN), (0, 1))
    o_block = tl.make_block_ptr(out_ptr + base, (CTX, D), (stride_m, stride_k), (start * BM, 0), (BM, D), (1, 0))
    offs_m = start * BM + tl.arange(0, BM)
    offs_n = tl.arange(0, BN)
    m_i = tl.zeros([BM], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BM], dtype=tl.float32) + 1.0
    acc = tl.zeros([BM, D], dtype=tl.float32)
    scale *= 1.44269504
    q = tl.load(q_block)
    if STAGE & 1:
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_block, v_block, start, scale, offs_m, offs_n, BM, BN, 4 - STAGE, CTX)  # fmt: skip
    if STAGE & 2:
        acc, l_i, m_i = attention_inner(acc, l_i, m_i, q, k_block, v_block, start, scale, offs_m, offs_n, BM, BN, 2, CTX)  # fmt: skip
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(m_ptr + head * CTX + offs_m, m_i)
    tl.store(o_block, acc.to(out_ptr.type.element_ty))


@triton.jit
def grouped_gemm(a_ptrs, b_ptrs, c_ptrs, sizes, strides, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):  # fmt: skip
    tile = tl.program_id(0)
    done = 0
    for g in range(groups):
        m = tl.load(sizes + g * 3)
        n = tl.load(sizes + g * 3 + 1)
        k = tl.load(sizes + g * 3 + 2)
        tiles_n = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * tiles_n
        while tile >= done and tile < done + tiles:
            lda = tl.load(strides + g * 3)
            ldb = tl.load(strides + g * 3 + 1)
            ldc = tl.load(strides + g * 3 + 2)
            a = tl.load(a_ptrs + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_ptrs + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_ptrs + g).to(tl.pointer_type(tl.float16))
            local = tile - done
            tm = local // tiles_n
            tn = local % tiles_n
            offs_m = tm * BM + tl.arange(0, BM)
            offs_n = tn * BN + tl.arange(0, BN)
            offs_k = tl.arange(0, BK)
            pa = a + offs_m[:, None] * lda + offs_k[None, :]
            pb = b + offs_k[:, None] * ldb + offs_n[None, :]
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for _ in range(0, tl.cdiv(k, BK)):
                tl.multiple_of(pa, [16, 16])
                acc += tl.dot(tl.load(pa), tl.load(pb))
                pa += BK
                pb += BK * ldb
            tl.store(c + offs_m[:, None] * ldc + offs_n[None, :], acc.to(tl.float16))
            tile += PROGRAMS
        done = done + tiles


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
