"""Affine maps and sets as upstream MLIR writes them: ``(d0, d1)[s0] -> (d0 * 4 - d1, s0 floordiv 2)``."""

from __future__ import annotations

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)

_SPELLING = {
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.Mod: "mod",
    AffineBinaryOpKind.FloorDiv: "floordiv",
    AffineBinaryOpKind.CeilDiv: "ceildiv",
}


def format_map(map: AffineMap) -> str:
    """``(d0)[s0] -> (d0 + s0)``."""
    results = ", ".join(format_expr(result) for result in map.results)
    return f"{_space(map.num_dims, map.num_symbols)} -> ({results})"


def format_set(set: AffineSet) -> str:
    """``(d0)[s0] : (d0 - s0 >= 0, d0 == 0)``."""
    constraints = ", ".join(
        f"{format_expr(constraint.lhs)} {'==' if constraint.kind == AffineConstraintKind.eq else '>='} 0"
        if constraint.rhs == AffineConstantExpr(0)
        else f"{format_expr(constraint.lhs)} {constraint.kind.value} {format_expr(constraint.rhs)}"
        for constraint in set.constraints
    )
    return f"{_space(set.num_dims, set.num_symbols)} : ({constraints})"


def _space(dims: int, symbols: int) -> str:
    text = f"({', '.join(f'd{i}' for i in range(dims))})"
    return f"{text}[{', '.join(f's{i}' for i in range(symbols))}]" if symbols else text


def format_expr(expr: AffineExpr, *, tight: bool = False) -> str:
    """One expression with as few parentheses as it can be read back with; `tight` inside of a product."""
    if not isinstance(expr, AffineBinaryOpExpr):
        return str(expr)
    text = _format_sum(expr) if expr.kind is AffineBinaryOpKind.Add else _format_product(expr)
    return f"({text})" if tight else text


def _format_product(expr: AffineBinaryOpExpr) -> str:
    if expr.kind is AffineBinaryOpKind.Mul and _constant(expr.rhs) == -1:
        return f"-{format_expr(expr.lhs, tight=True)}"
    return f"{format_expr(expr.lhs, tight=True)} {_SPELLING[expr.kind]} {format_expr(expr.rhs, tight=True)}"


def _format_sum(expr: AffineBinaryOpExpr) -> str:
    """A sum; a negative second part becomes a difference."""
    left, right = format_expr(expr.lhs), expr.rhs
    constant = _constant(right)
    if constant is not None and constant < 0:
        return f"{left} - {-constant}"
    if isinstance(right, AffineBinaryOpExpr) and right.kind is AffineBinaryOpKind.Mul:
        factor = _constant(right.rhs)
        if factor == -1:
            is_sum = isinstance(right.lhs, AffineBinaryOpExpr) and right.lhs.kind is AffineBinaryOpKind.Add
            return f"{left} - {format_expr(right.lhs, tight=is_sum)}"
        if factor is not None and factor < -1:
            return f"{left} - {format_expr(right.lhs, tight=True)} * {-factor}"
    return f"{left} + {format_expr(right)}"


def _constant(expr: AffineExpr) -> int | None:
    return expr.value if isinstance(expr, AffineConstantExpr) else None
