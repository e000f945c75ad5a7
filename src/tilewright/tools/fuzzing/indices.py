"""Integers whose range is known: indices of lanes, scalars, and what `//`, `%`, `&`, `where` and clamps make of them.

An address may be any of these, as it stands: its range says how large the memory has to be.
"""

from __future__ import annotations

from tilewright.support.records import dataclass
from tilewright.tools.fuzzing.builder import Builder
from tilewright.tools.fuzzing.values import COMPARISONS

WIDEST = 1 << 12
"""How many values an index may have, and so how long an array is."""

DIVISORS = (2, 3, 4, 7, 8, 12, 16, 32, 35, 64, 100, 128)


@dataclass(frozen=True)
class Index:
    """An integer expression over lanes or scalars with its least and greatest value."""

    text: str
    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low + 1


def _quotient(value: int, divisor: int) -> int:
    """Division as the language has it: towards zero."""
    return value // divisor if value >= 0 else -(-value // divisor)


class Indices:
    """Makes indices from those of the lanes along each dimension and from scalars."""

    def __init__(self, builder: Builder, lanes: list[Index], scalars: list[Index]) -> None:
        self.b = builder
        self.lanes = lanes
        self.scalars = scalars
        self.named: list[Index] = []
        """Variables that hold a tile of indices."""

    def index(self, depth: int = 3) -> Index:
        """A tile of indices."""
        if depth == 0 or self.b.chance(0.15):
            return self._leaf()
        made = self._combined(depth)
        return made if made.width <= WIDEST and abs(made.low) < 1 << 20 and abs(made.high) < 1 << 20 else self._leaf()

    def scalar(self) -> Index:
        """An integer that all lanes share: an argument, a counter, or something computed from one."""
        one = self.b.pick(self.scalars)
        if one.low < 0 or self.b.chance(0.7):  # below zero, constants are divided as Python divides them
            return one
        other = self.b.pick(self.scalars)
        choice = self.b.integer(0, 4)
        if choice == 0:
            return self._divided(one, 0)
        if choice == 1:
            return self._remainder(one, 0)
        if choice == 2:
            return Index(f"({one.text} + {other.text})", one.low + other.low, one.high + other.high)
        if choice == 3:
            return self._clamped(one, 0)
        return Index(f"(pid.to(tl.int64) + {one.text})", one.low, one.high + self.b.programs - 1)

    def _leaf(self) -> Index:
        if self.named and self.b.chance(0.3):
            return self.b.pick(self.named[-4:])
        if len(self.lanes) > 1 and self.b.chance(0.6):
            rows, columns = self.lanes
            stride = self.b.pick((1, columns.high + 1, columns.high + 5, 2 * columns.high + 2))
            low, high = rows.low * stride + columns.low, rows.high * stride + columns.high
            return Index(f"({rows.text} * {stride} + {columns.text})", low, high)
        return self.b.pick(self.lanes)

    def _combined(self, depth: int) -> Index:
        b = self.b
        one = self.index(depth - 1)
        return b.weighted(
            (
                (4, self._sum),
                (4, self._difference),
                (2, self._multiple),
                (4, self._divided),
                (5, self._remainder),
                (3, self._masked),
                (1, self._shifted),
                (2, self._clamped),
                (2, self._chosen),
                (1, self._widened),
                (2, self._rounded),
                (1, self._rounded_up),
                (1, self._flipped),
            )
        )(one, depth)

    def _other(self, depth: int) -> Index:
        choice = self.b.integer(0, 3)
        if choice == 0:
            return self.scalar()
        if choice == 1:
            value = self.b.integer(-9, 40)
            return Index(str(value) if value >= 0 else f"({value})", value, value)
        return self.index(depth - 1)

    def _sum(self, one: Index, depth: int) -> Index:
        other = self._other(depth)
        return Index(f"({one.text} + {other.text})", one.low + other.low, one.high + other.high)

    def _difference(self, one: Index, depth: int) -> Index:
        other = self._other(depth)
        return Index(f"({one.text} - {other.text})", one.low - other.high, one.high - other.low)

    def _multiple(self, one: Index, depth: int) -> Index:
        factor = self.b.pick((2, 3, 4, 8, -1))
        ends = sorted((one.low * factor, one.high * factor))
        return Index(f"({one.text} * {factor})", *ends)

    def _divisor(self) -> Index:
        positive = [scalar for scalar in self.scalars if scalar.low > 0]
        if positive and self.b.chance(0.35):
            return self.b.pick(positive)
        divisor = self.b.pick(DIVISORS)
        return Index(str(divisor), divisor, divisor)

    def _divided(self, one: Index, depth: int) -> Index:
        by = self._divisor()
        ends = [_quotient(end, divisor) for end in (one.low, one.high) for divisor in (by.low, by.high)]
        return Index(f"({one.text} // {by.text})", min(ends), max(ends))

    def _remainder(self, one: Index, depth: int) -> Index:
        by = self._divisor()
        low = max(one.low, 1 - by.high) if one.low < 0 else 0
        high = min(one.high, by.high - 1) if one.high > 0 else 0
        return Index(f"({one.text} % {by.text})", low, max(high, low))

    def _rounded(self, one: Index, depth: int) -> Index:
        """Return what is left of an index without its remainder, or the remainder without the index."""
        by = self._divisor()
        rest = f"{one.text} % {by.text}"
        near = Index(f"({one.text} - {rest})", min(one.low, 0), max(one.high, 0))
        return near if self.b.chance(0.6) else Index(f"({rest} - {one.text})", -near.high, -near.low)

    def _masked(self, one: Index, depth: int) -> Index:
        mask = (1 << self.b.integer(1, 7)) - 1
        return Index(f"({one.text} & {mask})", 0, mask)

    def _rounded_up(self, one: Index, depth: int) -> Index:
        by = self.b.pick(DIVISORS)
        low, high = (_quotient(end + by - 1, by) for end in (one.low, one.high))
        return Index(f"tl.cdiv({one.text}, {by})", low, high)

    def _flipped(self, one: Index, depth: int) -> Index:
        """Some bits turned over or set."""
        if one.low < 0:
            return self._masked(one, depth)
        bits = self.b.integer(1, 31)
        highest = (1 << max(one.high, bits).bit_length()) - 1
        return Index(f"({one.text} {self.b.pick('^|')} {bits})", 0, highest)

    def _shifted(self, one: Index, depth: int) -> Index:
        bits = self.b.integer(1, 5)
        return Index(f"({one.text} >> {bits})", one.low >> bits, one.high >> bits)

    def _clamped(self, one: Index, depth: int) -> Index:
        bound = self.b.integer(0, 80)
        if self.b.chance(0.5):
            return Index(f"tl.minimum({one.text}, {bound})", min(one.low, bound), min(one.high, bound))
        return Index(f"tl.maximum({one.text}, {bound})", max(one.low, bound), max(one.high, bound))

    def _chosen(self, one: Index, depth: int) -> Index:
        other = self._other(depth)
        low, high = min(one.low, other.low), max(one.high, other.high)
        return Index(f"tl.where({self.condition(depth - 1)}, {one.text}, {other.text})", low, high)

    def _widened(self, one: Index, depth: int) -> Index:
        return Index(f"{one.text}.to(tl.int64)", one.low, one.high)

    # Conditions

    def scalar_condition(self, depth: int = 1) -> str:
        """Something that is the same in all lanes."""
        if depth and self.b.chance(0.25):
            one, other = self.scalar_condition(depth - 1), self.scalar_condition(depth - 1)
            return self.b.pick((f"({one} and {other})", f"({one} or {other})", f"(not {one})"))
        scalar = self.scalar()
        limit = self.b.integer(min(scalar.low, 0), max(scalar.high, 9))
        other = self.scalar().text if self.b.chance(0.2) else str(limit)
        return f"({scalar.text} {self.b.pick(COMPARISONS)} {other})"

    def condition(self, depth: int = 2) -> str:
        """A mask of the tile."""
        choice = self.b.integer(0, 9)
        if choice < 2:
            return f"({self.condition(depth)} & {self.scalar_condition()})"
        if choice < 4 and depth > 0:
            return f"({self.condition(depth - 1)} {self.b.pick('&&||^')} {self.condition(depth - 1)})"
        one = self.index(max(depth - 1, 0))
        limit = self.scalar().text if self.b.chance(0.3) else str(self.b.integer(one.low, one.high + 1))
        return f"({one.text} {self.b.pick(COMPARISONS)} {limit})"
