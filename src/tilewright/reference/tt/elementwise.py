"""Ops that treat every element by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.dialects import tt
from tilewright.dialects.arith import meaning
from tilewright.dialects.arith.attributes import RoundingMode as ArithRounding
from tilewright.dialects.math import meaning as math_meaning
from tilewright.dialects.numeric import Array, dtype_of
from tilewright.dialects.tt import PointerType, PropagateNan, RoundingMode
from tilewright.dialects.types import bit_width, element_type
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.dot import round_to_tf32_away
from tilewright.reference.tt.float8 import narrow_to_float8


@meaning_of(tt.BitcastOp)
def bitcast(op: tt.BitcastOp, frame: Frame) -> Values:
    """Pointers are addresses, whatever they point to."""
    source, target = element_type(op.src.type), element_type(op.result.type)
    value = frame.get(op.src)
    if isinstance(target, PointerType):
        return (value,)
    return (meaning.cast("arith.bitcast", np.asarray(value), source, target),)


@meaning_of(tt.FpToFpOp)
def convert_float(op: tt.FpToFpOp, frame: Frame) -> Values:
    dtype = dtype_of(element_type(op.result.type))
    towards_zero = op.rounding is not None and RoundingMode.of(op.rounding) is RoundingMode.RTZ
    return (convert(np.asarray(frame.get(op.src)), dtype, towards_zero=towards_zero),)


def convert(values: Array, dtype: np.dtype[np.generic], *, towards_zero: bool = False) -> Array:
    """A float in another float type: exact where it fits, else rounded once; 8-bit floats saturate."""
    if values.dtype == dtype:
        return values
    if dtype.itemsize == 1:
        return narrow_to_float8(values, dtype, towards_zero=towards_zero)
    if towards_zero and dtype.itemsize <= values.dtype.itemsize:
        return meaning.truncate_float(values, dtype, ArithRounding.TOWARD_ZERO)
    return meaning.round_floats(values, dtype)


@meaning_of(tt.ClampFOp)
def clamp(op: tt.ClampFOp, frame: Frame) -> Values:
    """``min(max(x, low), high)``, with the extrema that keep NaN or those that drop it."""
    keeps_nan = PropagateNan.of(op.propagate_nan) is PropagateNan.ALL
    larger, smaller = ("maximumf", "minimumf") if keeps_nan else ("maxnumf", "minnumf")
    value, low, high = (np.asarray(operand) for operand in frame.get_all(op.operands))
    raised = np.asarray(meaning.FLOAT_BINARY[f"arith.{larger}"](value, low))
    return (np.asarray(meaning.FLOAT_BINARY[f"arith.{smaller}"](raised, high)),)


@meaning_of(tt.PreciseSqrtOp)
def square_root(op: tt.PreciseSqrtOp, frame: Frame) -> Values:
    return (math_meaning.float_unary("math.sqrt", np.asarray(frame.get(op.x))),)


@meaning_of(tt.PreciseDivFOp)
def divide(op: tt.PreciseDivFOp, frame: Frame) -> Values:
    return (np.asarray(np.divide(*frame.get_all(op.operands))),)


@meaning_of(tt.MulhiUIOp)
def multiply_high(op: tt.MulhiUIOp, frame: Frame) -> Values:
    x, y = (np.asarray(value) for value in frame.get_all(op.operands))
    return (meaning.multiply_extended(x, y, bit_width(element_type(op.x.type)), signed=False)[1],)


ASSEMBLY: dict[str, Callable[[Array], Array]] = {"cvt.rna.tf32.f32 $0, $1;": round_to_tf32_away}
"""Instructions that passes write as inline assembly because no op stands for them."""


@meaning_of(tt.ElementwiseInlineAsmOp)
def inline_assembly(op: tt.ElementwiseInlineAsmOp, frame: Frame) -> Values:
    compute = ASSEMBLY.get(op.asm_string.data)
    if compute is not None:
        return tuple(compute(np.asarray(value)) for value in frame.get_all(op.args))
    raise reference_error(op, "inline assembly has a meaning only on the target that it was written for")
