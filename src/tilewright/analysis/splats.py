"""Tensors computed from scalars or ranges: splats, and how to compute the value that all their lanes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.traits import Pure

from tilewright.dialects import arith, tt
from tilewright.dialects.arith.constant import is_dense
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.tt.folds import first_element
from tilewright.dialects.types import element_type

MAX_DEPTH = 12
"""Longest chain of elementwise ops that is followed."""

RESHAPING = (tt.BroadcastOp, tt.ExpandDimsOp, tt.ReshapeOp, tt.TransOp)


def is_splat_tree(value: SSAValue, depth: int = 0) -> bool:
    """Return whether all lanes hold one number because all that the tensor is computed from are splats."""
    op = value.owner
    if not isinstance(value.type, TensorType):
        return True
    if depth > MAX_DEPTH or not isinstance(op, Operation):
        return False
    match op:
        case tt.SplatOp():
            return True
        case arith.ConstantOp():
            constant = op.properties.get("value")
            return is_dense(constant) and arith.is_splat(constant)
        case _ if isinstance(op, RESHAPING):
            return is_splat_tree(op.operands[0], depth + 1)
        case _:
            return is_elementwise(op) and all(is_splat_tree(operand, depth + 1) for operand in op.operands)


def is_computed(value: SSAValue, depth: int = 0) -> bool:
    """Return whether a tensor is computed from ranges and scalars alone, so that nothing of it comes from memory."""
    op = value.owner
    if not isinstance(value.type, TensorType):
        return True
    if depth > MAX_DEPTH or not isinstance(op, Operation):
        return False
    if isinstance(op, tt.SplatOp | tt.MakeRangeOp | arith.ConstantOp):
        return True
    is_followed = isinstance(op, RESHAPING) or is_arithmetic(op)
    return is_followed and all(is_computed(operand, depth + 1) for operand in op.operands)


def is_elementwise(op: Operation) -> bool:
    """Return whether an op computes each lane of its one result from the same lane of its operands, and nothing
    else.
    """
    return (
        is_arithmetic(op)
        and len(op.results) == 1
        and not op.regions
        and bool(op.operands)
        and op.has_trait(Pure)
        and all(isinstance(value.type, TensorType) for value in op.operands)
    )


def emit_scalar(value: SSAValue, insert: Callable[[Operation], Operation]) -> SSAValue:
    """The number in all lanes of a splat tree, or the only lane of a tensor of one lane, as a scalar value.

    `%s = arith.addi (splat %a), (dense<1>)` gives `%c1 = arith.constant 1`, `%r = arith.addi %a, %c1`."""
    if not isinstance(value.type, TensorType):
        return value
    assert isinstance(value, OpResult) or not is_splat_tree(value)
    op = value.owner
    kind = cast("Attribute", value.type)  # pyright: ignore[reportUnknownMemberType]
    if not isinstance(op, Operation) or not is_splat_tree(value):
        return insert(tt.UnsplatOp(value)).results[0]
    element = element_type(kind)
    match op:
        case tt.SplatOp():
            return op.operands[0]
        case arith.ConstantOp():
            constant = op.properties["value"]
            assert is_dense(constant)
            return insert(arith.constant_splat(first_element(constant), element)).results[0]
        case _ if isinstance(op, RESHAPING):
            return emit_scalar(op.operands[0], insert)
        case _:
            operands = [emit_scalar(operand, insert) for operand in op.operands]
            made = type(op).create(
                operands=operands, result_types=[element], properties=op.properties, attributes=op.attributes
            )
            made.location = op.location
            return insert(made).results[0]
