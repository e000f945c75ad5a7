"""Our passes and official Triton's give the same text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import PassContext
from tilewright.ir.printing import print_op

FILES = Path(__file__).parents[2] / "file" / "transforms"

SAME = [
    ("cse", "cse", ["common.cse"]),
    ("symbol-dce", "symbol-dce", ["common.symbol_dce"]),
    ("loop-invariant-code-motion", "loop-invariant-code-motion", ["common.licm"]),
    ("triton-reorder-broadcast", "triton-reorder-broadcast", ["ttir.reorder_broadcast"]),
    ("triton-loop-aware-cse", "triton-loop-aware-cse", ["ttir.loop_aware_cse"]),
]
"""File of inputs, our pipeline, Triton's passes."""


@pytest.mark.parametrize(("file", "pipeline", "passes"), SAME, ids=[case[0] for case in SAME])
def test_same_text(
    file: str,
    pipeline: str,
    passes: list[str],
    parse: Callable[[str], ModuleOp],
    run: Callable[[ModuleOp, str], PassContext],
    triton_passes: Callable[..., str],
) -> None:
    text = (FILES / f"{file}.mlir").read_text(encoding="utf-8").split("// EXACT:")[0]
    module = parse(text)
    run(module, pipeline)
    assert print_op(module).strip() == triton_passes(text, *passes).strip()


BLOCK_POINTER_LOOP = """
tt.func public @k(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>, %m: i64, %n: i64, %s: i64, %lb: i32, %ub: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %one = arith.constant 1 : i64
  %bp = tt.make_tensor_ptr %p, [%m, %n], [%s, %one], [%lb, %c0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  %out = tt.make_tensor_ptr %q, [%m, %n], [%s, %one], [%lb, %c0] {order = array<i32: 1, 0>} : <tensor<64x32xf16>>
  %r = scf.for %i = %lb to %ub step %c1 iter_args(%b = %bp) -> (!tt.ptr<tensor<64x32xf16>>) : i32 {
    %v = tt.load %b {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<64x32xf16>>
    tt.store %out, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<64x32xf16>>
    %next = tt.advance %b, [%c0, %c32] : <tensor<64x32xf16>>
    scf.yield %next : !tt.ptr<tensor<64x32xf16>>
  }
  tt.return
}
"""

DESCRIPTORS = """
tt.func public @k(%d: !tt.tensordesc<tensor<4x8xf32>>, %p: !tt.ptr<f32>, %m: i32, %s: i64, %i: i32,
                  %xs: tensor<16xi32>) {
  %one = arith.constant 1 : i64
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<4x8xf32>> -> tensor<4x8xf32>
  %e = tt.make_tensor_descriptor %p, [%m, %m], [%s, %one] : <f32>, <tensor<4x8xf32>>
  tt.descriptor_store %e[%i, %i], %v : !tt.tensordesc<tensor<4x8xf32>>, tensor<4x8xf32>
  tt.descriptor_reduce add, %e[%i, %i], %v : !tt.tensordesc<tensor<4x8xf32>>, tensor<4x8xf32>
  %r = tt.make_tensor_descriptor %p, [%m, %m], [%s, %one] : <f32>, <tensor<1x32xf32>>
  %g = tt.descriptor_gather %r[%xs, %i] : (!tt.tensordesc<tensor<1x32xf32>>, tensor<16xi32>, i32) -> tensor<16x32xf32>
  tt.descriptor_scatter %r[%xs, %i], %g : !tt.tensordesc<tensor<1x32xf32>>, tensor<16xi32>, i32, tensor<16x32xf32>
  tt.return
}
"""


def _op_counts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in text.splitlines():
        name = line.split("=", 1)[-1].strip().split(" ", 1)[0]
        if "." in name:
            counts[name] = counts.get(name, 0) + 1
    return counts


@pytest.mark.parametrize(
    ("text", "pipeline", "passes"),
    [
        (BLOCK_POINTER_LOOP, "triton-rewrite-tensor-pointer", "ttir.rewrite_tensor_pointer"),
        (DESCRIPTORS, "triton-rewrite-tensor-descriptor-to-pointer", "ttir.rewrite_tensor_descriptor_to_pointer"),
    ],
    ids=["block-pointers", "descriptors"],
)
def test_same_ops_after_rewriting_accesses(
    text: str,
    pipeline: str,
    passes: str,
    parse: Callable[[str], ModuleOp],
    run: Callable[[ModuleOp, str], PassContext],
    triton_passes: Callable[..., str],
) -> None:
    """The order of constants and of independent ops differs, what is computed does not."""
    module = parse(text)
    run(module, f"{pipeline},canonicalize,cse")
    theirs = triton_passes(text, passes, "common.canonicalizer", "common.cse")
    assert _op_counts(print_op(module)) == _op_counts(theirs)
