"""Kernels of attention's gradients, as users write them; loaded for tilewright and for Triton.

With S = Q K^T * scale, P = softmax(S) and O = P V, the gradients for a given dO are

    dV = P^T dO,  dP = dO V^T,  dS = P * (dP - rowsum(dO * O)),  dQ = dS K * scale,  dK = dS^T Q * scale.

P is computed again from `lse`, the logarithm (base 2) of the sums of the exponentials of each row.
"""

import triton
import triton.language as tl


@triton.jit
def row_dots_kernel(x_ptr, y_ptr, out_ptr, HEAD: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    places = rows.to(tl.int64)[:, None] * HEAD + tl.arange(0, HEAD)[None, :]
    x = tl.load(x_ptr + places).to(tl.float32)
    y = tl.load(y_ptr + places).to(tl.float32)
    tl.store(out_ptr + rows, tl.sum(x * y, 1))


@triton.jit
def key_gradients_kernel(
    q_ptr, k_ptr, v_ptr, given_ptr, lse_ptr, dots_ptr, dk_ptr, dv_ptr, scale, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """dK and dV of BLOCK_N keys, over blocks of BLOCK_M queries; scores are computed transposed."""
    block = tl.program_id(0)
    first_row = tl.program_id(1).to(tl.int64) * length
    base = first_row * HEAD
    keys = block * BLOCK_N + tl.arange(0, BLOCK_N)
    dims, queries = tl.arange(0, HEAD), tl.arange(0, BLOCK_M)
    k = tl.load(k_ptr + base + keys[:, None] * HEAD + dims[None, :])
    v = tl.load(v_ptr + base + keys[:, None] * HEAD + dims[None, :])
    q_ptrs = q_ptr + base + queries[:, None] * HEAD + dims[None, :]
    given_ptrs = given_ptr + base + queries[:, None] * HEAD + dims[None, :]
    dk = tl.zeros([BLOCK_N, HEAD], dtype=tl.float32)
    dv = tl.zeros([BLOCK_N, HEAD], dtype=tl.float32)
    scale2 = scale * 1.44269504
    begin = 0
    if CAUSAL:
        begin = block * BLOCK_N
    for start in range(begin, length, BLOCK_M):
        q = tl.load(q_ptrs + start * HEAD)
        lse = tl.load(lse_ptr + first_row + start + queries)
        p = tl.math.exp2(tl.dot(k, tl.trans(q)) * scale2 - lse[None, :])
        if CAUSAL:
            p = tl.where((start + queries)[None, :] >= keys[:, None], p, 0.0)
        given = tl.load(given_ptrs + start * HEAD)
        dv = tl.dot(p.to(given.dtype), given, dv)
        dots = tl.load(dots_ptr + first_row + start + queries)
        ds = p * (tl.dot(v, tl.trans(given)) - dots[None, :])
        dk = tl.dot(ds.to(q.dtype), q, dk)
    places = base + keys[:, None] * HEAD + dims[None, :]
    tl.store(dk_ptr + places, (dk * scale).to(dk_ptr.dtype.element_ty))
    tl.store(dv_ptr + places, dv.to(dv_ptr.dtype.element_ty))


@triton.jit
def query_gradients_kernel(
    q_ptr, k_ptr, v_ptr, given_ptr, lse_ptr, dots_ptr, dq_ptr, scale, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """dQ of BLOCK_M queries, over blocks of BLOCK_N keys."""
    block = tl.program_id(0)
    first_row = tl.program_id(1).to(tl.int64) * length
    base = first_row * HEAD
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    dims, keys = tl.arange(0, HEAD), tl.arange(0, BLOCK_N)
    q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :])
    given = tl.load(given_ptr + base + rows[:, None] * HEAD + dims[None, :])
    lse = tl.load(lse_ptr + first_row + rows)
    dots = tl.load(dots_ptr + first_row + rows)
    k_ptrs = k_ptr + base + keys[:, None] * HEAD + dims[None, :]
    v_ptrs = v_ptr + base + keys[:, None] * HEAD + dims[None, :]
    dq = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    scale2 = scale * 1.44269504
    end = length
    if CAUSAL:
        end = (block + 1) * BLOCK_M
    for start in range(0, end, BLOCK_N):
        k = tl.load(k_ptrs + start * HEAD)
        p = tl.math.exp2(tl.dot(q, tl.trans(k)) * scale2 - lse[:, None])
        if CAUSAL:
            p = tl.where(rows[:, None] >= (start + keys)[None, :], p, 0.0)
        v = tl.load(v_ptrs + start * HEAD)
        ds = p * (tl.dot(given, tl.trans(v)) - dots[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    tl.store(dq_ptr + base + rows[:, None] * HEAD + dims[None, :], (dq * scale).to(dq_ptr.dtype.element_ty))
