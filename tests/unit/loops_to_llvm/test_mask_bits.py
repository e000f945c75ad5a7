"""Masks of AVX-512 that scalar code takes apart (llvm-project issue 191304)."""

from __future__ import annotations

from loops_kernels import compile_loops  # pyright: ignore[reportMissingImports]

from tilewright.codegen.llvm_backend import emit_assembly
from tilewright.targets.cpu.facts import named_facts

SCATTER = """
func.func @k(%x: memref<*xi8>, %o: memref<*xi16>, $GRID) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 1024 : index
  %zero = arith.constant dense<0> : vector<8xi8>
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*xi8> to memref<?xi8>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1] : memref<*xi16> to memref<?xi16>
  %v = vector.load %xs[%c0] : memref<?xi8>, vector<8xi8>
  %mask = arith.cmpi slt, %v, %zero : vector<8xi8>
  %wide = arith.extsi %v : vector<8xi8> to vector<8xi16>
  %places = arith.index_cast %v : vector<8xi8> to vector<8xindex>
  vector.scatter %os[%c0] [%places], %mask, %wide : memref<?xi16>, vector<8xindex>, vector<8xi1>, vector<8xi16>
  return
}
"""


def test_sign_bits_reach_scalar_code_through_a_comparison() -> None:
    facts = named_facts("x86-64-v4")
    assembly = emit_assembly(compile_loops(SCATTER, facts).llir, facts)
    assert "vpextrw" in assembly
    assert "movmsk" not in assembly
