"""Layer normalisation, forward and backward; the gradients of the weights are summed in two steps."""

import triton
import triton.language as tl


@triton.jit
def columns_from(start, N, BLOCK: tl.constexpr):
    """BLOCK columns, and which of them the row has."""
    columns = start + tl.arange(0, BLOCK)
    return columns, columns < N


@triton.jit
def layer_norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr):
    """y = (x - mean) rstd w + b, rstd = 1 / sqrt(var + eps); each lane keeps a sum of its own to the end of the row."""
    row = tl.program_id(0)
    from_row, to_row = x_ptr + row * stride, y_ptr + row * stride
    lanes = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns, live = columns_from(start, N, BLOCK)
        lanes += tl.load(from_row + columns, mask=live, other=0.0).to(tl.float32)
    mean = tl.sum(lanes, axis=0) / N
    lanes = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        columns, live = columns_from(start, N, BLOCK)
        apart = tl.load(from_row + columns, mask=live, other=0.0).to(tl.float32) - mean
        lanes += tl.where(live, apart * apart, 0.0)
    variance = tl.sum(lanes, axis=0) / N
    rstd = tl.rsqrt(variance + eps)
    for start in range(0, N, BLOCK):
        columns, live = columns_from(start, N, BLOCK)
        apart = tl.load(from_row + columns, mask=live, other=0.0).to(tl.float32) - mean
        gain, shift = tl.load(w_ptr + columns, mask=live), tl.load(b_ptr + columns, mask=live)
        tl.store(to_row + columns, (apart * rstd * gain + shift).to(y_ptr.dtype.element_ty), mask=live)
    tl.store(rstd_ptr + row, rstd)
    tl.store(mean_ptr + row, mean)


@triton.jit
def add_in_turn(parts, shares, columns, live, lock, is_used):
    """Adds rows to rows in memory, as other programs do; what is there counts only once `is_used` is set."""
    while tl.atomic_cas(lock, 0, 1) != 0:
        pass
    used = tl.load(is_used) != 0
    for i in tl.static_range(len(parts)):
        at = parts[i] + columns
        tl.store(at, shares[i] + tl.load(at, mask=live & used, other=0.0), mask=live)
    tl.store(is_used, 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def layer_norm_backward_dx(
    dx_ptr, dy_ptr, dw_ptr, db_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, lock_ptr, stride, N,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """dx = rstd (g - mean(g) - n mean(g n)) with n = (x - mean) rstd and g = w dy.

    Rows whose numbers are equal modulo GROUPS share one sum each of dw = dy n and db = dy."""
    row = tl.program_id(0)
    columns, live = columns_from(0, N, BLOCK)
    at = row * stride + columns
    dy = tl.load(dy_ptr + at, mask=live, other=0.0).to(tl.float32)
    apart = tl.load(x_ptr + at, mask=live, other=0.0).to(tl.float32) - tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    n = tl.where(live, apart, 0.0) * rstd
    g = dy * tl.load(w_ptr + columns, mask=live, other=0.0).to(tl.float32)
    along = tl.sum(g * n, axis=0) / N
    dx = rstd * (g - tl.sum(g, axis=0) / N - along * n)
    tl.store(dx_ptr + at, dx.to(dx_ptr.dtype.element_ty), mask=live)
    slot = row % GROUPS
    lock = lock_ptr + slot
    add_in_turn((dw_ptr + slot * N, db_ptr + slot * N), (dy * n, dy), columns, live, lock, lock + GROUPS)


@triton.jit
def layer_norm_backward_weights(dw_parts, db_parts, dw_ptr, db_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """The sums of M shares each of dw and db, BLOCK_N columns a program."""
    columns, has_column = columns_from(tl.program_id(0) * BLOCK_N, N, BLOCK_N)
    dw, db = tl.zeros((BLOCK_M, BLOCK_N), tl.float32), tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for share in range(0, M, BLOCK_M):
        rows = share + tl.arange(0, BLOCK_M)
        at = rows[:, None] * N + columns[None, :]
        live = (rows < M)[:, None] & has_column[None, :]
        db += tl.load(db_parts + at, mask=live, other=0.0)
        dw += tl.load(dw_parts + at, mask=live, other=0.0)
    tl.store(db_ptr + columns, tl.sum(db, axis=0).to(db_ptr.dtype.element_ty), mask=has_column)
    tl.store(dw_ptr + columns, tl.sum(dw, axis=0).to(dw_ptr.dtype.element_ty), mask=has_column)


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
