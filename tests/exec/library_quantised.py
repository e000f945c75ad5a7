"""Products of quantised operands: eight bits with scales per row, column and block, four bits in shuffled words, looked-up
values, microscaling formats."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import BF16, E4M3, Checks, Library, integers, normal, strides, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# --------------------------------------------------------------------------- eight bits: scales per row, column and block


@triton.jit
def scaled_mm_int8(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, bias_ptr, m, n, k, a_row, a_column, b_row, b_column, out_row,
    out_column, SUM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, A_SCALES: tl.constexpr,
    B_SCALES: tl.constexpr,
):  # fmt: skip
    """out = a_scale b_scale (A B) + bias, summed in SUM; a scale is one for all (A_SCALES = 1) or one a row or column."""
    across = tl.cdiv(n, BN)
    top, left = tl.program_id(axis=0) // across * BM, tl.program_id(axis=0) % across * BN
    i, j = top + tl.arange(0, BM).to(tl.int64), left + tl.arange(0, BN).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=SUM)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK).to(tl.int64)
        has_a, has_b = (depth < k)[None, :] & (i < m)[:, None], (j < n)[None, :] & (depth < k)[:, None]
        x = tl.load(a_ptr + (i[:, None] * a_row + depth[None, :] * a_column), mask=has_a, other=0)
        w = tl.load(b_ptr + (j[None, :] * b_column + depth[:, None] * b_row), mask=has_b, other=0)
        total = tl.dot(x, w, total, out_dtype=SUM)
    a_place = tl.arange(0, A_SCALES) + (top if A_SCALES > 1 else 0)
    b_place = tl.arange(0, B_SCALES) + (left if B_SCALES > 1 else 0)
    b_scale = tl.load(b_scale_ptr + b_place[:, None], mask=(b_place < n)[:, None], other=1.0).broadcast_to((BN, 1))
    a_scale = tl.load(a_scale_ptr + a_place[:, None], mask=(a_place < m)[:, None], other=1.0).broadcast_to((BM, 1))
    result = (total.to(tl.float32) * b_scale.T * a_scale).to(out_ptr.type.element_ty)
    if bias_ptr:
        result += tl.load(bias_ptr + j, mask=j < n)
    live = (j < n)[None, :] & (i < m)[:, None]
    tl.store(out_ptr + (i[:, None] * out_row + j[None, :] * out_column), result, mask=live)


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
            a, b, sa, sb, c, bias if biased else None, m, n, k, k, 1, 1, k, n, 1, SUM=tl.int32,
            BM=16, BN=32, BK=32, A_SCALES=16 if rows > 1 else 1, B_SCALES=32 if cols > 1 else 1,
        )  # fmt: skip
        expected = wide(a) @ wide(b).T * sa[:, None] * sb[None] + (wide(bias) if biased else 0)
        results.append((c, expected, {4: 1e-5, 2: 2e-2 if dtype is BF16 else 2e-3}[c.itemsize]))
    return results


@triton.jit
def quantise_groups(
    x_ptr, q_ptr, scale_ptr, size, width, scale_pitch, smallest, low, high, BLOCK: tl.constexpr,
    TRANSPOSED: tl.constexpr, POWERS_OF_TWO: tl.constexpr,
):  # fmt: skip
    """q = x / scale in `low` to `high`, where a group of `size` neighbours in a row has the scale max |x| / high."""
    group = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    place = group.to(tl.int64) * size + lane
    x = tl.load(x_ptr + place, mask=lane < size, other=0.0).to(tl.float32)
    scale = tl.maximum(smallest, tl.max(tl.abs(x))) / high
    if POWERS_OF_TWO:
        scale = tl.math.exp2(tl.ceil(tl.log2(scale)))
    tl.store(q_ptr + place, tl.clamp(x / scale, low, high).to(q_ptr.dtype.element_ty), mask=lane < size)
    if TRANSPOSED:
        in_row = width // size
        group = group % in_row * scale_pitch + group // in_row
    tl.store(scale_ptr + group, scale)


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
                x, q, s, group, k, m, 1e-10, low, high, BLOCK=group, TRANSPOSED=major, POWERS_OF_TWO=rounded
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
def _four_bits(words, nibble):
    """Each word eight times, and of the copies the nibble that is asked for."""
    for _ in tl.static_range(3):
        words = tl.interleave(words, words)
    return (words >> (nibble * 4)) & 15


@triton.jit
def awq_dequantise(
    words_ptr, scales_ptr, zeros_ptr, size, out_ptr, words, rows, WORDS: tl.constexpr, ROWS: tl.constexpr
):
    """(weight - zero) scale; groups of `size` rows have one row of zeros and scales, which no block goes beyond.

    A word has eight columns, the even ones in its low half: column c is nibble c // 2 + 4 (c % 2)."""
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    word = tl.program_id(0) * WORDS + tl.arange(0, WORDS)[None, :]
    column = tl.program_id(0) * (8 * WORDS) + tl.arange(0, 8 * WORDS)[None, :]
    nibble = column % 8 // 2 + column % 2 * 4
    group = tl.program_id(1) * ROWS // size + tl.arange(0, 1)[:, None]
    has_group = group < rows // size
    zero = tl.load(zeros_ptr + group * words + word, mask=has_group & (word < words), other=0)
    scale = tl.load(scales_ptr + group * (8 * words) + column, mask=has_group & (column < 8 * words), other=0.0)
    weight = tl.load(words_ptr + row * words + word, mask=(row < rows) & (word < words), other=0)
    exact = (_four_bits(weight, nibble) - _four_bits(zero, nibble)) * scale
    live = (column < 8 * words) & (row < rows)
    tl.store(out_ptr + row * (8 * words) + column, exact.to(out_ptr.type.element_ty), mask=live)


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
        packed(weights), scales, packed(zeros), group, out, cols, rows, WORDS=4, ROWS=8
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
