"""Products of quantised operands: eight bits with scales per row, column and block, four bits in shuffled words, looked-up
values, microscaling formats."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import BF16, E4M3, Array, Checks, Library, integers, normal, strides, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# --------------------------------------------------------------------------- eight bits: scales per row, column and block


@triton.jit
def scaled_mm_int8(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, bias_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn,
    stride_cm, stride_cn, ACC: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    BLOCK_SCALE_A: tl.constexpr, BLOCK_SCALE_B: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = pid // num_pid_n, pid % num_pid_n
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACC)
    offsets_am = pid_m * BLOCK_M + tl.arange(0, BLOCK_M).to(tl.int64)
    offsets_bn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N).to(tl.int64)
    masks_am, masks_bn = offsets_am < M, offsets_bn < N
    offsets_k = tl.arange(0, BLOCK_K).to(tl.int64)
    offsets_scale_am = tl.arange(0, BLOCK_SCALE_A) + (BLOCK_SCALE_A > 1) * pid_m * BLOCK_M
    offsets_scale_bn = tl.arange(0, BLOCK_SCALE_B) + (BLOCK_SCALE_B > 1) * pid_n * BLOCK_N
    a_ptrs = a_ptr + stride_am * offsets_am[:, None] + stride_ak * offsets_k[None, :]
    b_ptrs = b_ptr + stride_bk * offsets_k[:, None] + stride_bn * offsets_bn[None, :]
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        masks_k = offsets_k < K
        a = tl.load(a_ptrs, mask=masks_am[:, None] & masks_k[None, :], other=0)
        b = tl.load(b_ptrs, mask=masks_k[:, None] & masks_bn[None, :], other=0)
        accumulator = tl.dot(a, b, accumulator, out_dtype=ACC)
        offsets_k += BLOCK_K
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    scale_a = tl.load(scale_a_ptr + offsets_scale_am[:, None], mask=offsets_scale_am[:, None] < M, other=1.0)
    scale_a = scale_a.broadcast_to((BLOCK_M, 1))
    accumulator = scale_a * accumulator.to(tl.float32)
    scale_b = tl.load(scale_b_ptr + offsets_scale_bn[:, None], mask=offsets_scale_bn[:, None] < N, other=1.0)
    scale_b = scale_b.broadcast_to((BLOCK_N, 1))
    accumulator = scale_b.T * accumulator.to(tl.float32)
    c = accumulator.to(c_ptr.type.element_ty)
    if bias_ptr:
        c += tl.load(bias_ptr + offsets_bn, masks_bn)
    offs_cm, offs_cn = offsets_am.to(tl.int64), offsets_bn.to(tl.int64)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, c, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@LIBRARY.case
def eight_bit_matmul_with_scales() -> Checks:
    results: Checks = []
    m, n, k = 19, 35, 70
    a, b = integers(-127, 128, m, k, seed=5, dtype=np.int8), integers(-127, 128, n, k, seed=6, dtype=np.int8)
    for rows, cols, dtype, biased in ((m, n, np.float32, True), (1, n, BF16, False), (1, 1, np.float16, True)):
        sa, sb, bias = (
            uniform(rows, seed=7, high=0.01),
            uniform(cols, seed=8, high=0.01),
            normal(n, seed=9).astype(dtype),
        )
        c = np.empty((m, n), dtype)
        scaled_mm_int8[(triton.cdiv(m, 16) * triton.cdiv(n, 32),)](
            a, b, sa, sb, c, bias if biased else None, m, n, k, k, 1, 1, k, n, 1, ACC=tl.int32,
            BLOCK_M=16, BLOCK_N=32, BLOCK_K=32, BLOCK_SCALE_A=16 if rows > 1 else 1, BLOCK_SCALE_B=32 if cols > 1 else 1,
        )  # fmt: skip
        expected = wide(a) @ wide(b).T * sa[:, None] * sb[None] + (wide(bias) if biased else 0)
        results.append((c, expected, {4: 1e-5, 2: 2e-2 if dtype is BF16 else 2e-3}[c.itemsize]))
    return results


@triton.jit
def quantise_groups(
    y_ptr, q_ptr, s_ptr, group_size, y_num_columns, s_col_stride, eps, bit8_min, bit8_max, BLOCK: tl.constexpr,
    COLUMN_MAJOR: tl.constexpr, UE8M0: tl.constexpr,
):  # fmt: skip
    groups_per_row = y_num_columns // group_size
    g_id = tl.program_id(0)
    row, row_g = g_id // groups_per_row, g_id % groups_per_row
    cols = tl.arange(0, BLOCK)
    mask = cols < group_size
    at = row.to(tl.int64) * y_num_columns + row_g * group_size + cols
    y = tl.load(y_ptr + at, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(y)), eps)
    scale = absmax / bit8_max
    scale = tl.math.exp2(tl.ceil(tl.log2(scale))) if UE8M0 else scale
    q = tl.clamp(y / scale, bit8_min, bit8_max).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + at, q, mask=mask)
    if COLUMN_MAJOR:
        tl.store(s_ptr + row_g * s_col_stride + row, scale)
    else:
        tl.store(s_ptr + g_id, scale)


@triton.jit
def block_scaled_product(
    x_ptr, w_ptr, out_ptr, x_scale_ptr, w_scale_ptr, m, n, k, rows_of_scale, depth_of_scale, x_pitch, w_pitch, out_pitch,
    x_scale_row, x_scale_step, w_scale_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr,
):  # fmt: skip
    """out = x w^T: x has a scale for each row and `depth_of_scale` columns, w one for each block of `rows_of_scale`
    rows and as many columns. Rows past the end are read from the beginning, so that loads need no mask for them."""
    high, across = tl.cdiv(m, BM), tl.cdiv(n, BN)
    row, col = tl.swizzle2d(tl.program_id(0) // across, tl.program_id(0) % across, high, across, BAND)
    i = row * BM + tl.arange(0, BM)
    j = col * BN + tl.arange(0, BN)
    wrapped_i = tl.max_contiguous(tl.multiple_of(i % m, BM), BM)
    wrapped_j = j % n
    x_scale_ptr += wrapped_i * x_scale_row
    w_scale_ptr += wrapped_j // rows_of_scale * w_scale_row
    out = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, k, BK):
        depth = first + tl.arange(0, BK)
        x = tl.load(x_ptr + wrapped_i[:, None] * x_pitch + depth[None, :], mask=depth[None, :] < k, other=0.0)
        w = tl.load(w_ptr + wrapped_j[None, :] * w_pitch + depth[:, None], mask=depth[:, None] < k, other=0.0)
        group = first // depth_of_scale
        scales = tl.load(x_scale_ptr + group * x_scale_step)[:, None] * tl.load(w_scale_ptr + group)[None, :]
        out += tl.dot(x, w) * scales
    live = (i < m)[:, None] & (j < n)[None, :]
    tl.store(out_ptr + i[:, None] * out_pitch + j[None, :], out.to(out_ptr.dtype.element_ty), mask=live)


@LIBRARY.case
def block_scaled_matmul() -> Checks:
    results: Checks = []
    m, n, k, group = 20, 48, 128, 32
    x = normal(m, k, seed=10, dtype=BF16)
    for dtype, low, high in ((E4M3, -448.0, 448.0), (np.int8, -127.0, 127.0)):
        for major, rounded in ((False, False), (True, True)):
            q = np.empty((m, k), dtype)
            s = np.empty((k // group, m) if major else (m, k // group), np.float32)
            quantise_groups[(m * k // group,)](
                x, q, s, group, k, m, 1e-10, low, high, BLOCK=group, COLUMN_MAJOR=major, UE8M0=rounded
            )
            scales = np.abs(wide(x)).reshape(m, -1, group).max(-1) / high
            scales = np.exp2(np.ceil(np.log2(scales))) if rounded else scales
            results.append((s.T if major else s, scales, 1e-6))
            step = np.maximum(np.abs(wide(x)) / 16, np.repeat(scales, group, 1) * (1 if dtype is np.int8 else 0.002))
            error = np.abs(wide(q) * np.repeat(wide(s.T if major else s), group, 1) - wide(x)) / step
            results.append((np.array(error.max() <= 1.01), True, 0))
            if dtype is np.int8:
                continue
            b, bs = normal(n, k, seed=11).astype(E4M3), uniform(3, k // group, seed=12)
            c = np.empty((m, n), BF16)
            block_scaled_product[(triton.cdiv(m, 16) * triton.cdiv(n, 16),)](
                q, b, c, s, bs, m, n, k, 16, group, k, k, n, *(strides(s)[::-1] if major else strides(s)), k // group,
                BM=16, BN=16, BK=group, BAND=2,
            )  # fmt: skip
            dense = wide(q) * np.repeat(s.T if major else s, group, 1)
            results.append((c, dense @ (wide(b) * np.kron(bs, np.ones((16, group)))).T, 3e-2))
    return results


# -------------------------------------------------------------- four bits: shuffled words, looked-up values, microscaling


@triton.jit
def awq_dequantise(
    qweight_ptr, scales_ptr, zeros_ptr, group_size, result_ptr, num_cols, num_rows,
    BLOCK_SIZE_X: tl.constexpr, BLOCK_SIZE_Y: tl.constexpr,
):  # fmt: skip
    pid_x, pid_y = tl.program_id(axis=0), tl.program_id(axis=1)
    offsets_y = pid_y * BLOCK_SIZE_Y + tl.arange(0, BLOCK_SIZE_Y)
    offsets_x = pid_x * BLOCK_SIZE_X + tl.arange(0, BLOCK_SIZE_X)
    offsets = num_cols * offsets_y[:, None] + offsets_x[None, :]
    masks = (offsets_y < num_rows)[:, None] & (offsets_x < num_cols)[None, :]
    result_offsets_x = pid_x * BLOCK_SIZE_X * 8 + tl.arange(0, BLOCK_SIZE_X * 8)
    result_offsets = 8 * num_cols * offsets_y[:, None] + result_offsets_x[None, :]
    result_masks = (offsets_y < num_rows)[:, None] & (result_offsets_x < num_cols * 8)[None, :]
    iweights = tl.load(qweight_ptr + offsets, masks, 0.0)
    iweights = tl.interleave(iweights, iweights)
    iweights = tl.interleave(iweights, iweights)
    iweights = tl.interleave(iweights, iweights)
    # Words hold columns in the order 0, 2, 4, 6, 1, 3, 5, 7.
    order = ((tl.arange(0, 2) * 4)[None, :] + tl.arange(0, 4)[:, None]).reshape(8)
    shifts = tl.broadcast_to((order * 4)[None, :], (BLOCK_SIZE_Y * BLOCK_SIZE_X, 8))
    shifts = tl.reshape(shifts, (BLOCK_SIZE_Y, BLOCK_SIZE_X * 8))
    iweights = (iweights >> shifts) & 0xF
    zero_offsets_y = pid_y * BLOCK_SIZE_Y // group_size + tl.arange(0, 1)
    zero_offsets = num_cols * zero_offsets_y[:, None] + offsets_x[None, :]
    zero_masks = (zero_offsets_y < num_rows // group_size)[:, None] & (offsets_x < num_cols)[None, :]
    zeros = tl.load(zeros_ptr + zero_offsets, zero_masks, 0.0)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.interleave(zeros, zeros)
    zeros = tl.broadcast_to(zeros, (BLOCK_SIZE_Y, BLOCK_SIZE_X * 8))
    zeros = (zeros >> shifts) & 0xF
    scale_offsets = num_cols * 8 * zero_offsets_y[:, None] + result_offsets_x[None, :]
    scale_masks = (zero_offsets_y < num_rows // group_size)[:, None] & (result_offsets_x < num_cols * 8)[None, :]
    scales = tl.load(scales_ptr + scale_offsets, scale_masks, 0.0)
    scales = tl.broadcast_to(scales, (BLOCK_SIZE_Y, BLOCK_SIZE_X * 8))
    iweights = ((iweights - zeros) * scales).to(result_ptr.type.element_ty)
    tl.store(result_ptr + result_offsets, iweights, result_masks)


@LIBRARY.case
def shuffled_four_bit_weights() -> Checks:
    rows, cols, group = 24, 5, 8
    rng = np.random.default_rng(13)
    order = [0, 4, 1, 5, 2, 6, 3, 7]

    def packed(values: Array) -> Array:
        words = np.zeros((values.shape[0], cols), np.uint32)
        for column, place in enumerate(order):
            words |= values[:, column::8].astype(np.uint32) << np.uint32(4 * place)
        return words.view(np.int32)

    weights, zeros = rng.integers(0, 16, (rows, cols * 8)), rng.integers(0, 16, (rows // group, cols * 8))
    scales, out = uniform(rows // group, cols * 8, seed=14, dtype=np.float16), np.zeros((rows, cols * 8), np.float16)
    awq_dequantise[(triton.cdiv(cols, 4), triton.cdiv(rows, 8))](
        packed(weights), scales, packed(zeros), group, out, cols, rows, BLOCK_SIZE_X=4, BLOCK_SIZE_Y=8
    )
    return [(out, (weights - np.repeat(zeros, group, 0)) * np.repeat(wide(scales), group, 0), 1e-3)]


NF4: Array = np.array(
    [-1, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0, 0.0795803, 0.1609302, 0.2461123,
     0.3379152, 0.4407098, 0.5626170, 0.7229568, 1], np.float32,
)  # fmt: skip
"""Quantiles of a normal distribution."""


@triton.jit
def nf4_dequantise(
    packed_ptr, absmax_ptr, code_ptr, nested_ptr, offset, out_ptr, n,
    BLOCK: tl.constexpr, GROUP: tl.constexpr, NESTED_GROUP: tl.constexpr, BY_GATHER: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed_ptr + at, mask=at < n // 2, other=0, eviction_policy="evict_first")
    high, low = byte >> 4, byte & 0x0F
    codes = tl.join(high, low).reshape(2 * BLOCK).to(tl.int32)
    if BY_GATHER:
        table = tl.load(code_ptr + tl.arange(0, 16))
        value = tl.gather(table, codes, 0)
    else:
        value = tl.load(code_ptr + codes, eviction_policy="evict_last")
    out = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    group = out // GROUP
    scale = tl.load(absmax_ptr + group, mask=out < n, other=0).to(tl.float32)
    if nested_ptr is not None:
        scale = (scale - 128.0) / 127.0 * tl.load(nested_ptr + group // NESTED_GROUP, mask=out < n, other=0.0) + offset
    tl.store(out_ptr + out, (value * scale).to(out_ptr.dtype.element_ty), mask=out < n)


@LIBRARY.case
def four_bit_values_by_table() -> Checks:
    n, group = 1000, 50
    codes = integers(0, 16, n, seed=15, dtype=np.uint8)
    packed = (codes[::2] << 4 | codes[1::2]).astype(np.uint8)
    absmax, doubled = uniform(n // group, seed=16), integers(0, 256, n // group, seed=17, dtype=np.uint8)
    nested = uniform(5, seed=18)
    results: Checks = []
    for by_gather in (False, True):
        out = np.empty(n, np.float32)
        nf4_dequantise[lambda meta: (triton.cdiv(n, 2 * meta["BLOCK"]),)](
            packed, absmax, NF4, None, 0.0, out, n, BLOCK=128, GROUP=group, NESTED_GROUP=4, BY_GATHER=by_gather
        )
        results.append((out.copy(), NF4[codes] * np.repeat(absmax, group), 1e-6))
        nf4_dequantise[lambda meta: (triton.cdiv(n, 2 * meta["BLOCK"]),)](
            packed, doubled, NF4, nested, 0.25, out, n, BLOCK=64, GROUP=group, NESTED_GROUP=4, BY_GATHER=by_gather
        )
        scale = (doubled.astype(np.float64) - 128) / 127 * np.repeat(nested, 4) + 0.25
        results.append((out, NF4[codes] * np.repeat(scale, group), 1e-6))
    return results


@triton.jit
def quantise_microscaled(x_ptr, q_ptr, s_ptr, K: tl.constexpr, BLOCK: tl.constexpr):
    """Pairs of e2m1 in a byte, a shared power of two for 32 of them."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows[:, None] * K + tl.arange(0, K)[None, :]).reshape(BLOCK, K // 32, 32)
    top = tl.max(tl.abs(x), axis=2, keep_dims=True)
    exponent = ((top.to(tl.int32, bitcast=True) >> 23) & 0xFF) - 2
    exponent = tl.where(top == 0, 0, exponent)
    scaled = x * ((254 - exponent) << 23).to(tl.float32, bitcast=True)
    size = tl.abs(scaled)
    code = (size > 0.25).to(tl.int32) + (size >= 0.75) + (size > 1.25) + (size >= 1.75) + (size > 2.5) + (size >= 3.5)
    code += size > 5.0
    code |= tl.where(scaled < 0, 8, 0)
    low, high = tl.split(code.reshape(BLOCK, K // 2, 2))
    byte = (low | high << 4).to(tl.uint8)
    tl.store(q_ptr + rows[:, None] * (K // 2) + tl.arange(0, K // 2)[None, :], byte)
    tl.store(
        s_ptr + rows[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :],
        exponent.reshape(BLOCK, K // 32).to(tl.uint8),
    )


@triton.jit
def microscaled_mm(
    a_ptr, sa_ptr, b_ptr, sb_ptr, c_ptr, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    A_FORMAT: tl.constexpr,
):  # fmt: skip
    A_PER_BYTE: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.static_range(0, K, BK):
        ra, rb, rs = tl.arange(0, BK // A_PER_BYTE), tl.arange(0, BK // 2), tl.arange(0, BK // 32)
        a = tl.load(
            a_ptr + rm[:, None] * (K // A_PER_BYTE) + k // A_PER_BYTE + ra[None, :], mask=rm[:, None] < M, other=0
        )
        b = tl.load(b_ptr + rn[None, :] * (K // 2) + k // 2 + rb[:, None], mask=rn[None, :] < N, other=0)
        sb = tl.load(sb_ptr + rn[:, None] * (K // 32) + k // 32 + rs[None, :], mask=rn[:, None] < N, other=0)
        if sa_ptr is not None:
            sa = tl.load(sa_ptr + rm[:, None] * (K // 32) + k // 32 + rs[None, :], mask=rm[:, None] < M, other=0)
        else:
            sa = None
        acc = tl.dot_scaled(a, sa, A_FORMAT, b, sb, "e2m1", acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


E2M1: Array = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def microscaled(q: Array, s: Array) -> Array:
    values = E2M1[np.stack([q & 15, q >> 4], -1).reshape(len(q), -1)]
    return values * np.repeat(np.exp2(s.astype(np.float64) - 127), 32, 1)


@LIBRARY.case
def microscaled_matmul() -> Checks:
    m, n, k = 32, 48, 64
    results: Checks = []
    quantised: list[tuple[Array, Array]] = []
    for rows, seed in ((m, 19), (n, 20)):
        x = normal(rows, k, seed=seed)
        q, s = np.empty((rows, k // 2), np.uint8), np.empty((rows, k // 32), np.uint8)
        quantise_microscaled[(rows // 16,)](x, q, s, K=k, BLOCK=16)
        scale = np.repeat(np.exp2(s.astype(np.float64) - 127), 32, 1)
        results.append(
            (np.array((np.abs(microscaled(q, s) - x) <= scale * np.where(np.abs(x) > 5 * scale, 2, 1)).all()), True, 0)
        )
        nearest = np.abs(np.abs(x / scale)[..., None] - E2M1[:8]).min(-1)
        results.append((np.abs(microscaled(q, s) - x) / scale, nearest, 1e-6))
        quantised.append((q, s))
    (qa, sa), (qb, sb) = quantised
    c, half = np.empty((m, n), np.float32), normal(m, k, seed=21, dtype=BF16)
    microscaled_mm[(2, 2)](qa, sa, qb, sb, c, m, n, K=k, BM=16, BN=32, BK=32, A_FORMAT="e2m1")
    results.append((c.copy(), microscaled(qa, sa) @ microscaled(qb, sb).T, 1e-4))
    microscaled_mm[(2, 2)](half, None, qb, sb, c, m, n, K=k, BM=16, BN=32, BK=32, A_FORMAT="bf16")
    return [*results, (c, wide(half) @ microscaled(qb, sb).T, 1e-3)]
