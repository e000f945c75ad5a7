"""1 / sqrt(x) of f32 and f64."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder


def emit_rsqrt(b: FormBuilder, x: str) -> str:
    """Two correctly rounded steps: at most 1.5 ulp. 0 gives infinity, infinity 0, negative numbers NaN."""
    return b.fdiv(b.float(1.0, b.scalar), b.sqrt(x, b.scalar), b.scalar)
