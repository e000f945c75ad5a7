"""Arithmetic and conversions of libdevice with a rounding mode: nearest, down, up, towards zero.

A directed rounding is the nearest one, or its neighbour: with r = round(exact) and the sign of exact - r known, r is
right, or the float next to it is, which is one more or one less in the bits. The sign comes from error-free
transformations: Dekker's of a sum, ordered by magnitude, and the remainder of a product, quotient or square root by
fused multiply-adds (T. J. Dekker 1971; S. Boldo and J.-M. Muller, "Exact and approximated error of the FMA", 2011).
Operands whose remainder would underflow are scaled by powers of two before. So the results are exact for all floats:
subnormal ones, zeros of either sign, infinities (towards zero an overflow gives the largest finite number).

Rounding down is rounding up of the negated operands, negated: that makes x - x negative zero, as it should be.

```mlir
%r = tt.extern_elementwise %x, %y {symbol = "__nv_fadd_rz", ...} : (f32, f32) -> f32
// becomes, after the sum %s and its error %e
%over = arith.cmpf olt, %e, %zero : f32  // and the same for %s < 0 < %e
%bits = arith.bitcast %s : f32 to i32
%less = arith.subi %bits, %one : i32
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects.builtin import IntegerType, f32, f64, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, math
from tilewright.lowering.arith_to_linalg.extern_symbols import Emit, ExternSymbol, SymbolTable
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.support.records import dataclass

ROUNDING_SYMBOLS: SymbolTable = {}


@dataclass(frozen=True)
class Strict:
    """A float whose operators round once each and are never contracted with their neighbours.

    A target may fuse `arith.mulf` and `arith.addf`, but nothing can be fused into a fused multiply-add: x + y is
    ``math.fma x, 1, y`` and x * y is ``math.fma x, y, -0``, which LLVM turns back into one plain instruction.
    """

    b: ScalarBuilder
    value: SSAValue

    @property
    def type(self) -> Attribute:
        return self.value.type

    def of(self, number: float) -> Strict:
        """A number as a constant of this type."""
        return Strict(self.b, self.b.float(number, self.type))

    def apply(self, cls: Callable[..., Operation], *others: Strict) -> Strict:
        """An op of this value and others."""
        return Strict(self.b, self.b.emit(cls, self.value, *(other.value for other in others)))

    def __add__(self, other: Strict) -> Strict:
        return self.apply(math.FmaOp, self.of(1.0), other)

    def __sub__(self, other: Strict) -> Strict:
        return self + -other

    def __mul__(self, other: Strict) -> Strict:
        return self.apply(math.FmaOp, other, self.of(-0.0))

    def __truediv__(self, other: Strict) -> Strict:
        return self.apply(arith.DivfOp, other)

    def __neg__(self) -> Strict:
        return self.apply(arith.NegfOp)

    def __abs__(self) -> Strict:
        return self.apply(math.AbsFOp)

    def fma(self, other: Strict, summand: Strict) -> Strict:
        """self * other + summand, rounded once."""
        return self.apply(math.FmaOp, other, summand)

    def cast(self, cls: Callable[[SSAValue, Attribute], Operation], target: Attribute) -> Strict:
        return Strict(self.b, self.b.cast(cls, self.value, target))

    def compare(self, predicate: str, other: Strict | float) -> SSAValue:
        """``arith.cmpf``."""
        other = other if isinstance(other, Strict) else self.of(other)
        return self.b.cmpf(predicate, self.value, other.value)

    def where(self, condition: SSAValue, otherwise: Strict | float) -> Strict:
        """This value where a condition holds."""
        otherwise = otherwise if isinstance(otherwise, Strict) else self.of(otherwise)
        return Strict(self.b, self.b.select(condition, self.value, otherwise.value))

    def both(self, first: SSAValue, second: SSAValue) -> SSAValue:
        """The conjunction of two conditions."""
        return self.b.emit(arith.AndIOp, first, second)

    def step(self, condition: SSAValue, amount: Callable[[SSAValue, Attribute], SSAValue]) -> Strict:
        """This value with an amount, made of its bits, added to its bits where a condition holds."""
        b, kind = self.b, _bits(self.type)
        bits = b.cast(arith.BitcastOp, self.value, kind)
        change = b.select(condition, amount(bits, kind), b.int(0, kind))
        return Strict(b, b.cast(arith.BitcastOp, b.emit(arith.AddiOp, bits, change), self.type))

    def next_up(self, condition: SSAValue) -> Strict:
        """The next larger float where a condition holds; of -0 it is never asked."""
        b, width = self.b, 32 if self.type == f32 else 64

        def away_from_minus_infinity(bits: SSAValue, kind: Attribute) -> SSAValue:
            sign = b.emit(arith.ShRSIOp, bits, b.int(width - 1, kind))
            return b.emit(arith.OrIOp, sign, b.int(1, kind))

        return self.step(condition, away_from_minus_infinity)

    def next_to_zero(self, condition: SSAValue) -> Strict:
        """The next smaller magnitude where a condition holds; of a zero it is never asked."""
        return self.step(condition, lambda _, kind: self.b.int(-1, kind))


def _bits(kind: Attribute) -> IntegerType:
    return i32 if kind == f32 else i64


Rounded = tuple[Strict, Strict]
"""A result within one float of the exact value, and an error with the sign of exact - result (NaN where the result is
exact because an operand is infinite or NaN)."""
Rule = Callable[..., Rounded]


@dataclass(frozen=True)
class Range:
    """Where remainders underflow: below `least` a product's or quotient's, unless its factors are scaled by `factor`,
    which makes multiples of the smallest float out of products of its multiples."""

    least: float
    factor: float


_RANGES: dict[Attribute, Range] = {f32: Range(2.0**-98, 2.0**75), f64: Range(2.0**-900, 2.0**537)}


def _scale(value: Strict) -> Strict:
    """The factor by which the operands are scaled, 1 where a magnitude is large enough."""
    limits = _RANGES[value.type]
    return value.of(limits.factor).where(abs(value).compare("olt", limits.least), 1.0)


def _sum(x: Strict, y: Strict) -> Rounded:
    """Dekker's, which does not overflow unless the sum does: then the error is infinite, with the other sign."""
    ordered = abs(x).compare("oge", abs(y))
    larger, smaller = x.where(ordered, y), y.where(ordered, x)
    total = x + y
    return total, smaller - (total - larger)


