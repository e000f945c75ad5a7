"""Choices that were written by hand on an op, and are none."""

from __future__ import annotations

import re

import pytest

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.support.errors import PassError

SUM = """
func.func @sum(%a: memref<40xf32>, %o: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %a restrict : memref<40xf32> to tensor<40xf32>
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%x : tensor<40xf32>) outs(%start : tensor<f32>) dimensions = [0] {CHOICE}
    (%in: f32, %init: f32) {
      %both = arith.addf %in, %init : f32
      linalg.yield %both : f32
    }
  bufferization.materialize_in_destination %sum in restrict writable %o : (tensor<f32>, memref<f32>) -> ()
  return
}
"""


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ("tilewright.unroll = 3 : index", "tilewright.unroll = 3 is not a power of two"),
        ("tilewright.unroll = 0 : index", "tilewright.unroll = 0 is not a power of two"),
        ("tilewright.unroll = -2 : index", "tilewright.unroll = -2 is not a power of two"),
        ('tilewright.unroll = "x"', 'tilewright.unroll = "x" is not an index'),
        ("tilewright.vector_dim = unit", "tilewright.vector_dim = unit is not an index"),
        ("tilewright.vector_dim = 1 : index", "its loops have no dimension 1 for vectors"),
    ],
)
def test_what_is_no_choice_is_an_error(choice: str, reason: str) -> None:
    module = parse_module(SUM.replace("CHOICE", choice), make_context(), "sum.mlir")
    with pytest.raises(PassError, match=re.escape(f"'linalg.reduce': {reason}")):
        parse_pipeline("linalg-to-loops").run(module, PassContext())
