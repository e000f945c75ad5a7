"""By how much the integers of a body grow from one lane to the next, where all lanes of a vector agree on it.

    %i = linalg.index 0                      step 1
    %x = addi %first, %i                     step 1
    %a = muli %x, 4                          step 4
    %r = muli %row, %stride                  step 0 where %row does not depend on the vector dimension

An access whose address has step 1 is a load or store of neighbours, masked where it is predicated, and no gather.

Quotients and remainders have a step too, within a segment of lanes that crosses no multiple of the divisor:

    %q = divsi %x, %n                        step 0      all along the segment
    %c = remsi %x, %n                        step 1

What is computed from values of step 0 has step 0, floats and loaded elements included: a segment needs it once.
Integers of 32 bits and more are taken not to overflow along a vector, as everywhere in address arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum, auto

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import arith, linalg
from tilewright.dialects.types import bit_width, is_integer_or_index
from tilewright.lowering.linalg_to_loops.predication import Predicate
from tilewright.support.cpu_costs import SHORTEST_SEGMENT
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import constant_of

NARROWEST = 32
_BITWISE = arith.AndIOp | arith.ShRSIOp


class Rounding(Enum):
    """Where the quotient of a division goes, and so where segments of one quotient end."""

    TO_ZERO = auto()
    UNSIGNED = auto()
    DOWN = auto()
    """As shifts and masks of low bits divide by powers of two."""


@dataclass(frozen=True, slots=True)
class Division:
    """A dividend of step 1 by a divisor that all lanes of the whole loop share."""

    dividend: SSAValue
    divisor: SSAValue | int
    rounding: Rounding


@dataclass(slots=True)
class LaneSteps:
    """Steps of the values that depend on the vector dimension; those that are absent have none."""

    of: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    divisions: dict[Division, None] = field(default_factory=dict[Division, None])
    """What a segment must not cross the multiples of, in the order of the body."""
    remainders: dict[Operation, Division] = field(default_factory=dict[Operation, Division])
    quotients: dict[Operation, Division] = field(default_factory=dict[Operation, Division])


@dataclass(slots=True)
class _Walk:
    """The walk over one body: what depends on the vector dimension, and in which loops a segment starts."""

    depends: Mapping[SSAValue, frozenset[int]]
    predicates: Mapping[Operation, Predicate]
    vector_dim: int
    outside: frozenset[int] | None
    """The loops around the vector dimension; None where divisions are to have no steps."""
    steps: LaneSteps = field(default_factory=LaneSteps)

    def step(self, value: SSAValue) -> int | None:
        if self.vector_dim not in self.depends.get(value, frozenset()):
            return 0
        return self.steps.of.get(value)

    def visit(self, op: Operation) -> None:
        step = self._step_of(op)
        if step is None:
            return
        for result in op.results:
            if self.vector_dim in self.depends[result]:
                self.steps.of[result] = step

    def _step_of(self, op: Operation) -> int | None:
        if isinstance(op, linalg.IndexOp):
            return 1 if op.dim.value.data == self.vector_dim else 0
        if op.regions or not op.results:
            return None
        found = [self.step(operand) for operand in op.operands]
        found.extend(self.step(condition) for condition, _ in self.predicates.get(op, ()))
        if not any(found) and None not in found:
            return 0
        if not is_wide_integer(op.results[0]):
            return None
        match op:
            case arith.IndexCastOp() | arith.ExtSIOp():
                return found[0] if is_wide_integer(op.operands[0]) else None
            case arith.AddiOp():
                return None if found[0] is None or found[1] is None else found[0] + found[1]
            case arith.SubiOp():
                return None if found[0] is None or found[1] is None else found[0] - found[1]
            case arith.MuliOp():
                return self._of_product(op, found)
            case arith.ShLIOp():
                bits = constant_of(op.operands[1])
                return None if bits is None or found[0] is None or not 0 <= bits < NARROWEST else found[0] << bits
            case arith.SelectOp():
                return found[1] if found[0] == 0 and found[1] == found[2] else None
            case _:
                return self._of_division(op, found)

    @staticmethod
    def _of_product(op: Operation, found: list[int | None]) -> int | None:
        for one, other in ((0, 1), (1, 0)):
            factor, step = constant_of(op.operands[other]), found[one]
            if factor is not None and step is not None:
                return step * factor
        return None

    def _of_division(self, op: Operation, found: list[int | None]) -> int | None:
        if self.outside is None or found != [1, 0]:
            return None
        # Where a segment ends is decided before the loop over it; whether segments pay, before all loops.
        if not self.depends[op.operands[0]] - {self.vector_dim} <= self.outside or self.depends.get(op.operands[1]):
            return None
        found_division = find_division(op)
        if found_division is None:
            return None
        division, is_remainder = found_division
        if isinstance(division.divisor, int) and division.divisor < SHORTEST_SEGMENT:
            return None
        self.steps.divisions[division] = None
        (self.steps.remainders if is_remainder else self.steps.quotients)[op] = division
        return int(is_remainder)


def find_division(op: Operation) -> tuple[Division, bool] | None:
    """Return what an op divides, and whether its result is the remainder."""
    if not isinstance(op, arith.DivSIOp | arith.RemSIOp | arith.DivUIOp | arith.RemUIOp | _BITWISE):
        return None
    dividend, operand = op.operands
    number = constant_of(operand)
    match op:
        case arith.DivSIOp() | arith.RemSIOp():
            division = Division(dividend, operand if number is None else number, Rounding.TO_ZERO)
        case arith.DivUIOp() | arith.RemUIOp():
            division = Division(dividend, operand if number is None else number, Rounding.UNSIGNED)
        case arith.AndIOp() if number is not None and number > 0 and number & (number + 1) == 0:
            division = Division(dividend, number + 1, Rounding.DOWN)
        case arith.ShRSIOp() if number is not None and 0 <= number < NARROWEST - 1:
            division = Division(dividend, 1 << number, Rounding.DOWN)
        case _:
            return None
    return division, isinstance(op, arith.RemSIOp | arith.RemUIOp | arith.AndIOp)


def is_wide_integer(value: SSAValue) -> bool:
    """Return whether a value is an index, or an integer of 32 bits and more."""
    return is_integer_or_index(value.type) and bit_width(value.type) >= NARROWEST


def find_lane_steps(
    body: Block,
    depends: Mapping[SSAValue, frozenset[int]],
    predicates: Mapping[Operation, Predicate],
    vector_dim: int,
    outside: frozenset[int] | None = None,
) -> LaneSteps:
    """The steps of the values of a body; with `outside`, the loops around the vector dimension, within segments."""
    walk = _Walk(depends, predicates, vector_dim, outside)
    for op in body.ops:
        walk.visit(op)
    return walk.steps
