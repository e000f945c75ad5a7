"""Range analysis: bounds of an integer, or of all elements of an integer tensor.

```mlir
scf.for %i = %c0 to %c125 step %c1 : i32 {       // 0 to 124
  %s = arith.muli %i, %c256 : i32                // 0 to 31744
  %t = tt.splat %s : i32 -> tensor<256xi32>
  %x = arith.addi %t, %range : tensor<256xi32>   // 0 to 31999
```
Numbers are signed. An op that may overflow gives any number, and so does what a loop carries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.types import bit_width, element_type
from tilewright.support.records import dataclass

MAX_DEPTH = 60
"""Longest chain of ops that is followed; what lies deeper may be any number."""


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `low` to `high`, both included."""

    low: int
    high: int

    def is_within(self, other: Range) -> bool:
        """Return whether each of these numbers is one of the other's."""
        return other.low <= self.low and self.high <= other.high

    def joined(self, other: Range) -> Range:
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def all_of(value: SSAValue) -> Range:
    """Every number of a value's integer type."""
    width = bit_width(element_type(value.type))
    return Range(-(1 << (width - 1)), (1 << (width - 1)) - 1)


class IntegerRanges:
    """Ranges of the values of one function, each found once."""

    def __init__(self, known: Mapping[SSAValue, Range] | None = None) -> None:
        """`known` gives the ranges of values that say nothing themselves, as arguments."""
        self._known = dict(known or {})

    def of(self, value: SSAValue, depth: int = 0) -> Range:
        """Return the range of an integer or of a tensor of integers."""
        found = self._known.get(value)
        if found is None:
            everything = all_of(value)
            found = self._find(value, depth + 1) if depth < MAX_DEPTH else None
            if found is None or not found.is_within(everything):
                found = everything
            self._known[value] = found
        return found

    def _find(self, value: SSAValue, depth: int) -> Range | None:
        """Return the range without regard to overflow; None if nothing is known."""
        constant = arith.find_constant_int(value)
        if constant is not None:
            return Range(constant, constant)
        if isinstance(value, BlockArgument):
            return self._of_argument(value, depth)
        assert isinstance(value, OpResult)
        rule = _RULES.get(type(value.op))
        return None if rule is None else rule(value.op, [self.of(v, depth) for v in _numbers(value.op)])

    def _of_argument(self, value: BlockArgument, depth: int) -> Range | None:
        """The counter of a loop, which is not known to stay in its type where its last step may leave that."""
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index != 0 or loop.unsigned_cmp is not None:
            return None
        first, end, step = (self.of(bound, depth) for bound in (loop.lb, loop.ub, loop.step))
        if step.low < 1 or end.high - 1 + step.high > all_of(value).high or first.low >= end.high:
            return None
        last = end.high - 1
        if first.low == first.high and step.low == step.high:
            last -= (last - first.low) % step.low
        return Range(first.low, last)


def _numbers(op: Operation) -> list[SSAValue]:
    """The operands that an op computes its result from, without a condition."""
    return list(op.operands)[1:] if isinstance(op, arith.SelectOp) else list(op.operands)


Rule = Callable[[Operation, list[Range]], Range | None]


def _same(op: Operation, numbers: list[Range]) -> Range:
    return numbers[0]


def _make_range(op: Operation, numbers: list[Range]) -> Range:
    assert isinstance(op, tt.MakeRangeOp)
    return Range(op.start.value.data, op.end.value.data - 1)


def _never_negative(op: Operation, numbers: list[Range]) -> Range:
    return Range(0, all_of(op.results[0]).high)


def _add(op: Operation, numbers: list[Range]) -> Range:
    a, b = numbers
    return Range(a.low + b.low, a.high + b.high)


def _subtract(op: Operation, numbers: list[Range]) -> Range:
    a, b = numbers
    return Range(a.low - b.high, a.high - b.low)


def _multiply(op: Operation, numbers: list[Range]) -> Range:
    a, b = numbers
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Range(min(products), max(products))


def _divide(op: Operation, numbers: list[Range]) -> Range | None:
    """Of numbers that are not negative, by positive ones: the same for signed and unsigned ones."""
    a, b = numbers
    return Range(a.low // b.high, a.high // b.low) if a.low >= 0 and b.low > 0 else None


def _remainder(op: Operation, numbers: list[Range]) -> Range | None:
    a, b = numbers
    return Range(0, min(a.high, b.high - 1)) if a.low >= 0 and b.low > 0 else None


def _minimum(op: Operation, numbers: list[Range]) -> Range:
    a, b = numbers
    return Range(min(a.low, b.low), min(a.high, b.high))


def _maximum(op: Operation, numbers: list[Range]) -> Range:
    a, b = numbers
    return Range(max(a.low, b.low), max(a.high, b.high))


def _bits_in_both(op: Operation, numbers: list[Range]) -> Range | None:
    highest = [number.high for number in numbers if number.low >= 0]
    return Range(0, min(highest)) if highest else None


def _either(op: Operation, numbers: list[Range]) -> Range:
    return numbers[0].joined(numbers[1])


def _extend_unsigned(op: Operation, numbers: list[Range]) -> Range:
    width = bit_width(element_type(op.operands[0].type))
    return numbers[0] if numbers[0].low >= 0 else Range(0, (1 << width) - 1)


_RULES: dict[type[Operation], Rule] = {
    tt.MakeRangeOp: _make_range,
    tt.GetProgramIdOp: _never_negative,
    tt.GetNumProgramsOp: _never_negative,
    tt.SplatOp: _same,
    tt.ExpandDimsOp: _same,
    tt.BroadcastOp: _same,
    tt.ReshapeOp: _same,
    tt.TransOp: _same,
    arith.ExtSIOp: _same,
    arith.ExtUIOp: _extend_unsigned,
    arith.TruncIOp: _same,
    arith.IndexCastOp: _same,
    arith.AddiOp: _add,
    arith.SubiOp: _subtract,
    arith.MuliOp: _multiply,
    arith.DivSIOp: _divide,
    arith.DivUIOp: _divide,
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _remainder,
    arith.MinSIOp: _minimum,
    arith.MaxSIOp: _maximum,
    arith.AndIOp: _bits_in_both,
    arith.SelectOp: _either,
}
"""By class, the range of a result from the ranges of the operands."""
