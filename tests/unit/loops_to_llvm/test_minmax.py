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


FROM_NAN = """
func.func @k(%x: memref<*xf32>, %o: memref<*xf32>, $GRID) {
  %nan = arith.constant 0x7FC00000 : f32
  %c0 = arith.constant 0 : index
  %n = arith.constant 1024 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1] : memref<*xf32> to memref<?xf32>
  %start = vector.broadcast %nan : f32 to vector<16xf32>
  %a = vector.load %xs[%c0] : memref<?xf32>, vector<16xf32>
  %twice = arith.addf %a, %a : vector<16xf32>
  %largest = arith.maxnumf %twice, %start : vector<16xf32>
  vector.store %largest, %os[%c0] : memref<?xf32>, vector<16xf32>
  return
}
"""


def test_a_maximum_from_nan_is_the_other_number() -> None:
    llir = compile_loops(FROM_NAN, named_facts("x86-64-v4")).llir
    assert RANGE not in llir and "fcmp" not in llir
    assert "fadd" in llir
