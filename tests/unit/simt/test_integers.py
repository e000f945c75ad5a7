"""Integer arithmetic, logic, shifts and bit fields against Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ptx_kernels import PREFIX, by_thread

from suite.arrays import Array

random = np.random.default_rng(1)


def numbers(dtype: Any, count: int = 96) -> Array:
    """Every kind of number of a type: the limits, those around 0, and any."""
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, -1 if limits.min else 1, 0, 1, 2, limits.max - 1, limits.max]
    rest = random.integers(limits.min, limits.max, count - len(edges), dtype=np.dtype(dtype), endpoint=True)
    return random.permutation(np.concatenate([np.array(edges, dtype), rest]))


def exact(function: Callable[..., int], dtype: Any, *values: Array) -> Array:
    """A function of Python's integers, cut to a type."""
    bits = 8 * np.dtype(dtype).itemsize
    results = [function(*(int(value) for value in row)) & ((1 << bits) - 1) for row in zip(*values, strict=True)]
    return np.array(results, np.uint64).astype(f"u{bits // 8}").view(dtype)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


TYPES = ["s16", "u16", "s32", "u32", "s64", "u64"]
BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
}


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(f"{'i' if name[0] == 's' else 'u'}{int(name[1:]) // 8}")


def names(dtype: np.dtype[Any], count: int) -> str:
    return ", ".join(f"%{PREFIX[dtype.itemsize]}{n}" for n in range(count))


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("op", BINARY)
def test_binary(op: str, type_: str) -> None:
    dtype = dtype_of(type_)
    a, b = numbers(dtype), numbers(dtype)
    found = by_thread(f"{op}.{type_} {names(dtype, 3)};", [a, b], dtype)
    np.testing.assert_array_equal(found, exact(BINARY[op], dtype, a, b))


@pytest.mark.parametrize("type_", TYPES)
def test_division_truncates(type_: str) -> None:
    dtype = dtype_of(type_)
    a, b = numbers(dtype), numbers(dtype)
    b[b == 0] = 3
    found = by_thread(f"div.{type_} {names(dtype, 3)};", [a, b], dtype)
    np.testing.assert_array_equal(found, exact(quotient, dtype, a, b))
    found = by_thread(f"rem.{type_} {names(dtype, 3)};", [a, b], dtype)
    np.testing.assert_array_equal(found, exact(lambda x, y: x - quotient(x, y) * y, dtype, a, b))


@pytest.mark.parametrize("type_", TYPES)
def test_high_and_wide_products(type_: str) -> None:
    dtype = dtype_of(type_)
    a, b, bits = numbers(dtype), numbers(dtype), 8 * dtype.itemsize
    found = by_thread(f"mul.hi.{type_} {names(dtype, 3)};", [a, b], dtype)
    np.testing.assert_array_equal(found, exact(lambda x, y: x * y >> bits, dtype, a, b))
    if bits == 64:
        return
    wide = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}")
    sources = ", ".join(f"%{PREFIX[dtype.itemsize]}{n}" for n in (1, 2))
    found = by_thread(f"mul.wide.{type_} %{PREFIX[wide.itemsize]}0, {sources};", [a, b], wide)
    np.testing.assert_array_equal(found, exact(lambda x, y: x * y, wide, a, b))
    c = numbers(wide)
    addend = f"%{PREFIX[wide.itemsize]}3"
    found = by_thread(f"mad.wide.{type_} %{PREFIX[wide.itemsize]}0, {sources}, {addend};", [a, b, c], wide)
    np.testing.assert_array_equal(found, exact(lambda x, y, z: x * y + z, wide, a, b, c))


def test_saturation_and_sums_of_differences() -> None:
    a, b, c = numbers(np.int32), numbers(np.int32), numbers(np.int32)
    found = by_thread("add.sat.s32 %r0, %r1, %r2;", [a, b], np.int32)
    limits = np.iinfo(np.int32)
    np.testing.assert_array_equal(found, exact(lambda x, y: min(max(x + y, limits.min), limits.max), np.int32, a, b))
    found = by_thread("sad.s32 %r0, %r1, %r2, %r3;", [a, b, c], np.int32)
    np.testing.assert_array_equal(found, exact(lambda x, y, z: abs(x - y) + z, np.int32, a, b, c))
    found = by_thread("abs.s32 %r0, %r1;", [a], np.int32)
    np.testing.assert_array_equal(found, exact(abs, np.int32, a))


