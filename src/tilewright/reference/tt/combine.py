"""How an atomic combines what is in memory with its operand."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects.arith.meaning import FLOAT_BINARY, INTEGER_BINARY
from tilewright.dialects.numeric import Array, wrap_to_width
from tilewright.dialects.tt import RMWOp
from tilewright.dialects.types import bit_width, is_float

_INTEGER = {
    RMWOp.AND: "andi",
    RMWOp.OR: "ori",
    RMWOp.XOR: "xori",
    RMWOp.ADD: "addi",
    RMWOp.MAX: "maxsi",
    RMWOp.MIN: "minsi",
    RMWOp.UMAX: "maxui",
    RMWOp.UMIN: "minui",
}
_FLOAT = {RMWOp.FADD: "addf", RMWOp.ADD: "addf", RMWOp.MAX: "maximumf", RMWOp.MIN: "minimumf"}


def combine_rmw(kind: RMWOp, old: Any, value: Any, element: Attribute) -> Array:
    """The new contents; float extrema give NaN where one of the two is. Raises KeyError for a kind that the element
    type does not have."""
    if kind is RMWOp.XCHG:
        return np.asarray(value)
    if is_float(element):
        return np.asarray(FLOAT_BINARY[f"arith.{_FLOAT[kind]}"](np.asarray(old), np.asarray(value)))
    compute = INTEGER_BINARY[f"arith.{_INTEGER[kind]}"]
    return wrap_to_width(np.asarray(compute(np.asarray(old), np.asarray(value), bit_width(element))), element)
