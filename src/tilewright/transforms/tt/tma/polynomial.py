"""Whole numbers of a kernel as polynomials over its scalars.

`pid * length * 128 + start * 128 + 64` has the terms `{(pid, length): 128, (start,): 128, (): 64}`. Divisions and
anything else that is not a sum or product are scalars of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue

from tilewright.analysis.index_algebra import Constant, Expr, Phi, Product, Sum, Symbol
from tilewright.dialects import arith, scf
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.types import bit_width, is_integer
from tilewright.support.records import dataclass

Atom = SSAValue | Phi
Monomial = tuple[Atom, ...]
MOST_TERMS = 12


class Unprovable(Exception):
    """Why a load is left as it is."""


class AdvancesInParts(Unprovable):
    """A loop advances an address by no multiple of its step: it might of the number of the iteration."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of scalars, each with a coefficient that is not 0."""

    terms: Mapping[Monomial, int]

    @staticmethod
    def constant(value: int) -> Polynomial:
        """A known number."""
        return Polynomial({(): value} if value else {})

    @staticmethod
    def atom(value: Atom) -> Polynomial:
        """A scalar."""
        return Polynomial({(value,): 1})

    def plus(self, other: Polynomial, factor: int = 1) -> Polynomial:
        """self + factor * other."""
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            terms[monomial] = terms.get(monomial, 0) + factor * coefficient
        return _checked({monomial: coefficient for monomial, coefficient in terms.items() if coefficient})

    def times(self, other: Polynomial) -> Polynomial:
        """self * other."""
        result = Polynomial({})
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                product = tuple(sorted((*left, *right), key=id))
                result = result.plus(Polynomial({product: a * b}))
        return result

    def divided(self, divisor: Polynomial) -> Polynomial | None:
        """self / divisor, a single term; None unless that divides every term."""
        quotients = [divide_term(term, divisor) for term in self.terms.items()]
        if any(quotient is None for quotient in quotients):
            return None
        return Polynomial(dict(quotient for quotient in quotients if quotient is not None))

    @property
    def atoms(self) -> set[Atom]:
        """The scalars that it depends on."""
        return {atom for monomial in self.terms for atom in monomial}

    @property
    def as_constant(self) -> int | None:
        """The number, where it is known."""
        return self.terms.get((), 0) if not self.atoms else None


def _checked(terms: dict[Monomial, int]) -> Polynomial:
    if len(terms) > MOST_TERMS:
        raise Unprovable("its addresses are sums of too many parts")
    return Polynomial(terms)


def divide_term(term: tuple[Monomial, int], divisor: Polynomial) -> tuple[Monomial, int] | None:
    """A term divided by a polynomial of one term; None where that leaves a rest."""
    ((factors, scale),) = divisor.terms.items()
    monomial, coefficient = list(term[0]), term[1]
    for factor in factors:
        if factor not in monomial:
            return None
        monomial.remove(factor)
    return None if coefficient % scale else (tuple(monomial), coefficient // scale)


@dataclass
class Expansion:
    """Expands the numbers of one loop. `computed` are the sums and products that were looked through: the program
    computes them in so many bits, which has to be enough.
    """

    loop: scf.ForOp
    computed: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])

    def of(self, expr: Expr) -> Polynomial:
        """The polynomial of an expression. Raises `Unprovable`."""
        match expr:
            case Constant(value=value):
                return Polynomial.constant(value)
            case Symbol(value=value, unsigned=False):
                return self.of_value(value)
            case Sum(constant=constant, terms=terms):
                total = Polynomial.constant(constant)
                for part, coefficient in terms:
                    total = total.plus(self.of(part), coefficient)
                return total
            case Product(lhs=lhs, rhs=rhs):
                return self.of(lhs).times(self.of(rhs))
            case Phi(slot=slot, place="body") if slot.op is self.loop and not slot.is_pointer:
                return self._of_carried(expr)
            case _:
                raise Unprovable("its addresses depend on what control flow chooses")

    def _of_carried(self, phi: Phi) -> Polynomial:
        """`initial + advance * (counter - lb) / step` of what the loop advances by the same in each iteration."""
        initial, following = phi.slot.incoming
        advance = self._advance(phi, following)
        if not advance.terms:
            return self.of(initial)
        step = find_constant_int(self.loop.step)
        each = None if not step else advance.divided(Polynomial.constant(step))
        if each is None:
            raise AdvancesInParts("the loop does not advance its addresses by a multiple of its step")
        counted = Polynomial.atom(self.loop.induction_variable).plus(self.of_value(self.loop.lb), -1)
        return self.of(initial).plus(each.times(counted))

    def _advance(self, phi: Phi, following: Expr) -> Polynomial:
        if following is phi:
            return Polynomial({})
        if not isinstance(following, Sum):
            raise Unprovable("the loop changes its addresses in other ways than by adding to them")
        advance = Polynomial.constant(following.constant)
        for part, coefficient in following.terms:
            if part is phi and coefficient == 1:
                continue
            advance = advance.plus(self.of(part), coefficient)
        if phi in advance.atoms or all(part is not phi for part, _ in following.terms):
            raise Unprovable("the loop changes its addresses in other ways than by adding to them")
        if any(not self._is_fixed(atom) for atom in advance.atoms):
            raise Unprovable("the loop does not advance its addresses by the same number in each iteration")
        return advance

    def _is_fixed(self, atom: Atom) -> bool:
        if isinstance(atom, Phi):
            return False
        block = atom.owner if isinstance(atom, BlockArgument) else atom.owner.parent
        while isinstance(block, Block):
            if block is self.loop.body.block:
                return False
            block = block.parent_block()
        return True

    def of_value(self, value: SSAValue) -> Polynomial:
        """The polynomial of a scalar of the program."""
        known = find_constant_int(value)
        if known is not None:
            return Polynomial.constant(known)
        if not is_number(value.type):
            raise Unprovable(f"its addresses depend on a number of type {value.type}")
        op = value.op if isinstance(value, OpResult) else None
        match op:
            case arith.ExtSIOp() if is_number(op.operands[0].type):
                return self.of_value(op.operands[0])
            case arith.AddiOp():
                self.computed[value] = None
                return self.of_value(op.operands[0]).plus(self.of_value(op.operands[1]))
            case arith.SubiOp():
                self.computed[value] = None
                return self.of_value(op.operands[0]).plus(self.of_value(op.operands[1]), -1)
            case arith.MuliOp():
                self.computed[value] = None
                return self.of_value(op.operands[0]).times(self.of_value(op.operands[1]))
            case arith.DivSIOp():
                return self._of_quotient(op)
            case _:
                return Polynomial.atom(value)

    def _of_quotient(self, op: arith.DivSIOp) -> Polynomial:
        """Divide evenly, or make a scalar of its own where that is not known. Half of a counter is a multiple of the
        number of the iteration.
        """
        divisor, step = find_constant_int(op.operands[1]), find_constant_int(self.loop.step)
        if not divisor:
            return Polynomial.atom(op.results[0])
        dividend = self.of_value(op.operands[0])
        quotient = dividend.divided(Polynomial.constant(divisor))
        if quotient is not None:
            return quotient
        if step is not None and step > 1 and Polynomial.atom(self.loop.induction_variable).terms == dividend.terms:
            raise AdvancesInParts("its addresses divide the counter of the loop")
        return Polynomial.atom(op.results[0])


def is_number(type: Attribute) -> bool:
    """Return whether a type is one of the two that addresses are computed in."""
    return is_integer(type) and bit_width(type) in (32, 64)
