"""Fused attention: softmax(q k^T * scale) v by a running maximum per row, without storing the scores; its gradients."""

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
        scores = tl.where(keys[None, :] < n_keys, tl.dot(q, k), -float("inf"))
        if CAUSAL_BLOCK:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new_max = tl.maximum(row_max, tl.max(scores, 1) * scale)
        p = tl.math.exp2(scores * scale - new_max[:, None])
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
        tl.static_assert(BLOCK_M % BLOCK_N == 0, "blocks of keys must end where blocks of queries do")
        middle = block * BLOCK_M
        high = tl.minimum(middle + BLOCK_M, n_keys)
        middle = tl.minimum(middle, n_keys)
        acc, row_sum, row_max = attention_block(
            acc, row_sum, row_max, q, k_ptrs, v_ptrs, stride_kn, stride_vn, rows, 0, middle, n_keys, scale2,
            False, BLOCK_N,
        )  # fmt: skip
        acc, row_sum, row_max = attention_block(
            acc, row_sum, row_max, q, k_ptrs, v_ptrs, stride_kn, stride_vn, rows, middle, high, n_keys, scale2,
            True, BLOCK_N,
        )  # fmt: skip
    else:
        acc, row_sum, row_max = attention_block(
            acc, row_sum, row_max, q, k_ptrs, v_ptrs, stride_kn, stride_vn, rows, 0, n_keys, n_keys, scale2,
            False, BLOCK_N,
        )  # fmt: skip
    acc = acc / row_sum[:, None]
    tl.store(lse_ptr + head * n_queries + rows, row_max + tl.math.log2(row_sum), mask=rows < n_queries)
    tl.store(
        out_ptr + head * stride_oh + rows[:, None] * stride_om + dims[None, :],
        acc.to(out_ptr.dtype.element_ty),
        mask=rows[:, None] < n_queries,
    )


@triton.jit
def attention_backward_delta(out_ptr, dout_ptr, delta_ptr, n_queries, HEAD: tl.constexpr, BLOCK_M: tl.constexpr):
    """delta[row] = sum(out[row] * dout[row]), for contiguous [heads, rows, HEAD]."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    head = tl.program_id(1)
    offsets = (head * n_queries + rows[:, None]) * HEAD + tl.arange(0, HEAD)[None, :]
    out = tl.load(out_ptr + offsets, mask=rows[:, None] < n_queries, other=0.0).to(tl.float32)
    dout = tl.load(dout_ptr + offsets, mask=rows[:, None] < n_queries, other=0.0).to(tl.float32)
    tl.store(delta_ptr + head * n_queries + rows, tl.sum(out * dout, axis=1), mask=rows < n_queries)


@triton.jit
def attention_backward_keys(
    q_ptr, k_ptr, v_ptr, dout_ptr, dk_ptr, dv_ptr, lse_ptr, delta_ptr, scale, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Gradients of one block of keys and values: a loop over the blocks of queries that see it."""
    block = tl.program_id(0)
    head = tl.program_id(1)
    base = head * length * HEAD
    keys = block * BLOCK_N + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, HEAD)
    key_mask = keys[:, None] < length
    k = tl.load(k_ptr + base + keys[:, None] * HEAD + dims[None, :], mask=key_mask, other=0.0)
    v = tl.load(v_ptr + base + keys[:, None] * HEAD + dims[None, :], mask=key_mask, other=0.0)
    dk = tl.zeros([BLOCK_N, HEAD], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, HEAD], dtype=tl.float32)
    first = 0
    if CAUSAL:
        first = (block * BLOCK_N) // BLOCK_M * BLOCK_M
    for start in range(first, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        row_mask = rows[:, None] < length
        q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :], mask=row_mask, other=0.0)
        dout = tl.load(dout_ptr + base + rows[:, None] * HEAD + dims[None, :], mask=row_mask, other=0.0)
        lse = tl.load(lse_ptr + head * length + rows, mask=rows < length, other=float("inf"))
        delta = tl.load(delta_ptr + head * length + rows, mask=rows < length, other=0.0)
        p_t = tl.math.exp2(tl.dot(k, tl.trans(q)) * (scale * 1.44269504) - lse[None, :])
        p_t = tl.where(key_mask, p_t, 0.0)
        if CAUSAL:
            p_t = tl.where(rows[None, :] >= keys[:, None], p_t, 0.0)
        dv = tl.dot(p_t.to(dout.dtype), dout, dv)
        dp_t = tl.dot(v, tl.trans(dout))
        ds_t = p_t * (dp_t - delta[None, :])
        dk = tl.dot(ds_t.to(q.dtype), q, dk)
    tl.store(
        dk_ptr + base + keys[:, None] * HEAD + dims[None, :], (dk * scale).to(dk_ptr.dtype.element_ty), mask=key_mask
    )
    tl.store(dv_ptr + base + keys[:, None] * HEAD + dims[None, :], dv.to(dv_ptr.dtype.element_ty), mask=key_mask)


@triton.jit
def attention_backward_queries(
    q_ptr, k_ptr, v_ptr, dout_ptr, dq_ptr, lse_ptr, delta_ptr, scale, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Gradient of one block of queries: a loop over the blocks of keys that it sees."""
    block = tl.program_id(0)
    head = tl.program_id(1)
    base = head * length * HEAD
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD)
    row_mask = rows[:, None] < length
    q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :], mask=row_mask, other=0.0)
    dout = tl.load(dout_ptr + base + rows[:, None] * HEAD + dims[None, :], mask=row_mask, other=0.0)
    lse = tl.load(lse_ptr + head * length + rows, mask=rows < length, other=float("inf"))
    delta = tl.load(delta_ptr + head * length + rows, mask=rows < length, other=0.0)
    dq = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum((block + 1) * BLOCK_M, length)
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        key_mask = keys[:, None] < length
        k = tl.load(k_ptr + base + keys[:, None] * HEAD + dims[None, :], mask=key_mask, other=0.0)
        v = tl.load(v_ptr + base + keys[:, None] * HEAD + dims[None, :], mask=key_mask, other=0.0)
        p = tl.math.exp2(tl.dot(q, tl.trans(k)) * (scale * 1.44269504) - lse[:, None])
        p = tl.where(keys[None, :] < length, p, 0.0)
        if CAUSAL:
            p = tl.where(rows[:, None] >= keys[None, :], p, 0.0)
        ds = p * (tl.dot(dout, tl.trans(v)) - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    tl.store(
        dq_ptr + base + rows[:, None] * HEAD + dims[None, :], (dq * scale).to(dq_ptr.dtype.element_ty), mask=row_mask
    )


if __name__ == "__main__":  # tilewright run examples/attention.py
    import numpy as np

    heads, length, dim = 4, 500, 64
    q, k, v = np.random.default_rng(0).standard_normal((3, heads, length, dim), dtype=np.float32)
    out, lse = np.empty_like(q), np.empty((heads, length), np.float32)
    attention_forward[(triton.cdiv(length, 64), heads)](
        q, k, v, out, lse, dim**-0.5, length, length,
        length * dim, dim, length * dim, dim, length * dim, dim, length * dim, dim,
        HEAD=dim, BLOCK_M=64, BLOCK_N=64, CAUSAL=True,
    )  # fmt: skip
    scores = np.where(np.tri(length, dtype=bool), q.astype(np.float64) @ k.swapaxes(1, 2) * dim**-0.5, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    error = np.abs(out - weights / weights.sum(axis=-1, keepdims=True) @ v).max()
    print(f"causal attention, {heads} heads, {length} queries: largest error {error:.1e}")
