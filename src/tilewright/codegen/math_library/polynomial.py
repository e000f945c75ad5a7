"""Horner's scheme with FMAs."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.lane_builder import LaneBuilder


def emit_polynomial(b: LaneBuilder, x: str, coefficients: Sequence[float], scalar: str = "float") -> str:
    """coefficients[0] + coefficients[1] * x + ..."""
    result = b.float(coefficients[-1], scalar)
    for coefficient in reversed(coefficients[:-1]):
        result = b.fma(result, x, b.float(coefficient, scalar), scalar)
    return result
