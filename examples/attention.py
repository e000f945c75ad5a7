"""Fused attention, forward: softmax(q k^T * scale) v without storing the scores, by a running maximum per row."""

import triton
import triton.language as tl


@triton.jit
def attention_block(
    acc, row_sum, row_max, q, k_ptrs, v_ptrs, stride_kn, stride_vn, rows, low, high, n_keys, scale,
    CAUSAL_BLOCK: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    for start in range(low, high, BLOCK_N):
        start = tl.multiple_of(start, BLOCK_N)
        keys = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptrs + start * stride_kn, mask=keys[None, :] < n_keys, other=0.0)
        scores = tl.dot(q, k) * scale
        scores = tl.where(keys[None, :] < n_keys, scores, -float("inf"))
        if CAUSAL_BLOCK:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.math.exp2(scores - new_max[:, None])
        alpha = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs + start * stride_vn, mask=keys[:, None] < n_keys, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc)
        row_max = new_max
    return acc, row_sum, row_max


@triton.jit
def attention_forward(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, n_queries, n_keys,
    stride_qh, stride_qm, stride_kh, stride_kn, stride_vh, stride_vn, stride_oh, stride_om,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    head = tl.program_id(1)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    keys = tl.arange(0, BLOCK_N)
    q = tl.load(
        q_ptr + head * stride_qh + rows[:, None] * stride_qm + dims[None, :], mask=rows[:, None] < n_queries, other=0.0
    )
    k_ptrs = k_ptr + head * stride_kh + keys[None, :] * stride_kn + dims[:, None]
    v_ptrs = v_ptr + head * stride_vh + keys[:, None] * stride_vn + dims[None, :]
    row_max = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    row_sum = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    scale2 = scale * 1.44269504
    if CAUSAL:
        middle = block * BLOCK_M
        high = tl.minimum(middle + BLOCK_M, n_keys)
        middle = tl.minimum(middle, n_keys)
        acc, row_sum, row_max = attention_block(
            acc,
            row_sum,
            row_max,
            q,
            k_ptrs,
            v_ptrs,
            stride_kn,
            stride_vn,
            rows,
            0,
            middle,
            n_keys,
            scale2,
            False,
            BLOCK_N,
        )
        acc, row_sum, row_max = attention_block(
            acc,
            row_sum,
            row_max,
            q,
            k_ptrs,
            v_ptrs,
            stride_kn,
            stride_vn,
            rows,
            middle,
            high,
            n_keys,
            scale2,
            True,
            BLOCK_N,
        )
    else:
        acc, row_sum, row_max = attention_block(
            acc,
            row_sum,
            row_max,
            q,
            k_ptrs,
            v_ptrs,
            stride_kn,
            stride_vn,
            rows,
            0,
            n_keys,
            n_keys,
            scale2,
            False,
            BLOCK_N,
        )
    acc = acc / row_sum[:, None]
    tl.store(lse_ptr + head * n_queries + rows, row_max + tl.math.log2(row_sum), mask=rows < n_queries)
    tl.store(
        out_ptr + head * stride_oh + rows[:, None] * stride_om + dims[None, :],
        acc.to(out_ptr.dtype.element_ty),
        mask=rows[:, None] < n_queries,
    )
