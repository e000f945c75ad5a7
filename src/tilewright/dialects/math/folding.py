"""Folding of math ops on constants: only of those whose result is exact, so that no compiler decides what sin(1) is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.arith.constant import constant_attr, is_splat
from tilewright.dialects.numeric import Array, array_of, attr_of, wrap_to_width
from tilewright.dialects.types import element_type

if TYPE_CHECKING:
    from tilewright.dialects.math.shapes import MathOp

LARGEST_FOLDED_LIST = 4096


def fold_exact(op: MathOp) -> Sequence[SSAValue | Attribute] | None:
    """The constant that an op on constants gives, if the op is exact."""
    if not op.EXACT:
        return None
    arrays: list[Array] = []
    for operand in op.operands:
        attr = constant_attr(operand)
        if attr is None or (
            isinstance(attr, DenseIntOrFPElementsAttr) and not is_splat(attr) and len(attr) > LARGEST_FOLDED_LIST
        ):
            return None
        values = array_of(attr)
        if values is None:
            return None
        arrays.append(values)
    if not op.is_defined(*arrays):
        return None
    result_type = op.results[0].type
    with np.errstate(all="ignore"):
        result = op.evaluate(*arrays)
    return (attr_of(np.asarray(wrap_to_width(np.asarray(result), element_type(result_type))), result_type),)
