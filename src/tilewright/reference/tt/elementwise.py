"""Ops that treat every element by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects import tt
from tilewright.dialects.arith import meaning
from tilewright.dialects.arith.attributes import RoundingMode as ArithRounding
from tilewright.dialects.float8 import narrow_to_float8
from tilewright.dialects.math import meaning as math_meaning
from tilewright.dialects.numeric import Array, dtype_of
from tilewright.dialects.tt import PointerType, PropagateNan, RoundingMode
from tilewright.dialects.types import bit_width, element_type, is_tensor
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of


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
    return (math_meaning.computed(np.sqrt, np.asarray(frame.get(op.x))),)


@meaning_of(tt.ApproxDivFOp)
@meaning_of(tt.PreciseDivFOp)
def divide(op: tt.ApproxDivFOp | tt.PreciseDivFOp, frame: Frame) -> Values:
    return (np.asarray(np.divide(*frame.get_all(op.operands))),)


@meaning_of(tt.MulhiUIOp)
def multiply_high(op: tt.MulhiUIOp, frame: Frame) -> Values:
    x, y = (np.asarray(value) for value in frame.get_all(op.operands))
    return (meaning.multiply_extended(x, y, bit_width(element_type(op.x.type)), signed=False)[1],)


WORD_BITS = 32


@meaning_of(tt.ElementwiseInlineAsmOp)
def inline_assembly(op: tt.ElementwiseInlineAsmOp, frame: Frame) -> Values:
    """PTX is run by the simulated GPU, for rows of `packed_element` elements; those of less than 32 bits share
    registers."""
    from tilewright.reference.simt.errors import SimulationError
    from tilewright.reference.simt.lanes import elements_of, run_lanes, words_of
    from tilewright.support.ptx.errors import PtxSyntaxError
    from tilewright.support.ptx.inline_assembly import read_inline_assembly

    count = op.packed_element.value.data
    arguments = [np.asarray(value) for value in frame.get_all(op.args)]
    dtypes = [_storage(result.type) for result in op.result]
    shape = _result_shape(op, arguments)
    size = int(np.prod(shape, dtype=np.int64))
    registers: list[Array] = []
    for operand, value in zip(op.args, arguments, strict=True):
        registers += words_of(value, count, _sharing(operand.type, count))
    try:
        numbers = [int(register[0]) for register in registers]
        assembly = read_inline_assembly(op.asm_string.data, op.constraints.data, numbers)
        expected = sum(count // _sharing(result.type, count) for result in op.result)
        if assembly.num_results != expected:
            raise SimulationError(f"it has {assembly.num_results} registers of results, of {expected}")
        found = run_lanes(assembly, registers, -(-size // count))
    except (SimulationError, PtxSyntaxError) as error:
        raise reference_error(op, f"inline assembly cannot be run lane by lane: {error.message}") from None
    results: list[Array] = []
    for result, dtype in zip(op.result, dtypes, strict=True):
        share = _sharing(result.type, count)
        words, found = found[: count // share], found[count // share :]
        results.append(elements_of(words, dtype, share, size).reshape(shape))
    return tuple(results)


def _storage(type_: Attribute) -> np.dtype[np.generic]:
    """Return what elements are stored as: addresses are integers."""
    element = element_type(type_)
    return np.dtype(np.int64) if isinstance(element, PointerType) else dtype_of(element)


def _sharing(type_: Attribute, count: int) -> int:
    """Return how many elements share a register."""
    return max(1, min(count, WORD_BITS // (8 * _storage(type_).itemsize)))


def _result_shape(op: tt.ElementwiseInlineAsmOp, arguments: Sequence[Array]) -> tuple[int, ...]:
    """The arguments' shape, which has an axis of lanes in front where many scalars are computed at once."""
    if arguments:
        return np.broadcast_shapes(*(value.shape for value in arguments))
    type_ = op.result[0].type
    return tuple(type_.get_shape()) if is_tensor(type_) else ()
