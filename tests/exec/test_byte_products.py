"""Sums of products of bytes, which the CPU computes by words of four of them, against NumPy: all signs, all limits."""

from __future__ import annotations

import platform
from itertools import product

import numpy as np
import pytest

from suite.arrays import Array
from tilewright import compat
from tilewright.support import knobs

with compat.standing_in():
    import triton
    import triton.language as tl


@triton.jit
def whole_rows(a_ptr, b_ptr, out_ptr, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """out[i] = sum_j a[i, j] b[j], of `n` columns; one program has ROWS rows."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    a = tl.load(a_ptr + row[:, None] * n + column[None, :], mask=column[None, :] < n, other=0)
    b = tl.load(b_ptr + column, mask=column < n, other=0)
    tl.store(out_ptr + row, tl.sum(a.to(tl.int32) * b[None, :].to(tl.int32), 1))


@triton.jit
def four_at_a_time(a_ptr, b_ptr, out_ptr, ROWS: tl.constexpr, WORDS: tl.constexpr):
    """out[i, w] = the sum of four products, each row of one byte more than it has words' bytes."""
    row, word, byte = (
        tl.arange(0, ROWS)[:, None, None],
        tl.arange(0, WORDS)[None, :, None],
        tl.arange(0, 4)[None, None, :],
    )
    a = tl.load(a_ptr + row * (4 * WORDS + 1) + word * 4 + byte)
    b = tl.load(b_ptr + word * 4 + byte)
    total = tl.sum(a.to(tl.int32) * b.to(tl.int32), 2)
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * WORDS + tl.arange(0, WORDS)[None, :], total)