def test_sums_over_several_registers() -> None:
    """96 bits: add.cc, addc.cc, addc, and the same of differences and products."""
    a, b = numbers(np.uint64), numbers(np.uint64)
    body = """
    mov.b64 {%r1, %r2}, %d1; mov.b64 {%r3, %r4}, %d2;
    OP.cc.u32 %r5, %r1, %r3; OPc.u32 %r6, %r2, %r4; mov.b64 %d0, {%r5, %r6};"""
    found = by_thread(body.replace("OP", "add"), [a, b], np.uint64)
    np.testing.assert_array_equal(found, a + b)
    found = by_thread(body.replace("OP", "sub"), [a, b], np.uint64)
    np.testing.assert_array_equal(found, a - b)
    body = """
    mov.b64 {%r1, %r2}, %d1; mov.b64 {%r3, %r4}, %d2; mov.u32 %r8, 0;
    mul.hi.u32 %r5, %r1, %r3;
    mad.lo.cc.u32 %r5, %r1, %r4, %r5; madc.hi.u32 %r6, %r1, %r4, 0;
    mad.lo.cc.u32 %r5, %r2, %r3, %r5; madc.hi.cc.u32 %r6, %r2, %r3, %r6; addc.u32 %r7, %r8, 0;
    mad.lo.cc.u32 %r6, %r2, %r4, %r6; madc.hi.u32 %r7, %r2, %r4, %r7;
    mov.b64 %d0, {%r6, %r7};"""
    found = by_thread(body, [a, b], np.uint64)
    np.testing.assert_array_equal(found, exact(lambda x, y: x * y >> 64, np.uint64, a, b))


def test_dot_products_of_bytes() -> None:
    a, b, c = numbers(np.uint32), numbers(np.uint32), numbers(np.int32)
    left, right = a.view(np.int8).reshape(-1, 4).astype(np.int64), b.view(np.uint8).reshape(-1, 4).astype(np.int64)
    found = by_thread("dp4a.s32.u32 %r0, %r1, %r2, %r3;", [a, b, c], np.int32)
    np.testing.assert_array_equal(found, ((left * right).sum(1) + c).astype(np.int32))
    halves = a.view(np.int16).reshape(-1, 2).astype(np.int64)
    found = by_thread("dp2a.hi.s32.u32 %r0, %r1, %r2, %r3;", [a, b, c], np.int32)
    np.testing.assert_array_equal(found, ((halves * right[:, 2:]).sum(1) + c).astype(np.int32))


@pytest.mark.parametrize("type_", ["b16", "b32", "b64"])
def test_logic(type_: str) -> None:
    dtype = np.dtype(f"u{int(type_[1:]) // 8}")
    a, b = numbers(dtype), numbers(dtype)
    for op, expected in (("and", a & b), ("or", a | b), ("xor", a ^ b)):
        np.testing.assert_array_equal(by_thread(f"{op}.{type_} {names(dtype, 3)};", [a, b], dtype), expected)
    np.testing.assert_array_equal(by_thread(f"not.{type_} {names(dtype, 2)};", [a], dtype), ~a)


@pytest.mark.parametrize("table", [0x96, 0xE8, 0xCA, 0x01])
def test_logic_of_three(table: int) -> None:
    a, b, c = (numbers(np.uint32) for _ in range(3))
    found = by_thread(f"lop3.b32 %r0, %r1, %r2, %r3, {table};", [a, b, c], np.uint32)

    def bits(x: int, y: int, z: int) -> int:
        index = [(x >> n & 1) << 2 | (y >> n & 1) << 1 | (z >> n & 1) for n in range(32)]
        return sum((table >> i & 1) << n for n, i in enumerate(index))

    np.testing.assert_array_equal(found, exact(bits, np.uint32, a, b, c))


