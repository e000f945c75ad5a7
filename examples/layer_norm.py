"""Layer normalisation, forward and backward; the gradients of the weights are summed in two steps."""

import triton
import triton.language as tl


@triton.jit
def layer_norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
        centred = tl.where(cols < N, x - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + cols, ((x - mean) * rstd * w + b).to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_backward_dx(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, N,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    group = row % GROUPS
    lock = lock_ptr + group
    first = lock + GROUPS
    dw_ptrs = dw_ptr + group * N + cols
    db_ptrs = db_ptr + group * N + cols
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(mask, (x - mean) * rstd, 0.0)
    weighted = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(normal * weighted, axis=0) / N
    c2 = tl.sum(weighted, axis=0) / N
    dx = (weighted - (normal * c1 + c2)) * rstd
    tl.store(dx_ptr + row * stride + cols, dx.to(dx_ptr.dtype.element_ty), mask=mask)
    partial_dw = dy * normal
    partial_db = dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(first) == 0:
        tl.atomic_xchg(first, 1)
    else:
        partial_dw += tl.load(dw_ptrs, mask=mask)
        partial_db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, partial_dw, mask=mask)
    tl.store(db_ptrs, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_backward_weights(dw_parts, db_parts, dw_ptr, db_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offsets = rows[:, None] * N + cols[None, :]
        dw += tl.load(dw_parts + offsets, mask=mask, other=0.0)
        db += tl.load(db_parts + offsets, mask=mask, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, axis=0).to(dw_ptr.dtype.element_ty), mask=cols < N)
    tl.store(db_ptr + cols, tl.sum(db, axis=0).to(db_ptr.dtype.element_ty), mask=cols < N)


if __name__ == "__main__":  # tilewright run examples/layer_norm.py
    import numpy as np

    rows, cols = 500, 1000
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape, dtype=np.float32) for shape in ((rows, cols), cols, cols))
    y, (mean, rstd) = np.empty_like(x), np.empty((2, rows), np.float32)
    layer_norm_forward[(rows,)](x, y, w, b, mean, rstd, cols, cols, 1e-5, BLOCK=1024)
    centred = x.astype(np.float64) - x.mean(axis=1, keepdims=True, dtype=np.float64)
    exact = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w + b
    print(f"layer norm of {rows} rows of {cols}: largest error {np.abs(y - exact).max():.1e}")
