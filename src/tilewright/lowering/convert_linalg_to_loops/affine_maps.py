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
    AffineMap,
    AffineSymExpr,
)

from tilewright.dialects import arith
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
            return builder.add(lhs, rhs)
        case AffineBinaryOpKind.Mul:
            return builder.mul(lhs, rhs)
        case AffineBinaryOpKind.FloorDiv:
            return builder.emit(arith.FloorDivSIOp, builder.ssa(lhs), builder.ssa(rhs))
        case AffineBinaryOpKind.CeilDiv:
            return builder.emit(arith.CeilDivSIOp, builder.ssa(lhs), builder.ssa(rhs))
        case AffineBinaryOpKind.Mod:
            quotient = _emit_binary(builder, AffineBinaryOpKind.FloorDiv, lhs, rhs)
            return builder.sub(lhs, builder.mul(quotient, rhs))


def emit_subscripts(builder: ScalarBuilder, map_: AffineMap, operands: Sequence[SSAValue]) -> list[SSAValue]:
    """The results of a map."""
    return [builder.ssa(emit_expression(builder, expr, map_.num_dims, operands)) for expr in map_.results]


def emit_extreme(
    builder: ScalarBuilder,
    choose: type[arith.MinSIOp] | type[arith.MaxSIOp],
    map_: AffineMap,
    operands: Sequence[SSAValue],
) -> SSAValue:
    """The smallest or largest of the results of a map."""
    return reduce(lambda a, b: builder.emit(choose, a, b), emit_subscripts(builder, map_, operands))
