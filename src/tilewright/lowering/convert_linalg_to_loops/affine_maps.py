"""Affine expressions as arithmetic on indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from tilewright.dialects import affine, arith
from tilewright.lowering.scalar_builder import Index, ScalarBuilder


def emit_expression(builder: ScalarBuilder, expr: AffineExpr, dims: int, operands: Sequence[SSAValue]) -> Index:
    """The value of an expression over `operands`: `dims` dimensions, then the symbols."""
    match expr:
        case AffineDimExpr():
            return operands[expr.position]
        case AffineSymExpr():
            return operands[dims + expr.position]
        case AffineConstantExpr():
            return expr.value
        case AffineBinaryOpExpr():
            lhs = emit_expression(builder, expr.lhs, dims, operands)
            return _emit_binary(builder, expr.kind, lhs, emit_expression(builder, expr.rhs, dims, operands))
        case _:
            raise NotImplementedError(f"affine expression {expr}")


def _emit_binary(builder: ScalarBuilder, kind: AffineBinaryOpKind, lhs: Index, rhs: Index) -> Index:
    """Affine division rounds down, also below zero; `mod` is never negative."""
    match kind:
        case AffineBinaryOpKind.Add:
            return builder.index_add(lhs, rhs)
        case AffineBinaryOpKind.Mul:
            return builder.index_mul(lhs, rhs)
        case AffineBinaryOpKind.FloorDiv:
            return builder.emit(arith.FloorDivSIOp, builder.as_value(lhs), builder.as_value(rhs))
        case AffineBinaryOpKind.CeilDiv:
            return builder.emit(arith.CeilDivSIOp, builder.as_value(lhs), builder.as_value(rhs))
        case AffineBinaryOpKind.Mod:
            quotient = _emit_binary(builder, AffineBinaryOpKind.FloorDiv, lhs, rhs)
            return builder.index_sub(lhs, builder.index_mul(quotient, rhs))


def emit_extreme(builder: ScalarBuilder, op: affine.MapOp, values: Sequence[Index]) -> Index:
    """The smallest or largest of the values, as the op asks."""
    choose = arith.MinSIOp if isinstance(op, affine.MinOp) else arith.MaxSIOp
    return reduce(lambda a, b: builder.emit(choose, a, b), map(builder.as_value, values))
