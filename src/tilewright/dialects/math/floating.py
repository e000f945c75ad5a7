"""Functions of one or two floats, and tests of one."""

from __future__ import annotations

from tilewright.dialects.definition import op_definition
from tilewright.dialects.math.shapes import FloatBinaryOp, FloatTestOp, FloatUnaryOp


@op_definition
class AbsFOp(FloatUnaryOp):
    """``|x|``."""

    name = "math.absf"


@op_definition
class AcosOp(FloatUnaryOp):
    """Arc cosine."""

    name = "math.acos"


@op_definition
class AcoshOp(FloatUnaryOp):
    """Inverse hyperbolic cosine."""

    name = "math.acosh"


@op_definition
class AsinOp(FloatUnaryOp):
    """Arc sine."""

    name = "math.asin"


@op_definition
class AsinhOp(FloatUnaryOp):
    """Inverse hyperbolic sine."""

    name = "math.asinh"


@op_definition
class AtanOp(FloatUnaryOp):
    """Arc tangent."""

    name = "math.atan"


@op_definition
class AtanhOp(FloatUnaryOp):
    """Inverse hyperbolic tangent."""

    name = "math.atanh"


@op_definition
class CbrtOp(FloatUnaryOp):
    """Cube root."""

    name = "math.cbrt"


@op_definition
class CeilOp(FloatUnaryOp):
    """The smallest integer not below."""

    name = "math.ceil"


@op_definition
class CosOp(FloatUnaryOp):
    """Cosine."""

    name = "math.cos"


@op_definition
class CoshOp(FloatUnaryOp):
    """Hyperbolic cosine."""

    name = "math.cosh"


@op_definition
class ErfOp(FloatUnaryOp):
    """The error function."""

    name = "math.erf"


@op_definition
class ErfcOp(FloatUnaryOp):
    """``1 - erf(x)``, precise for large x."""

    name = "math.erfc"


@op_definition
class ExpOp(FloatUnaryOp):
    """``e^x``."""

    name = "math.exp"


@op_definition
class Exp2Op(FloatUnaryOp):
    """``2^x``."""

    name = "math.exp2"


@op_definition
class ExpM1Op(FloatUnaryOp):
    """``e^x - 1``, precise near 0."""

    name = "math.expm1"


@op_definition
class FloorOp(FloatUnaryOp):
    """The largest integer not above."""

    name = "math.floor"


@op_definition
class LogOp(FloatUnaryOp):
    """Natural logarithm."""

    name = "math.log"


@op_definition
class Log10Op(FloatUnaryOp):
    """Decimal logarithm."""

    name = "math.log10"


@op_definition
class Log1pOp(FloatUnaryOp):
    """``log(1 + x)``, precise near 0."""

    name = "math.log1p"


@op_definition
class Log2Op(FloatUnaryOp):
    """Binary logarithm."""

    name = "math.log2"


@op_definition
class RoundOp(FloatUnaryOp):
    """The nearest integer, halves away from zero."""

    name = "math.round"


@op_definition
class RoundEvenOp(FloatUnaryOp):
    """The nearest integer, halves to even."""

    name = "math.roundeven"


@op_definition
class RsqrtOp(FloatUnaryOp):
    """``1 / sqrt(x)``."""

    name = "math.rsqrt"


@op_definition
class SinOp(FloatUnaryOp):
    """Sine."""

    name = "math.sin"


@op_definition
class SinhOp(FloatUnaryOp):
    """Hyperbolic sine."""

    name = "math.sinh"


@op_definition
class SqrtOp(FloatUnaryOp):
    """Square root."""

    name = "math.sqrt"


@op_definition
class TanOp(FloatUnaryOp):
    """Tangent."""

    name = "math.tan"


@op_definition
class TanhOp(FloatUnaryOp):
    """Hyperbolic tangent."""

    name = "math.tanh"


@op_definition
class TruncOp(FloatUnaryOp):
    """Towards zero, to an integer."""

    name = "math.trunc"


@op_definition
class Atan2Op(FloatBinaryOp):
    """The angle of the point (rhs, lhs)."""

    name = "math.atan2"


@op_definition
class CopySignOp(FloatBinaryOp):
    """The magnitude of the left operand with the sign of the right one."""

    name = "math.copysign"


@op_definition
class PowFOp(FloatBinaryOp):
    """``lhs ** rhs``."""

    name = "math.powf"


@op_definition
class IsFiniteOp(FloatTestOp):
    """Neither infinite nor NaN."""

    name = "math.isfinite"


@op_definition
class IsInfOp(FloatTestOp):
    """Infinite, of either sign."""

    name = "math.isinf"


@op_definition
class IsNaNOp(FloatTestOp):
    """Not a number."""

    name = "math.isnan"


@op_definition
class IsNormalOp(FloatTestOp):
    """Neither zero, subnormal, infinite nor NaN."""

    name = "math.isnormal"