@pytest.mark.parametrize("type_", TYPES)
def test_shifts(type_: str) -> None:
    dtype, bits = dtype_of(type_), int(type_[1:])
    a = numbers(dtype)
    by = random.integers(0, bits + 4, a.size).astype(np.uint32)
    register = PREFIX[dtype.itemsize]
    found = by_thread(f"shl.b{bits} %{register}0, %{register}1, %r2;", [a, by], dtype)
    np.testing.assert_array_equal(found, exact(lambda x, n: x << n, dtype, a, by))
    found = by_thread(f"shr.{type_} %{register}0, %{register}1, %r2;", [a, by], dtype)
    np.testing.assert_array_equal(found, exact(lambda x, n: x >> n, dtype, a, by))


@pytest.mark.parametrize("mode", ["wrap", "clamp"])
def test_funnel_shifts(mode: str) -> None:
    low, high = numbers(np.uint32), numbers(np.uint32)
    by = random.integers(0, 40, low.size).astype(np.uint32)

    def amount(n: int) -> int:
        return n % 32 if mode == "wrap" else min(n, 32)

    found = by_thread(f"shf.l.{mode}.b32 %r0, %r1, %r2, %r3;", [low, high, by], np.uint32)
    expected = exact(lambda x, y, n: (y << 32 | x) << amount(n) >> 32, np.uint32, low, high, by)
    np.testing.assert_array_equal(found, expected)
    found = by_thread(f"shf.r.{mode}.b32 %r0, %r1, %r2, %r3;", [low, high, by], np.uint32)
    np.testing.assert_array_equal(found, exact(lambda x, y, n: (y << 32 | x) >> amount(n), np.uint32, low, high, by))


@pytest.mark.parametrize("type_", ["s32", "u32", "s64", "u64"])
def test_bit_fields(type_: str) -> None:
    dtype, bits = dtype_of(type_), int(type_[1:])
    a, b = numbers(dtype), numbers(dtype)
    start = random.integers(0, bits, a.size).astype(np.uint32)
    length = random.integers(0, bits + 1, a.size).astype(np.uint32)
    register = PREFIX[dtype.itemsize]

    def extract(x: int, first: int, count: int) -> int:
        if type_[0] == "u":
            return (x >> first) & ((1 << count) - 1) if count else 0
        count = min(count, bits - first)
        if not count:
            return 0
        field = (x >> first) & ((1 << count) - 1)
        return field - (1 << count) if field >> (count - 1) else field

    body = f"bfe.{type_} %{register}0, %{register}1, %r2, %r3;"
    np.testing.assert_array_equal(by_thread(body, [a, start, length], dtype), exact(extract, dtype, a, start, length))

    def insert(x: int, y: int, first: int, count: int) -> int:
        mask = ((1 << count) - 1) << first
        return (y & ~mask) | (x << first & mask)

    body = f"bfi.b{bits} %{register}0, %{register}1, %{register}2, %r3, %r4;"
    found = by_thread(body, [a, b, start, length], dtype)
    np.testing.assert_array_equal(found, exact(insert, dtype, a, b, start, length))


