"""Floats in all lanes as Python numbers, so that a form reads like its formula and serves f32 and f64 alike.

```python
x = Number(b, "%x0")
y = abs(x) + 1.0                  # fadd <16 x float> ...
z = (x < 0.0).pick(-y, y)         # fcmp olt, fneg, select
```

Every operator rounds once and is never contracted; `Number.fma` is the only fused operation. What a form takes for
granted about exact sums and lost digits therefore holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from tilewright.codegen.math_library import FormBuilder


LONGEST_CHAIN = 10
"""With more coefficients than that, waiting for each multiplication takes longer than two more of them."""


@dataclass(frozen=True, slots=True)
class Condition:
    """An i1 in every lane."""

    b: FormBuilder
    name: str

    def pick(self, if_true: Number | float, if_false: Number | float) -> Number:
        """One number where it holds, another where not; at most one of them is a constant's value."""
        like = if_true if isinstance(if_true, Number) else if_false
        scalar = like.scalar if isinstance(like, Number) else self.b.scalar
        parts = [v.name if isinstance(v, Number) else self.b.float(v, scalar) for v in (if_true, if_false)]
        return Number(self.b, self.b.select(self.name, parts[0], parts[1], scalar), scalar)

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.b, self.b.and_(self.name, other.name, "i1"))

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.b, self.b.or_(self.name, other.name, "i1"))

    def __invert__(self) -> Condition:
        return Condition(self.b, self.b.not_(self.name))


@dataclass(frozen=True, slots=True)
class Number:
    """A float in every lane, of the builder's type if no other is named."""

    b: FormBuilder
    name: str
    kind: str = ""

    @property
    def scalar(self) -> str:
        """``float`` or ``double``."""
        return self.kind or self.b.scalar

    def of(self, value: float) -> Number:
        """A constant of this type."""
        return Number(self.b, self.b.float(value, self.scalar), self.scalar)

    def _with(self, name: str) -> Number:
        return Number(self.b, name, self.scalar)

    def _operand(self, other: Number | float) -> str:
        return other.name if isinstance(other, Number) else self.b.float(other, self.scalar)

    def _binary(self, opcode: str, left: Number | float, right: Number | float) -> Number:
        return self._with(self.b.binary(opcode, self._operand(left), self._operand(right), self.scalar))

    def __add__(self, other: Number | float) -> Number:
        return self._binary("fadd", self, other)

    def __radd__(self, other: float) -> Number:
        return self._binary("fadd", other, self)

    def __sub__(self, other: Number | float) -> Number:
        return self._binary("fsub", self, other)

    def __rsub__(self, other: float) -> Number:
        return self._binary("fsub", other, self)

    def __mul__(self, other: Number | float) -> Number:
        return self._binary("fmul", self, other)

    def __rmul__(self, other: float) -> Number:
        return self._binary("fmul", other, self)

    def __truediv__(self, other: Number | float) -> Number:
        return self._binary("fdiv", self, other)

    def __rtruediv__(self, other: float) -> Number:
        return self._binary("fdiv", other, self)

    def __neg__(self) -> Number:
        return self._with(self.b.fneg(self.name, self.scalar))

    def __abs__(self) -> Number:
        return self._with(self.b.fabs(self.name, self.scalar))

    def fma(self, factor: Number | float, summand: Number | float) -> Number:
        """self * factor + summand, rounded once."""
        return self._with(self.b.fma(self.name, self._operand(factor), self._operand(summand), self.scalar))

    def intrinsic(self, name: str, *others: Number | float) -> Number:
        """An elementwise intrinsic of LLVM: ``x.intrinsic("sqrt")``."""
        return self._with(self.b.intrinsic(name, self.scalar, self.name, *map(self._operand, others)))

    def copysign(self, sign: Number) -> Number:
        """This magnitude with the sign of another number."""
        return self.intrinsic("copysign", sign)

    def polynomial(self, coefficients: Sequence[float]) -> Number:
        """coefficients[0] + coefficients[1] * self + ..., by Horner's scheme; long ones even and odd powers apart."""
        if len(coefficients) > LONGEST_CHAIN:
            square = self * self
            return square.polynomial(coefficients[1::2]).fma(self, square.polynomial(coefficients[::2]))
        result = self.of(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = result.fma(self, coefficient)
        return result

    def _compare(self, predicate: str, other: Number | float) -> Condition:
        return Condition(self.b, self.b.fcmp(predicate, self.name, self._operand(other), self.scalar))

    def __lt__(self, other: Number | float) -> Condition:
        return self._compare("olt", other)

    def __le__(self, other: Number | float) -> Condition:
        return self._compare("ole", other)

    def __gt__(self, other: Number | float) -> Condition:
        return self._compare("ogt", other)

    def __ge__(self, other: Number | float) -> Condition:
        return self._compare("oge", other)

    def equals(self, other: Number | float) -> Condition:
        """Equal as numbers: -0 equals 0, NaN nothing."""
        return self._compare("oeq", other)

    def differs(self, other: Number | float) -> Condition:
        """Different numbers, neither of them NaN."""
        return self._compare("one", other)

    def is_nan(self) -> Condition:
        return self._compare("uno", self)


def fast_two_sum(large: Number, small: Number) -> tuple[Number, Number]:
    """large + small as a rounded sum and what rounding took, exactly, where |large| >= |small| (T. J. Dekker, 1971)."""
    total = large + small
    return total, small - (total - large)


def two_product(x: Number, y: Number) -> tuple[Number, Number]:
    """x * y as a rounded product and what rounding took, exactly."""
    product = x * y
    return product, x.fma(y, -product)
