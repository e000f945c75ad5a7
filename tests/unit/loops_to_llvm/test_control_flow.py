"""Loops, branches, calls, and the arena."""

from __future__ import annotations

import numpy as np
import pytest
from loops_kernels import compile_loops, run_loops  # pyright: ignore[reportMissingImports]

from tilewright.support.errors import PassError

COLLATZ = """
func.func @k(%o: memref<*xi32>, $GRID) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %p = arith.index_cast %px : i32 to index
  %start = arith.addi %px, %c1 : i32
  %r:2 = scf.while (%n = %start, %steps = %c0) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %n, %c1 : i32
    scf.condition(%more) %n, %steps : i32, i32
  } do {
  ^bb0(%n: i32, %steps: i32):
    %odd = arith.remui %n, %c2 : i32
    %is_odd = arith.cmpi ne, %odd, %c0 : i32
    %next = scf.if %is_odd -> (i32) {
      %t = arith.muli %n, %c3 : i32
      %u = arith.addi %t, %c1 : i32
      scf.yield %u : i32
    } else {
      %h = arith.divui %n, %c2 : i32
      scf.yield %h : i32
    }
    %s = arith.addi %steps, %c1 : i32
    scf.yield %next, %s : i32, i32
  }
  %os = memref.reinterpret_cast %o to offset: [%p], sizes: [1], strides: [1]
    : memref<*xi32> to memref<1xi32, strided<[1], offset: ?>>
  %z = arith.constant 0 : index
  memref.store %r#1, %os[%z] : memref<1xi32, strided<[1], offset: ?>>
  return
}
"""


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


@pytest.mark.parametrize("num_threads", [1, 3])
def test_while_and_if(num_threads: int) -> None:
    out = np.zeros(500, np.int32)
    run_loops(COLLATZ, out, grid=(500, 1, 1), num_threads=num_threads)
    assert out.tolist() == [collatz(n + 1) for n in range(500)]


def test_program_ids_count_x_fastest() -> None:
    kernel = """
func.func @k(%o: memref<*xi32>, $GRID) {
  %ten = arith.constant 10 : i32
  %a = arith.muli %pz, %ten : i32
  %b = arith.addi %a, %py : i32
  %c = arith.muli %b, %ten : i32
  %d = arith.addi %c, %px : i32
  %rows = arith.muli %pz, %gy : i32
  %row = arith.addi %rows, %py : i32
  %cells = arith.muli %row, %gx : i32
  %cell = arith.addi %cells, %px : i32
  %i = arith.index_cast %cell : i32 to index
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [1], strides: [1] : memref<*xi32> to memref<?xi32>
  memref.store %d, %os[%i] : memref<?xi32>
  return
}
""".replace(
        "sizes: [1], strides: [1] : memref<*xi32> to memref<?xi32>",
        "sizes: [%i], strides: [1] : memref<*xi32> to memref<?xi32>",
    )
    out = np.zeros((4, 3, 5), np.int32)
    run_loops(kernel, out, grid=(5, 3, 4), num_threads=2)
    expected = [[[100 * z + 10 * y + x for x in range(5)] for y in range(3)] for z in range(4)]
    assert out.tolist() == expected


def test_loops_that_carry_memrefs_swap_buffers() -> None:
    """Two buffers change places in each iteration: the memref itself is carried."""
    kernel = """
func.func @k(%o: memref<*xf32>, %n32: i32, $GRID) {
  %n = arith.index_cast %n32 : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %a = memref.alloca() : memref<100xf32>
  %b = memref.alloca() : memref<100xf32>
  scf.for %i = %c0 to %c100 step %c1 {
    memref.store %zero, %a[%i] : memref<100xf32>
  }
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%from = %a, %to = %b) -> (memref<100xf32>, memref<100xf32>) {
    scf.for %i = %c0 to %c100 step %c1 {
      %v = memref.load %from[%i] : memref<100xf32>
      %w = arith.addf %v, %one : f32
      memref.store %w, %to[%i] : memref<100xf32>
    }
    scf.yield %to, %from : memref<100xf32>, memref<100xf32>
  }
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [100], strides: [1] : memref<*xf32> to memref<100xf32>
  memref.copy %r#0, %os : memref<100xf32> to memref<100xf32>
  return
}
"""
    for count in (0, 1, 7):
        out = np.zeros(100, np.float32)
        run_loops(kernel, out, count)
        assert np.all(out == count)


