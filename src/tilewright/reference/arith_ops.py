"""The meaning of arith, math and ub ops, on scalars, vectors, tensors and lanes alike."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation

from tilewright.dialects import arith, math, ub
from tilewright.dialects.arith import meaning
from tilewright.dialects.arith.attributes import RoundingMode
from tilewright.dialects.math import meaning as math_meaning
from tilewright.dialects.numeric import dense_values, dtype_of, wrap_to_width
from tilewright.dialects.tt import PointerType
from tilewright.dialects.types import bit_width, element_type, shape_of
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of, scalar

RUNNING_TOTALS: dict[type[Operation], np.ufunc] = {
    arith.AddfOp: np.add,
    arith.MulfOp: np.multiply,
    arith.AddiOp: np.add,
    arith.MuliOp: np.multiply,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
}
"""Ops whose running totals NumPy computes in order."""


@meaning_of(arith.ConstantOp)
def constant(op: arith.ConstantOp, frame: Frame) -> Values:
    match op.value:
        case IntegerAttr() | FloatAttr() as attr:
            return (scalar(attr.value.data, op.results[0].type),)
        case DenseIntOrFPElementsAttr() as attr:
            return (dense_values(attr),)
        case attr:
            raise reference_error(op, f"a constant of {attr} has no reference meaning")


def _integer_binary(op: Operation, frame: Frame) -> Values:
    element = element_type(op.results[0].type)
    lhs, rhs = (np.asarray(value) for value in frame.get_all(op.operands))
    result = meaning.INTEGER_BINARY[op.name](lhs, rhs, bit_width(element))
    return (wrap_to_width(np.asarray(result), element),)


def _float_binary(op: Operation, frame: Frame) -> Values:
    lhs, rhs = frame.get_all(op.operands)
    return (np.asarray(meaning.FLOAT_BINARY[op.name](np.asarray(lhs), np.asarray(rhs))),)


for _cls in arith.OPERATIONS:
    if _cls.name in meaning.INTEGER_BINARY:
        meaning_of(_cls)(_integer_binary)
    elif _cls.name in meaning.FLOAT_BINARY:
        meaning_of(_cls)(_float_binary)


@meaning_of(arith.NegfOp)
def negate(op: arith.NegfOp, frame: Frame) -> Values:
    return (np.negative(frame.get(op.operands[0])),)


@meaning_of(arith.CmpiOp)
def compare_integers(op: arith.CmpiOp, frame: Frame) -> Values:
    lhs, rhs = (np.asarray(value) for value in frame.get_all(op.operands))
    width = bit_width(element_type(op.operands[0].type))
    return (meaning.compare_integers(op.kind, lhs, rhs, width),)


@meaning_of(arith.CmpfOp)
def compare_floats(op: arith.CmpfOp, frame: Frame) -> Values:
    lhs, rhs = (np.asarray(value) for value in frame.get_all(op.operands))
    return (meaning.compare_floats(op.kind, lhs, rhs),)


@meaning_of(arith.SelectOp)
def select(op: arith.SelectOp, frame: Frame) -> Values:
    condition, lhs, rhs = frame.get_all(op.operands)
    if np.ndim(condition) == 0:
        return (lhs if condition else rhs,)
    return (np.where(np.asarray(condition), np.asarray(lhs), np.asarray(rhs)),)


@meaning_of(arith.AddUIExtendedOp)
def add_with_carry(op: arith.AddUIExtendedOp, frame: Frame) -> Values:
    lhs, rhs = (np.asarray(value) for value in frame.get_all(op.operands))
    element = element_type(op.operands[0].type)
    total, carry = meaning.add_with_carry(lhs, rhs, bit_width(element))
    return wrap_to_width(np.asarray(total), element), carry


@meaning_of(arith.MulUIExtendedOp, arith.MulSIExtendedOp)
def multiply_extended(op: Operation, frame: Frame) -> Values:
    lhs, rhs = (np.asarray(value) for value in frame.get_all(op.operands))
    width = bit_width(element_type(op.operands[0].type))
    return meaning.multiply_extended(lhs, rhs, width, signed=op.name == "arith.mulsi_extended")


@meaning_of(
    arith.ExtUIOp,
    arith.ExtSIOp,
    arith.TruncIOp,
    arith.ExtFOp,
    arith.TruncFOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.IndexCastOp,
    arith.IndexCastUIOp,
    arith.BitcastOp,
)
def cast(op: Operation, frame: Frame) -> Values:
    source, target = element_type(op.operands[0].type), element_type(op.results[0].type)
    if isinstance(op, arith.TruncFOp) and op.rounding != RoundingMode.TO_NEAREST_EVEN:
        return (meaning.truncate_float(np.asarray(frame.get(op.operands[0])), dtype_of(target), op.rounding),)
    return (meaning.cast(op.name, np.asarray(frame.get(op.operands[0])), source, target),)


@meaning_of(ub.PoisonOp)
def poison(op: ub.PoisonOp, frame: Frame) -> Values:
    """Any value: zero."""
    type_ = op.results[0].type
    element = element_type(type_)
    zero = np.int64(0) if isinstance(element, PointerType) else scalar(0, element)
    shape = shape_of(type_)
    return (zero if shape is None else np.full(shape, zero),)


def _math(op: math.MathOp, frame: Frame) -> Values:
    result = op.evaluate(*map(np.asarray, frame.get_all(op.operands)))
    return (wrap_to_width(np.asarray(result), element_type(op.results[0].type)),)


for _cls in math.OPERATIONS:
    if issubclass(_cls, math.MathOp):
        meaning_of(_cls)(_math)


@meaning_of(math.SincosOp)
def sine_and_cosine(op: math.SincosOp, frame: Frame) -> Values:
    value = np.asarray(frame.get(op.operands[0]))
    return math_meaning.computed(np.sin, value), math_meaning.computed(np.cos, value)
