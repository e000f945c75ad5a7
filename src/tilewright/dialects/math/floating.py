"""Functions of one or two floats, and tests of one."""

from __future__ import annotations

from tilewright.dialects.math.shapes import FloatBinaryOp, FloatTestOp, FloatUnaryOp


class AbsFOp(FloatUnaryOp):
    """``%r = math.absf %a : f32``: ``|x|``."""

    name = "math.absf"


class AcosOp(FloatUnaryOp):
    """``%r = math.acos %a : f32``: arc cosine."""

    name = "math.acos"


class AcoshOp(FloatUnaryOp):
    """``%r = math.acosh %a : f32``: inverse hyperbolic cosine."""

    name = "math.acosh"


class AsinOp(FloatUnaryOp):
    """``%r = math.asin %a : f32``: arc sine."""

    name = "math.asin"


class AsinhOp(FloatUnaryOp):
    """``%r = math.asinh %a : f32``: inverse hyperbolic sine."""

    name = "math.asinh"


class AtanOp(FloatUnaryOp):
    """``%r = math.atan %a : f32``: arc tangent."""

    name = "math.atan"


class AtanhOp(FloatUnaryOp):
    """``%r = math.atanh %a : f32``: inverse hyperbolic tangent."""

    name = "math.atanh"


class CbrtOp(FloatUnaryOp):
    """``%r = math.cbrt %a : f32``: cube root."""

    name = "math.cbrt"


class CeilOp(FloatUnaryOp):
    """``%r = math.ceil %a : f32``: the smallest integer not below."""

    name = "math.ceil"


class CosOp(FloatUnaryOp):
    """``%r = math.cos %a : f32``: cosine."""

    name = "math.cos"


class CoshOp(FloatUnaryOp):
    """``%r = math.cosh %a : f32``: hyperbolic cosine."""

    name = "math.cosh"


class ErfOp(FloatUnaryOp):
    """``%r = math.erf %a : f32``: the error function."""

    name = "math.erf"


class ErfcOp(FloatUnaryOp):
    """``%r = math.erfc %a : f32``: ``1 - erf(x)``, precise for large x."""

    name = "math.erfc"


class ExpOp(FloatUnaryOp):
    """``%r = math.exp %a : f32``: ``e^x``."""

    name = "math.exp"


class Exp2Op(FloatUnaryOp):
    """``%r = math.exp2 %a : f32``: ``2^x``."""

    name = "math.exp2"


class ExpM1Op(FloatUnaryOp):
    """``%r = math.expm1 %a : f32``: ``e^x - 1``, precise near 0."""

    name = "math.expm1"


class FloorOp(FloatUnaryOp):
    """``%r = math.floor %a : f32``: the largest integer not above."""

    name = "math.floor"


class LogOp(FloatUnaryOp):
    """``%r = math.log %a : f32``: natural logarithm."""

    name = "math.log"


class Log10Op(FloatUnaryOp):
    """``%r = math.log10 %a : f32``: decimal logarithm."""

    name = "math.log10"


class Log1pOp(FloatUnaryOp):
    """``%r = math.log1p %a : f32``: ``log(1 + x)``, precise near 0."""

    name = "math.log1p"


class Log2Op(FloatUnaryOp):
    """``%r = math.log2 %a : f32``: binary logarithm."""

    name = "math.log2"


class RoundOp(FloatUnaryOp):
    """``%r = math.round %a : f32``: the nearest integer, halves away from zero."""

    name = "math.round"


class RoundEvenOp(FloatUnaryOp):
    """``%r = math.roundeven %a : f32``: the nearest integer, halves to even."""

    name = "math.roundeven"


class RsqrtOp(FloatUnaryOp):
    """``%r = math.rsqrt %a : f32``: ``1 / sqrt(x)``."""

    name = "math.rsqrt"


class SinOp(FloatUnaryOp):
    """``%r = math.sin %a : f32``: sine."""

    name = "math.sin"


class SinhOp(FloatUnaryOp):
    """``%r = math.sinh %a : f32``: hyperbolic sine."""

    name = "math.sinh"


class SqrtOp(FloatUnaryOp):
    """``%r = math.sqrt %a : f32``: square root."""

    name = "math.sqrt"


class TanOp(FloatUnaryOp):
    """``%r = math.tan %a : f32``: tangent."""

    name = "math.tan"


class TanhOp(FloatUnaryOp):
    """``%r = math.tanh %a : f32``: hyperbolic tangent."""

    name = "math.tanh"


class TruncOp(FloatUnaryOp):
    """``%r = math.trunc %a : f32``: towards zero, to an integer."""

    name = "math.trunc"


class Atan2Op(FloatBinaryOp):
    """``%r = math.atan2 %a, %a : f32``: the angle of the point (rhs, lhs)."""

    name = "math.atan2"


class CopySignOp(FloatBinaryOp):
    """``%r = math.copysign %a, %a : f32``: the magnitude of the left operand with the sign of the right one."""

    name = "math.copysign"


class PowFOp(FloatBinaryOp):
    """``%r = math.powf %a, %a fastmath<fast> : f32``: ``lhs ** rhs``."""

    name = "math.powf"


class IsFiniteOp(FloatTestOp):
    """``%r = math.isfinite %a : f32``: neither infinite nor NaN."""

    name = "math.isfinite"


class IsInfOp(FloatTestOp):
    """``%r = math.isinf %a : f32``: infinite, of either sign."""

    name = "math.isinf"


class IsNaNOp(FloatTestOp):
    """``%r = math.isnan %a : f32``: not a number."""

    name = "math.isnan"


class IsNormalOp(FloatTestOp):
    """``%r = math.isnormal %a : f32``: neither zero, subnormal, infinite nor NaN."""

    name = "math.isnormal"
