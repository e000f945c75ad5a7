"""Matrix products as libraries have them: work shared in streams and with locks, adapters of low rank, groups by
descriptors, block-sparse operands, transforms as products."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from device_memory import mapped
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
    input_ptr, lora_ptr_tensor, out_ptr, M, N, K, token_indices_sorted_by_lora_ids, num_tokens_per_lora, lora_token_start_loc,
    lora_ids, scaling, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr,
    SLICE_NUM: tl.constexpr,
):  # fmt: skip
    pid_sk_m = tl.program_id(axis=0)
    pid_sk, pid_m = pid_sk_m % SPLIT_K, pid_sk_m // SPLIT_K
    slice_id, lora_idx = tl.program_id(axis=1), tl.program_id(axis=2)
    lora_id = tl.load(lora_ids + lora_idx)
    if lora_id == -1:
        return
    lora_m_size = tl.load(num_tokens_per_lora + lora_idx)
    cta_m_offset = pid_m * BLOCK_M
    if cta_m_offset >= lora_m_size:
        return
    cta_m_len = min(BLOCK_M, lora_m_size - cta_m_offset)
    start = tl.load(lora_token_start_loc + lora_idx)
    cta_indices = token_indices_sorted_by_lora_ids + start + cta_m_offset
    offset_m = tl.arange(0, BLOCK_M) % cta_m_len
    ram = tl.load(cta_indices + offset_m)
    cur_lora_ptr = lora_ptr_tensor
    if SLICE_NUM > 1:
        cur_lora_ptr = tl.load(lora_ptr_tensor + slice_id).to(tl.pointer_type(input_ptr.dtype.element_ty))
    rbn = tl.arange(0, BLOCK_N) % N
    offset_k = pid_sk * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = input_ptr + ram[:, None] * K + offset_k[None, :]
    b_ptrs = cur_lora_ptr + lora_id * N * K + rbn[None, :] * K + offset_k[:, None]
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        k_remaining = K - k * (BLOCK_K * SPLIT_K)
        a = tl.load(a_ptrs, mask=offset_k[None, :] < k_remaining, other=0.0)
        b = tl.load(b_ptrs, mask=offset_k[:, None] < k_remaining, other=0.0)
        accumulator += tl.dot(a, b, input_precision="ieee")
        a_ptrs += BLOCK_K * SPLIT_K
        b_ptrs += BLOCK_K * SPLIT_K
    accumulator *= scaling
    offset_cn = tl.arange(0, BLOCK_N)
    c_ptr = out_ptr + slice_id * M * N + ram[:, None] * N + offset_cn[None, :]
    c_mask = (tl.arange(0, BLOCK_M)[:, None] < cta_m_len) & (offset_cn[None, :] < N)
    if SPLIT_K == 1:
        tl.store(c_ptr, accumulator, mask=c_mask)
    else:
        tl.atomic_add(c_ptr, accumulator, mask=c_mask)


@LIBRARY.native_case
def adapters_of_low_rank() -> Checks:
    """Addresses of the slices' weights come from a tensor, so only the memory that they name is not checked."""
    tokens, rank, k, loras = 13, 8, 50, 3
    x, a, b = normal(tokens, k, seed=22), normal(loras, rank, k, seed=23), normal(loras, rank, k, seed=24)
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
                BLOCK_M=4, BLOCK_N=16, BLOCK_K=16, SPLIT_K=split, SLICE_NUM=len(weights),
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
    a_ptr, b_ptr, c_ptr, m_sizes, G: tl.constexpr, M, N: tl.constexpr, K: tl.constexpr, NUM_PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tidx = tl.program_id(0)
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[G * N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    m_end = 0
    iterated = 0
    for g in tl.range(G):
        m_start = m_end
        m_size = tl.load(m_sizes + g)
        m_end = m_start + m_size
        if m_size > 0:
            tiles_m = tl.cdiv(m_size, BLOCK_M)
            tiles = tiles_m * tl.cdiv(N, BLOCK_N)
            c_desc = tl.make_tensor_descriptor(
                c_ptr + m_start.to(tl.int64) * N, shape=[m_size, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N]
            )
            while tidx >= iterated and tidx < iterated + tiles:
                gidx = tidx - iterated
                m_offset, n_offset = (gidx % tiles_m) * BLOCK_M, (gidx // tiles_m) * BLOCK_N
                accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
                for k_offset in range(0, K, BLOCK_K):
                    a = a_desc.load([m_start + m_offset, k_offset])
                    b = b_desc.load([g * N + n_offset, k_offset])
                    accumulator += tl.dot(a, b.T, input_precision="ieee")
                c_desc.store([m_offset, n_offset], accumulator.to(c_ptr.dtype.element_ty))
                tidx += NUM_PROGRAMS
            iterated += tiles


@LIBRARY.case
def rows_in_groups() -> Checks:
    sizes, n, k, programs = np.array([5, 0, 33, 16], np.int32), 40, 48, 3
    total = int(sizes.sum())
    triton.set_allocator(lambda size, align, stream: np.empty(size, np.int8))
    a, b, c = normal(total, k, seed=25), normal(4 * n, k, seed=26), np.empty((total, n), np.float32)
    grouped_gemm_of_rows[(programs,)](
        a, b, c, sizes, G=4, M=total, N=n, K=k, NUM_PROGRAMS=programs, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16
    )
    owner = np.repeat(np.arange(4), sizes)
    return [(c, np.einsum("mk,mnk->mn", wide(a), wide(b).reshape(4, n, k)[owner]), 1e-4)]


# ------------------------------------------------------------------------------------- batches, and sums with old contents


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 2}, num_stages=2, num_warps=2),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 16, "BLOCK_K": 32, "GROUP_M": 1}, num_stages=3, num_warps=4),
    ],
    key=["M", "N", "K"], restore_value=["O"],
)  # fmt: skip
@triton.heuristics(
    {
        "DIVISIBLE_K": lambda args: args["K"] % args["BLOCK_K"] == 0,
        "HAS_BIAS": lambda args: args["Bias"] is not None,
    }
)
@triton.jit
def batched_addmm(
    A, B, Bias, O, M, N, K, alpha, beta, stride_ab, stride_am, stride_ak, stride_bb, stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    DIVISIBLE_K: tl.constexpr, HAS_BIAS: tl.constexpr,
):  # fmt: skip
    pid_b = tl.program_id(2)
    A += pid_b * stride_ab
    B += pid_b * stride_bb
    O += pid_b * M * N
    pidx, pidy = tl.program_id(0), tl.program_id(1)
    if GROUP_M == 1:
        pid_m, pid_n = pidx, pidy
    else:
        gridx, gridy = tl.num_programs(0), tl.num_programs(1)
        pid = pidx + pidy * gridx
        num_per_group = gridy * GROUP_M
        group_id, inner = pid // num_per_group, pid % num_per_group
        group_size = tl.where((group_id * GROUP_M + GROUP_M) > gridx, gridx % GROUP_M, GROUP_M)
        pid_m, pid_n = group_id * GROUP_M + inner % group_size, inner // group_size
    offs_m, offs_n = pid_m * BLOCK_M + tl.arange(0, BLOCK_M), pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    mask_m, mask_n = offs_m < M, offs_n < N
    a_ptrs = A + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = B + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    o = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(tl.cdiv(K, BLOCK_K)):
        mask_a, mask_b = mask_m[:, None], mask_n[None, :]
        if not DIVISIBLE_K:
            mask_k = offs_k + i * BLOCK_K < K
            mask_a = mask_a & mask_k[None, :]
            mask_b = mask_b & mask_k[:, None]
        a, b = tl.load(a_ptrs, mask_a, other=0.0), tl.load(b_ptrs, mask_b, other=0.0)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
        o += tl.dot(a, b, allow_tf32=False)
    o_ptrs = O + offs_m[:, None] * N + offs_n[None, :]
    o = o * alpha + tl.load(o_ptrs, mask=mask_m[:, None] & mask_n[None, :], other=0.0) * beta
    if HAS_BIAS:
        o += tl.load(Bias + offs_n, mask=mask_n, other=0.0)[None, :]
    tl.store(o_ptrs, o, mask=mask_m[:, None] & mask_n[None, :])


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