@triton.jit
def bits_of_bytes(a_ptr, b_ptr, out_ptr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Products of what masks and shifts leave of bytes, and the plain sums of these."""
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, WIDTH)[None, :]
    a = tl.load(a_ptr + row * WIDTH + column)
    b = tl.load(b_ptr + column).to(tl.int32)
    low, high, mixed = a & 15, a >> 4, ((a << 3) ^ 0x5A) | (a >> 7)
    tl.store(out_ptr + tl.arange(0, ROWS), tl.sum(low.to(tl.int32) * b, 1))
    tl.store(out_ptr + ROWS + tl.arange(0, ROWS), tl.sum(high.to(tl.int32) * b, 1))
    tl.store(out_ptr + 2 * ROWS + tl.arange(0, ROWS), tl.sum(mixed.to(tl.int32) * b, 1))
    tl.store(out_ptr + 3 * ROWS + tl.arange(0, ROWS), tl.sum(mixed.to(tl.int32), 1))


@triton.jit
def rows_as_lanes(a_ptr, b_ptr, out_ptr, WORDS: tl.constexpr, ROWS: tl.constexpr):
    """Rows whose words take turns in memory: sums over words in lanes of rows."""
    word, row, byte = (
        tl.arange(0, WORDS)[:, None, None],
        tl.arange(0, ROWS)[None, :, None],
        tl.arange(0, 4)[None, None, :],
    )
    a = tl.load(a_ptr + word * (4 * ROWS) + row * 4 + byte)
    b = tl.load(b_ptr + word * 4 + byte)
    total = tl.sum(tl.sum((a & 63).to(tl.int32) * b.to(tl.int32), 2), 0)
    tl.store(out_ptr + tl.arange(0, ROWS), total)


@triton.jit
def bits_for_rows(a_ptr, b_ptr, out_ptr, ROWS: tl.constexpr, WORDS: tl.constexpr, MANY: tl.constexpr):
    """Products of the low and of the high bits of one matrix with each of several rows."""
    row, word = tl.arange(0, ROWS)[None, :, None], tl.arange(0, WORDS)[:, None, None]
    byte, many = tl.arange(0, 4)[None, None, :], tl.arange(0, MANY)[:, None, None, None]
    a = tl.load(a_ptr + row * (4 * WORDS) + word * 4 + byte)
    b = tl.load(b_ptr + many * (4 * WORDS) + (word * 4 + byte)[None]).to(tl.int32)
    at = out_ptr + tl.arange(0, MANY)[:, None] * ROWS + tl.arange(0, ROWS)[None, :]
    tl.store(at, tl.sum(tl.sum((a & 15)[None].to(tl.int32) * b, 3), 1))
    tl.store(at + MANY * ROWS, tl.sum(tl.sum((a >> 4)[None].to(tl.int32) * b, 3), 1))


DTYPES = (np.int8, np.uint8)
SIGNS = tuple(product(DTYPES, DTYPES))
"""Of both factors: one axis, each of whose values every level has."""


def extremes(shape: tuple[int, ...], dtype: type, seed: int) -> Array:
    """Many of the least and the largest numbers among any others."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    values = rng.integers(limits.min, limits.max + 1, shape)
    ends = np.where(rng.random(shape) < 0.5, limits.min, limits.max)
    return np.where(rng.random(shape) < 0.6, ends, values).astype(dtype)


LEVELS: dict[str, dict[str, object]] = {
    "host": {},
    "without-vnni": {"cpu_without": ("avx512vnni", "avxvnni")},
    "without-avx2": {"cpu": "x86-64-v2"},
    "without-ssse3": {"cpu": "x86-64"},
    "baseline": {"opt": "0"},
}


@pytest.fixture(params=LEVELS, autouse=True)
def level(request: pytest.FixtureRequest) -> None:
    """The host, older processors, and the baseline, which forms no words."""
    settings = LEVELS[request.param]
    request.getfixturevalue("monkeypatch")
    scope = knobs.scope(target="cpu", **settings)
    scope.__enter__()
    request.addfinalizer(lambda: scope.__exit__(None, None, None))


@pytest.mark.pairwise
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("n", [4, 32, 100, 256])
def test_whole_rows(signs: tuple[type, type], n: int) -> None:
    first, second = signs
    a, b, out = extremes((6, n), first, 1), extremes((n,), second, 2), np.zeros(6, np.int32)
    whole_rows[(3,)](a, b, out, n, ROWS=2, BLOCK=triton.next_power_of_2(n))
    np.testing.assert_array_equal(out, a.astype(np.int64) @ b.astype(np.int64))


@pytest.mark.parametrize("second", [-128, -127, -1, 0, 1, 127])
@pytest.mark.parametrize("first", [-128, -127, -1, 0, 1, 127])
def test_signed_bytes_of_one_value(first: int, second: int) -> None:
    """The sums of two products go from -32512 to 32768, one more than int16 has."""
    a, b, out = np.full((6, 64), first, np.int8), np.full(64, second, np.int8), np.zeros(6, np.int32)
    whole_rows[(3,)](a, b, out, 64, ROWS=2, BLOCK=64)
    np.testing.assert_array_equal(out, np.full(6, 64 * first * second))


@pytest.mark.pairwise
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("words", [1, 2, 8, 16])
def test_four_at_a_time(signs: tuple[type, type], words: int) -> None:
    first, second = signs
    a, b = extremes((4, 4 * words + 1), first, 3), extremes((4 * words,), second, 4)
    out = np.zeros((4, words), np.int32)
    four_at_a_time[(1,)](a, b, out, ROWS=4, WORDS=words)
    products = a[:, :-1].astype(np.int64) * b.astype(np.int64)
    np.testing.assert_array_equal(out, products.reshape(4, words, 4).sum(-1))


@pytest.mark.parametrize("second", DTYPES)
def test_bits_of_bytes(second: type) -> None:
    a, b, out = extremes((4, 64), np.uint8, 5), extremes((64,), second, 6), np.zeros((4, 4), np.int32)
    bits_of_bytes[(1,)](a, b, out, ROWS=4, WIDTH=64)
    mixed = (((a << 3) & 255) ^ 0x5A) | (a >> 7)
    parts = [part.astype(np.int64) @ b.astype(np.int64) for part in (a & 15, a >> 4, mixed)]
    np.testing.assert_array_equal(out, [*parts, mixed.astype(np.int64).sum(1)])


@pytest.mark.parametrize("second", DTYPES)
def test_rows_as_lanes(second: type) -> None:
    a, b, out = extremes((8, 8, 4), np.uint8, 7), extremes((8, 4), second, 8), np.zeros(8, np.int32)
    rows_as_lanes[(1,)](a, b, out, WORDS=8, ROWS=8)
    np.testing.assert_array_equal(out, np.einsum("wrb,wb->r", (a & 63).astype(np.int64), b.astype(np.int64)))


@pytest.mark.parametrize("second", DTYPES)
def test_bits_for_several_rows(second: type) -> None:
    a, b, out = extremes((8, 4, 4), np.uint8, 9), extremes((4, 4, 4), second, 10), np.zeros((2, 4, 8), np.int32)
    bits_for_rows[(1,)](a, b, out, ROWS=8, WORDS=4, MANY=4)
    parts = [np.einsum("rwb,mwb->mr", part.astype(np.int64), b.astype(np.int64)) for part in (a & 15, a >> 4)]
    np.testing.assert_array_equal(out, parts)


@pytest.mark.parametrize("level", ["host", "without-vnni", "without-avx2"], indirect=True)
def test_instructions() -> None:
    """On x86 words are multiplied by instructions for them, also where bytes have any sign."""
    if platform.machine() != "x86_64":
        pytest.skip("another processor")
    for assembly in (_assembly(np.uint8, np.int8, masked=True), _assembly(np.int8, np.int8)):
        assert "pmaddubsw" in assembly or "pdpbusd" in assembly


def _assembly(first: type, second: type, *, masked: bool = False) -> str:
    if masked:
        a, b, out = extremes((4, 64), np.uint8, 5), extremes((64,), second, 6), np.zeros((4, 4), np.int32)
        return bits_of_bytes[(1,)](a, b, out, ROWS=4, WIDTH=64).asm["asm"]
    a, b, out = extremes((2, 256), first, 1), extremes((256,), second, 2), np.zeros(2, np.int32)
    return whole_rows[(1,)](a, b, out, 256, ROWS=2, BLOCK=256).asm["asm"]