@pytest.mark.parametrize("bits", [32, 64])
def test_counting_bits(bits: int) -> None:
    a = numbers(np.dtype(f"u{bits // 8}"))
    register = PREFIX[bits // 8]
    for op, function in (
        ("popc.b", lambda x: x.bit_count()),
        ("clz.b", lambda x: bits - x.bit_length()),
        ("bfind.u", lambda x: x.bit_length() - 1),
    ):
        found = by_thread(f"{op}{bits} %r0, %{register}1;", [a], np.int32)
        np.testing.assert_array_equal(found, exact(function, np.int32, a))
    reverse = exact(lambda x: int(f"{x:0{bits}b}"[::-1], 2), a.dtype, a)
    np.testing.assert_array_equal(by_thread(f"brev.b{bits} %{register}0, %{register}1;", [a], a.dtype), reverse)
    signed = a.view(f"i{bits // 8}")
    found = by_thread(f"bfind.s{bits} %r0, %{register}1;", [signed], np.int32)
    np.testing.assert_array_equal(found, exact(lambda x: (~x if x < 0 else x).bit_length() - 1, np.int32, signed))


def test_finding_bits_by_their_number() -> None:
    mask = numbers(np.uint32)
    base = np.arange(mask.size, dtype=np.uint32) % 33
    offset = np.arange(mask.size, dtype=np.int32) * 7 % 23 - 11

    def find(x: int, start: int, count: int) -> int:
        ones = [place for place in range(32) if x >> place & 1]
        if count < 0:
            found = [place for place in reversed(ones) if place <= start < 32]
        else:
            found = [place for place in ones if place >= start and (count or place == start)]
        number = max(abs(count), 1)
        return found[number - 1] if number <= len(found) else -1

    found = by_thread("fns.b32 %r0, %r1, %r2, %r3;", [mask, base, offset], np.int32)
    np.testing.assert_array_equal(found, exact(find, np.int32, mask, base, offset))


def test_permuting_bytes() -> None:
    a, b, selector = (numbers(np.uint32) for _ in range(3))

    def permute(x: int, y: int, s: int) -> int:
        both, result = y << 32 | x, 0
        for position in range(4):
            nibble = s >> 4 * position & 15
            byte = both >> 8 * (nibble & 7) & 255
            result |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * position
        return result

    found = by_thread("prmt.b32 %r0, %r1, %r2, %r3;", [a, b, selector], np.uint32)
    np.testing.assert_array_equal(found, exact(permute, np.uint32, a, b, selector))


@pytest.mark.parametrize("type_", TYPES)
def test_comparisons(type_: str) -> None:
    dtype = dtype_of(type_)
    a = numbers(dtype)
    b = np.where(random.integers(0, 3, a.size) == 0, a, numbers(dtype))
    register = PREFIX[dtype.itemsize]
    for op, expected in (("lt", a < b), ("le", a <= b), ("gt", a > b), ("ge", a >= b), ("eq", a == b), ("ne", a != b)):
        found = by_thread(f"setp.{op}.{type_} %p0, %{register}1, %{register}2;", [a, b], np.bool_)
        np.testing.assert_array_equal(found, expected)
    body = f"setp.lt.{type_} %p1, %{register}1, %{register}2; setp.eq.or.{type_} %p0|%p2, %{register}1, 1, %p1;"
    np.testing.assert_array_equal(by_thread(body, [a, b], np.bool_), (a < b) | (a == 1))
    body += "mov.pred %p0, %p2;"
    np.testing.assert_array_equal(by_thread(body, [a, b], np.bool_), (a < b) | (a != 1))


def test_choices_and_moves() -> None:
    a, b = numbers(np.uint32), numbers(np.uint32)
    body = "setp.gt.u32 %p1, %r1, %r2; selp.b32 %r0, %r1, %r2, %p1;"
    np.testing.assert_array_equal(by_thread(body, [a, b], np.uint32), np.maximum(a, b))
    body = "mov.b64 %d1, {%r1, %r2}; mov.b64 {%r3, %r0}, %d1;"
    np.testing.assert_array_equal(by_thread(body, [a, b], np.uint32), b)
    body = "mov.b32 {%h1, %h2}, %r1; mov.b32 %r0, {%h2, %h1};"
    np.testing.assert_array_equal(by_thread(body, [a], np.uint32), a << 16 | a >> 16)
    body = "slct.b32.s32 %r0, %r1, 7, %r2;"
    np.testing.assert_array_equal(by_thread(body, [a, b], np.uint32), np.where(b.view(np.int32) >= 0, a, 7))


def test_a_copy_is_one() -> None:
    """Writing a register under a guard leaves the register that it was copied from as it is."""
    a = numbers(np.uint32)
    body = "mov.b32 %r0, %r1; setp.gt.u32 %p1, %r1, 99; @%p1 mov.b32 %r1, 5; add.u32 %r0, %r0, %r1;"
    np.testing.assert_array_equal(by_thread(body, [a], np.uint32), np.where(a > 99, a + np.uint32(5), a + a))
