"""Numbers as terms: arithmetic, comparisons and conversions of single elements, as rules of instructions write them.

A sum or product that an instruction rounds by itself must not be fused with its neighbours, which targets may do with
`arith.mulf` and `arith.addf`. Nothing can be fused into a fused multiply-add, so there ``x + y`` is ``fma x, 1, y`` and
``x * y`` is ``fma x, y, -0``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects import arith, math, tt
from tilewright.transforms.inline_ptx.terms import Constant, Term, Terms, Word, bits_of

SMALLEST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}
LARGEST = {"f16": 65504.0, "bf16": (2 - 2.0**-7) * 2.0**127, "f32": (2 - 2.0**-23) * 2.0**127}
DIRECTED = {"rz": "rz", "rm": "rd", "rp": "ru"}
"""Rounding modes, and how libdevice spells them."""


def float_bits(number: float, type_: str) -> int:
    """The bits of a number in a type that can represent it."""
    if type_ == "bf16":
        return int(np.float32(number).view(np.uint32)) >> 16
    dtype = np.dtype({"f16": "f2", "f32": "f4", "f64": "f8"}[type_])
    return int(np.array(number, dtype).view(f"u{dtype.itemsize}"))


def number_of_bits(bits: int, type_: str) -> float:
    """The number that bits are in a type; NaN also for types without constants."""
    if type_ == "bf16":
        return float(np.uint32(bits << 16).view(np.float32))
    if type_ not in ("f16", "f32", "f64"):
        return float("nan")
    width = int(type_[1:])
    return float(np.array(bits, f"u{width // 8}").view(f"f{width // 8}"))


def has_exact_sum(terms: Terms, a: Term, b: Term, c: Term) -> bool:
    """Return whether a * b + c of f16 fits f32, whatever the bits are that are not known."""
    sizes = [_size_of_half(terms.bits(term)) for term in (a, b, c)] if a.type == "f16" else [None]
    if None in sizes:
        return False
    (low_a, high_a), (low_b, high_b), (low_c, high_c) = (size for size in sizes if size is not None)
    return max(high_a + high_b + 1, high_c) + 1 - min(low_a + low_b, low_c) < 24


def _size_of_half(bits: Term) -> tuple[int, int] | None:
    """The exponents of the lowest and the highest bit of an f16 that is not zero, from those of its bits that are
    known, the exponent among them."""
    parts = bits.parts if isinstance(bits, Word) else (bits,)
    known, start, value = 0, 0, 0
    for part in parts:
        width = bits_of(part.type)
        if isinstance(part, Constant):
            known |= ((1 << width) - 1) << start
            value |= part.value << start
        start += width
    exponent = value >> 10 & 31
    if known >> 10 & 31 != 31 or exponent in (0, 31):
        return None
    zeros = known & ~value & 0x3FF
    return exponent - 25 + ((~zeros & (zeros + 1)).bit_length() - 1), exponent - 15


class Numbers(Terms):
    """Terms, and what numbers are made with."""

    def __init__(self) -> None:
        super().__init__()
        self._flushed: set[Term] = set()
        """Terms that are never subnormal."""

    # Integers

    def add(self, a: Term, b: Term) -> Term:
        """The sum of two integers. Where both have a zero, nothing is carried on: halves are added by themselves."""
        half = bits_of(a.type) // 2
        if half >= 8 and all(self._is_zero(term, half - 1) for term in (a, b)):
            low, high = ([self.field(term, start, half) for term in (a, b)] for start in (0, half))
            return self.word([self.add(*low), self.add(*high)])
        return self.apply(arith.AddiOp, a.type, a, b)

    def _is_zero(self, term: Term, bit: int) -> bool:
        found = self.field(term, bit, 1)
        return isinstance(found, Constant) and not found.value

    def subtract(self, a: Term, b: Term) -> Term:
        """The difference of two integers."""
        return self.apply(arith.SubiOp, a.type, a, b)

    def multiply(self, a: Term, b: Term) -> Term:
        """The low half of a product."""
        return self.apply(arith.MuliOp, a.type, a, b)

    def like(self, value: int, term: Term) -> Term:
        """An integer of the width of a term."""
        return self.constant(value, bits_of(term.type))

    def extended(self, term: Term, width: int, *, signed: bool) -> Term:
        """An integer in another width."""
        return self.sign_extended(term, width) if signed else self.zero_extended(term, width)

    def compare(self, predicate: str, a: Term, b: Term) -> Term:
        """A comparison of integers (`slt`) or floats (`olt`)."""
        op = arith.CmpiOp if a.type.startswith("i") else arith.CmpfOp
        return self.apply(op, "i1", a, b, detail=(predicate,))

    def clamped(self, term: Term, low: int, high: int) -> Term:
        """A signed integer between two bounds."""
        raised = self.apply(arith.MaxSIOp, term.type, term, self.like(low, term))
        return self.apply(arith.MinSIOp, term.type, raised, self.like(high, term))

    def shifted_left(self, term: Term, amount: Term) -> Term:
        """Beyond the width: 0."""
        width = bits_of(term.type)
        if isinstance(amount, Constant):
            by = min(amount.value, width)
            kept = [self.field(term, 0, width - by)] if by < width else []
            return self.word([*([self.constant(0, by)] if by else []), *kept])
        return self._shifted(arith.ShLIOp, term, amount, self.constant(0, width))

    def shifted_right(self, term: Term, amount: Term, *, signed: bool = False) -> Term:
        """Beyond the width: 0, or the sign."""
        width = bits_of(term.type)
        if isinstance(amount, Constant):
            by = min(amount.value, width - 1 if signed else width)
            if by == 0:
                return term
            if signed:
                return self.apply(arith.ShRSIOp, term.type, term, self.constant(by, width))
            kept = [self.field(term, by, width - by)] if by < width else []
            return self.word([*kept, self.constant(0, by)])
        if signed:
            most = self.like(width - 1, amount)
            bounded = self.apply(arith.MinUIOp, amount.type, amount, most)
            return self.apply(arith.ShRSIOp, term.type, term, self.zero_extended(bounded, width))
        return self._shifted(arith.ShRUIOp, term, amount, self.constant(0, width))

    def _shifted(self, op: Callable[..., Operation], term: Term, amount: Term, beyond: Term) -> Term:
        width = bits_of(term.type)
        inside = self.compare("ult", amount, self.like(width, amount))
        by = self.zero_extended(amount, width)
        within = self.logic(arith.AndIOp, by, self.constant(width - 1, width))
        return self.select(inside, self.apply(op, term.type, term, within), beyond)

    # Floats

    def float(self, number: float, type_: str) -> Term:
        """A number as a constant."""
        return self.bitcast(self.constant(float_bits(number, type_), bits_of(type_)), type_)

    def fused(self, a: Term, b: Term, c: Term) -> Term:
        """a * b + c, rounded once. Of narrow floats, the product is exact in a wider type; so is the sum where the
        numbers are known to be of one size, and else it is rounded to odd, so that rounding it again is right."""
        if a.type in ("f32", "f64"):
            return self.apply(math.FmaOp, a.type, a, b, c)
        wider = "f32" if a.type == "f16" else "f64"  # where products of bf16 do not overflow
        wide = [self.float_cast(term, wider) for term in (a, b, c)]
        if has_exact_sum(self, a, b, c):
            return self.float_cast(self.apply(math.FmaOp, wider, *wide), a.type)
        product = self.apply(arith.MulfOp, wider, wide[0], wide[1])
        return self.float_cast(self._sum_to_odd(product, wide[2]), a.type)

    def _sum_to_odd(self, a: Term, b: Term) -> Term:
        """a + b with the last bit set where it is not exact: Boldo and Melquiond, IEEE Transactions on Computers 57
        (2008)."""
        total = self.rounded_sum(a, b)
        shown = self.difference(total, a)
        error = self.rounded_sum(self.difference(a, self.difference(total, shown)), self.difference(b, shown))
        zero, bits = self.float(0.0, a.type), self.bits(total)
        inexact = self.compare("one", error, zero)
        beyond = self.apply(arith.XOrIOp, "i1", self.compare("ogt", error, zero), self.compare("ogt", total, zero))
        lowered = self.add(bits, self.sign_extended(self.logic(arith.AndIOp, beyond, inexact), bits_of(a.type)))
        odd = self.apply(arith.OrIOp, bits.type, lowered, self.zero_extended(inexact, bits_of(a.type)))
        return self.bitcast(self.select(inexact, odd, bits), a.type)

    def rounded_sum(self, a: Term, b: Term) -> Term:
        """a + b, never fused with its neighbours."""
        return self.apply(math.FmaOp, a.type, a, self.float(1.0, a.type), b)

    def rounded_product(self, a: Term, b: Term) -> Term:
        """a * b, never fused with its neighbours."""
        return self.apply(math.FmaOp, a.type, a, b, self.float(-0.0, a.type))

    def difference(self, a: Term, b: Term) -> Term:
        """a - b, never fused with its neighbours."""
        return self.rounded_sum(a, self.apply(arith.NegfOp, b.type, b))

    def magnitude(self, a: Term) -> Term:
        """|a|."""
        return self.apply(math.AbsFOp, a.type, a)

    def flushed(self, a: Term) -> Term:
        """Subnormal numbers as zeros of their sign."""
        if a in self._flushed:
            return a
        bits = self.bits(a)
        zero = self.bitcast(self.field_of_sign(a), a.type)
        if isinstance(bits, Constant):
            return a if bits.value & float_bits(np.inf, a.type) else zero
        is_small = self.compare("olt", self.magnitude(a), self.float(SMALLEST_NORMAL[a.type], a.type))
        found = self.select(is_small, zero, a)
        self._flushed.add(found)
        return found

    def field_of_sign(self, a: Term) -> Term:
        """The bits of a float without all but its sign."""
        width = bits_of(a.type)
        return self.logic(arith.AndIOp, self.bits(a), self.constant(1 << (width - 1), width))

    def saturated(self, a: Term) -> Term:
        """Between 0 and 1; NaN as 0."""
        zero, one = self.float(0.0, a.type), self.float(1.0, a.type)
        raised = self.select(self.compare("ogt", a, zero), a, zero)
        return self.select(self.compare("olt", raised, one), raised, one)

    def rectified(self, a: Term) -> Term:
        """Negative numbers as 0; NaN stays."""
        zero = self.float(0.0, a.type)
        return self.select(self.compare("ole", a, zero), zero, a)

    def finite(self, a: Term) -> Term:
        """Infinities as the largest number of their sign."""
        largest = self.float(LARGEST[a.type], a.type)
        is_infinite = self.compare("oeq", self.magnitude(a), self.float(np.inf, a.type))
        return self.select(is_infinite, self.apply(math.CopySignOp, a.type, largest, a), a)

    def extremum(self, kind: str, a: Term, b: Term, *, keeps_nan: bool) -> Term:
        """The smaller or larger number, of zeros the negative or positive one; one NaN is dropped or kept."""
        ops: dict[Any, Callable[..., Operation]] = {
            ("min", False): arith.MinnumfOp,
            ("max", False): arith.MaxnumfOp,
            ("min", True): arith.MinimumfOp,
            ("max", True): arith.MaximumfOp,
        }
        found = self.apply(ops[kind, keeps_nan], a.type, a, b)
        if any(self._is_nonzero(term) for term in (a, b)):
            return found
        joined = self.logic(arith.OrIOp if kind == "min" else arith.AndIOp, self.bits(a), self.bits(b))
        return self.select(self.compare("oeq", a, b), self.bitcast(joined, a.type), found)

    def _is_nonzero(self, term: Term) -> bool:
        bits = self.bits(term)
        width = bits_of(term.type)
        return isinstance(bits, Constant) and bits.value & ((1 << (width - 1)) - 1) != 0

    def float_cast(self, a: Term, type_: str, mode: str = "rn") -> Term:
        """A float as another type, rounded to nearest (`rn`) or towards zero (`rz`)."""
        if a.type == type_:
            return a
        own, wanted = bits_of(a.type), bits_of(type_)
        if wanted == 8:
            return self.apply(tt.FpToFpOp, type_, a, detail=("rtz" if mode == "rz" else "rtne",))
        if own == 8:
            return self.apply(tt.FpToFpOp, type_, a)
        if own == wanted:
            return self.float_cast(self.float_cast(a, "f32"), type_, mode)
        if wanted > own:
            return self.apply(arith.ExtFOp, type_, a)
        if mode == "rz":
            return self.apply(tt.FpToFpOp, type_, a, detail=("rtz",))
        return self.apply(arith.TruncFOp, type_, a)

    def library(self, symbol: str, type_: str, *operands: Term) -> Term:
        """A function of libdevice."""
        return self.apply(tt.ExternElementwiseOp, type_, *operands, detail=(f"__nv_{symbol}",))
