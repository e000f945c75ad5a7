"""Folding of arith ops: constants through :mod:`~tilewright.dialects.arith.meaning`, and the algebra that needs no
constants.

Everything here is exact: integers wrap at their width, floats round as their type does, and what LLVM leaves
undefined (a zero divisor, a shift past the
width) is never folded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.arith import meaning
from tilewright.dialects.arith.attributes import CmpFPredicate, CmpIPredicate
from tilewright.dialects.arith.constant import constant_attr, find_constant_int, is_dense, is_splat, splat_attr
from tilewright.dialects.numeric import Array, array_of, attr_of, wrap_to_width
from tilewright.dialects.types import bit_width, element_type, has_static_shape
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from tilewright.dialects.arith.compare import CmpfOp, CmpiOp, SelectOp
    from tilewright.dialects.arith.floating import FloatBinaryOp
    from tilewright.dialects.arith.integer import IntegerBinaryOp

Folded = Sequence[SSAValue | Attribute] | None

LARGEST_FOLDED_LIST = 4096
"""Dense constants that are no splat are folded up to this many elements."""


WidthFunction = Callable[[int], int]
"""From a bit width to an integer of that width, as signed: in one bit, 1 reads as -1."""


def _zero(_width: int) -> int:
    return 0


def _one(width: int) -> int:
    return 1 if width > 1 else -1


def _all_ones(_width: int) -> int:
    return -1


def _signed_min(width: int) -> int:
    return -(1 << (width - 1))


def _signed_max(width: int) -> int:
    return (1 << (width - 1)) - 1


@dataclass(frozen=True)
class Algebra:
    """The laws of an integer op: ``x op unit = x``, ``x op absorber = absorber``, ``x op x = x`` (idempotent), ``x op
    x = 0`` (self-inverse), ``x op annihilator = 0``."""

    unit: WidthFunction | None = None
    absorber: WidthFunction | None = None
    commutative: bool = False
    idempotent: bool = False
    self_inverse: bool = False
    annihilator: WidthFunction | None = None

    def is_unit(self, value: int, width: int) -> bool:
        """Return whether a right operand changes nothing."""
        return self.unit is not None and value == self.unit(width)

    def is_absorber(self, value: int, width: int) -> bool:
        """Return whether a right operand is the result, whatever the left one is."""
        return self.absorber is not None and value == self.absorber(width)

    def is_annihilator(self, value: int, width: int) -> bool:
        """Return whether a right operand makes the result zero, whatever the left one is."""
        return self.annihilator is not None and value == self.annihilator(width)


ALGEBRA: dict[str, Algebra] = {
    "arith.addi": Algebra(_zero, commutative=True),
    "arith.subi": Algebra(_zero, self_inverse=True),
    "arith.muli": Algebra(_one, _zero, commutative=True),
    "arith.divui": Algebra(_one),
    "arith.divsi": Algebra(_one),
    "arith.ceildivui": Algebra(_one),
    "arith.ceildivsi": Algebra(_one),
    "arith.floordivsi": Algebra(_one),
    "arith.remui": Algebra(annihilator=_one),
    "arith.remsi": Algebra(annihilator=_one),
    "arith.andi": Algebra(_all_ones, _zero, commutative=True, idempotent=True),
    "arith.ori": Algebra(_zero, _all_ones, commutative=True, idempotent=True),
    "arith.xori": Algebra(_zero, commutative=True, self_inverse=True),
    "arith.shli": Algebra(_zero),
    "arith.shrui": Algebra(_zero),
    "arith.shrsi": Algebra(_zero),
    "arith.maxsi": Algebra(_signed_min, _signed_max, commutative=True, idempotent=True),
    "arith.minsi": Algebra(_signed_max, _signed_min, commutative=True, idempotent=True),
    "arith.maxui": Algebra(_zero, _all_ones, commutative=True, idempotent=True),
    "arith.minui": Algebra(_all_ones, _zero, commutative=True, idempotent=True),
}


def fold_integer_binary(op: IntegerBinaryOp) -> Folded:
    """Units, absorbers, ``x op x`` and constants."""
    lhs, rhs = op.operands
    left_attr, right_attr = constant_attr(lhs), constant_attr(rhs)
    if left_attr is None and right_attr is None and lhs is not rhs:
        return None
    type_ = lhs.type
    width = bit_width(element_type(type_))
    algebra = ALGEBRA[op.name]
    if lhs is rhs:
        if algebra.idempotent:
            return (lhs,)
        if algebra.self_inverse and has_static_shape(type_):
            return (integer_constant(0, type_),)
    right = find_constant_int(rhs)
    if right is not None:
        if algebra.is_unit(right, width):
            return (lhs,)
        if algebra.is_absorber(right, width):
            return (rhs,)
        if algebra.is_annihilator(right, width) and has_static_shape(type_):
            return (integer_constant(0, type_),)
    if left_attr is None:
        return None
    left = find_constant_int(lhs) if algebra.commutative else None
    if left is not None:
        if algebra.is_unit(left, width):
            return (rhs,)
        if algebra.is_absorber(left, width):
            return (lhs,)
    if right_attr is None or not _is_defined(op.name, left_attr, right_attr, width):
        return None
    return _fold_integers(op.name, left_attr, right_attr, type_, width)


SIGNED_DIVISIONS = frozenset(f"arith.{name}" for name in ("divsi", "ceildivsi", "floordivsi", "remsi"))
"""Divisions that also overflow, for the smallest integer divided by -1."""
_DIVISIONS = SIGNED_DIVISIONS | {"arith.divui", "arith.ceildivui", "arith.remui"}
_SHIFTS = frozenset({"arith.shli", "arith.shrui", "arith.shrsi"})


def _fold_integers(name: str, left: Attribute, right: Attribute, type_: Attribute, width: int) -> Folded:
    lhs, rhs = find_arrays(left, right)
    if lhs is None or rhs is None:
        return None
    with np.errstate(over="ignore"):
        result = meaning.INTEGER_BINARY[name](lhs, rhs, width)
    return (attr_of(np.asarray(wrap_to_width(np.asarray(result), element_type(type_))), type_),)


def _is_defined(name: str, left: Attribute, right: Attribute, width: int) -> bool:
    """Return whether every lane of a division or shift of constants is defined."""
    if name in _SHIFTS:
        amount = array_of(right)
        return amount is not None and bool(np.all(meaning.as_unsigned(amount, width) < width))
    if name not in _DIVISIONS:
        return True
    if not is_harmless_divisor(right, signed=False):
        return False
    if name not in SIGNED_DIVISIONS:
        return True
    lhs, rhs = find_arrays(left, right)
    if lhs is None or rhs is None:
        return False
    overflows = (meaning.as_signed(rhs, width) == -1) & (meaning.as_signed(lhs, width) == _signed_min(width))
    return not bool(np.any(overflows))


def is_harmless_divisor(divisor: Attribute, *, signed: bool) -> bool:
    """Return whether no lane of a constant divisor is 0, or -1 where that may overflow."""
    values = array_of(divisor)
    if values is None or not bool(np.all(values != 0)):
        return False
    return not signed or not bool(np.any(values == -1) if values.dtype != np.bool_ else np.any(values))


def find_arrays(*attrs: Attribute) -> tuple[Array | None, ...]:
    """The operands as arrays, or Nones when one is not a number, or is a list too long to fold."""
    if any(is_dense(attr) and not is_splat(attr) and len(attr) > LARGEST_FOLDED_LIST for attr in attrs):
        return (None,) * len(attrs)
    return tuple(array_of(attr) for attr in attrs)


def integer_constant(value: int, type_: Attribute) -> Attribute:
    """An integer attribute, or a splat of it for a shaped type."""
    match type_:
        case IntegerType() | IndexType():
            return IntegerAttr(value, type_, truncate_bits=True)
        case _:
            return splat_attr(value, type_)


def fold_float_binary(op: FloatBinaryOp) -> Folded:
    """Constants, and the identities that hold for every float: ``x + -0``, ``x - 0``, ``x * 1``, ``x / 1``, ``max(x,
    x)``."""
    lhs, rhs = op.operands[0], op.operands[1]
    if lhs is rhs and op.name in _IDEMPOTENT_FLOATS:
        return (lhs,)
    left, right = constant_attr(lhs), constant_attr(rhs)
    if right is not None and _is_float_unit(op.name, right):
        return (lhs,)
    if left is not None and op.name in ("arith.addf", "arith.mulf") and _is_float_unit(op.name, left):
        return (rhs,)
    if left is None or right is None:
        return None
    left_values, right_values = find_arrays(left, right)
    if left_values is None or right_values is None:
        return None
    with np.errstate(all="ignore"):
        result = np.asarray(meaning.FLOAT_BINARY[op.name](left_values, right_values))
    # A NaN that no operand was comes out positive, as LLVM folds it; the processor may give either sign.
    operands: list[Array] = [left_values, right_values]
    fresh = np.isnan(result) & ~np.logical_or(*(np.isnan(values) for values in operands))
    result = np.where(fresh, np.full_like(result, np.nan), result)
    return (attr_of(result, lhs.type),)


_IDEMPOTENT_FLOATS = frozenset(f"arith.{name}" for name in ("maximumf", "minimumf", "maxnumf", "minnumf"))
_FLOAT_UNITS = {"arith.addf": -0.0, "arith.subf": 0.0, "arith.mulf": 1.0, "arith.divf": 1.0}


def _is_float_unit(name: str, attr: Attribute) -> bool:
    if name not in _FLOAT_UNITS:
        return False
    unit, values = np.float64(_FLOAT_UNITS[name]), array_of(attr)
    if values is None or values.ndim != 0:
        return False
    return bool(values == unit) and bool(np.signbit(values) == np.signbit(unit))


def fold_constants(op: Operation) -> Folded:
    """Ops that fold on constants only: negf, addui_extended and the extended multiplications."""
    attrs = [constant_attr(operand) for operand in op.operands]
    if any(attr is None for attr in attrs):
        return None
    values = find_arrays(*(attr for attr in attrs if attr is not None))
    type_ = op.operands[0].type
    if any(value is None for value in values):
        return None
    arrays = [value for value in values if value is not None]
    width = bit_width(element_type(type_))
    with np.errstate(over="ignore"):
        match op.name:
            case "arith.negf":
                results = (np.negative(arrays[0]),)
            case "arith.addui_extended":
                results = meaning.add_with_carry(arrays[0], arrays[1], width)
            case "arith.mului_extended" | "arith.mulsi_extended":
                results = meaning.multiply_extended(
                    arrays[0], arrays[1], width, signed=op.name == "arith.mulsi_extended"
                )
            case _:
                return None
    return tuple(
        attr_of(np.asarray(wrap_to_width(np.asarray(result), element_type(res.type))), res.type)
        for result, res in zip(results, op.results, strict=True)
    )


_REFLEXIVE = frozenset({CmpIPredicate.EQ, CmpIPredicate.SLE, CmpIPredicate.SGE, CmpIPredicate.ULE, CmpIPredicate.UGE})


def fold_cmpi(op: CmpiOp) -> Folded:
    """``x < x``, comparisons with the ends of the range, and constants."""
    lhs, rhs, predicate = op.operands[0], op.operands[1], op.kind
    result_type = op.results[0].type
    if lhs is rhs and has_static_shape(result_type):
        return (integer_constant(int(predicate in _REFLEXIVE), result_type),)
    right = constant_attr(rhs)
    if right is None:
        return None
    left = constant_attr(lhs)
    width = bit_width(element_type(lhs.type))
    if left is None:
        return _fold_cmpi_at_limit(op, predicate, find_constant_int(rhs), width)
    left_values, right_values = find_arrays(left, right)
    if left_values is None or right_values is None:
        return None
    return (attr_of(np.asarray(meaning.compare_integers(predicate, left_values, right_values, width)), result_type),)


def _fold_cmpi_at_limit(op: CmpiOp, predicate: CmpIPredicate, right: int | None, width: int) -> Folded:
    """Return what no value, or every value, of the width satisfies; and ``b != false`` = ``b == true`` = b on i1."""
    if right is None:
        return None
    if element_type(op.operands[0].type) == i1 and (predicate, right) in (
        (CmpIPredicate.NE, 0),
        (CmpIPredicate.EQ, -1),
    ):
        return (op.operands[0],)
    never = {
        (CmpIPredicate.SLT, _signed_min(width)),
        (CmpIPredicate.SGT, _signed_max(width)),
        (CmpIPredicate.ULT, 0),
        (CmpIPredicate.UGT, -1),
    }
    always = {
        (CmpIPredicate.SGE, _signed_min(width)),
        (CmpIPredicate.SLE, _signed_max(width)),
        (CmpIPredicate.UGE, 0),
        (CmpIPredicate.ULE, -1),
    }
    key = (predicate, right)
    if key not in never and key not in always:
        return None
    return (integer_constant(int(key in always), op.results[0].type),)


def fold_cmpf(op: CmpfOp) -> Folded:
    """Constants, and the two predicates that ask nothing."""
    predicate, result_type = op.kind, op.results[0].type
    if predicate in (CmpFPredicate.FALSE, CmpFPredicate.TRUE) and has_static_shape(result_type):
        return (integer_constant(int(predicate == CmpFPredicate.TRUE), result_type),)
    left, right = constant_attr(op.operands[0]), constant_attr(op.operands[1])
    if left is None or right is None:
        return None
    left_values, right_values = find_arrays(left, right)
    if left_values is None or right_values is None:
        return None
    return (attr_of(np.asarray(meaning.compare_floats(predicate, left_values, right_values)), result_type),)


def fold_select(op: SelectOp) -> Folded:
    """``select c, x, x``, a constant condition, ``select c, true, false``, and constants lane by lane."""
    condition, lhs, rhs = op.operands[0], op.operands[1], op.operands[2]
    if lhs is rhs:
        return (lhs,)
    chosen = find_constant_int(condition)
    if chosen is not None:
        return (lhs if chosen else rhs,)
    if element_type(lhs.type) == i1 and condition.type == lhs.type:
        left, right = find_constant_int(lhs), find_constant_int(rhs)
        if left == -1 and right == 0:
            return (condition,)
    known: list[Attribute] = []
    for operand in (condition, lhs, rhs):
        attr = constant_attr(operand)
        if not isinstance(attr, (IntegerAttr, FloatAttr, DenseIntOrFPElementsAttr)):
            return None
        known.append(attr)
    if len(known) != 3:
        return None
    values = [value for value in find_arrays(*known) if value is not None]
    if len(values) != 3:
        return None
    return (attr_of(np.where(values[0], values[1], values[2]), lhs.type),)
