"""Narrowings to bfloat16 that only products read: where these take subnormal numbers for zeros, nothing mends them."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.codegen.microkernels import flushes_subnormals
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext
from tilewright.ir.printing import print_op
from tilewright.lowering.linalg_matmuls.allow_flush_to_zero import LinalgAllowFlushToZeroPass
from tilewright.lowering.linalg_matmuls.select_microkernels import LinalgSelectMicrokernelsPass
from tilewright.targets.cpu.facts import host_facts, named_facts

MARK = "tilewright.flushes_subnormals"
flushes = flushes_subnormals("bf16", "f32", host_facts())


@triton.jit
def weights_and_values(scores, v, out, kept, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, KEEP: tl.constexpr):
    rows, keys, dims = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    p = tl.exp2(tl.load(scores + rows[:, None] * N + keys[None, :])).to(tl.bfloat16)
    acc = tl.dot(p, tl.load(v + keys[:, None] * D + dims[None, :]))
    tl.store(out + rows[:, None] * D + dims[None, :], acc)
    if KEEP:
        tl.store(kept + rows[:, None] * N + keys[None, :], p)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("rows", [16, 32, 64])
def test_weights_of_a_product(rows: int, keep: bool) -> None:
    random = np.random.default_rng(0)
    scores = random.uniform(-6, 0, (rows, 64)).astype(np.float32)
    scores[0, :32], scores[1] = -140, -149
    v = random.standard_normal((64, 32)).astype(ml_dtypes.bfloat16)
    out, kept = np.zeros((rows, 32), np.float32), np.zeros((rows, 64), ml_dtypes.bfloat16)
    kernel = weights_and_values[(1,)](scores, v, out, kept, rows, 64, 32, keep)
    assert (MARK in kernel.asm["loops"]) == (flushes and not keep)
    p = np.exp2(scores.astype(np.float64)).astype(np.float32).astype(ml_dtypes.bfloat16)
    np.testing.assert_allclose(out, p.astype(np.float64) @ v.astype(np.float64), rtol=1e-2, atol=1e-2)
    if keep:
        np.testing.assert_array_equal(kept[:2], p[:2])


WEIGHTS = """
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<16x16xf32>, %v: tensor<16x16xbf16>, %z: tensor<16x16xf32>, %e: tensor<16x16xbf16>)
    -> (tensor<16x16xf32>, tensor<16x16xbf16>) {
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x16xf32>) outs(%e : tensor<16x16xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<16x16xbf16>
  %d = linalg.matmul ins(%p, %v : tensor<16x16xbf16>, tensor<16x16xbf16>)
      outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %d, KEPT : tensor<16x16xf32>, tensor<16x16xbf16>
}
"""


@pytest.mark.parametrize(
    ("feature", "kept", "marked"), [("amx-bf16", "%v", True), ("amx-bf16", "%p", False), ("amx-int8", "%v", False)]
)
def test_marks_what_only_matmuls_read(feature: str, kept: str, marked: bool) -> None:
    """Where these take subnormals for zeros, as those on AMX tiles do."""
    facts = named_facts("x86-64-v4")
    context = PassContext(facts=replace(facts, features=facts.features | {"amx-tile", feature}))
    module = parse_module(WEIGHTS.replace("KEPT", kept), make_context())
    LinalgSelectMicrokernelsPass().run(module, context)
    LinalgAllowFlushToZeroPass().run(module, context)
    assert (MARK in print_op(module)) == marked
