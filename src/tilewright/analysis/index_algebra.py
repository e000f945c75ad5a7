"""Symbolic index arithmetic: what analyses compute with before any IR is emitted.

An `Expr` is a whole number of unlimited width that depends on scalar SSA values. Sums are kept in a canonical form (a
constant plus integer multiples of other expressions, sorted), and equal expressions of one `IndexAlgebra` are the same
object: comparing them is `is`, and what cancels is gone. Products of two sums are not multiplied out.

```python
algebra = IndexAlgebra()
x = algebra.symbol(pid)
algebra.add(algebra.scale(x, 4), algebra.scale(x, -4)) is algebra.zero
```
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects import arith
from tilewright.dialects.types import bit_width
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Expr:
    """A whole number known only symbolically. `id` orders expressions by creation."""

    id: int


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Expr):
    """A number known now."""

    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Symbol(Expr):
    """A scalar integer or index value of the program, read as signed, or as unsigned."""

    value: SSAValue
    unsigned: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Uniform(Expr):
    """The one number that all lanes of an integer tensor share."""

    value: SSAValue


@dataclass(frozen=True, slots=True, eq=False)
class Phi(Expr):
    """A number that control flow chooses: one slot of a merge, seen at one of its places (see `analysis.merges`)."""

    slot: Any
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Expr):
    """`if_true` where the scalar i1 `condition` holds, else `if_false`."""

    condition: SSAValue
    if_true: Expr
    if_false: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Product(Expr):
    """The product of two expressions of which none is constant."""

    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Expr):
    """`constant + sum(coefficient * term)`: at least two summands or a coefficient other than 1, no term a sum."""

    constant: int
    terms: tuple[tuple[Expr, int], ...]


@dataclass(slots=True)
class IndexAlgebra:
    """Makes expressions, each only once."""

    _made: dict[tuple[Any, ...], Expr] = field(default_factory=dict[tuple[Any, ...], Expr])
    zero: Expr = field(init=False)
    one: Expr = field(init=False)

    def __post_init__(self) -> None:
        self.zero = self.constant(0)
        self.one = self.constant(1)

    def _make(self, cls: type[Expr], *parts: Any) -> Expr:
        key = (cls, *parts)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = cls(len(self._made), *parts)
        return found

    # Leaves

    def constant(self, value: int) -> Expr:
        """A known number."""
        return self._make(Constant, value)

    def symbol(self, value: SSAValue, *, unsigned: bool = False) -> Expr:
        """A scalar of the program. Constants and sign extensions are looked through."""
        known = arith.find_constant_int(value)
        if known is not None:
            return self.constant(known & (1 << bit_width(value.type)) - 1 if unsigned else known)
        owner = value.owner
        if isinstance(owner, arith.ExtSIOp) and not unsigned and bit_width(owner.operands[0].type) > 1:
            return self.symbol(owner.operands[0])
        return self._make(Symbol, value, unsigned)

    def uniform(self, value: SSAValue) -> Expr:
        """The number in every lane of `value`, which the caller knows to be uniform."""
        return self._make(Uniform, value)

    def phi(self, slot: object, place: str) -> Expr:
        """A merge's slot at a place."""
        return self._make(Phi, slot, place)

    def choice(self, condition: SSAValue, if_true: Expr, if_false: Expr) -> Expr:
        """A select by a scalar condition."""
        return if_true if if_true is if_false else self._make(Choice, condition, if_true, if_false)

    # Arithmetic

    def add(self, lhs: Expr, rhs: Expr) -> Expr:
        """lhs + rhs."""
        if lhs is self.zero:
            return rhs
        if rhs is self.zero:
            return lhs
        return self._sum((lhs, rhs))

    def subtract(self, lhs: Expr, rhs: Expr) -> Expr:
        """lhs - rhs."""
        return self.zero if lhs is rhs else self.add(lhs, self.scale(rhs, -1))

    def total(self, exprs: Iterable[Expr]) -> Expr:
        """The sum of all."""
        return self._sum(exprs)

    def scale(self, expr: Expr, factor: int) -> Expr:
        """factor * expr."""
        if factor == 0:
            return self.zero
        if factor == 1:
            return expr
        constant, terms = _linear(expr)
        return self._from_linear(constant * factor, {term: coefficient * factor for term, coefficient in terms})

    def multiply(self, lhs: Expr, rhs: Expr) -> Expr:
        """lhs * rhs."""
        if isinstance(lhs, Constant):
            return self.scale(rhs, lhs.value)
        if isinstance(rhs, Constant):
            return self.scale(lhs, rhs.value)
        if lhs.id > rhs.id:
            lhs, rhs = rhs, lhs
        return self._make(Product, lhs, rhs)

    def divide_exactly(self, expr: Expr, divisor: int) -> Expr | None:
        """expr / divisor where every summand is a multiple of the divisor, else None."""
        constant, terms = _linear(expr)
        if constant % divisor or any(coefficient % divisor for _, coefficient in terms):
            return None
        return self._from_linear(constant // divisor, {term: coefficient // divisor for term, coefficient in terms})

    def _sum(self, exprs: Iterable[Expr]) -> Expr:
        constant = 0
        terms: dict[Expr, int] = {}
        for expr in exprs:
            part, summands = _linear(expr)
            constant += part
            for term, coefficient in summands:
                terms[term] = terms.get(term, 0) + coefficient
        return self._from_linear(constant, terms)

    def _from_linear(self, constant: int, terms: dict[Expr, int]) -> Expr:
        kept = [(term, coefficient) for term, coefficient in terms.items() if coefficient]
        if not kept:
            return self.constant(constant)
        if constant == 0 and len(kept) == 1 and kept[0][1] == 1:
            return kept[0][0]
        kept.sort(key=_term_order)
        return self._make(Sum, constant, tuple(kept))


def _term_order(summand: tuple[Expr, int]) -> int:
    return summand[0].id


def _linear(expr: Expr) -> tuple[int, tuple[tuple[Expr, int], ...]]:
    match expr:
        case Constant(value=value):
            return value, ()
        case Sum(constant=constant, terms=terms):
            return constant, terms
        case _:
            return 0, ((expr, 1),)


def constant_value(expr: Expr) -> int | None:
    """The number where it is known, else None."""
    return expr.value if isinstance(expr, Constant) else None


def constant_part(expr: Expr) -> int:
    """The known summand of an expression."""
    return _linear(expr)[0]
