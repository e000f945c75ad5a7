"""The regions of reduce and scan: what they combine, and inlining them on scalars."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.analysis.selections import is_selection
from tilewright.dialects import arith
from tilewright.lowering.arith_to_linalg.lowering import NotLowered
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.support.records import dataclass


def neutral_element(cls: type[Operation], kind: Attribute) -> float | None:
    """e with ``op(e, x) = x`` for every x, None where the op is not in the table.

    Integers are given as bit patterns. maxnumf and minnumf drop a NaN in favour of the other operand, so NaN is their
    neutral element: starting from an infinity would turn a row of NaN into that infinity. A sum starts from +0.0 as
    everywhere; only the sign of a sum of negative zeros could tell it from the exact -0.0.
    """
    if isinstance(kind, IntegerType):
        width = kind.bitwidth
        ones = (1 << width) - 1
        integers: dict[type[Operation], int] = {
            arith.AddiOp: 0,
            arith.OrIOp: 0,
            arith.XOrIOp: 0,
            arith.MaxUIOp: 0,
            arith.MuliOp: 1,
            arith.AndIOp: ones,
            arith.MinUIOp: ones,
            arith.MaxSIOp: 1 << (width - 1),
            arith.MinSIOp: ones >> 1,
        }
        return integers.get(cls)
    floats: dict[type[Operation], float] = {
        arith.AddfOp: 0.0,
        arith.MulfOp: 1.0,
        arith.MaximumfOp: -inf,
        arith.MaxnumfOp: nan,
        arith.MinimumfOp: inf,
        arith.MinnumfOp: nan,
    }
    return floats.get(cls)


@dataclass(frozen=True)
class Combine:
    """The region of a reduce or scan of n operands: a block of 2n arguments, the accumulated values first, then the
    current ones."""

    block: Block

    @property
    def arity(self) -> int:
        return len(self.block.args) // 2

    def find_single_op(self) -> type[Operation] | None:
        """The op class where the body is one op of accumulator and current value, in either order of a commutative
        op."""
        ops = list(self.block.ops)
        if len(ops) != 2 or self.arity != 1:
            return None
        op, end = ops
        acc, cur = self.block.args
        if len(op.operands) != 2 or set(op.operands) != {acc, cur} or tuple(end.operands) != tuple(op.results):
            return None
        return type(op)

    def chooses(self) -> bool:
        """Return whether each result is the operand of its own index on one of the two sides."""
        end = self.block.last_op
        assert end is not None
        return is_selection(self.block.args[: self.arity], self.block.args[self.arity :], end.operands)

    def inline(self, b: ScalarBuilder, acc: Sequence[SSAValue], cur: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Copy the body to where the builder stands; gives the combined values."""
        mapping: dict[SSAValue, SSAValue] = dict(zip(self.block.args, (*acc, *cur), strict=True))
        for op in self.block.ops:
            if op is self.block.last_op:
                return [mapping.get(value, value) for value in op.operands]
            b.insert(op.clone(mapping))
        raise AssertionError("a combine region ends with its return")


def combine_of(op: Operation) -> Combine:
    """The combine region of a reduce or scan, checked."""
    region = op.regions[0]
    if len(region.blocks) != 1 or region.first_block is None:
        raise NotLowered("a combine function with control flow between blocks")
    block = region.first_block
    if len(block.args) != 2 * len(op.operands):
        raise NotLowered(f"a combine function of {len(block.args)} arguments for {len(op.operands)} operands")
    return Combine(block)
