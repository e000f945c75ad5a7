"""Finds the values of a body that are only read by the offsets of atomics."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue, Use

from tilewright.dialects import arith, memref
from tilewright.ir.walking import ops_within


def find_offsets_of_atomics(body: Block) -> set[SSAValue]:
    """Find the values of a body that are only read by the offsets of atomics."""
    ops = [inner for op in body.ops for inner in ops_within(op)]
    found: set[SSAValue] = set()
    if not any(isinstance(op, memref.AtomicRMWOp) for op in ops):
        return found
    for op in reversed(ops):  # a value's readers come after it
        found.update(result for result in op.results if _leads_to_atomics(result, found))
    found.update(argument for argument in body.args if _leads_to_atomics(argument, found))
    return found


def _leads_to_atomics(value: SSAValue, found: set[SSAValue]) -> bool:
    return bool(value.uses) and all(_is_offset_of_atomic(use, found) for use in value.uses)


def _is_offset_of_atomic(use: Use, found: set[SSAValue]) -> bool:
    op = use.operation
    if isinstance(op, memref.AtomicRMWOp):
        return use.index > 0
    if not isinstance(op, arith.IndexCastOp | arith.AddiOp | arith.MuliOp | memref.ReinterpretCastOp):
        return False
    return op.results[0] in found
