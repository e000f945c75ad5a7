"""Gathers of lanes near one another are one load and a permutation, where gathers are slow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from loops_kernels import compile_loops, run_loops  # pyright: ignore[reportMissingImports]

import tilewright as triton
import tilewright.language as tl
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts

DTYPES = {"i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}

BIASED = """
func.func @k(%x: memref<*x$T>, %o: memref<*x$T>, %factor: $I, %shift: $I, %first: $I, %limit: $I, $GRID) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 1024 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*x$T> to memref<?x$T>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1] : memref<*x$T> to memref<?x$T>
  %s = vector.step : vector<$Lxindex>
  %lanes = arith.index_cast %s : vector<$Lxindex> to vector<$Lx$I>
  %f = vector.broadcast %factor : $I to vector<$Lx$I>
  %h = vector.broadcast %shift : $I to vector<$Lx$I>
  %b = vector.broadcast %first : $I to vector<$Lx$I>
  %l = vector.broadcast %limit : $I to vector<$Lx$I>
  %p = arith.muli %lanes, %f : vector<$Lx$I>
  %q = arith.shrsi %p, %h : vector<$Lx$I>
  %i = arith.addi %q, %b : vector<$Lx$I>
  %m = arith.cmpi slt, %lanes, %l : vector<$Lx$I>
  %other = arith.constant dense<-1> : vector<$Lx$N>
  %o2 = arith.bitcast %other : vector<$Lx$N> to vector<$Lx$T>
  %g = vector.gather %xs[%c0] [%i], %m, %o2
    : memref<?x$T>, vector<$Lx$I>, vector<$Lxi1>, vector<$Lx$T> into vector<$Lx$T>
  vector.store %g, %os[%c0] : memref<?x$T>, vector<$Lx$T>
  return
}
"""


def biased(type: str, lanes: int, index: str) -> str:
    values = {"$T": type, "$L": str(lanes), "$I": index, "$N": f"i{type[1:]}"}
    text = BIASED
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def slow_gathers(facts: CpuFacts) -> CpuFacts:
    return replace(facts, has_fast_gathers=False)


@pytest.mark.needs("avx512vl")
@pytest.mark.parametrize("index", ["i32", "i64"])
@pytest.mark.parametrize(("type", "lanes"), [("f32", 16), ("f32", 8), ("i32", 16), ("f64", 8), ("i64", 4)])
def test_lanes_anywhere(type: str, lanes: int, index: str) -> None:
    """Near, far, falling, all at one place, and some of them masked off."""
    host = host_facts()
    kernel = biased(type, lanes, index)
    dtype, number = DTYPES[type], DTYPES[index]
    x = np.arange(100, 1124).astype(dtype)
    for factor, shift, first, limit in (
        (1, 1, 5, 99), (1, 0, 0, 99), (2, 1, 7, 99), (3, 1, 9, 99), (-1, 1, 40, 99), (0, 0, 3, 99), (60, 0, 1, 99),
        (1, 1, 5, 3), (1, 1, 5, 0), (-1, 0, 500, lanes - 1),
    ):  # fmt: skip
        out = np.zeros(lanes, dtype)
        run_loops(kernel, x, out, *map(number, (factor, shift, first, limit)), facts=slow_gathers(host))
        i = (np.arange(lanes) * factor >> shift) + first
        other = np.full(1, -1, f"i{dtype().itemsize}").view(dtype)
        assert np.array_equal(out, np.where(np.arange(lanes) < limit, x[i], other), equal_nan=True), (factor, first)


def test_only_where_gathers_are_slow() -> None:
    facts = named_facts("x86-64-v4")
    kernel = biased("f32", 16, "i32")
    assert "permvar" not in compile_loops(kernel, facts).llir
    assert "permvar" in compile_loops(kernel, slow_gathers(facts)).llir


def test_not_where_places_are_loaded() -> None:
    kernel = biased("i32", 16, "i32").replace(
        "%b = vector.broadcast %first : i32 to vector<16xi32>",
        "%b = vector.load %xs[%c0] : memref<?xi32>, vector<16xi32>",
    )
    assert "permvar" not in compile_loops(kernel, slow_gathers(named_facts("x86-64-v4"))).llir


@triton.jit
def grown(x, y, stride, BLOCK: tl.constexpr):
    """Two rows at every second place, and the places behind."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    left = (i * 0.5).to(tl.int32)
    right = tl.minimum(left + 1, stride - 1)
    first = x + row.to(tl.int64) * stride
    a, b = tl.load(first + left), tl.load(first + right)
    c, d = tl.load(first + stride + left), tl.load(first + stride + right)
    tl.store(y + row * BLOCK + i, a + 2 * b + 3 * c + 4 * d)


def test_places_of_all_rows_are_numbers_of_32_bits() -> None:
    rows, stride = 5, 64
    x = np.random.default_rng(0).integers(-9, 9, (rows + 1, stride)).astype(np.float32)
    y = np.zeros((rows, 2 * stride), np.float32)
    kernel = grown[(rows,)](x, y, stride, BLOCK=2 * stride)
    left = np.arange(2 * stride) // 2
    right = np.minimum(left + 1, stride - 1)
    assert np.array_equal(y, x[:-1, left] + 2 * x[:-1, right] + 3 * x[1:, left] + 4 * x[1:, right])
    assert "vector.gather" in kernel.asm["loops"]
    assert "xi64>" not in kernel.asm["loops"]
