"""Offsets of 64 bits that are a shared base plus 32 bits a lane.

    %w = extsi %x : i32 to i64
    %s = addi %first, %w : i64                 %first is the same in all lanes
    %i = index_cast %s                ->       base %first, lanes %x

Lanes then hold no 64-bit values, so that vectors have twice as many, and accesses with one %x differ by their base
alone. Sums of 64 bits wrap as addresses do: the order of the terms makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Block, SSAValue

from tilewright.dialects import arith
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class SplitOffset:
    """The sum of 64-bit values that all lanes share, and of a 32-bit value of each lane."""

    shared: tuple[SSAValue, ...]
    lanes: SSAValue


@dataclass(slots=True)
class SplitOffsets:
    """The offsets of a body that are sums like that."""

    of: dict[SSAValue, SplitOffset] = field(default_factory=dict[SSAValue, SplitOffset])
    """By the index that an access is at."""
    inner: set[SSAValue] = field(default_factory=set[SSAValue])
    """64-bit values that lanes need for nothing else."""


def find_split_offsets(body: Block, depends: Mapping[SSAValue, frozenset[int]], vector_dim: int) -> SplitOffsets:
    """Find the split offsets of a body along the lanes of a dimension."""
    found = SplitOffsets()
    inner: set[SSAValue] = set()
    for op in body.ops:
        if isinstance(op, arith.IndexCastOp) and op.input.type == i64:
            walk = _Walk(depends, vector_dim)
            if walk.visit(op.input) and walk.lanes is not None:
                found.of[op.result] = SplitOffset(tuple(walk.shared), walk.lanes)
                inner |= walk.inner
    found.inner = {value for value in inner if all(_stays_inside(use.operation, found, inner) for use in value.uses)}
    return found


@dataclass(slots=True)
class _Walk:
    """The walk from a sum to its terms."""

    depends: Mapping[SSAValue, frozenset[int]]
    vector_dim: int
    shared: list[SSAValue] = field(default_factory=list[SSAValue])
    lanes: SSAValue | None = None
    inner: set[SSAValue] = field(default_factory=set[SSAValue])

    def visit(self, value: SSAValue) -> bool:
        """Return whether a value is a sum of that form, so far."""
        if self.vector_dim not in self.depends.get(value, frozenset()):
            self.shared.append(value)
            return True
        self.inner.add(value)
        match value.owner:
            case arith.AddiOp() as op:
                return all(map(self.visit, op.operands))
            case arith.ExtSIOp() as op if op.input.type == i32 and self.lanes is None:
                self.lanes = op.input
                return True
            case _:
                return False


def _stays_inside(op: object, found: SplitOffsets, inner: set[SSAValue]) -> bool:
    return isinstance(op, arith.IndexCastOp | arith.AddiOp | arith.ExtSIOp) and (
        op.results[0] in found.of or op.results[0] in inner
    )
