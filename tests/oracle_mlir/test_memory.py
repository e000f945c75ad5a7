"""Structured and unstructured accesses through upstream's code generation, against the definition of each lane's
address."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from suite.arrays import Array

RunKernel = Callable[..., None]
rng = np.random.default_rng(17)
DYNAMIC = -(2**63)


def remsi(value: int, bound: int) -> int:
    return int(np.fmod(value, bound)) if bound else value


def addresses(sizes: Any, strides: Any, offsets: Any, wraps: Any) -> Array:
    """The element offset of each lane, by the definition of tts.make_tptr."""
    result = np.empty(sizes, np.int64)
    for lane in product(*map(range, sizes)):
        parts = [o + i * s for i, s, o in zip(lane, strides, offsets, strict=True)]
        result[lane] = sum(remsi(a, w) for a, w in zip(parts, wraps, strict=True))
    return result


PREFIX = """tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %s0: i64, %s1: i64, %o0: i64, %o1: i64, %w0:
i64, %w1: i64,
                  %d0: i64, %d1: i64, %l0: i64, %l1: i64) {
  %is0 = arith.index_cast %s0 : i64 to index
  %is1 = arith.index_cast %s1 : i64 to index
  %io0 = arith.index_cast %o0 : i64 to index
  %io1 = arith.index_cast %o1 : i64 to index
  %iw0 = arith.index_cast %w0 : i64 to index
  %iw1 = arith.index_cast %w1 : i64 to index
  %id0 = arith.index_cast %d0 : i64 to index
  %id1 = arith.index_cast %d1 : i64 to index
  %il0 = arith.index_cast %l0 : i64 to index
  %il1 = arith.index_cast %l1 : i64 to index
  %other = arith.constant -7.0 : f32
"""
TILE = "tensor<4x8x!tt.ptr<f32>>"
DENSE = (
    "tts.make_tptr {} to sizes: [4, 8], strides: [8, 1], offsets: [0, 0], shape: [0, 0], order: [] : <f32> to " + TILE
)
WHOLE_STORE = f'"tts.store"(%q, %v) <{{static_mask_dims = array<i64>}}> : ({TILE}, tensor<4x8xf32>) -> ()'
WHOLE_LOAD = (
    '%v = "tts.load"(%q) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> '
    f": ({TILE}) -> tensor<4x8xf32>"
)
WRAPPED = (
    "%p = tts.make_tptr {} to sizes: [4, 8], strides: [%is0, %is1], offsets: [%io0, %io1], shape: [{}], order: [] "
    ": <f32> to " + TILE
)
MASKED_LOAD = (
    '%v = "tts.masked_load"(%p, %il0, %il1, %id0, %id1, %other) <{operandSegmentSizes = array<i32: 1, 2, 2, 0, 1>, '
    f"static_mask_starts = array<i64: {DYNAMIC}, {DYNAMIC}>, static_mask_dims = array<i64: {DYNAMIC}, {DYNAMIC}>}}> "
    f": ({TILE}, index, index, index, index, f32) -> tensor<4x8xf32>"
)
MASKED_STORE = (
    '"tts.masked_store"(%p, %v, %il0, %il1, %id0, %id1) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 0>, '
    f"static_mask_starts = array<i64: {DYNAMIC}, {DYNAMIC}>, static_mask_dims = array<i64: {DYNAMIC}, {DYNAMIC}>}}> "
    f": ({TILE}, tensor<4x8xf32>, index, index, index, index) -> ()"
)
CASES = [
    # strides, offsets, bounds: rows, columns or both wrap; once, several times or not at all; any layout
    ((8, 1), (0, 0), (0, 0)),
    ((20, 1), (40, 3), (80, 0)),
    ((20, 1), (60, 3), (80, 0)),
    ((20, 1), (40, 10), (0, 13)),
    ((20, 1), (40, 2), (0, 3)),
    ((1, 16), (3, 32), (5, 0)),
    ((1, 16), (3, 96), (0, 112)),
    ((7, 2), (14, 6), (21, 10)),
    ((3, 5), (0, 0), (2, 7)),
    ((0, 1), (0, 4), (0, 9)),
    ((16, 1), (0, 0), (64, 8)),
]


@pytest.fixture(scope="module")
def wrapped_kernels(mlir: Callable[..., Any], lower: Callable[[str], str]) -> tuple[Any, Any]:
    """A load and a store of a wrapped, masked tile, everything dynamic: compiled once."""
    make = WRAPPED.format("%x", "%iw0, %iw1")
    load = f"{PREFIX}{make}\n{MASKED_LOAD}\n%q = {DENSE.format('%y')}\n{WHOLE_STORE}\ntt.return\n}}"
    make = WRAPPED.format("%y", "%iw0, %iw1")
    store = f"{PREFIX}{make}\n%q = {DENSE.format('%x')}\n{WHOLE_LOAD}\n{MASKED_STORE}\ntt.return\n}}"
    return mlir(lower(load), "kernel"), mlir(lower(store), "kernel")


MASKS = [((0, 0), (4, 8)), ((1, 2), (2, 5)), ((0, 0), (0, 8)), ((3, 7), (1, 1))]


@pytest.mark.parametrize(("starts", "counts"), MASKS)
@pytest.mark.parametrize(("strides", "offsets", "wraps"), CASES)
def test_wrapped_and_masked_tile(
    wrapped_kernels: Any, strides: Any, offsets: Any, wraps: Any, starts: Any, counts: Any
) -> None:
    load, store = wrapped_kernels
    scalars = [np.int64(v) for v in (*strides, *offsets, *wraps, *counts, *starts)]
    where = addresses((4, 8), strides, offsets, wraps)
    live = np.zeros((4, 8), bool)
    live[starts[0] : starts[0] + counts[0], starts[1] : starts[1] + counts[1]] = True
    memory = rng.standard_normal(int(where.max()) + 64).astype(np.float32)
    result = np.empty((4, 8), np.float32)
    load((1,), memory, result, *scalars)
    np.testing.assert_array_equal(result, np.where(live, memory[where], -7))
    source = rng.standard_normal((4, 8)).astype(np.float32)
    written = memory.copy()
    store((1,), source, written, *scalars)
    touched = np.zeros(memory.shape, bool)
    touched[where[live]] = True
    np.testing.assert_array_equal(written[~touched], memory[~touched])
    for address in np.flatnonzero(touched):
        assert written[address] in source[live & (where == address)]


@pytest.mark.parametrize(
    ("strides", "offsets", "wraps"),
    [((20, 1), (40, 3), (80, 0)), ((20, 1), (40, 10), (0, 13)), ((3, 5), (0, 0), (2, 7))],
)
def test_wraps_that_are_known_when_compiling(run_kernel: RunKernel, strides: Any, offsets: Any, wraps: Any) -> None:
    where = addresses((4, 8), strides, offsets, wraps)
    memory = rng.standard_normal(int(where.max()) + 1).astype(np.float32)
    text = f"""tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {{
      %p = tts.make_tptr %x to sizes: [4, 8], strides: {list(strides)},
              offsets: {list(offsets)}, shape: {list(wraps)}, order: [] : <f32> to {TILE}
      %v = "tts.load"(%p) <{{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}}>
              : ({TILE}) -> tensor<4x8xf32>
      %q = {DENSE.format("%y")}
      {WHOLE_STORE}
      tt.return
    }}"""
    result = np.empty((4, 8), np.float32)
    run_kernel(text, memory, result)
    np.testing.assert_array_equal(result, memory[where])


def test_load_without_other_gives_zero(run_kernel: RunKernel) -> None:
    text = f"""tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {{
      %c = arith.index_cast %n : i32 to index
      %p = {DENSE.format("%x")}
      %v = "tts.load"(%p, %c) <{{operandSegmentSizes = array<i32: 1, 1, 0>,
              static_mask_dims = array<i64: 3, {DYNAMIC}>}}> : ({TILE}, index) -> tensor<4x8xf32>
      %q = {DENSE.format("%y")}
      {WHOLE_STORE}
      tt.return
    }}"""
    memory, result = np.arange(1, 33, dtype=np.float32), np.full((4, 8), 9, np.float32)
    run_kernel(text, memory, result, 5)
    expected = np.zeros((4, 8), np.float32)
    expected[:3, :5] = memory.reshape(4, 8)[:3, :5]
    np.testing.assert_array_equal(result, expected)


def test_lane_mask_with_tensor_of_others(run_kernel: RunKernel) -> None:
    text = f"""tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {{
      %c = arith.index_cast %n : i32 to index
      %p = {DENSE.format("%x")}
      %q = {DENSE.format("%y")}
      %old = "tts.load"(%q) <{{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}}>
              : ({TILE}) -> tensor<4x8xf32>
      %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
      %one = arith.constant dense<1> : tensor<8xi32>
      %bit = arith.andi %r, %one : tensor<8xi32>
      %odd = arith.cmpi eq, %bit, %one : tensor<8xi32>
      %m = tt.expand_dims %odd {{axis = 0 : i32}} : tensor<8xi1> -> tensor<1x8xi1>
      %v = "tts.masked_load"(%p, %c, %m, %old) <{{operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>,
          static_mask_starts = array<i64: 1, 0>, static_mask_dims = array<i64: {DYNAMIC}, 6>}}>
          : ({TILE}, index, tensor<1x8xi1>, tensor<4x8xf32>) -> tensor<4x8xf32>
      "tts.masked_store"(%q, %v, %m) <{{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>,
          static_mask_starts = array<i64: 0, 0>, static_mask_dims = array<i64: 4, 8>}}>
                  : ({TILE}, tensor<4x8xf32>, tensor<1x8xi1>) -> ()
      tt.return
    }}"""
    memory = rng.standard_normal((4, 8)).astype(np.float32)
    result = rng.standard_normal((4, 8)).astype(np.float32)
    expected = result.copy()
    expected[1:3, 1:6:2] = memory[1:3, 1:6:2]
    run_kernel(text, memory, result, 2)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("masked", [False, True])
def test_gathered_rows(run_kernel: RunKernel, masked: bool) -> None:
    mask = "gather_scatter_mask: %live" if masked else ""
    kind = "tensor<4xi1> " if masked else ""
    dims = f"array<i64: {0 if masked else 3}, {DYNAMIC}>"
    block = "!tt.ptr<tensor<4x8xf32>>"
    text = f"""tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %i: !tt.ptr<i32>, %n: i32) {{
      %c = arith.index_cast %n : i32 to index
      %other = arith.constant -7.0 : f32
      %ip = tts.make_tptr %i to sizes: [4], strides: [1], offsets: [0], shape: [0], order: [] : <i32>
              to tensor<4x!tt.ptr<i32>>
      %rows = "tts.load"(%ip) <{{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}}>
              : (tensor<4x!tt.ptr<i32>>) -> tensor<4xi32>
      %zero = arith.constant dense<0> : tensor<4xi32>
      %live = arith.cmpi sge, %rows, %zero : tensor<4xi32>
      %p = tts.make_gather_scatter_tptr %x to sizes: [4, 8] gather_scatter_dim: 0
              gather_scatter_offset: %rows {mask}, strides: [10, 1], offsets: [0, 2] : tensor<4xi32> {kind}<f32>
              to {block}
      %v = "tts.load"(%p, %c, %other) <{{operandSegmentSizes = array<i32: 1, 1, 1>, static_mask_dims = {dims}}}>
              : ({block}, index, f32) -> tensor<4x8xf32>
      %q = tts.make_gather_scatter_tptr %y to sizes: [4, 8] gather_scatter_dim: 0
              gather_scatter_offset: %rows {mask}, strides: [8, 1], offsets: [0, 0] : tensor<4xi32> {kind}<f32>
              to {block}
      "tts.store"(%q, %v, %c) <{{static_mask_dims = {dims}}}> : ({block}, tensor<4x8xf32>, index) -> ()
      tt.return
    }}"""
    rows = np.array([5, 2, -1 if masked else 1, 0], np.int32)
    memory = rng.standard_normal((6, 10)).astype(np.float32)
    result = np.full((6, 8), 3, np.float32)
    expected = result.copy()
    for place, row in enumerate(rows):
        if row >= 0 and (masked or place < 3):
            expected[row, :6] = memory[row, 2:8]
    run_kernel(text, memory, result, rows, 6)
    np.testing.assert_array_equal(result, expected)


def test_elements_scalar_and_masked(run_kernel: RunKernel) -> None:
    text = """tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: i32, %n: i32) {
      %zero = arith.constant 0 : i32
      %other = arith.constant -7.0 : f32
      %live = arith.cmpi slt, %o, %n : i32
      %a = tts.gather %x[%o] mask = %live default = %other : (<f32>, i32) -> f32
      %b = tts.gather %x[%o] mask = %live : (<f32>, i32) -> f32
      %s = arith.addf %a, %b : f32
      tts.scatter %s into %y[%zero] : f32 into (<f32>, i32)
      tts.scatter %a into %y[%o] mask = %live : f32 into (<f32>, i32)
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %mo = tt.splat %o : i32 -> tensor<8xi32>
      %back = arith.subi %mo, %r : tensor<8xi32>
      %mz = arith.constant dense<0> : tensor<8xi32>
      %ok = arith.cmpi sge, %back, %mz : tensor<8xi32>
      %small = arith.constant dense<40> : tensor<8xi32>
      %near = arith.cmpi slt, %back, %small : tensor<8xi32>
      %both = arith.andi %ok, %near : tensor<8xi1>
      %g = tts.gather %x[%back] mask = %both default = %other : (<f32>, tensor<8xi32>) -> tensor<8xf32>
      %eight = arith.constant dense<8> : tensor<8xi32>
      %to = arith.addi %r, %eight : tensor<8xi32>
      tts.scatter %g into %y[%to] mask = %both : tensor<8xf32> into (<f32>, tensor<8xi32>)
      tt.return
    }"""
    memory = rng.standard_normal(16).astype(np.float32)
    for place in (5, 1_000_000_000):
        result = np.full(16, 3, np.float32)
        expected = result.copy()
        value = memory[place] if place < 16 else np.float32(-7)
        expected[0] = value + (memory[place] if place < 16 else 0)
        if place < 16:
            expected[place] = value
            expected[8 : 8 + place + 1] = memory[place::-1]
        run_kernel(text, memory, result, place, 16)
        np.testing.assert_array_equal(result, expected)


def test_negative_offsets_reach_memory_before_the_argument(run_kernel: RunKernel) -> None:
    text = """tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %mz = arith.constant dense<0> : tensor<8xi32>
      %back = arith.subi %mz, %r : tensor<8xi32>
      %g = tts.gather %x[%back] : (<f32>, tensor<8xi32>) -> tensor<8xf32>
      %p = tts.make_tptr %x to sizes: [8], strides: [-1], offsets: [0], shape: [0], order: [] : <f32> to
      tensor<8x!tt.ptr<f32>>
      %h = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> :
      (tensor<8x!tt.ptr<f32>>) -> tensor<8xf32>
      %s = arith.addf %g, %h : tensor<8xf32>
      %q = tts.make_tptr %y to sizes: [8], strides: [1], offsets: [0], shape: [0], order: [] : <f32> to
      tensor<8x!tt.ptr<f32>> "tts.store"(%q, %s) <{static_mask_dims = array<i64>}> : (tensor<8x!tt.ptr<f32>>,
      tensor<8xf32>) -> () tt.return
    }"""
    memory, result = rng.standard_normal(16).astype(np.float32), np.empty(8, np.float32)
    run_kernel(text, memory[8:], result)
    np.testing.assert_array_equal(result, 2 * memory[8:0:-1])


ATOMICS: dict[int, tuple[str, Any, Any]] = {
    1: ("i32", np.int32, np.bitwise_and),
    2: ("i32", np.int32, np.bitwise_or),
    3: ("i32", np.int32, np.bitwise_xor),
    4: ("i64", np.int64, np.add),
    5: ("f32", np.float32, np.add),
    6: ("i32", np.int32, np.maximum),
    7: ("i32", np.int32, np.minimum),
    8: ("i32", np.uint32, np.maximum),
    9: ("i32", np.uint32, np.minimum),
    10: ("f32", np.float32, lambda _, new: new),
}


@pytest.mark.parametrize("kind", ATOMICS)
def test_atomics_return_what_was_there(run_kernel: RunKernel, kind: int) -> None:
    element, dtype, function = ATOMICS[kind]
    size = f"tensor<8x{element}>"
    properties = f"<{{atomic_rmw_op = {kind} : i32, sem = 4 : i32, scope = 1 : i32}}>"
    text = f"""tt.func public @kernel(%x: !tt.ptr<{element}>, %v: !tt.ptr<{element}>, %y: !tt.ptr<{element}>) {{
      %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
      %c2 = arith.constant dense<2> : tensor<8xi32>
      %half = arith.divsi %r, %c2 : tensor<8xi32>
      %c6 = arith.constant dense<6> : tensor<8xi32>
      %live = arith.cmpi slt, %r, %c6 : tensor<8xi32>
      %new = tts.gather %v[%r] : (<{element}>, tensor<8xi32>) -> {size}
      %old = "tts.atomic_rmw"(%x, %half, %new, %live) {properties}
              : (!tt.ptr<{element}>, tensor<8xi32>, {size}, tensor<8xi1>) -> {size}
      tts.scatter %old into %y[%r] : {size} into (<{element}>, tensor<8xi32>)
      tt.return
    }}"""
    memory, values = ((rng.standard_normal(n) * 50).astype(dtype) for n in (4, 8))
    if dtype == np.uint32:
        memory, values = (rng.integers(0, 2**32, n, dtype=np.uint32) for n in (4, 8))
    result = np.full(8, 99, dtype)
    expected_memory, expected = memory.copy(), np.zeros(8, dtype)
    for lane in range(6):
        expected[lane] = expected_memory[lane // 2]
        expected_memory[lane // 2] = function(expected_memory[lane // 2], values[lane])
    run_kernel(text, memory, values, result)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(memory, expected_memory)


@pytest.mark.parametrize(("element", "dtype"), [("i32", np.int32), ("i64", np.int64)])
def test_compare_and_swap(run_kernel: RunKernel, element: str, dtype: Any) -> None:
    size = f"tensor<4x{element}>"
    text = f"""tt.func public @kernel(%x: !tt.ptr<{element}>, %c: !tt.ptr<{element}>, %v: !tt.ptr<{element}>, %y:
            !tt.ptr<{element}>) {{
      %r = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>
      %cmp = tts.gather %c[%r] : (<{element}>, tensor<4xi32>) -> {size}
      %new = tts.gather %v[%r] : (<{element}>, tensor<4xi32>) -> {size}
      %old = "tts.atomic_cas"(%x, %r, %cmp, %new) <{{sem = 4 : i32, scope = 1 : i32}}>
              : (!tt.ptr<{element}>, tensor<4xi32>, {size}, {size}) -> {size}
      tts.scatter %old into %y[%r] : {size} into (<{element}>, tensor<4xi32>)
      tt.return
    }}"""
    memory = np.array([1, 2, 3, 0], dtype)
    expected = np.array([1, 9, 3, 1], dtype)
    new, old = np.array([10, 20, 30, 40], dtype), np.empty(4, dtype)
    before = memory.copy()
    run_kernel(text, memory, expected, new, old)
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(memory, np.where(before == expected, new, before))
