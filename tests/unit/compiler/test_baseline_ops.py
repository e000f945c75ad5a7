"""The baseline takes every module at the linalg stage: each op that is legal there has a way to machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

import tilewright as triton
from tilewright import reference
from tilewright.compiler import TextSource
from tilewright.dialects import DIALECTS, load_dialect, make_context
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import parse_pipeline
from tilewright.ir.stages import LINALG, STAGES, check_stage
from tilewright.ir.verify import verify_module
from tilewright.lowering.convert_linalg_to_loops.convert_linalg_to_loops import LOWERINGS as TO_LOOPS
from tilewright.lowering.loops_to_llvm.function_lowering import RULES as TO_LLVM
from tilewright.support import knobs
from tilewright.support.modules import import_modules
from tilewright.transforms.linalg.one_shot_bufferize.rules import RULES

for package in ("lowering.loops_to_llvm", "transforms.linalg.one_shot_bufferize"):
    import_modules(f"tilewright.{package}")  # they fill RULES

WITH_THE_OP_AROUND = {
    "affine.yield", "func.func", "linalg.index", "linalg.yield", "memref.global", "scf.reduce", "scf.reduce.return",
    "tensor.yield",
}  # fmt: skip
"""Ops that are lowered with the op, or the module, that they are a part of."""

LEGAL: list[type[Operation]] = [
    op for name in DIALECTS for op in load_dialect(name).operations if LINALG.allows(op.name)
]


@pytest.mark.parametrize("op", LEGAL, ids=lambda op: op.name)
def test_every_legal_op_is_lowered(op: type[Operation]) -> None:
    """On scalars and memrefs it stays until machine code, or `convert-linalg-to-loops` takes it apart; on tensors there
    is a rule of the bufferisation, or a loop over scalars."""
    on_scalars = op in TO_LLVM or op in TO_LOOPS
    assert on_scalars or op in RULES or op.name in WITH_THE_OP_AROUND
    if op.has_trait(ElementwiseMappable):
        assert on_scalars


SEVERAL = """func.func @f(%x: memref<*xf32>, %o: memref<*xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %small = arith.constant -1000.0 : f32
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [32], strides: [1] : memref<*xf32> to memref<32xf32>
  %w = memref.reinterpret_cast %o to offset: [0], sizes: [16], strides: [1] : memref<*xi32> to memref<16xi32>
  %sum, %max = scf.parallel (%i, %j) = (%c0, %c1) to (%c4, %c9) step (%c1, %c2) init (%zero, %small) -> (f32, f32) {
    %k = arith.muli %i, %c4 : index
    %l = arith.addi %k, %j : index
    %e = memref.load %v[%l] : memref<32xf32>
    %s, %c = math.sincos %e : f32
    %r = arith.subf %s, %c : f32
    scf.reduce(%r, %e : f32, f32) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      scf.reduce.return %t : f32
    }, {
    ^bb0(%a: f32, %b: f32):
      %t = arith.maximumf %a, %b : f32
      scf.reduce.return %t : f32
    }
  }
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %at = arith.addi %i, %c4 : index
    memref.store %sum, %v[%at] : memref<32xf32>
    scf.reduce
  }
  memref.store %max, %v[%c0] : memref<32xf32>
  %bases = bufferization.to_tensor %w restrict : memref<16xi32> to tensor<16xi32>
  %exponents = arith.constant dense<[0, 1, 2, 3, 4, 31, -1, -2, 5, 6, 7, 8, -1, -3, 2, 3]> : tensor<16xi32>
  %p = math.ipowi %bases, %exponents : tensor<16xi32>
  bufferization.materialize_in_destination %p in writable %w : (tensor<16xi32>, memref<16xi32>) -> ()
  %never = arith.cmpf ogt, %small, %zero : f32
  cf.cond_br %never, ^bb1, ^bb2
^bb1:
  ub.unreachable
^bb2:
  return
}"""


def run(module: Any) -> tuple[Any, Any]:
    x = np.random.default_rng(3).standard_normal(32).astype(np.float32)
    o = np.array([0, 7, -3, 5, 10, -1, 1, -1, 2, 3, -2, 9, 2, -1, -1, 12], np.int32)
    reference.run_module(module, "f", (x, o))
    return x, o


def test_ops_that_only_others_make() -> None:
    module = parse_module(SEVERAL, make_context())
    wanted = run(module)
    parse_pipeline("one-shot-bufferize,convert-linalg-to-loops").run(module)
    verify_module(module)
    check_stage(module, STAGES["loops"])
    found = run(module)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    np.testing.assert_array_equal(found[1], wanted[1])
    assert wanted[1].tolist()[:7] == [1, 7, 9, 125, 10000, -1, 1]


def test_they_become_machine_code() -> None:
    programs = ", ".join(f"%p{number}: i32" for number in range(6))
    text = SEVERAL.replace("%o: memref<*xi32>)", f"%o: memref<*xi32>, {programs})")
    with knobs.scope(opt="0", always_compile=True):
        assert "unreachable" in triton.compile(TextSource(text, "linalg")).asm["llir"]