def _difference(x: Strict, y: Strict) -> Rounded:
    return _sum(x, -y)


def _product(x: Strict, y: Strict) -> Rounded:
    """x y - p by one fused multiply-add."""
    p = x * y
    c = _scale(p)
    return p, (x * c).fma(y * c, -(p * c * c))


def _quotient(x: Strict, y: Strict) -> Rounded:
    """x - q y, with the sign of the divisor. A large divisor is left alone and the quotient scaled twice."""
    q = x / y
    c = _scale(x)
    large = abs(y).compare("oge", 1.0)
    factor = ((q * c) * c).where(large, q * c)
    rest = (-factor).fma(y.where(large, y * c), x * c * c)
    return q, rest.where(y.compare("oge", 0.0), -rest)


def _reciprocal(x: Strict) -> Rounded:
    return _quotient(x.of(1.0), x)


def _square_root(x: Strict) -> Rounded:
    """x - s s."""
    s = x.apply(math.SqrtOp)
    c = _scale(x)
    return s, (-(s * c)).fma(s * c, x * c * c)


def _narrow_sum(total: Strict, error: Strict) -> Rounded:
    """The exact f64 sum total + error as f32. What the f32 loses is a multiple of the total's last place, so it
    decides the sign unless it is zero."""
    result = total.cast(arith.TruncFOp, f32)
    lost = total - result.cast(arith.ExtFOp, f64)
    return result, error.where(lost.compare("oeq", 0.0), lost)


def _narrowed(x: Strict) -> Rounded:
    return _narrow_sum(x, x.of(0.0))


def _fused(x: Strict, y: Strict, z: Strict) -> Rounded:
    """x y + z: through f64, where the product is exact, or by `_fused_wide`."""
    if x.type == f64:
        return _fused_wide(x, y, z)
    x, y, z = (value.cast(arith.ExtFOp, f64) for value in (x, y, z))
    return _narrow_sum(*_sum(x * y, z))


