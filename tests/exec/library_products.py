"""Matrix products as libraries have them: work shared in streams and with locks, adapters of low rank, groups by
descriptors, block-sparse operands, transforms as products."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from device_memory import in_own_pages, mapped
from library_cases import BF16, Checks, Library, integers, normal, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# ------------------------------------------------- stream K: each program an equal share of all steps, parts behind locks


@triton.jit
def _in_bands(tile, high, wide, BAND: tl.constexpr):
    """Row and column of a tile; with `BAND` columns are walked one after another within bands of so many rows."""
    if BAND == 0:
        return tile // wide, tile % wide
    top = tile // (BAND * wide) * BAND
    inside = tile - top * wide
    rows = min(BAND, high - top)
    return top + inside % rows, inside // rows


@triton.jit
def _share_of_tile(
    a_ptr, b_ptr, c_ptr, ready_ptr, tile, m, n, k, begin, end, steps, a_pitch, b_pitch, c_pitch,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr,
):  # fmt: skip
    """Steps `begin` to `end` of one tile. Who has the last step stores; the others wait for it, then add."""
    row, col = _in_bands(tile, tl.cdiv(m, BM), tl.cdiv(n, BN), BAND)
    i = (row * BM + tl.arange(0, BM))[:, None]
    j = (col * BN + tl.arange(0, BN))[None, :]
    depth = begin * BK + tl.arange(0, BK)
    a_ptr += i * a_pitch + depth[None, :]
    b_ptr += j * b_pitch + depth[:, None]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(begin, end):
        x = tl.load(a_ptr, mask=(i < m) & (depth[None, :] < k), other=0.0)
        y = tl.load(b_ptr, mask=(depth[:, None] < k) & (j < n), other=0.0)
        sums += tl.dot(x, y, out_dtype=tl.float32, allow_tf32=False)
        depth += BK
        a_ptr += BK
        b_ptr += BK
    c_ptr += i * c_pitch + j
    if end < steps:
        while tl.atomic_cas(ready_ptr + tile, 1, 1) != 1:
            pass
        tl.debug_barrier()
        tl.atomic_add(c_ptr, sums, mask=(i < m) & (j < n))
    else:
        tl.store(c_ptr, sums, mask=(i < m) & (j < n))
        if begin > 0:
            tl.debug_barrier()
            tl.atomic_xchg(ready_ptr + tile, 1)


@triton.jit
def stream_k(
    a_ptr, b_ptr, c_ptr, ready_ptr, m, n, k, a_pitch, b_pitch, c_pitch, all_steps, steps,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr,
):  # fmt: skip
    """Program p has the steps from p/P to (p + 1)/P of all tiles' steps, `steps` of each tile.

    M. Osama et al., "Stream-K: work-centric parallel decomposition for dense matrix-matrix multiplication", 2023.
    """
    at = tl.program_id(0) * all_steps // tl.num_programs(0)
    left = (tl.program_id(0) + 1) * all_steps // tl.num_programs(0) - at
    while left > 0:
        begin = at % steps
        many = min(left, steps - begin)
        _share_of_tile(
            a_ptr, b_ptr, c_ptr, ready_ptr, at // steps, m, n, k, begin, begin + many, steps, a_pitch, b_pitch, c_pitch,
            BM, BN, BK, BAND,
        )  # fmt: skip
        at += many
        left -= many


@LIBRARY.case
def streamed_matmul() -> Checks:
    m, n, k, programs, bm, bn, bk = 40, 50, 100, 5, 16, 32, 16
    a, b, c = (
        normal(m, k, seed=1, dtype=np.float16),
        normal(n, k, seed=2, dtype=np.float16).T,
        np.zeros((m, n), np.float32),
    )
    tiles, per_tile = triton.cdiv(m, bm) * triton.cdiv(n, bn), triton.cdiv(k, bk)
    locks = np.zeros(tiles, np.int32)
    stream_k[(programs,)](
        a, np.ascontiguousarray(b.T), c, locks, m, n, k, k, k, n, tiles * per_tile, per_tile, BM=bm, BN=bn, BK=bk, BAND=2,
        num_warps=2,
    )  # fmt: skip
    return [(c, wide(a) @ wide(b), 2e-3)]


@triton.jit
def split_k_in_turn(
    a_ptr, b_ptr, c_ptr, partial_ptr, lock_ptr, M, N, K, SPLIT: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Sums in a fixed order: each part waits until the one before it has been added."""
    tile, split = tl.program_id(0), tl.program_id(1)
    grid_n = tl.cdiv(N, BN)
    rm, rn = (tile // grid_n) * BM + tl.arange(0, BM), (tile % grid_n) * BN + tl.arange(0, BN)
    per_split = tl.cdiv(tl.cdiv(K, BK), SPLIT)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, per_split, num_stages=3):
        rk = (split * per_split + i) * BK + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk, mask=(rm[:, None] < M) & (rk < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn, mask=(rk[:, None] < K) & (rn < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    inside = (rm[:, None] < M) & (rn[None, :] < N)
    at = rm[:, None] * N + rn[None, :]
    while tl.atomic_add(lock_ptr + tile, 0, sem="acquire") != split:
        pass
    if split > 0:
        acc += tl.load(partial_ptr + at, mask=inside, other=0.0)
    if split == SPLIT - 1:
        tl.store(c_ptr + at, acc.to(c_ptr.dtype.element_ty), mask=inside)
        tl.atomic_xchg(lock_ptr + tile, 0, sem="release")
    else:
        tl.store(partial_ptr + at, acc, mask=inside)
        tl.debug_barrier()
        tl.atomic_xchg(lock_ptr + tile, split + 1, sem="release")


@LIBRARY.case
def split_matmul_in_turn() -> Checks:
    m, n, k = 20, 40, 90
    a, b, c = normal(m, k, seed=3), normal(k, n, seed=4), np.empty((m, n), BF16)
    locks, partial = np.zeros(4, np.int32), np.empty((m, n), np.float32)
    split_k_in_turn[(4, 3)](a, b, c, partial, locks, m, n, k, SPLIT=3, BM=16, BN=32, BK=16)
    return [(c, wide(a) @ wide(b), 2e-2), (locks, np.zeros(4), 0)]


# ---------------------------------------------------------------------- adapters of low rank, one per sequence, in slices


@triton.jit
def lora_shrink(
    x_ptr, weights_ptr, out_ptr, tokens, rank, width, order_ptr, counts_ptr, begins_ptr, adapters_ptr, scale,
    ROWS: tl.constexpr, RANK: tl.constexpr, DEPTH: tl.constexpr, PARTS: tl.constexpr, SLICES: tl.constexpr,
):  # fmt: skip
    """out[slice, token] = scale W x with the token's adapter W, a slice's (adapters, rank, width); `order` has the tokens
    of an adapter behind one another. Where there are several slices, `weights` holds their addresses. PARTS programs
    share the width and add up what they find."""
    turn = tl.program_id(2)
    adapter = tl.load(adapters_ptr + turn)
    if adapter < 0:
        return
    part, first = tl.program_id(0) % PARTS, tl.program_id(0) // PARTS * ROWS
    count = tl.load(counts_ptr + turn) - first
    if count <= 0:
        return
    if SLICES > 1:
        slice_ptr = tl.load(weights_ptr + tl.program_id(1)).to(tl.pointer_type(x_ptr.dtype.element_ty))
    else:
        slice_ptr = weights_ptr
    row, column = tl.arange(0, ROWS), tl.arange(0, RANK)
    # Rows past the last token take it again.
    token = tl.load(order_ptr + tl.load(begins_ptr + turn) + first + tl.minimum(row, count - 1))
    left = x_ptr + token[:, None] * width
    right = slice_ptr + (adapter * rank + column % rank)[None, :] * width
    total = tl.zeros((ROWS, RANK), dtype=tl.float32)
    for start in range(part * DEPTH, width, PARTS * DEPTH):
        depth = start + tl.arange(0, DEPTH)
        w = tl.load(right + depth[:, None], mask=(depth < width)[:, None], other=0.0)
        x = tl.load(left + depth[None, :], mask=(depth < width)[None, :], other=0.0)
        total += tl.dot(x, w, input_precision="ieee")
    target = out_ptr + (tl.program_id(1) * tokens + token[:, None]) * rank + column[None, :]
    live = (column < rank)[None, :] & (row < count)[:, None]
    if PARTS > 1:
        tl.atomic_add(target, scale * total, mask=live)
    else:
        tl.store(target, scale * total, mask=live)


@LIBRARY.native_case
def adapters_of_low_rank() -> Checks:
    """Addresses of the slices' weights come from a tensor, so only the memory that they name is not checked."""
    tokens, rank, k, loras = 13, 8, 50, 3
    x = normal(tokens, k, seed=22)
    a, b = (in_own_pages(normal(loras, rank, k, seed=seed)) for seed in (23, 24))
    mapping = np.array([0, 2, 2, -1, 0, 2, 2, 2, -1, 0, 0, 2, 2])
    ids = np.array([-1, 0, 2, -1], np.int32)
    order = np.argsort(mapping, kind="stable").astype(np.int32)
    counts = np.array([2, 4, 7, 0], np.int32)
    begins = np.array([0, 2, 6, 13, 13], np.int32)
    results: Checks = []
    for split, weights in ((1, [a, b]), (4, [a, b]), (2, [a])):
        out = np.zeros((len(weights), tokens, rank), np.float32)
        table = np.array([w.ctypes.data for w in weights], np.uint64) if len(weights) > 1 else a
        with mapped([a, b]):
            lora_shrink[(split * triton.cdiv(tokens, 4), len(weights), 4)](
                x, table, out, tokens, rank, k, order, counts, begins, ids, 0.5,
                ROWS=4, RANK=16, DEPTH=16, PARTS=split, SLICES=len(weights),
            )  # fmt: skip
        expected = np.zeros(out.shape)
        for i, w in enumerate(weights):
            for t in np.flatnonzero(mapping >= 0):
                expected[i, t] = wide(w[mapping[t]]) @ x[t] * 0.5
        results.append((out, expected, 1e-5))
    return results


# ------------------------------------------------------------------------------ groups of rows, persistent, by descriptors


@triton.jit
def grouped_gemm_of_rows(
    a_ptr, b_ptr, c_ptr, counts_ptr, GROUPS: tl.constexpr, M, N: tl.constexpr, K: tl.constexpr, PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Rows of A in groups of `counts`, each times the transpose of its own N rows of B; blocks are dealt out in turn."""
    left = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    right = tl.make_tensor_descriptor(b_ptr, [GROUPS * N, K], [K, 1], [BLOCK_N, BLOCK_K])
    turn, first = tl.program_id(0), 0
    for group in tl.range(GROUPS):
        count = tl.load(counts_ptr + group)
        if count > 0:
            c_rows = c_ptr + first.to(tl.int64) * N
            target = tl.make_tensor_descriptor(c_rows, [count, N], [N, 1], [BLOCK_M, BLOCK_N])
            high = tl.cdiv(count, BLOCK_M)
            blocks = high * tl.cdiv(N, BLOCK_N)
            while turn < blocks:
                row, column = turn % high * BLOCK_M, turn // high * BLOCK_N
                total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
                for depth in range(0, K, BLOCK_K):
                    transposed = right.load([group * N + column, depth]).T
                    total += tl.dot(left.load([first + row, depth]), transposed, input_precision="ieee")
                target.store([row, column], total.to(c_ptr.dtype.element_ty))
                turn += PROGRAMS
            turn -= blocks
        first += count


@LIBRARY.case
def rows_in_groups() -> Checks:
    sizes, n, k, programs = np.array([5, 0, 33, 16], np.int32), 40, 48, 3
    total = int(sizes.sum())
    triton.set_allocator(lambda size, align, stream: np.empty(size, np.int8))
    a, b, c = normal(total, k, seed=25), normal(4 * n, k, seed=26), np.empty((total, n), np.float32)
    grouped_gemm_of_rows[(programs,)](
        a, b, c, sizes, GROUPS=4, M=total, N=n, K=k, PROGRAMS=programs, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16
    )
    owner = np.repeat(np.arange(4), sizes)
    return [(c, np.einsum("mk,mnk->mn", wide(a), wide(b).reshape(4, n, k)[owner]), 1e-4)]


# ------------------------------------------------------------------------------------- batches, and sums with old contents


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16, "BAND": 2}, num_stages=2, num_warps=2),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 16, "BLOCK_K": 32, "BAND": 1}, num_stages=3, num_warps=4),
    ],
    key=["m", "n", "k"], restore_value=["out_ptr"],
)  # fmt: skip
@triton.heuristics(
    {
        "WHOLE": lambda args: args["k"] % args["BLOCK_K"] == 0,
        "BIASED": lambda args: args["bias_ptr"] is not None,
    }
)
@triton.jit
def batched_addmm(
    a_ptr, b_ptr, bias_ptr, out_ptr, m, n, k, alpha, beta, a_batch, a_row, a_column, b_batch, b_row, b_column,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BAND: tl.constexpr,
    WHOLE: tl.constexpr, BIASED: tl.constexpr,
):  # fmt: skip
    """out = alpha A B + beta out + bias for each matrix of a batch; blocks go by bands of BAND block rows."""
    batch = tl.program_id(2)
    high, across = tl.num_programs(0), tl.num_programs(1)
    block_row, block_column = tl.program_id(0), tl.program_id(1)
    if BAND > 1:
        turn = block_column * high + block_row
        block_row, block_column = tl.swizzle2d(turn // across, turn % across, high, across, BAND)
    row = block_row * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = block_column * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    a_ptr += batch * a_batch + row * a_row
    b_ptr += batch * b_batch + column * b_column
    out_ptr += batch * m * n
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        has_a, has_b = row < m, column < n
        if not WHOLE:
            has_a &= (depth < k)[None, :]
            has_b &= (depth < k)[:, None]
        right = tl.load(b_ptr + depth[:, None] * b_row, mask=has_b, other=0.0)
        left = tl.load(a_ptr + depth[None, :] * a_column, mask=has_a, other=0.0)
        total += tl.dot(left, right, allow_tf32=False)
    live = (column < n) & (row < m)
    target = out_ptr + (row * n + column)
    total = beta * tl.load(target, mask=live, other=0.0) + alpha * total
    if BIASED:
        total += tl.load(bias_ptr + column, mask=column < n, other=0.0)
    tl.store(target, total, mask=live)


@LIBRARY.case
def batches_added_to_contents() -> Checks:
    results: Checks = []
    batch, m, n, k = 2, 37, 40, 50
    a, bt, bias = normal(batch, m, k, seed=27), normal(n, k, seed=28), normal(n, seed=29)
    for bias_or_none in (bias, None):
        o = normal(batch, m, n, seed=30)
        before = wide(o)
        batched_addmm[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"]), batch)](
            a, bt, bias_or_none, o, m, n, k, 0.5, -2.0, m * k, k, 1, 0, 1, k
        )
        product = wide(a) @ wide(bt).T * 0.5 - 2 * before
        results.append((o, product + (0 if bias_or_none is None else bias), 1e-4))
    return results


# ------------------------------------------------------------------------- products over blocks that a list names: sampled


@triton.jit
def sampled_dense_dense(A, B, C, lut, K, stride_am, stride_bk, BLOCK: tl.constexpr):
    entry = lut + tl.program_id(0) * 2
    row, col = tl.load(entry), tl.load(entry + 1)
    r = tl.arange(0, BLOCK)
    a_ptrs = A + (row * BLOCK + r)[:, None] * stride_am + r[None, :]
    b_ptrs = B + r[:, None] * stride_bk + (col * BLOCK + r)[None, :]
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for _ in range(0, K, BLOCK):
        acc = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), acc, input_precision="tf32x3")
        a_ptrs += BLOCK
        b_ptrs += BLOCK * stride_bk
    tl.store(C + tl.program_id(0) * BLOCK * BLOCK + r[:, None] * BLOCK + r[None, :], acc)


@triton.jit
def sparse_times_dense(S, B, C, crow, cols, N, BLOCK: tl.constexpr, BN: tl.constexpr):
    row, rn = tl.program_id(0), tl.program_id(1) * BN + tl.arange(0, BN)
    r = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BN), tl.float32)
    for i in range(tl.load(crow + row), tl.load(crow + row + 1)):
        s = tl.load(S + i * BLOCK * BLOCK + r[:, None] * BLOCK + r[None, :])
        b = tl.load(B + (tl.load(cols + i) * BLOCK + r)[:, None] * N + rn[None, :], mask=rn[None, :] < N, other=0.0)
        acc += tl.dot(s, b, input_precision="ieee")
    tl.store(C + (row * BLOCK + r)[:, None] * N + rn[None, :], acc, mask=rn[None, :] < N)


@LIBRARY.case
def products_of_chosen_blocks() -> Checks:
    block, rows, cols, k, n = 16, 3, 4, 32, 20
    chosen = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 1]], bool)
    lut = np.ascontiguousarray(np.argwhere(chosen), np.int32)
    a, b = normal(rows * block, k, seed=31), normal(k, cols * block, seed=32)
    blocks = np.empty((len(lut), block, block), np.float32)
    sampled_dense_dense[(len(lut),)](a, b, blocks, lut, k, k, cols * block, BLOCK=block)
    dense = np.where(np.kron(chosen, np.ones((block, block))) > 0, wide(a) @ wide(b), 0)
    grid = dense.reshape(rows, block, cols, block).transpose(0, 2, 1, 3)
    crow, x = np.concatenate([[0], np.cumsum(chosen.sum(1))]).astype(np.int32), normal(cols * block, n, seed=33)
    y = np.empty((rows * block, n), np.float32)
    sparse_times_dense[(rows, 2)](blocks, x, y, crow, np.ascontiguousarray(lut[:, 1]), n, BLOCK=block, BN=16)
    return [(blocks, grid[chosen], 1e-4), (y, dense @ x, 1e-3)]


# --------------------------------------------------------------------------------- transforms: Walsh, Fourier, cosine


@triton.jit
def walsh_hadamard(x_ptr, out_ptr, scale, N: tl.constexpr, LOG: tl.constexpr, ROWS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows[:, None] * N + tl.arange(0, N)[None, :])
    for i in tl.static_range(LOG):
        pairs = tl.reshape(x, (ROWS, N // (2 << i), 2, 1 << i))
        low, high = tl.split(tl.permute(pairs, (0, 1, 3, 2)))
        x = tl.reshape(tl.permute(tl.join(low + high, low - high), (0, 1, 3, 2)), (ROWS, N))
    tl.store(out_ptr + rows[:, None] * N + tl.arange(0, N)[None, :], x * scale)


@triton.jit
def _complex_dot(ar, ai, br, bi):
    real = tl.dot(ar, br, input_precision="ieee") - tl.dot(ai, bi, input_precision="ieee")
    imaginary = tl.dot(ar, bi, input_precision="ieee") + tl.dot(ai, br, input_precision="ieee")
    return real, imaginary


@triton.jit
def fourier_in_two_steps(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr):
    """N = A * B: products by the matrix of each factor, with twiddles between them."""
    TAU: tl.constexpr = 6.283185307179586
    N: tl.constexpr = A * B
    base = tl.program_id(0) * N
    i, j = tl.arange(0, A), tl.arange(0, B)
    at = base + i[:, None] * B + j[None, :]
    real, imaginary = tl.load(x_ptr + 2 * at), tl.load(x_ptr + 2 * at + 1)
    angle = -TAU / A * ((i[:, None] * i[None, :]) % A).to(tl.float32)
    real, imaginary = _complex_dot(tl.cos(angle), tl.sin(angle), real, imaginary)
    twiddle = -TAU / N * (i[:, None] * j[None, :]).to(tl.float32)
    c, s = tl.cos(twiddle), tl.sin(twiddle)
    real, imaginary = real * c - imaginary * s, real * s + imaginary * c
    angle = -TAU / B * ((j[:, None] * j[None, :]) % B).to(tl.float32)
    real, imaginary = _complex_dot(real, imaginary, tl.cos(angle), tl.sin(angle))
    out = base + i[:, None] + j[None, :] * A
    tl.store(out_ptr + 2 * out, real)
    tl.store(out_ptr + 2 * out + 1, imaginary)


@triton.jit
def blockwise_cosine(x_ptr, out_ptr, height, width, SIZE: tl.constexpr, INVERSE: tl.constexpr):
    rows, cols = tl.program_id(0) * SIZE + tl.arange(0, SIZE), tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    at = rows[:, None] * width + cols[None, :]
    x = tl.load(x_ptr + at, mask=(rows < height)[:, None] & (cols < width)[None, :], other=0).to(tl.float32)
    u, v = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    basis = tl.cos((2 * v + 1) * u * (3.141592653589793 / (2 * SIZE)))
    basis *= tl.where(u == 0, (1.0 / SIZE) ** 0.5, (2.0 / SIZE) ** 0.5)
    if INVERSE:
        basis = tl.trans(basis)
    y = tl.dot(tl.dot(basis, x, input_precision="ieee"), tl.trans(basis), input_precision="ieee")
    tl.store(out_ptr + at, y, mask=(rows < height)[:, None] & (cols < width)[None, :])


@LIBRARY.case
def transforms_as_products() -> Checks:
    x = normal(4, 64, seed=34)
    y = np.empty_like(x)
    walsh_hadamard[(2,)](x, y, 0.125, N=64, LOG=6, ROWS=2)
    h = np.array([[1.0]])
    for _ in range(6):
        h = np.block([[h, h], [h, -h]])
    signal = (normal(3, 512, seed=35) + 1j * normal(3, 512, seed=36)).astype(np.complex64)
    spectrum = np.empty_like(signal)
    fourier_in_two_steps[(3,)](signal.view(np.float32), spectrum.view(np.float32), A=16, B=32)
    fourier = np.fft.fft(signal.astype(np.complex128))
    image = integers(0, 256, 32, 32, seed=37, dtype=np.uint8)
    coded, back = np.empty((32, 32), np.float32), np.empty((32, 32), np.float32)
    blockwise_cosine[(2, 2)](image, coded, 32, 32, SIZE=16, INVERSE=False)
    blockwise_cosine[(2, 2)](coded, back, 32, 32, SIZE=16, INVERSE=True)
    return [
        (y, wide(x) @ h / 8, 1e-5),
        (spectrum.view(np.float32), fourier.view(np.float64), 1e-3),
        (back, image, 1e-3),
    ]


# --------------------------------------------------------------------------------------------- sixteen-bit everything


@triton.jit
def half_products(a_ptr, b_ptr, c_ptr, d_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(a_ptr + i[:, None] * N + i[None, :]), tl.load(b_ptr + i[:, None] * N + i[None, :])
    tl.store(c_ptr + i[:, None] * N + i[None, :], tl.dot(a, b, out_dtype=tl.float16))
    wide = tl.dot(a.to(tl.float32), b.to(tl.float32), input_precision="ieee", out_dtype=tl.float32)
    batch = tl.dot(tl.reshape(a, (2, N // 2, N)), tl.broadcast_to(b[None], (2, N, N)), out_dtype=tl.float32)
    tl.store(d_ptr + i[:, None] * N + i[None, :], tl.reshape(batch, (N, N)) - wide)


@LIBRARY.case
def half_precision_products() -> Checks:
    a, b = normal(32, 32, seed=38, dtype=np.float16), normal(32, 32, seed=39, dtype=np.float16)
    c, d = np.empty((32, 32), np.float16), np.empty((32, 32), np.float32)
    half_products[(1,)](a, b, c, d, N=32)
    return [(c, wide(a) @ wide(b), 3e-2), (d, np.zeros((32, 32)), 1e-4)]