BRANCHES = """
func.func @k(%o: memref<*xi32>, %n: i32, $GRID) {
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [1], strides: [1] : memref<*xi32> to memref<1xi32>
  %z = arith.constant 0 : index
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%c0, %c0 : i32, i32)
^done(%result: i32):
  memref.store %result, %os[%z] : memref<1xi32>
  return
^head(%i: i32, %sum: i32):
  %more = arith.cmpi slt, %i, %n : i32
  cf.cond_br %more, ^body, ^done(%sum : i32)
^body:
  %s = arith.addi %sum, %i : i32
  %j = arith.addi %i, %c1 : i32
  cf.br ^head(%j, %s : i32, i32)
}
"""


def test_unstructured_branches_with_block_arguments() -> None:
    out = np.zeros(1, np.int32)
    run_loops(BRANCHES, out, 10)
    assert out[0] == 45


CALLS = """
func.func private @sum_and_product(%a: f32, %b: f32, %m: memref<4xf32>) -> (f32, f32) attributes {noinline} {
  %t = memref.alloca() : memref<128xf32>
  %z = arith.constant 3 : index
  %s = arith.addf %a, %b : f32
  memref.store %s, %t[%z] : memref<128xf32>
  memref.store %s, %m[%z] : memref<4xf32>
  %p = arith.mulf %a, %b : f32
  %r = memref.load %t[%z] : memref<128xf32>
  return %r, %p : f32, f32
}
func.func @k(%o: memref<*xf32>, %x: f32, %y: f32, $GRID) {
  %keep = memref.alloca() : memref<128xf32>
  %three = arith.constant 3 : index
  memref.store %x, %keep[%three] : memref<128xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32>
  %r:2 = func.call @sum_and_product(%x, %y, %os) : (f32, f32, memref<4xf32>) -> (f32, f32)
  %k = memref.load %keep[%three] : memref<128xf32>
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i2 = arith.constant 2 : index
  memref.store %r#0, %os[%i0] : memref<4xf32>
  memref.store %r#1, %os[%i1] : memref<4xf32>
  memref.store %k, %os[%i2] : memref<4xf32>
  return
}
"""


def test_calls_return_several_values_and_have_their_own_frame() -> None:
    out = np.zeros(4, np.float32)
    run_loops(CALLS, out, np.float32(3), np.float32(5))
    assert out.tolist() == [8.0, 15.0, 3.0, 8.0]
    assert compile_loops(CALLS).arena_bytes == 2 * 128 * 4


def test_large_allocas_share_no_memory_and_are_aligned() -> None:
    kernel = """
func.func @k(%o: memref<*xi64>, $GRID) {
  %a = memref.alloca() : memref<65xf32>
  %b = memref.alloca() {alignment = 256 : i64} : memref<65xf32>
  %c = memref.alloca() : memref<65xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [3], strides: [1] : memref<*xi64> to memref<3xi64>
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i2 = arith.constant 2 : index
  %pa = memref.extract_aligned_pointer_as_index %a : memref<65xf32> -> index
  %pb = memref.extract_aligned_pointer_as_index %b : memref<65xf32> -> index
  %pc = memref.extract_aligned_pointer_as_index %c : memref<65xf32> -> index
  %va = arith.index_cast %pa : index to i64
  %vb = arith.index_cast %pb : index to i64
  %vc = arith.index_cast %pc : index to i64
  memref.store %va, %os[%i0] : memref<3xi64>
  memref.store %vb, %os[%i1] : memref<3xi64>
  memref.store %vc, %os[%i2] : memref<3xi64>
  return
}
"""
    out = np.zeros(3, np.int64)
    run_loops(kernel, out)
    assert np.all(out % 64 == 0)
    assert np.all(np.diff(np.sort(out)) >= 65 * 4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("func.func @k(%n: index, $GRID) {\n %a = memref.alloca(%n) : memref<?xf32>\n return\n}", "static size"),
        ("func.func @k(%x: memref<*xf32>) {\n return\n}", "six i32"),
        ("func.func private @f($GRID) {\n return\n}", "a public function"),
        (
            "func.func private @f() {\n func.call @f() : () -> ()\n return\n}\n"
            "func.func @k($GRID) {\n func.call @f() : () -> ()\n return\n}",
            "calls itself",
        ),
    ],
)
def test_what_cannot_be_lowered_is_an_error_that_says_why(text: str, reason: str) -> None:
    with pytest.raises(PassError, match=reason):
        compile_loops(text)


