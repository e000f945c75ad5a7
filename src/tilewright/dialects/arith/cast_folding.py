"""Folding of arith's casts: constants, and casts that undo one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.arith import meaning
from tilewright.dialects.arith.attributes import RoundingMode
from tilewright.dialects.arith.constant import constant_attr
from tilewright.dialects.arith.folding import Folded, find_arrays
from tilewright.dialects.numeric import Array, attr_of
from tilewright.dialects.types import bit_width, element_type, has_static_shape

if TYPE_CHECKING:
    from tilewright.dialects.arith.casts import CastOp

_FLOAT_TO_INTEGER = frozenset({"arith.fptosi", "arith.fptoui"})


def fold_cast(op: CastOp) -> Folded:
    """Constants, and casts of casts that cancel or repeat: ``extsi(extsi x)``, ``trunci(ext x)``,
    ``index_cast(index_cast x)``, ``bitcast(bitcast x)``."""
    source, result_type = op.operands[0], op.results[0].type
    if source.type == result_type:
        return (source,)
    attr = constant_attr(source)
    if attr is None:
        return _fold_cast_of_cast(op, source, result_type)
    (values,) = find_arrays(attr)
    if values is None or not has_static_shape(result_type):
        return None
    from_type, to_type = element_type(source.type), element_type(result_type)
    if not _is_exact_cast(op, values, to_type):
        return None
    with np.errstate(all="ignore"):
        try:
            result = meaning.cast(op.name, values, from_type, to_type)
        except TypeError:  # a type that NumPy has no storage for (i128, f80): leave the op
            return None
    return (attr_of(np.asarray(result), result_type),)


def _is_exact_cast(op: CastOp, values: Array, to_type: Attribute) -> bool:
    """Return whether the meaning covers a constant cast: floats that do not fit an integer are undefined, odd rounding
    modes are left alone.
    """
    if op.name in _FLOAT_TO_INTEGER:
        width = bit_width(to_type)
        low, high = (-(2.0 ** (width - 1)), 2.0 ** (width - 1)) if op.name == "arith.fptosi" else (0.0, 2.0**width)
        wide = np.trunc(values.astype(np.float64))
        return bool(np.all((wide >= low) & (wide < high)))
    mode = op.properties.get("roundingmode")
    return not isinstance(mode, IntegerAttr) or mode.value.data == RoundingMode.TO_NEAREST_EVEN


def _fold_cast_of_cast(op: CastOp, source: SSAValue, result_type: Attribute) -> Folded:
    """Only what needs no new op: the outer cast undoes the inner one."""
    inner = source.owner
    if not isinstance(inner, Operation) or len(inner.operands) != 1 or inner.operands[0].type != result_type:
        return None
    undone = _UNDOES.get(op.name, ())
    if inner.name not in undone:
        return None
    # x : iN -> index -> iN gives x back; index -> iN -> index loses bits unless iN holds them all.
    if isinstance(element_type(result_type), IndexType) and bit_width(element_type(source.type)) < 64:
        return None
    return (inner.operands[0],)


_UNDOES = {
    "arith.trunci": ("arith.extsi", "arith.extui"),
    "arith.truncf": ("arith.extf",),
    "arith.bitcast": ("arith.bitcast",),
    "arith.index_cast": ("arith.index_cast", "arith.index_castui"),
    "arith.index_castui": ("arith.index_castui", "arith.index_cast"),
}
