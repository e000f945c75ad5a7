"""Values and addresses made of `//`, `%`, `&` of lane numbers, wrapped and clamped rows, and scalar conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def differences_of_lanes(x_ptr, o_ptr, n, W):
    j = tl.arange(0, 64)
    tl.store(o_ptr + j, j - j % 8)
    tl.store(o_ptr + 64 + j, (n + j) - (n + j) % 8)
    tl.store(o_ptr + 128 + j, (n + j) % W - j)
    tl.store(o_ptr + 192 + j, (n + j) // 8 * 8 - j)
    tl.store(o_ptr + 256 + j, (n + j) % 8 + (64 - j))
    tl.store(o_ptr + 320 + j, tl.load(x_ptr + (n + j) % W) + j - (n + j) % W)
    tl.store(o_ptr + 384 + j, tl.load(x_ptr + 64 + ((n + j) & 7) - (j & 63) + j // 16))
    tl.store(o_ptr + 448 + j, tl.load(x_ptr + (n + j) - (n + j) % 8))


@pytest.mark.pairwise
@pytest.mark.parametrize("n", [0, 5, 35])
@pytest.mark.parametrize("width", [8, 35, 100])
def test_lanes_less_lanes(n: int, width: int) -> None:
    x, out = np.arange(4096, dtype=np.int32) * 3, np.zeros(512, np.int32)
    differences_of_lanes[(1,)](x, out, n, width)
    j = np.arange(64, dtype=np.int32)
    m = n + j
    rows = [j - j % 8, m - m % 8, m % width - j, m // 8 * 8 - j, m % 8 + 64 - j, x[m % width] + j - m % width]
    rows += [x[64 + (m & 7) - (j & 63) + j // 16], x[m - m % 8]]
    np.testing.assert_array_equal(out.reshape(8, 64), rows)


@triton.jit
def wrapped_rows(a_ptr, b_ptr, c_ptr, M, N, B: tl.constexpr):
    """Rows modulo their number, a dot in a loop, an int64 index of rows, a masked store."""
    p = tl.program_id(0) // N
    o = tl.arange(0, B)
    x = a_ptr + ((p * B + o) % M)[:, None] * B + o[None, :]
    y = b_ptr + o[:, None] * B + o[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for _ in range(2):
        acc = tl.dot(tl.load(x), tl.load(y), acc=acc, input_precision="ieee")
    r = p.to(tl.int64) * B + o
    tl.store(c_ptr + r[:, None] * B + o[None, :], acc, mask=r[:, None] < M)


def test_wrapped_rows_with_an_index_of_64_bits() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((64, 32), np.float32), rng.standard_normal((32, 32), np.float32)
    c = np.zeros((24, 32), np.float32)
    wrapped_rows[(1,)](a, b, c, 20, 96, B=32)
    np.testing.assert_allclose(c[:20], 2 * a[:20] @ b, rtol=1e-4, atol=1e-4)
    assert not c[20:].any()


@triton.jit
def batched(a_ptr, b_ptr, o_ptr, FORM: tl.constexpr):
    """Rows that advance in a loop of dots, stored where the rows and a scalar allow it, as PyTorch's template has."""
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    q = tl.program_id(1)
    c = tl.arange(0, 16)
    a = a_ptr + ((r % 128)[:, None] * 64 + c[None, :])
    b = b_ptr + (c[:, None] * 16 + c[None, :])
    acc = tl.zeros((16, 16), dtype=tl.float32)
    for _ in range(4):
        acc += tl.dot(tl.load(a), tl.load(b), input_precision="ieee")
        a += 16
        b += 256
    mask = (r[:, None] < 128) & (q < 4)
    if FORM == 1:
        mask = (r[:, None] < 128) & (c[None, :] < 16) & (q < 4)
    tl.store(o_ptr + r[:, None] * 16 + c[None, :] + 2048 * q, acc, mask)