def _fused_wide(x: Strict, y: Strict, z: Strict) -> Rounded:
    """x y + z in f64, and the sign of what is lost (Boldo and Muller's ErrFma).

    That is exact while nothing under- or overflows: large and small operands are scaled, and where one of the product
    and z is so much smaller than the other that it only breaks ties, it is replaced by a power of two of its sign
    before it could underflow.
    """
    result, product = x.fma(y, z), x * y
    size = abs(product).apply(arith.MaximumfOp, abs(z))
    huge, tiny = size.compare("ogt", 2.0**900), size.compare("olt", 2.0**-700)
    scale = x.of(2.0**-100).where(huge, x.of(2.0**537).where(tiny, 1.0))
    least = x.of(2.0**600).where(huge, x.of(0.0).where(tiny, 2.0**-900))
    breaker = least * scale * scale
    some = x.both(x.compare("une", 0.0), y.compare("une", 0.0))
    breaks = x.both(some, abs(product).compare("olt", least))
    first = breaker.apply(math.CopySignOp, product).where(breaks, x * scale)
    second = x.of(1.0).where(breaks, y * scale)
    breaks = x.both(z.compare("une", 0.0), abs(z).compare("olt", least))
    third = breaker.apply(math.CopySignOp, z).where(breaks, z * scale * scale)
    error = _fused_error(*_product_parts(first, second), third, result * scale * scale)
    finite = x.both(abs(x).compare("olt", inf), x.both(abs(y).compare("olt", inf), abs(z).compare("olt", inf)))
    overflow = x.both(finite, abs(result).compare("oeq", inf))
    return result, (-result).where(overflow, error)


def _product_parts(x: Strict, y: Strict) -> tuple[Strict, Strict]:
    high = x * y
    return high, x.fma(y, -high)


def _fused_error(high: Strict, low: Strict, z: Strict, result: Strict) -> Strict:
    """high + low + z - result, rounded such that its sign is right."""
    middle, rest = _sum(z, low)
    near, far = _sum(high, middle)
    gap, lost = _sum(near - result, far)
    return (gap + rest) + lost


# Directed roundings of a rule's result


def _rounded_up(rounded: Rounded) -> Strict:
    result, error = rounded
    return result.next_up(error.compare("ogt", 0.0))


def _rounded_to_zero(rounded: Rounded) -> Strict:
    result, error = rounded
    above = result.both(result.compare("ogt", 0.0), error.compare("olt", 0.0))
    below = result.both(result.compare("olt", 0.0), error.compare("ogt", 0.0))
    return result.next_to_zero(result.b.emit(arith.OrIOp, above, below))


def _rounded_down(rule: Rule, operands: Sequence[Strict], negated: Sequence[int]) -> Strict:
    """-up(-exact), where negating some operands negates the exact value; a root is not negative: its way down is the
    way to zero."""
    if not negated:
        return _rounded_to_zero(rule(*operands))
    return -_rounded_up(rule(*(-x if index in negated else x for index, x in enumerate(operands))))


Prepare = Callable[[ScalarBuilder, Sequence[SSAValue]], Sequence[Strict]]
"""The operands of a rule, from those of the function."""


def _directed(mode: str, rule: Rule, negated: Sequence[int], operands: Prepare) -> Emit:
    def emit(b: ScalarBuilder, x: Sequence[SSAValue], result: Attribute) -> SSAValue:
        values = operands(b, x)
        match mode:
            case "rd":
                return _rounded_down(rule, values, negated).value
            case "ru":
                return _rounded_up(rule(*values)).value
            case _:
                return _rounded_to_zero(rule(*values)).value

    return emit


