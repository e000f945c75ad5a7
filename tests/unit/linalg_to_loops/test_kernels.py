"""Kernels through every kind of nest, buffer and loop that `linalg-to-loops` writes, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array

rng = np.random.default_rng(0)


def close(a: Any, b: Any, tol: float = 1e-5) -> None:
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol)


def f32(*shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


@triton.jit
def k_transpose(x, o, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(o + c[:, None] * M + r[None, :], tl.trans(v))


def test_transpose() -> None:
    x = f32(32, 64)
    o = np.zeros((64, 32), np.float32)
    k_transpose[(1,)](x, o, 32, 64)
    close(o, x.T)


@triton.jit
def k_red(x, o, p, M: tl.constexpr, N: tl.constexpr, AX: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    s = tl.sum(v, axis=AX)
    m = tl.max(v, axis=AX)
    if AX == 0:
        tl.store(o + c, s)
        tl.store(p + c, m)
    else:
        tl.store(o + r, s)
        tl.store(p + r, m)


@pytest.mark.costly
def test_red() -> None:
    for M, N in ((32, 64), (8, 16), (4, 128), (128, 4), (1, 64), (64, 1), (2, 2)):
        for ax in (0, 1):
            x = f32(M, N)
            n = N if ax == 0 else M
            o = np.zeros(n, np.float32)
            p = np.zeros(n, np.float32)
            k_red[(1,)](x, o, p, M, N, ax)
            close(o, x.sum(ax), 1e-4)
            close(p, x.max(ax))


@triton.jit
def k_argmax(x, o, q, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(o + r, tl.argmax(v, axis=1))
    tl.store(q + c, tl.argmin(v, axis=0))


def test_argmax() -> None:
    x = f32(16, 64)
    o = np.zeros(16, np.int32)
    q = np.zeros(64, np.int32)
    k_argmax[(1,)](x, o, q, 16, 64)
    np.testing.assert_array_equal(o, x.argmax(1))
    np.testing.assert_array_equal(q, x.argmin(0))


@triton.jit
def k_gather(x, i, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    m = c < n
    idx = tl.load(i + c, mask=m, other=0)
    v = tl.load(x + idx * 3, mask=m & (idx % 2 == 0), other=-7.0)
    tl.store(o + c, v + 1.0, mask=m)


def test_gather() -> None:
    x = f32(300)
    i = rng.integers(0, 100, 200).astype(np.int32)
    o = np.zeros(200, np.float32)
    k_gather[(1,)](x, i, o, 200, 256)
    close(o, np.where(i % 2 == 0, x[i * 3], -7) + 1)


@triton.jit
def k_scatter(x, i, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    m = c < n
    idx = tl.load(i + c, mask=m, other=0)
    v = tl.load(x + c, mask=m)
    tl.store(o + idx, v * 2, mask=m)


def test_scatter() -> None:
    x = f32(100)
    i = rng.permutation(200)[:100].astype(np.int32)
    o = np.zeros(200, np.float32)
    k_scatter[(1,)](x, i, o, 100, 128)
    e = np.zeros(200, np.float32)
    e[i] = x * 2
    close(o, e)


@triton.jit
def k_scan(x, o, q, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    p = r[:, None] * N + c[None, :]
    v = tl.load(x + p)
    tl.store(o + p, tl.cumsum(v, axis=1))
    tl.store(q + p, tl.cumsum(v, axis=0, reverse=True))


def test_scan() -> None:
    x = f32(8, 32)
    o = np.zeros_like(x)
    q = np.zeros_like(x)
    k_scan[(1,)](x, o, q, 8, 32)
    close(o, x.cumsum(1), 1e-4)
    close(q, x[::-1].cumsum(0)[::-1], 1e-4)


@triton.jit
def k_scan1(x, o, N: tl.constexpr):
    c = tl.arange(0, N)
    tl.store(o + c, tl.cumsum(tl.load(x + c), axis=0))


def test_scan1() -> None:
    x = f32(64)
    o = np.zeros_like(x)
    k_scan1[(1,)](x, o, 64)
    close(o, x.cumsum(), 1e-4)


@triton.jit
def k_while(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    i = 0
    while i < n:
        acc = acc * 0.5 + tl.load(x + i * B + c)
        i += 1
    tl.store(o + c, acc)


def test_while() -> None:
    x = f32(7, 32)
    o = np.zeros(32, np.float32)
    k_while[(1,)](x, o, 7, 32)
    a = np.zeros(32, np.float32)
    for i in range(7):
        a = a * np.float32(0.5) + x[i]
    close(o, a)


@triton.jit
def k_swap(x, y, o, p, n, B: tl.constexpr):
    c = tl.arange(0, B)
    a = tl.load(x + c)
    b = tl.load(y + c)
    for _i in range(n):
        a, b = b, a + b
    tl.store(o + c, a)
    tl.store(p + c, b)


def test_swap() -> None:
    x, y = f32(32), f32(32)
    o = np.zeros(32, np.float32)
    p = o.copy()
    k_swap[(1,)](x, y, o, p, 5, 32)
    a, b = x, y
    for _i in range(5):
        a, b = b, a + b
    close(o, a, 1e-4)
    close(p, b, 1e-4)


@triton.jit
def k_if(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    a = tl.load(x + c)
    for i in range(n):
        a = a * 2 if i % 2 == 0 else a + 1
    if n > 3:
        a = -a
    tl.store(o + c, a)


def test_if() -> None:
    for n in (2, 5):
        x = f32(32)
        o = np.zeros(32, np.float32)
        k_if[(1,)](x, o, n, 32)
        a = x
        for i in range(n):
            a = a * 2 if i % 2 == 0 else a + 1
        close(o, -a if n > 3 else a)


@triton.jit
def k_inplace(x, n, B: tl.constexpr):
    c = tl.arange(0, B)
    a = tl.load(x + c, mask=c < n - 1)
    tl.store(x + c + 1, a, mask=c < n - 1)


def test_inplace() -> None:
    x = f32(100)
    e = x.copy()
    e[1:] = x[:-1]
    k_inplace[(1,)](x, 100, 128)
    close(x, e)


def test_overlap() -> None:
    x = f32(101)
    e = x.copy()
    e[1:101] = x[:100] + 1
    k_shift[(1,)](x, x[1:], 100, 128)
    close(x, e)


@triton.jit
def k_shift(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    a = tl.load(x + c, mask=c < n)
    tl.store(o + c, a + 1, mask=c < n)


@triton.jit
def k_dot(
    a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TA: tl.constexpr, TB: tl.constexpr, ACC: tl.constexpr
):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, K)
    A = tl.trans(tl.load(a + rk[:, None] * M + rm[None, :])) if TA else tl.load(a + rm[:, None] * K + rk[None, :])
    B = tl.trans(tl.load(b + rn[:, None] * K + rk[None, :])) if TB else tl.load(b + rk[:, None] * N + rn[None, :])
    C = tl.dot(A, B, out_dtype=ACC)
    tl.store(c + rm[:, None] * N + rn[None, :], C)


@pytest.mark.costly
def test_dot() -> None:
    for M, N, K in ((32, 32, 32), (16, 64, 16), (64, 16, 32)):
        for ta in (0, 1):
            for tb in (0, 1):
                A, B = f32(M, K), f32(K, N)
                c = np.zeros((M, N), np.float32)
                k_dot[(1,)](
                    np.ascontiguousarray(A.T) if ta else A,
                    np.ascontiguousarray(B.T) if tb else B,
                    c,
                    M,
                    N,
                    K,
                    ta,
                    tb,
                    tl.float32,
                )
                close(c, A @ B, 1e-3)


def test_dot_types() -> None:
    M, N, K = 32, 64, 32
    for dt, acc, na in (
        (np.float16, tl.float32, np.float32),
        (ml_dtypes.bfloat16, tl.float32, np.float32),
        (np.int8, tl.int32, np.int32),
    ):
        A = (f32(M, K) * 4).astype(dt)
        B = (f32(K, N) * 4).astype(dt)
        c = np.zeros((M, N), na)
        k_dot[(1,)](A, B, c, M, N, K, 0, 0, acc)
        close(c, A.astype(na) @ B.astype(na), 2e-2)


@triton.jit
def k_dotchain(a, b, c, M: tl.constexpr):
    r = tl.arange(0, M)
    p = r[:, None] * M + r[None, :]
    A = tl.load(a + p)
    B = tl.load(b + p)
    acc = tl.dot(A, B, input_precision="ieee")
    for _i in range(3):
        acc = tl.dot(acc, B, acc) * 0.1
    tl.store(c + p, acc)


def test_dotchain() -> None:
    A, B = f32(32, 32), f32(32, 32)
    c = np.zeros((32, 32), np.float32)
    k_dotchain[(1,)](A, B, c, 32)
    expected = A @ B
    for _i in range(3):
        expected = (expected @ B + expected) * 0.1
    close(c, expected, 1e-3)


@triton.jit
def k_join(x, y, o, B: tl.constexpr):
    c = tl.arange(0, B)
    a = tl.load(x + c)
    b = tl.load(y + c)
    j = tl.join(a, b)
    u, v = tl.split(j)
    z = tl.interleave(u, v)
    tl.store(o + tl.arange(0, 2 * B), z)


def test_join() -> None:
    x, y = f32(32), f32(32)
    o = np.zeros(64, np.float32)
    k_join[(1,)](x, y, o, 32)
    e = np.stack([x, y], 1).ravel()
    close(o, e)


@triton.jit
def k_reshape(x, o, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, M * N))
    w = tl.reshape(v, (M, N))
    w = tl.permute(w, (1, 0))
    w = tl.reshape(w, (M * N,))
    tl.store(o + tl.arange(0, M * N), w)


def test_reshape() -> None:
    x = f32(8 * 16)
    o = np.zeros_like(x)
    k_reshape[(1,)](x, o, 8, 16)
    close(o, x.reshape(8, 16).T.ravel())


@triton.jit
def k_red3(x, o, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AX: tl.constexpr):
    v = tl.reshape(tl.load(x + tl.arange(0, A * B * C)), (A, B, C))
    s = tl.sum(v, axis=AX)
    tl.store(o + tl.arange(0, A * B * C // v.shape[AX]), tl.reshape(s, (A * B * C // v.shape[AX],)))


def test_red3() -> None:
    for ax in (0, 1, 2):
        x = f32(4, 8, 16)
        o = np.zeros(x.size // x.shape[ax], np.float32)
        k_red3[(1,)](x, o, 4, 8, 16, ax)
        close(o, x.sum(ax).ravel(), 1e-4)


@triton.jit
def k_sort(x, o, B: tl.constexpr):
    c = tl.arange(0, B)
    tl.store(o + c, tl.sort(tl.load(x + c)))


def test_sort() -> None:
    x = f32(64)
    o = np.zeros_like(x)
    k_sort[(1,)](x, o, 64)
    close(o, np.sort(x))


@triton.jit
def k_hist(x, o, B: tl.constexpr, N: tl.constexpr):
    c = tl.arange(0, B)
    tl.store(o + tl.arange(0, N), tl.histogram(tl.load(x + c), N))


def test_hist() -> None:
    x = rng.integers(0, 16, 128).astype(np.int32)
    o = np.zeros(16, np.int32)
    k_hist[(1,)](x, o, 128, 16)
    np.testing.assert_array_equal(o, np.bincount(x, minlength=16))


@triton.jit
def k_atomic(x, o, n, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + c % 16, tl.load(x + c, mask=c < n, other=0.0), mask=c < n)


def test_atomic() -> None:
    x = f32(500)
    o = np.zeros(16, np.float32)
    k_atomic[(8,)](x, o, 500, 64)
    e = np.zeros(16, np.float32)
    np.add.at(e, np.arange(500) % 16, x)
    close(o, e, 1e-4)


@triton.jit
def k_bool(x, y, o, B: tl.constexpr):
    c = tl.arange(0, B)
    a = tl.load(x + c)
    b = tl.load(y + c)
    m = (a > 0) & (b < 0)
    any_ = tl.max(m.to(tl.int32), axis=0)
    tl.store(o + c, tl.where(m, a, b) + any_)


def test_bool() -> None:
    x, y = f32(64), f32(64)
    o = np.zeros(64, np.float32)
    k_bool[(1,)](x, y, o, 64)
    m = (x > 0) & (y < 0)
    close(o, np.where(m, x, y) + m.max())


@triton.jit
def k_where_sum(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + c, mask=c < n, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(c < n, v - mean, 0.0)
    tl.store(o, tl.sum(d * d, axis=0) / n)


def test_where_sum() -> None:
    for n in (1, 16, 100, 128, 77):
        x = f32(n)
        o = np.zeros(1, np.float32)
        k_where_sum[(1,)](x, o, n, 128)
        close(o[0], x.var(), 1e-4)


@triton.jit
def k_padsum(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + c, mask=c < n, other=2.0)
    tl.store(o, tl.sum(v, axis=0))
    tl.store(o + 1, tl.max(v, axis=0))
    tl.store(o + 2, tl.min(v * 3, axis=0))
    tl.store(o + 3, tl.sum(v * v, axis=0))


def test_padsum() -> None:
    for n in (0, 1, 16, 100, 128, 77):
        x = f32(max(n, 1))[:n]
        o = np.zeros(4, np.float32)
        k_padsum[(1,)](x if n else f32(1), o, n, 128)
        e = np.concatenate([x, np.full(128 - n, 2, np.float32)])
        close(o, [e.sum(), e.max(), (e * 3).min(), (e * e).sum()], 1e-4)


@triton.jit
def k_2dmask(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BN)
    m = (r[:, None] < M) & (c[None, :] < N)
    v = tl.load(x + r[:, None] * N + c[None, :], mask=m, other=-1.0)
    s = tl.sum(v, axis=1)
    tl.store(o + r[:, None] * N + c[None, :], v * 2 + s[:, None], mask=m)


def test_2dmask() -> None:
    for M, N in ((10, 50), (16, 64), (1, 1), (3, 63)):
        x = f32(M, N)
        o = np.zeros_like(x)
        k_2dmask[(triton.cdiv(M, 8),)](x, o, M, N, 8, 64)
        e = np.pad(x, ((0, 0), (0, 64 - N)), constant_values=-1)
        close(o, x * 2 + e.sum(1, keepdims=True), 1e-4)


@triton.jit
def k_i64(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B).to(tl.int64)
    v = tl.load(x + c, mask=c < n, other=0)
    tl.store(o + c, v * v + c, mask=c < n)


def test_i64() -> None:
    x = rng.integers(-1000, 1000, 50)
    o = np.zeros(50, np.int64)
    k_i64[(1,)](x, o, 50, 64)
    np.testing.assert_array_equal(o, x * x + np.arange(50))


@triton.jit
def k_half(x, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    v = tl.load(x + c, mask=c < n)
    tl.store(o + c, (tl.exp(v.to(tl.float32)) + v).to(o.dtype.element_ty), mask=c < n)


def test_half() -> None:
    for dt in (np.float16, ml_dtypes.bfloat16):
        x = f32(50).astype(dt)
        o = np.zeros(50, dt)
        k_half[(1,)](x, o, 50, 64)
        close(o.astype(np.float32), (np.exp(x.astype(np.float32)) + x.astype(np.float32)), 2e-2)


@triton.jit
def k_cond_ptr(x, y, o, f, B: tl.constexpr):
    c = tl.arange(0, B)
    p = x if f > 0 else y
    tl.store(o + c, tl.load(p + c) + 1)


def test_cond_ptr() -> None:
    x, y = f32(32), f32(32)
    for f in (0, 5):
        o = np.zeros(32, np.float32)
        k_cond_ptr[(1,)](x, y, o, f, 32)
        close(o, (x if f > 0 else y) + 1)


@triton.jit
def k_early(x, o, n, B: tl.constexpr):
    if tl.program_id(0) >= n:
        return
    c = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + c, tl.load(x + c) * 3)


def test_early() -> None:
    x = f32(128)
    o = np.zeros(128, np.float32)
    k_early[(4,)](x, o, 2, 32)
    e = x * 3
    e[64:] = 0
    close(o, e)


@triton.jit
def k_strided(x, o, s, B: tl.constexpr):
    c = tl.arange(0, B)
    tl.store(o + c * 2, tl.load(x + c * s) + tl.load(x + c * 3))


def test_strided() -> None:
    x = f32(400)
    o = np.zeros(64, np.float32)
    k_strided[(1,)](x, o, 5, 32)
    close(o[::2], x[:160:5] + x[:96:3])


@triton.jit
def k_addacc(x, y, o, n, B: tl.constexpr):
    c = tl.arange(0, B)
    for i in range(n):
        v = tl.load(o + c)
        tl.store(o + c, v + tl.load(x + i * B + c))
    v = tl.load(o + c)
    tl.store(y + c, v)
    tl.store(o + c, v * 0)
    tl.store(x + c, tl.load(y + c) + v)


def test_addacc() -> None:
    x = f32(4, 32)
    y = np.zeros(32, np.float32)
    o = np.zeros(32, np.float32)
    e = x.sum(0)
    k_addacc[(1,)](x, y, o, 4, 32)
    close(y, e, 1e-5)
    close(o, 0 * e)
    close(x[0], 2 * e, 1e-5)


@triton.jit
def k_flip(x, o, B: tl.constexpr):
    c = tl.arange(0, B)
    tl.store(o + c, tl.flip(tl.load(x + c)))


def test_flip() -> None:
    x = f32(64)
    o = np.zeros_like(x)
    k_flip[(1,)](x, o, 64)
    close(o, x[::-1])


@triton.jit
def k_outer(x, y, o, B: tl.constexpr, C: tl.constexpr):
    a = tl.load(x + tl.arange(0, B))
    b = tl.load(y + tl.arange(0, C))
    z = tl.exp(a)[:, None] * b[None, :]
    tl.store(o + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :], z)


def test_outer() -> None:
    x, y = f32(16), f32(32)
    o = np.zeros((16, 32), np.float32)
    k_outer[(1,)](x, y, o, 16, 32)
    close(o, np.exp(x)[:, None] * y)


@triton.jit
def k_gatherop(x, i, o, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o + p, tl.gather(tl.load(x + p), tl.load(i + p), axis=1))


def test_gatherop() -> None:
    x = f32(8, 16)
    i = rng.integers(0, 16, (8, 16)).astype(np.int32)
    o = np.zeros_like(x)
    k_gatherop[(1,)](x, i, o, 8, 16)
    close(o, np.take_along_axis(x, i, 1))


@triton.jit
def larger_or_negative(a, b):
    if a > b:
        return a
    return -b


@triton.jit
def mapped_and_masked(x, y, o, counts, n, B: tl.constexpr):
    c = tl.arange(0, B)
    far = tl.where(c % 3 == 0, 1 << 28, 0)
    left = tl.load(x + c * 7 + far, mask=c % 3 != 0, other=2)
    mapped = tl.map_elementwise(larger_or_negative, left, tl.load(y + c))
    tl.store(o + c, mapped, mask=(c % 2 == 0) & (c < n))
    tl.atomic_add(counts + c % 4, mapped, mask=mapped > 0)


def test_masks_around_functions_of_elements_hold() -> None:
    """Bodies with control flow of their own run one element at a time, behind their branches."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(-9, 9, 16 * 7).astype(np.int32), rng.integers(-9, 9, 16).astype(np.int32)
    o, counts = np.full(16, 77, np.int32), np.zeros(4, np.int32)
    mapped_and_masked[(1,)](x, y, o, counts, 11, 16)
    c = np.arange(16)
    left = np.where(c % 3 != 0, x[::7], 2)
    mapped = np.where(left > y, left, -y)
    assert np.array_equal(o, np.where((c % 2 == 0) & (c < 11), mapped, 77))
    assert np.array_equal(counts, np.bincount(c % 4, np.maximum(mapped, 0)).astype(np.int32))