@pytest.mark.parametrize("form", [0, 1])
def test_batched_products_with_a_scalar_in_the_mask(form: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((128, 64), np.float32), rng.standard_normal((64, 16), np.float32)
    out = np.zeros((5, 128, 16), np.float32)
    batched[(8, 5)](a, b, out, FORM=form)
    np.testing.assert_allclose(out[:4], np.broadcast_to(a @ b, (4, 128, 16)), rtol=1e-4, atol=1e-4)
    assert not out[4].any()


@triton.jit
def persistent_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, CLAMPS: tl.constexpr,
):  # fmt: skip
    """Programs that take several tiles, rows that are clamped or wrapped and said to be contiguous, a tail of K."""
    columns = tl.cdiv(N, BLOCK_N)
    tiles = tl.cdiv(M, BLOCK_M) * columns
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0)):
        rows = tile // columns * BLOCK_M + tl.arange(0, BLOCK_M)
        cols = tile % columns * BLOCK_N + tl.arange(0, BLOCK_N)
        if CLAMPS:
            in_rows, in_cols = tl.where(rows < M, rows, 0), tl.where(cols < N, cols, 0)
        else:
            in_rows, in_cols = rows % M, cols % N
        in_rows = tl.max_contiguous(tl.multiple_of(in_rows, BLOCK_M), BLOCK_M)
        in_cols = tl.max_contiguous(tl.multiple_of(in_cols, BLOCK_N), BLOCK_N)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_K)):
            ks = k * BLOCK_K + tl.arange(0, BLOCK_K)
            a_at = a_ptr + in_rows[:, None] * stride_am + ks[None, :] * stride_ak
            b_at = b_ptr + ks[:, None] * stride_bk + in_cols[None, :] * stride_bn
            ends = tl.arange(0, BLOCK_K)
            a = tl.load(a_at, mask=ends[None, :] < K - k * BLOCK_K, other=0.0)
            b = tl.load(b_at, mask=ends[:, None] < K - k * BLOCK_K, other=0.0)
            acc = tl.dot(a, b, acc, input_precision="ieee")
        c_at = c_ptr + rows[:, None] * stride_cm + cols[None, :] * stride_cn
        tl.store(c_at, acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


@pytest.mark.pairwise
@pytest.mark.parametrize("clamps", [True, False], ids=["clamped", "wrapped"])
@pytest.mark.parametrize("shape", [(64, 64, 32), (70, 50, 40)], ids=["whole tiles", "parts of tiles"])
def test_persistent_matmul(shape: tuple[int, int, int], clamps: bool) -> None:
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    c = np.zeros((m, n), np.float32)
    persistent_matmul[(3,)](a, b, c, m, n, k, k, 1, n, 1, n, 1, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, CLAMPS=clamps)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


@triton.jit
def sums_in_any_order(x_ptr, o_ptr, start_ptr, FORM: tl.constexpr, W: tl.constexpr, Y: tl.constexpr, X: tl.constexpr):
    """Rows made of a remainder and a quotient, and columns, added up in the order that FORM says."""
    y = (tl.load(start_ptr) + tl.program_id(0) * Y + tl.arange(0, Y))[:, None]
    x = tl.arange(0, X)[None, :]
    if FORM == 0:
        at = x + 40 * (y % W) + 1000 * (y // W)
    elif FORM == 1:
        at = 40 * (y % W) + (x + 1000 * (y // W))
    elif FORM == 2:
        at = y % W + W * x + 1000 * (y // W)
    elif FORM == 3:
        at = 1000 * (y // W) + x - 40 * (W - y % W) + 40 * W
    elif FORM == 4:
        at = (x + y - y % W) + 5 * (y % W) - 3 * (y % W)
    else:
        at = x + 40 * (y % W) + 40 * ((y + 3) % W) + 7 * y
    pointers = x_ptr + 8192 + at
    if FORM >= 4:  # added to the pointer, a term at a time
        pointers = x_ptr + x
        pointers += y % W
        pointers += 8192 + (at - x - y % W)
    value = tl.load(pointers)
    for _ in range(2):
        value += tl.load(pointers)
        pointers += 1
    tl.store(o_ptr + (tl.program_id(0) * Y + tl.arange(0, Y))[:, None] * X + x, value)


@pytest.mark.pairwise
@pytest.mark.parametrize("kind", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("width", [5, 16])
@pytest.mark.parametrize("form", range(6))
def test_sums_of_remainders_and_quotients(form: int, width: int, kind: type[np.signedinteger[Any]]) -> None:
    x = np.arange(32768, dtype=np.int32) * 7 % 9973
    for start in (0, 3, -20):
        out = np.zeros((32, 16), np.int32)
        sums_in_any_order[(4,)](x, out, np.asarray([start], kind), FORM=form, W=width, Y=8, X=16)
        y, c = (start + np.arange(32))[:, None], np.arange(16)[None, :]
        quotient = np.trunc(y / width).astype(int)
        rest = y - quotient * width
        at = [
            c + 40 * rest + 1000 * quotient,
            c + 40 * rest + 1000 * quotient,
            rest + width * c + 1000 * quotient,
            1000 * quotient + c + 40 * rest,
            c + y + rest,
            c + 40 * rest + 40 * np.fmod(y + 3, width) + 7 * y,
        ][form]
        np.testing.assert_array_equal(out, 2 * x[8192 + at] + x[8192 + at + 1])
