"""Functions of one or two floats, and tests of one."""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from tilewright.dialects.math.shapes import FloatBinaryOp, FloatTestOp, FloatUnaryOp


@irdl_op_definition
class AbsFOp(FloatUnaryOp):
    """``|x|``."""

    name = "math.absf"


@irdl_op_definition
class AcosOp(FloatUnaryOp):
    """Arc cosine."""

    name = "math.acos"


@irdl_op_definition
class AcoshOp(FloatUnaryOp):
    """Inverse hyperbolic cosine."""

    name = "math.acosh"


@irdl_op_definition
class AsinOp(FloatUnaryOp):
    """Arc sine."""

    name = "math.asin"


@irdl_op_definition
class AsinhOp(FloatUnaryOp):
    """Inverse hyperbolic sine."""

    name = "math.asinh"


@irdl_op_definition
class AtanOp(FloatUnaryOp):
    """Arc tangent."""

    name = "math.atan"


@irdl_op_definition
class AtanhOp(FloatUnaryOp):
    """Inverse hyperbolic tangent."""

    name = "math.atanh"


@irdl_op_definition
class CbrtOp(FloatUnaryOp):
    """Cube root."""

    name = "math.cbrt"


@irdl_op_definition
class CeilOp(FloatUnaryOp):
    """The smallest integer not below."""

    name = "math.ceil"


@irdl_op_definition
class CosOp(FloatUnaryOp):
    """Cosine."""

    name = "math.cos"


@irdl_op_definition
class CoshOp(FloatUnaryOp):
    """Hyperbolic cosine."""

    name = "math.cosh"


@irdl_op_definition
class ErfOp(FloatUnaryOp):
    """The error function."""

    name = "math.erf"


@irdl_op_definition
class ErfcOp(FloatUnaryOp):
    """``1 - erf(x)``, precise for large x."""

    name = "math.erfc"


@irdl_op_definition
class ExpOp(FloatUnaryOp):
    """``e^x``."""

    name = "math.exp"


@irdl_op_definition
class Exp2Op(FloatUnaryOp):
    """``2^x``."""

    name = "math.exp2"


@irdl_op_definition
class ExpM1Op(FloatUnaryOp):
    """``e^x - 1``, precise near 0."""

    name = "math.expm1"


@irdl_op_definition
class FloorOp(FloatUnaryOp):
    """The largest integer not above."""

    name = "math.floor"


@irdl_op_definition
class LogOp(FloatUnaryOp):
    """Natural logarithm."""

    name = "math.log"


@irdl_op_definition
class Log10Op(FloatUnaryOp):
    """Decimal logarithm."""

    name = "math.log10"


@irdl_op_definition
class Log1pOp(FloatUnaryOp):
    """``log(1 + x)``, precise near 0."""

    name = "math.log1p"


@irdl_op_definition
class Log2Op(FloatUnaryOp):
    """Binary logarithm."""

    name = "math.log2"


@irdl_op_definition
class RoundOp(FloatUnaryOp):
    """The nearest integer, halves away from zero."""

    name = "math.round"


@irdl_op_definition
class RoundEvenOp(FloatUnaryOp):
    """The nearest integer, halves to even."""

    name = "math.roundeven"


@irdl_op_definition
class RsqrtOp(FloatUnaryOp):
    """``1 / sqrt(x)``."""

    name = "math.rsqrt"


@irdl_op_definition
class SinOp(FloatUnaryOp):
    """Sine."""

    name = "math.sin"


@irdl_op_definition
class SinhOp(FloatUnaryOp):
    """Hyperbolic sine."""

    name = "math.sinh"


@irdl_op_definition
class SqrtOp(FloatUnaryOp):
    """Square root."""

    name = "math.sqrt"


@irdl_op_definition
class TanOp(FloatUnaryOp):
    """Tangent."""

    name = "math.tan"


@irdl_op_definition
class TanhOp(FloatUnaryOp):
    """Hyperbolic tangent."""

    name = "math.tanh"


@irdl_op_definition
class TruncOp(FloatUnaryOp):
    """Towards zero, to an integer."""

    name = "math.trunc"


@irdl_op_definition
class Atan2Op(FloatBinaryOp):
    """The angle of the point (rhs, lhs)."""

    name = "math.atan2"


@irdl_op_definition
class CopySignOp(FloatBinaryOp):
    """The magnitude of the left operand with the sign of the right one."""

    name = "math.copysign"


@irdl_op_definition
class PowFOp(FloatBinaryOp):
    """``lhs ** rhs``."""

    name = "math.powf"


@irdl_op_definition
class IsFiniteOp(FloatTestOp):
    """Neither infinite nor NaN."""

    name = "math.isfinite"


@irdl_op_definition
class IsInfOp(FloatTestOp):
    """Infinite, of either sign."""

    name = "math.isinf"


@irdl_op_definition
class IsNaNOp(FloatTestOp):
    """Not a number."""

    name = "math.isnan"


@irdl_op_definition
class IsNormalOp(FloatTestOp):
    """Neither zero, subnormal, infinite nor NaN."""

    name = "math.isnormal"
