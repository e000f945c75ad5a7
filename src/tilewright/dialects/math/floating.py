"""Functions of one or two floats, and tests of one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tilewright.dialects.math import meaning
from tilewright.dialects.math.shapes import FloatBinaryOp, FloatTestOp, FloatUnaryOp
from tilewright.dialects.numeric import Array


class AbsFOp(FloatUnaryOp):
    """``%r = math.absf %a : f32``: ``|x|``."""

    name = "math.absf"
    FUNCTION: ClassVar = np.abs
    EXACT: ClassVar = True


class AcosOp(FloatUnaryOp):
    """``%r = math.acos %a : f32``: arc cosine."""

    name = "math.acos"
    FUNCTION: ClassVar = np.arccos


class AcoshOp(FloatUnaryOp):
    """``%r = math.acosh %a : f32``: inverse hyperbolic cosine."""

    name = "math.acosh"
    FUNCTION: ClassVar = np.arccosh


class AsinOp(FloatUnaryOp):
    """``%r = math.asin %a : f32``: arc sine."""

    name = "math.asin"
    FUNCTION: ClassVar = np.arcsin


class AsinhOp(FloatUnaryOp):
    """``%r = math.asinh %a : f32``: inverse hyperbolic sine."""

    name = "math.asinh"
    FUNCTION: ClassVar = np.arcsinh


class AtanOp(FloatUnaryOp):
    """``%r = math.atan %a : f32``: arc tangent."""

    name = "math.atan"
    FUNCTION: ClassVar = np.arctan


class AtanhOp(FloatUnaryOp):
    """``%r = math.atanh %a : f32``: inverse hyperbolic tangent."""

    name = "math.atanh"
    FUNCTION: ClassVar = np.arctanh


class CbrtOp(FloatUnaryOp):
    """``%r = math.cbrt %a : f32``: cube root."""

    name = "math.cbrt"
    FUNCTION: ClassVar = np.cbrt


class CeilOp(FloatUnaryOp):
    """``%r = math.ceil %a : f32``: the smallest integer not below."""

    name = "math.ceil"
    FUNCTION: ClassVar = np.ceil
    EXACT: ClassVar = True


class CosOp(FloatUnaryOp):
    """``%r = math.cos %a : f32``: cosine."""

    name = "math.cos"
    FUNCTION: ClassVar = np.cos


class CoshOp(FloatUnaryOp):
    """``%r = math.cosh %a : f32``: hyperbolic cosine."""

    name = "math.cosh"
    FUNCTION: ClassVar = np.cosh


class ErfOp(FloatUnaryOp):
    """``%r = math.erf %a : f32``: the error function."""

    name = "math.erf"
    FUNCTION: ClassVar = staticmethod(meaning.erf)


class ErfcOp(FloatUnaryOp):
    """``%r = math.erfc %a : f32``: ``1 - erf(x)``, precise for large x."""

    name = "math.erfc"
    FUNCTION: ClassVar = staticmethod(meaning.erfc)


class ExpOp(FloatUnaryOp):
    """``%r = math.exp %a : f32``: ``e^x``."""

    name = "math.exp"
    FUNCTION: ClassVar = np.exp


class Exp2Op(FloatUnaryOp):
    """``%r = math.exp2 %a : f32``: ``2^x``."""

    name = "math.exp2"
    FUNCTION: ClassVar = np.exp2


class ExpM1Op(FloatUnaryOp):
    """``%r = math.expm1 %a : f32``: ``e^x - 1``, precise near 0."""

    name = "math.expm1"
    FUNCTION: ClassVar = np.expm1


class FloorOp(FloatUnaryOp):
    """``%r = math.floor %a : f32``: the largest integer not above."""

    name = "math.floor"
    FUNCTION: ClassVar = np.floor
    EXACT: ClassVar = True


class LogOp(FloatUnaryOp):
    """``%r = math.log %a : f32``: natural logarithm."""

    name = "math.log"
    FUNCTION: ClassVar = np.log


class Log10Op(FloatUnaryOp):
    """``%r = math.log10 %a : f32``: decimal logarithm."""

    name = "math.log10"
    FUNCTION: ClassVar = np.log10


class Log1pOp(FloatUnaryOp):
    """``%r = math.log1p %a : f32``: ``log(1 + x)``, precise near 0."""

    name = "math.log1p"
    FUNCTION: ClassVar = np.log1p


class Log2Op(FloatUnaryOp):
    """``%r = math.log2 %a : f32``: binary logarithm."""

    name = "math.log2"
    FUNCTION: ClassVar = np.log2


class RoundOp(FloatUnaryOp):
    """``%r = math.round %a : f32``: the nearest integer, halves away from zero."""

    name = "math.round"
    FUNCTION: ClassVar = staticmethod(meaning.round_away)
    EXACT: ClassVar = True


class RoundEvenOp(FloatUnaryOp):
    """``%r = math.roundeven %a : f32``: the nearest integer, halves to even."""

    name = "math.roundeven"
    FUNCTION: ClassVar = np.rint
    EXACT: ClassVar = True


class RsqrtOp(FloatUnaryOp):
    """``%r = math.rsqrt %a : f32``: ``1 / sqrt(x)``."""

    name = "math.rsqrt"
    FUNCTION: ClassVar = staticmethod(meaning.reciprocal_root)


class SinOp(FloatUnaryOp):
    """``%r = math.sin %a : f32``: sine."""

    name = "math.sin"
    FUNCTION: ClassVar = np.sin


class SinhOp(FloatUnaryOp):
    """``%r = math.sinh %a : f32``: hyperbolic sine."""

    name = "math.sinh"
    FUNCTION: ClassVar = np.sinh


class SqrtOp(FloatUnaryOp):
    """``%r = math.sqrt %a : f32``: square root."""

    name = "math.sqrt"
    FUNCTION: ClassVar = np.sqrt
    EXACT: ClassVar = True


class TanOp(FloatUnaryOp):
    """``%r = math.tan %a : f32``: tangent."""

    name = "math.tan"
    FUNCTION: ClassVar = np.tan


class TanhOp(FloatUnaryOp):
    """``%r = math.tanh %a : f32``: hyperbolic tangent."""

    name = "math.tanh"
    FUNCTION: ClassVar = np.tanh


class TruncOp(FloatUnaryOp):
    """``%r = math.trunc %a : f32``: towards zero, to an integer."""

    name = "math.trunc"
    FUNCTION: ClassVar = np.trunc
    EXACT: ClassVar = True


class Atan2Op(FloatBinaryOp):
    """``%r = math.atan2 %a, %a : f32``: the angle of the point (rhs, lhs)."""

    name = "math.atan2"
    FUNCTION: ClassVar = np.arctan2


class CopySignOp(FloatBinaryOp):
    """``%r = math.copysign %a, %a : f32``: the magnitude of the left operand with the sign of the right one."""

    name = "math.copysign"
    FUNCTION: ClassVar = np.copysign
    EXACT: ClassVar = True


class PowFOp(FloatBinaryOp):
    """``%r = math.powf %a, %a fastmath<fast> : f32``: ``lhs ** rhs``."""

    name = "math.powf"
    FUNCTION: ClassVar = np.power


class IsFiniteOp(FloatTestOp):
    """``%r = math.isfinite %a : f32``: neither infinite nor NaN."""

    name = "math.isfinite"
    FUNCTION: ClassVar = np.isfinite


class IsInfOp(FloatTestOp):
    """``%r = math.isinf %a : f32``: infinite, of either sign."""

    name = "math.isinf"
    FUNCTION: ClassVar = np.isinf


class IsNaNOp(FloatTestOp):
    """``%r = math.isnan %a : f32``: not a number."""

    name = "math.isnan"
    FUNCTION: ClassVar = np.isnan


class IsNormalOp(FloatTestOp):
    """``%r = math.isnormal %a : f32``: neither zero, subnormal, infinite nor NaN."""

    name = "math.isnormal"

    def evaluate(self, *operands: Array) -> Array:
        return meaning.is_normal(operands[0])
