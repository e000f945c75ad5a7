"""tanh of f32: an odd polynomial below 0.625, 1 - 2 / (exp(2|x|) + 1) above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.exponential import emit_exp
from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

TANH_COEFFICIENTS = (
    -0.3333333134651184,
    0.13333220779895782,
    -0.05394818261265755,
    0.021706948056817055,
    -0.00819025281816721,
    0.002153015462681651,
)
"""(tanh x - x) / x^3 in x^2 on |x| <= 0.625."""

POLYNOMIAL_LIMIT = 0.625


def emit_tanh(b: FormBuilder, x: str) -> str:
    size = b.fabs(x)
    square = b.fmul(x, x)
    small = b.fma(b.fmul(square, x), emit_polynomial(b, square, TANH_COEFFICIENTS), x)
    grown = emit_exp(b, b.fadd(size, size))  # exp overflows to infinity, which gives 1
    large = b.fsub(b.float(1.0), b.fdiv(b.float(2.0), b.fadd(grown, b.float(1.0))))
    return b.copysign(b.select(b.fcmp("olt", size, b.float(POLYNOMIAL_LIMIT)), small, large), x)
