"""Folding of math ops on constants: only of those whose result is exact, so that no compiler decides what sin(1) is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.arith.constant import constant_attr, is_splat
from tilewright.dialects.math import meaning
from tilewright.dialects.numeric import Array, array_of, attr_of, wrap_to_width
from tilewright.dialects.types import bit_width, element_type

LARGEST_FOLDED_LIST = 4096


def fold_exact(op: Operation) -> Sequence[SSAValue | Attribute] | None:
    """The constant that an op on constants gives, if the op is exact."""
    if op.name not in meaning.EXACT:
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
    result_type = op.results[0].type
    with np.errstate(all="ignore"):
        result = _evaluate(op.name, arrays, bit_width(element_type(op.operands[0].type)))
    if result is None:
        return None
    return (attr_of(np.asarray(wrap_to_width(np.asarray(result), element_type(result_type))), result_type),)


def _evaluate(name: str, arrays: list[Array], width: int) -> Array | None:
    match name:
        case "math.fma":
            return meaning.fused_multiply_add(*arrays)
        case "math.clampf":
            return meaning.clamp(*arrays)
        case "math.copysign":
            return meaning.float_binary(name, *arrays)
        case "math.ipowi":
            undefined = (arrays[0] == 0) & (arrays[1] < 0) if arrays[0].dtype != np.bool_ else np.True_
            return None if np.any(undefined) else meaning.integer_power(arrays[0], arrays[1], width)
        case "math.absi" | "math.ctpop" | "math.ctlz" | "math.cttz":
            return meaning.integer_unary(name, arrays[0], width)
        case "math.isfinite" | "math.isinf" | "math.isnan" | "math.isnormal":
            return meaning.float_test(name, arrays[0])
        case _:
            return meaning.float_unary(name, arrays[0])
