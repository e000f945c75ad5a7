"""What LLVM 22 gets wrong about masks of AVX-512: those that scalar code takes apart (llvm-project issue 191304), and
those of narrowed lanes that are stored."""

from __future__ import annotations

import re

import pytest
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


NARROWED = """
func.func @k(%x: memref<*xi{wide}>, %o: memref<*xi{narrow}>, $GRID) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 1024 : index
  %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<*xi{wide}> to memref<?xi{wide}>
  %os = memref.reinterpret_cast %o to offset: [0], sizes: [%n], strides: [1]
    : memref<*xi{narrow}> to memref<?xi{narrow}>
  %v = vector.load %xs[%c0] : memref<?xi{wide}>, vector<{lanes}xi{wide}>
  %mask = vector.create_mask %c1 : vector<{lanes}xi1>
  %t = arith.trunci %v : vector<{lanes}xi{wide}> to vector<{lanes}xi{narrow}>
  vector.maskedstore %os[%c0], %mask, %t : memref<?xi{narrow}>, vector<{lanes}xi1>, vector<{lanes}xi{narrow}>
  return
}}
"""


@pytest.mark.parametrize(
    ("lanes", "wide", "narrow", "store"),
    [
        (16, 32, 16, "vpextrw"),
        (16, 32, 8, "vpextrb"),
        (8, 64, 32, "vextractps"),
        (8, 32, 8, "vpmovdb"),
        (32, 16, 8, "vpextrb"),
    ],
)
def test_one_lane_of_narrowed_ones_is_stored(lanes: int, wide: int, narrow: int, store: str) -> None:
    """And nothing of its neighbours, as `movl` to 16 bits does."""
    facts = named_facts("x86-64-v4")
    text = NARROWED.format(lanes=lanes, wide=wide, narrow=narrow)
    assembly = emit_assembly(compile_loops(text, facts).llir, facts)
    into_memory = re.compile(r"^\s*(v\w+|mov[lwb])\s+(?:\$\d+, )?%[xyz]?\w+, \(%r\w+\)", re.MULTILINE)
    assert into_memory.findall(assembly) == [store]
