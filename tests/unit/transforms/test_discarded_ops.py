"""Rules that make an op and then do not use it leave no trace: values are used by ops of the module alone."""

from __future__ import annotations

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassPipeline
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.canonicalize import CanonicalizePass

TRANSPOSED_TWICE = """
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.linear<{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], \
warp = [[16, 0], [32, 0]], block = []}>
#columns = #ttg.linear<{register = [[1, 0], [0, 8], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], \
warp = [[0, 16], [0, 32]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", \
"ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%x: tensor<64x16xf16, #rows>) -> tensor<64x16xf16, #a> {
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x16xf16, #rows> -> tensor<16x64xf16, #columns>
    %z = tt.trans %y {order = array<i32: 1, 0>} : tensor<16x64xf16, #columns> -> tensor<64x16xf16, #a>
    tt.return %z : tensor<64x16xf16, #a>
  }
}
"""
"""Layouts that are equal under two names, so that the transposes stay."""


def test_transposes_between_layouts() -> None:
    module = parse_module(TRANSPOSED_TWICE, make_context())
    PassPipeline([CanonicalizePass()]).run(module)
    ops = set(ops_within(module))
    values = [result for op in ops for result in op.results]
    arguments = [argument for op in ops for region in op.regions for block in region.blocks for argument in block.args]
    assert all(use.operation in ops for value in (*values, *arguments) for use in value.uses)