def _as_they_are(b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[Strict]:
    return [Strict(b, value) for value in x]


def _from_word(*, signed: bool) -> Prepare:
    """A 32-bit integer is exact in f64."""
    cls = arith.SIToFPOp if signed else arith.UIToFPOp

    def operands(b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[Strict]:
        return [Strict(b, b.cast(cls, x[0], f64))]

    return operands


def _from_long_word(*, signed: bool) -> Prepare:
    """The halves of a 64-bit integer, exact in f64; their sum is the integer."""

    def operands(b: ScalarBuilder, x: Sequence[SSAValue]) -> Sequence[Strict]:
        high = b.emit(arith.ShRSIOp if signed else arith.ShRUIOp, x[0], b.int(32, i64))
        low = b.emit(arith.AndIOp, x[0], b.int(2**32 - 1, i64))
        upper = Strict(b, b.cast(arith.SIToFPOp, high, f64))
        return [upper * upper.of(2.0**32), Strict(b, b.cast(arith.SIToFPOp, low, f64))]

    return operands


def _sum_narrowed(x: Strict, y: Strict) -> Rounded:
    return _narrow_sum(*_sum(x, y))


# The table

_ARITHMETIC: dict[str, tuple[int, Rule, Sequence[int]]] = {
    "add": (2, _sum, (0, 1)),
    "sub": (2, _difference, (0, 1)),
    "mul": (2, _product, (0,)),
    "div": (2, _quotient, (0,)),
    "rcp": (1, _reciprocal, (0,)),
    "sqrt": (1, _square_root, ()),
    "fma": (3, _fused, (0, 2)),
}
"""By name: how many operands, the rule, and the operands that are negated to negate the result."""


def _add(name: str, operands: Sequence[Attribute], result: Attribute, emit: Emit) -> None:
    ROUNDING_SYMBOLS[f"__nv_{name}"] = ExternSymbol(tuple(operands), result, emit)


def _nearest(compute: Callable[[Sequence[Strict]], Strict]) -> Emit:
    """Rounded to nearest, and never contracted: a product and a sum by these functions are two roundings."""
    return lambda b, x, result: compute(_as_they_are(b, x)).value


for _prefix, _type in (("f", f32), ("d", f64)):
    for _mode in ("rd", "ru", "rz"):
        for _name, (_arity, _rule, _negated) in _ARITHMETIC.items():
            _symbol = {"ffma": "fmaf", "dfma": "fma"}.get(_prefix + _name, _prefix + _name)
            _emit = _directed(_mode, _rule, _negated, _as_they_are)
            _add(f"{_symbol}_{_mode}", [_type] * _arity, _type, _emit)
    _add(f"{_prefix}add_rn", [_type] * 2, _type, _nearest(lambda v: v[0] + v[1]))
    _add(f"{_prefix}sub_rn", [_type] * 2, _type, _nearest(lambda v: v[0] - v[1]))
    _add(f"{_prefix}mul_rn", [_type] * 2, _type, _nearest(lambda v: v[0] * v[1]))
    _add(f"{_prefix}div_rn", [_type] * 2, _type, _nearest(lambda v: v[0] / v[1]))
    _add(f"{_prefix}rcp_rn", [_type], _type, _nearest(lambda v: v[0].of(1.0) / v[0]))
    _add(f"{_prefix}sqrt_rn", [_type], _type, _nearest(lambda v: v[0].apply(math.SqrtOp)))
_add("fmaf_rn", [f32] * 3, f32, _nearest(lambda v: v[0].fma(v[1], v[2])))
_add("fma_rn", [f64] * 3, f64, _nearest(lambda v: v[0].fma(v[1], v[2])))


def _inverse_root(x: Strict) -> Strict:
    """In f64, whose error is too small to lead to a wrong f32: no f32's inverse root is that close to the middle of
    two floats (all of them have been tried)."""
    wide = x.cast(arith.ExtFOp, f64)
    return (wide.of(1.0) / wide.apply(math.SqrtOp)).cast(arith.TruncFOp, f32)


_add("frsqrt_rn", [f32], f32, _nearest(lambda v: _inverse_root(v[0])))

for _mode in ("rd", "ru", "rz"):
    _add(f"double2float_{_mode}", [f64], f32, _directed(_mode, _narrowed, (0,), _as_they_are))
    for _letter, _signed in (("", True), ("u", False)):
        _word, _long = _from_word(signed=_signed), _from_long_word(signed=_signed)
        _add(f"{_letter}int2float_{_mode}", [i32], f32, _directed(_mode, _narrowed, (0,), _word))
        _add(f"{_letter}ll2float_{_mode}", [i64], f32, _directed(_mode, _sum_narrowed, (0, 1), _long))
        _add(f"{_letter}ll2double_{_mode}", [i64], f64, _directed(_mode, _sum, (0, 1), _long))
