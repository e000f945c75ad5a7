"""Which maxima of vectors are one `vrangeps`: those of lanes that are never signalling NaN, in buffers, too."""

from __future__ import annotations

import pytest
from loops_kernels import compile_loops  # pyright: ignore[reportMissingImports]

from tilewright.targets.cpu.facts import named_facts

RANGE = "llvm.x86.avx512.mask.range"

BUFFERED = """
func.func @k(%x: memref<*xf32>, %o: memref<*xf32>, $GRID) {{
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = arith.constant 1024 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %kept = memref.alloca() {{alignment = 64 : i64}} : memref<32xf32>
  %a = vector.load %xs[%c0] : memref<?xf32>, vector<16xf32>
  %b = vector.load %xs[%c16] : memref<?xf32>, vector<16xf32>
  %sum = arith.addf %a, %b : vector<16xf32>
  vector.store %sum, %kept[%c0] : memref<32xf32>, vector<16xf32>
  vector.store {second}, %kept[%c16] : memref<32xf32>, vector<16xf32>
  %first = vector.load %kept[%c0] : memref<32xf32>, vector<16xf32>
  %other = vector.load %kept[%c16] : memref<32xf32>, vector<16xf32>
  %largest = arith.maxnumf %first, %other : vector<16xf32>
  vector.store %largest, %os[%c0] : memref<?xf32>, vector<16xf32>
  return
}}
"""


@pytest.mark.parametrize(("second", "quiet"), [("%sum", True), ("%a", False)])
def test_a_buffer_is_as_quiet_as_all_that_is_stored_in_it(second: str, quiet: bool) -> None:
    llir = compile_loops(BUFFERED.format(second=second), named_facts("x86-64-v4")).llir
    assert (RANGE in llir) == quiet


PRODUCT = """
func.func @k(%x: memref<*xf32>, %o: memref<*xf32>, $GRID) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %n = arith.constant 1024 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %a = memref.extract_aligned_pointer_as_index %xs : memref<?xf32> -> index
  %kept = memref.alloca() {{alignment = 64 : i64}} : memref<256xf32>
  %c = memref.extract_aligned_pointer_as_index %kept : memref<256xf32> -> index
  {call}
  %first = vector.load %kept[%c0] : memref<256xf32>, vector<16xf32>
  %other = vector.load %kept[%c16] : memref<256xf32>, vector<16xf32>
  %largest = arith.maxnumf %first, %other : vector<16xf32>
  vector.store %largest, %os[%c0] : memref<?xf32>, vector<16xf32>
  return
}}
{declaration}
"""
SUMS = (
    "func.call @tw_mk_f32_f32_1024x16_zero(%a, %c16, %c1, %a, %c16, %c, %c16, %c16, %c16, %c16) : "
    f"({', '.join(['index'] * 10)}) -> ()",
    f"func.func private @tw_mk_f32_f32_1024x16_zero({', '.join(['index'] * 10)}) attributes {{microkernel.matmul = "
    '{accumulator = "f32", element = "f32", rows = 1024 : i64, columns = 16 : i64, from_zero = true}}',
)
COPIES = (
    "func.call @tw_mk_panels_f32_f32_16(%a, %c16, %c, %c16, %c16) : (index, index, index, index, index) -> ()",
    "func.func private @tw_mk_panels_f32_f32_16(index, index, index, index, index) attributes {microkernel.packing = "
    '{accumulator = "f32", element = "f32", columns = 16 : i64, packing = "panels"}}',
)


@pytest.mark.parametrize(("lines", "quiet"), [(SUMS, True), (COPIES, False)])
def test_sums_of_products_are_quiet_and_copies_are_not(lines: tuple[str, str], quiet: bool) -> None:
    call, declaration = lines
    llir = compile_loops(PRODUCT.format(call=call, declaration=declaration), named_facts("x86-64-v4")).llir
    assert (RANGE in llir) == quiet
