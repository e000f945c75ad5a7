"""erf of f32: x + x p(x^2) below 1, 1 - exp(q(x)) up to 4 (q fits log erfc), 1 beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.codegen.math_library.exponential import emit_exp
from tilewright.codegen.math_library.polynomial import emit_polynomial

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder

ERF_COEFFICIENTS = (
    0.12837916612625122,
    -0.3761262595653534,
    0.11283578723669052,
    -0.026853347197175026,
    0.005187162198126316,
    -0.0007997853099368513,
    7.806903886375949e-05,
)
"""erf(x) / x - 1 in x^2 on [0, 1]."""

LOG_ERFC_COEFFICIENTS = (
    -0.00035370892146602273,
    -1.1270400285720825,
    -0.638225793838501,
    -0.10303715616464615,
    0.02180515229701996,
    -0.0029395469464361668,
    0.0001855656737461686,
)
"""log(erfc(x)) on [1, 4], weighted by erfc(x)."""

LARGEST = 4.0


def emit_erf(b: FormBuilder, x: str) -> str:
    square = b.fmul(x, x)
    small = b.fma(x, emit_polynomial(b, square, ERF_COEFFICIENTS), x)
    size = b.fabs(x)
    bounded = b.select(b.fcmp("ogt", size, b.float(LARGEST)), b.float(LARGEST), size)
    rest = emit_exp(b, emit_polynomial(b, bounded, LOG_ERFC_COEFFICIENTS))
    large = b.copysign(b.fsub(b.float(1.0), rest), x)
    return b.select(b.fcmp("olt", size, b.float(1.0)), small, large)
