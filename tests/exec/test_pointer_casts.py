"""Pointers that are cast to wider elements at any offset: the address is the same on the CPU as on the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs


@triton.jit
def constant_offset(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load((x + 1).to(tl.pointer_type(tl.int64)) + i))


@triton.jit
def runtime_offset(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load((x + n).to(tl.pointer_type(tl.int64)) + i, mask=i < n, other=7))


@triton.jit
def scalars_at_both_widths(x, out, n, B: tl.constexpr):
    wide = (x + n).to(tl.pointer_type(tl.int64))
    tl.store(out, tl.load(wide + 1))
    tl.store(out + 1, tl.load((wide + 1).to(tl.pointer_type(tl.int16)) + n).to(tl.int64))
    tl.store(out + 2, tl.load(x + n).to(tl.int64))


@triton.jit
def in_a_loop(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + n).to(tl.pointer_type(tl.int64))
    for k in range(n):
        tl.store(out + k, tl.sum(tl.load(p + i)))
        p += 2


@triton.jit
def chosen(x, out, n, B: tl.constexpr):
    p = x.to(tl.pointer_type(tl.int64))
    if n > 2:
        p = (x + n).to(tl.pointer_type(tl.int64))
    tl.store(out, tl.load(p))


@triton.jit
def stored(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    wide = (x + n).to(tl.pointer_type(tl.int64))
    tl.store(wide + i, i.to(tl.int64) * 0x1_0000_0003)
    tl.store(out + i, tl.load(x + n + i).to(tl.int64))


@triton.jit
def tile_const(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + 1 + i).to(tl.pointer_type(tl.int64))
    tl.store(out + i, tl.load(p))


@triton.jit
def tile_runtime(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + n + i * n).to(tl.pointer_type(tl.int64))
    tl.store(out + i, tl.load(p + 1, mask=i < n, other=3))


@triton.jit
def tile_narrow(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + n + i).to(tl.pointer_type(tl.int16)) + 1
    tl.store(out + i, tl.load(p).to(tl.int64))


@triton.jit
def tile_round(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = ((x + n + i).to(tl.pointer_type(tl.int16)) + n).to(tl.pointer_type(tl.int64)) + 1
    tl.store(out + i, tl.load(p).to(tl.int64))


@triton.jit
def carried(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = x
    for k in range(n):
        tl.store(out + k, tl.sum(tl.load((p + 1).to(tl.pointer_type(tl.int64)) + i)))
        p += 3


@triton.jit
def carried_tile(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = x + i
    for k in range(n):
        tl.store(out + k, tl.sum(tl.load((p + 1).to(tl.pointer_type(tl.int64)))))
        p += 3


@triton.jit
def cast_carried(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + 1 + i).to(tl.pointer_type(tl.int64))
    for k in range(n):
        tl.store(out + k, tl.sum(tl.load(p)))
        p += 1


@triton.jit
def in_loop_offset(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for k in range(n):
        q = (x + k + 1).to(tl.pointer_type(tl.int64))
        tl.store(out + k, tl.sum(tl.load(q + i)) + tl.load(q))


@triton.jit
def loop_swap(x, out, n, B: tl.constexpr):
    p = (x + 1).to(tl.pointer_type(tl.int64))
    for k in range(n):
        tl.store(out + k, tl.load(p))
        p = (p.to(tl.pointer_type(tl.int32)) + 1).to(tl.pointer_type(tl.int64))


@triton.jit
def while_loop(x, out, n, B: tl.constexpr):
    p = (x + 1).to(tl.pointer_type(tl.int64))
    k = 0
    while k < n:
        tl.store(out + k, tl.load(p))
        p = (p.to(tl.pointer_type(tl.int32)) + 1).to(tl.pointer_type(tl.int64))
        k += 1


@triton.jit
def chosen_tile(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + i * 2).to(tl.pointer_type(tl.int64))
    if n > 2:
        p = (x + n + i).to(tl.pointer_type(tl.int64))
    tl.store(out + i, tl.load(p))


@triton.jit
def selected(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = tl.where(i > 1, (x + i).to(tl.pointer_type(tl.int64)), (x + n).to(tl.pointer_type(tl.int64)))
    tl.store(out + i, tl.load(p))


@triton.jit
def store_tile(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + 1 + i * 3).to(tl.pointer_type(tl.int64))
    tl.store(p, i.to(tl.int64) * 0x1_0000_0003, mask=i < n)
    tl.store(out + i, tl.load(x + n + i).to(tl.int64))


@triton.jit
def tile2d(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + n + i[:, None] * 6 + i[None, :]).to(tl.pointer_type(tl.int64))
    tl.store(out + i, tl.sum(tl.load(p, mask=i[:, None] < n), 0))


@triton.jit
def program(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + tl.program_id(0) * 3 + 1).to(tl.pointer_type(tl.int64))
    tl.store(out + i, tl.load(p + i) + tl.load((p + i).to(tl.pointer_type(tl.int8)) + 1))


@triton.jit
def inner(p, k):
    return tl.load((p + k).to(tl.pointer_type(tl.int64)))


@triton.jit(noinline=True)
def inner_call(p, k):
    return tl.load((p + k).to(tl.pointer_type(tl.int64)))


@triton.jit
def helper(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, inner(x + 1, i) + inner(x, n))


@triton.jit
def helper_call(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, inner_call(x + 1, n) + inner_call(x, n))


@triton.jit
def atomics(x, out, n, B: tl.constexpr):
    """At multiples of 8 bytes, as processors ask for."""
    i = tl.arange(0, B)
    p = (x + 2 + i * 2).to(tl.pointer_type(tl.int64))
    tl.atomic_add(p + n, i.to(tl.int64))
    tl.atomic_add((x + 2 * n).to(tl.pointer_type(tl.int64)), 1)
    tl.store(out + i, tl.load(p))


@triton.jit
def of_floats(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x.to(tl.pointer_type(tl.int8)) + n + 5 * i).to(tl.pointer_type(tl.float32))
    values = tl.load(p, mask=i != n, other=i.to(tl.float32))
    tl.store((x + 50 + i).to(tl.pointer_type(tl.float64)), values.to(tl.float64), mask=i % 2 == 0)
    tl.store(out + i, tl.load((x + n + i).to(tl.pointer_type(tl.float64))).to(tl.int64, bitcast=True))


@triton.jit
def without_another_argument(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = (x + 20 + i).to(tl.pointer_type(tl.int64))
    tl.store(p, tl.load((x + n + 2 * i).to(tl.pointer_type(tl.int64))), mask=i == n)


KERNELS = [
    constant_offset, runtime_offset, scalars_at_both_widths, in_a_loop, chosen, stored, tile_const, tile_runtime,
    tile_narrow, tile_round, carried, carried_tile, cast_carried, in_loop_offset, loop_swap, while_loop, chosen_tile,
    selected, store_tile, tile2d, program, helper, helper_call, atomics, of_floats, without_another_argument,
]  # fmt: skip


def launch(kernel: Any, n: int, first: int = 0) -> list[int]:
    """What a kernel writes to memory of which it is given all from element `first` on."""
    first *= kernel is not atomics
    x, out = np.arange(129, dtype=np.int32) * 0x01010101 + 5, np.zeros(8, np.int64)
    kernel[(1,)](x[first:], out, n, 4)
    return [*out.tolist(), *x.tolist()]


@pytest.mark.pairwise
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("opt", ["strict", "0"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_addresses(kernel: Any, opt: str, first: int) -> None:
    for n in (1, 2, 3):
        with knobs.scope(target="reference"):
            expected = launch(kernel, n, first)
        with knobs.scope(target="cpu", opt=opt):
            assert launch(kernel, n, first) == expected


@triton.jit
def aligned(x, out, n, B: tl.constexpr):
    """Wider elements at multiples of their size only, which a GPU asks for."""
    i = tl.arange(0, B)
    p = (x + 2 + 2 * i).to(tl.pointer_type(tl.int64))
    q = x
    for k in range(n):
        wide = (q + 2 * n).to(tl.pointer_type(tl.int64))
        tl.store(out + k, tl.sum(tl.load(p) + tl.load(wide + i)))
        p += 1
        q += 2


@pytest.mark.parametrize("target", ["cpu", "cuda_sim"])
def test_aligned_addresses(target: str) -> None:
    with knobs.scope(target="reference"):
        expected = launch(aligned, 3)
    with knobs.scope(target=target):
        assert launch(aligned, 3) == expected


@triton.jit
def counts_at(address):
    tl.atomic_add(address.to(tl.pointer_type(tl.int32)), 1)


@triton.jit
def counts_at_beside(address, beside):
    tl.atomic_add(address.to(tl.pointer_type(tl.int32)), 1)


@triton.jit
def counts_at_constant(ADDRESS: tl.constexpr):
    tl.atomic_add(tl.full((), ADDRESS, tl.int64).to(tl.pointer_type(tl.int32)), 1)


@triton.jit(noinline=True)
def count_once(address):
    tl.atomic_add(address.to(tl.pointer_type(tl.int32)), 1)


@triton.jit
def counts_by_call(address):
    count_once(address)


@triton.jit
def products_at(x, w, out, M, N, K, B: tl.constexpr):
    i, j, k = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B), tl.arange(0, B)
    xs = x.to(tl.pointer_type(tl.float32)) + i[:, None] * K + k[None, :]
    ws = w.to(tl.pointer_type(tl.float32)) + k[:, None] * N + j[None, :]
    total = tl.zeros((B, B), tl.float32)
    for _ in range(0, K, B):
        total += tl.dot(tl.load(xs), tl.load(ws))
        xs += B
        ws += B * N
    here = (i[:, None] < M) & (j[None, :] < N)
    tl.store(out.to(tl.pointer_type(tl.float32)) + i[:, None] * N + j[None, :], total, mask=here)


@triton.jit
def moves_down(x, n, B: tl.constexpr):
    """Loads and stores of one array by two of its addresses."""
    to, source = x.to(tl.pointer_type(tl.int16)), (x + 2).to(tl.pointer_type(tl.int16))
    for start in range(0, n, B):
        i = start + tl.arange(0, B)
        tl.store(to + i, tl.load(source + i, mask=i < n) + 1, mask=i < n)


ENGINES = ["cpu", "reference", "cuda_sim"]


@pytest.mark.parametrize("opt", ["strict", "0"])
@pytest.mark.parametrize("target", ENGINES)
def test_addresses_of_kernels_without_pointers(target: str, opt: str) -> None:
    """They are counted from address 0 on the CPU, which no launch passes."""
    x = np.zeros(4, np.int32)
    with knobs.scope(target=target, opt=opt):
        counts_at[(3,)](x.ctypes.data)
        counts_at[(2,)](x.ctypes.data + 4)
        counts_at_beside[(3,)](x.ctypes.data, x)
        counts_at_constant[(1, 2)](x.ctypes.data + 8)
        counts_by_call[(1, 1, 4)](x.ctypes.data + 12)
    assert x.tolist() == [6, 2, 2, 4]


@pytest.mark.parametrize("opt", ["strict", "0"])
@pytest.mark.parametrize("target", ENGINES)
def test_a_product_of_matrices_at_addresses(target: str, opt: str) -> None:
    rng = np.random.default_rng(3)
    x, w = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((32, 48), (48, 16)))
    out = np.full((32, 16), np.nan, np.float32)
    with knobs.scope(target=target, opt=opt):
        products_at[(2, 1)](x.ctypes.data, w.ctypes.data, out.ctypes.data, 32, 16, 48, B=16)
    assert (out == x @ w).all()


@pytest.mark.parametrize("opt", ["strict", "0"])
def test_nothing_is_claimed_of_addresses(opt: str) -> None:
    """Two may lie in one array, and each anywhere in it."""
    x = np.arange(33, dtype=np.int16)
    with knobs.scope(target="cpu", opt=opt):
        moves_down[(1,)](x.ctypes.data, 32, B=8)
    assert x.tolist() == [*range(2, 34), 32]


def test_sanitizers_know_no_extents_of_addresses() -> None:
    x = np.arange(33, dtype=np.int16)
    with knobs.scope(target="cpu", sanitize="bounds,race,init"):
        moves_down[(1,)](x.ctypes.data, 32, B=8)
    assert x.tolist() == [*range(2, 34), 32]
