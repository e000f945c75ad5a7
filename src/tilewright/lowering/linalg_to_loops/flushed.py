"""Narrowings to bfloat16 whose subnormal results nobody sees: all who read them are products that take them for zeros.

    %p = linalg.generic { ... arith.truncf %e : f32 to bf16 ... }        only read as the left operand of products
      ->  arith.truncf %e {tilewright.flushes_subnormals} : f32 to bf16

x86's instruction for this narrowing makes subnormals zeros, and so do its products of bfloat16. Everywhere else lanes
with a subnormal number are looked for and mended, vector by vector.
"""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, UnitAttr
from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import flushes_subnormals
from tilewright.dialects import arith, linalg
from tilewright.dialects.attributes import FLUSHES_SUBNORMALS
from tilewright.dialects.types import element_type
from tilewright.ir.facts import TargetFacts


def mark_flushed_narrowings(op: linalg.StructuredOp, facts: TargetFacts | None) -> None:
    """Mark the narrowings that make the results of an op, where its readers allow that."""
    yielded = op.body.block.last_op
    if facts is None or yielded is None or not flushes_subnormals("bf16", "f32", facts):
        return
    for number, result in enumerate(op.results):
        narrowing = yielded.operands[number].owner
        if (
            isinstance(narrowing, arith.TruncFOp)
            and isinstance(narrowing.results[0].type, BFloat16Type)
            and narrowing.results[0].uses.get_length() == 1
            and _feeds_products(result)
        ):
            narrowing.attributes[FLUSHES_SUBNORMALS] = UnitAttr()


def _feeds_products(value: SSAValue) -> bool:
    """Whether a tensor is the left operand of products into f32, and nothing else."""
    return bool(value.uses.get_length()) and all(
        isinstance(use.operation, linalg.MatmulOp)
        and use.index == 0
        and element_type(use.operation.operands[1].type) == element_type(value.type)
        for use in value.uses
    )