@pytest.mark.parametrize(("uses", "is_hidden"), [(5, False), (40, True)])
def test_a_counter_of_many_uses_is_hidden_from_strength_reduction(uses: int, *, is_hidden: bool) -> None:
    """LLVM weighs all of them against one another: seconds for a loop over some twenty addresses."""
    adds = "".join(
        f"""
    %d{i} = arith.constant {i} : index
    %j{i} = arith.addi %i, %d{i} : index
    %v{i} = memref.load %xs[%j{i}] : memref<?xf32>
    %s{i + 1} = arith.addf %s{i}, %v{i} : f32"""
        for i in range(uses)
    )
    kernel = f"""
func.func @k(%x: memref<*xf32>, %o: memref<*xf32>, %n32: i32, $GRID) {{
  %n = arith.index_cast %n32 : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s0 = arith.constant 0.0 : f32
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {{{adds}
    memref.store %s{uses}, %os[%i] : memref<?xf32>
  }}
  return
}}
"""
    assert ('asm ""' in compile_loops(kernel).llir) is is_hidden
    x, out = np.arange(10 + uses, dtype=np.float32), np.zeros(10, np.float32)
    run_loops(kernel, x, out, 10)
    assert np.array_equal(out, [x[i : i + uses].sum() for i in range(10)])


@pytest.mark.parametrize(("additions", "is_inlined"), [(100, True), (2000, False)])
def test_long_programs_are_called(additions: int, *, is_inlined: bool) -> None:
    """LLVM takes the square of the uses of an argument times the blocks for what is inlined behind its load."""
    steps = "".join(f"  %x{i + 1} = arith.addi %x{i}, %n : i32\n" for i in range(additions))
    text = f"""
func.func @k(%o: memref<*xi32>, %n: i32, $GRID) {{
  %z = arith.constant 0 : index
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [1], strides: [1] : memref<*xi32> to memref<1xi32>
  %x0 = arith.constant 7 : i32
{steps}
  memref.store %x{additions}, %os[%z] : memref<1xi32>
  return
}}
"""
    assert ("alwaysinline {" in compile_loops(text).llir) == is_inlined
    out = np.zeros(1, np.int32)
    run_loops(text, out, 3)
    assert out.tolist() == [7 + 3 * additions]


@pytest.mark.parametrize(
    ("lower", "is_branch"),
    [
        ("%c0 = arith.addi %start, %c0_ : index", False),
        ("%m = arith.constant -4 : index\n  %c0 = arith.andi %n, %m : index", True),
        ("%m = arith.constant -8 : index\n  %c0 = arith.andi %n, %m : index", False),
        ("%m = arith.constant -4 : index\n  %c0 = arith.andi %start, %m : index", False),
        (
            "%m = arith.constant -4 : index\n  %l = arith.subi %n, %start : index\n"
            "  %w = arith.andi %l, %m : index\n  %c0 = arith.addi %start, %w : index",
            True,
        ),
    ],
)
def test_loops_that_run_once_at_most_are_branches(lower: str, *, is_branch: bool) -> None:
    """What they give is what they carry where they do not run; others with such bounds run as often as they should."""
    kernel = f"""
func.func @k(%a: memref<*xi64>, %o: memref<*xi64>, $GRID) {{
  %c0_ = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %seven = arith.constant 7 : i64
  %as = memref.reinterpret_cast %a to offset: [0], sizes: [2], strides: [1] : memref<*xi64> to memref<2xi64>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [2], strides: [1] : memref<*xi64> to memref<2xi64>
  %x = memref.load %as[%c0_] : memref<2xi64>
  %y = memref.load %as[%c1] : memref<2xi64>
  %start = arith.index_cast %x : i64 to index
  %n = arith.index_cast %y : i64 to index
  {lower}
  %r:2 = scf.for %i = %c0 to %n step %c4 iter_args(%u = %seven, %v = %x) -> (i64, i64) {{
    %j = arith.index_cast %i : index to i64
    %next = arith.addi %v, %j : i64
    scf.yield %v, %next : i64, i64
  }}
  memref.store %r#0, %os[%c0_] : memref<2xi64>
  memref.store %r#1, %os[%c1] : memref<2xi64>
  return
}}
"""
    starts = {
        "start, %c0_": lambda start, n: start,
        "-8": lambda start, n: n & -8,
        "andi %start": lambda start, n: start & -4,
        "subi": lambda start, n: start + ((n - start) & -4),
    }
    first = next((start for key, start in starts.items() if key in lower), lambda start, n: n & -4)
    for start, n in [(0, 0), (0, 3), (1, 4), (2, 15), (-5, -3), (3, -6), (5, 23), (9, 9), (4, 16)]:
        out = np.zeros(2, np.int64)
        run_loops(kernel, np.array([start, n], np.int64), out)
        u, v = 7, start
        for i in range(first(start, n), n, 4):
            u, v = v, v + i
        assert out.tolist() == [u, v]
    assert ("once" in compile_loops(kernel).llir) == is_branch
