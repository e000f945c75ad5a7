"""Combine regions of reductions and scans: their ops inlined on registers, and the single instructions that replace
them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, Region

from tilewright.dialects import arith
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.types import ElementType

Operands = tuple[str, ...]
"""One register of each operand of a reduction or scan."""


class Combiner:
    """Applies a combine region: `combine(a, b)` with a before b along the axis."""

    def __init__(self, fn: GpuFunctionLowering, op: Operation, region: Region, elements: Sequence[ElementType]) -> None:
        if len(region.blocks) != 1:
            raise op_error(op, "has a combine region of several blocks", pass_name=PASS_NAME)
        self.fn = fn
        self.elements = tuple(elements)
        self._region = region
        self._block = region.block

    def combine(self, earlier: Operands, later: Operands) -> Operands:
        """The combination of two tuples of registers."""
        fn = self.fn
        for argument, operand in zip(self._block.args, (*earlier, *later), strict=True):
            fn.set(argument, operand)
        returned = fn.lower_region(self._region)
        return tuple(fn.scalar(value) for value in returned)

    def combine_all(self, values: Sequence[Operands]) -> Operands:
        """The combination of several, in order, as a tree: neighbours first."""
        level = list(values)
        while len(level) > 1:
            pairs = [self.combine(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
            level = [*pairs, *level[len(pairs) * 2 :]]
        return level[0]

    def select(self, condition: str, yes: Operands, no: Operands) -> Operands:
        """`yes` where an i1 holds."""
        return tuple(
            a if a == b else self.fn.text.select(condition, element.text, a, b)
            for element, a, b in zip(self.elements, yes, no, strict=True)
        )


_REDUX: dict[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.AndIOp: "and",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
    arith.MaxSIOp: "max",
    arith.MinSIOp: "min",
    arith.MaxUIOp: "umax",
    arith.MinUIOp: "umin",
}
_SIGNED = ("max", "min")


def redux_operation(region: Region, elements: Sequence[ElementType]) -> str | None:
    """Return what `redux.sync` calls a region that is one integer operation of 32 bits or less; None for any other."""
    block = region.block
    first = block.first_op
    if len(elements) != 1 or first is None or first.next_op is not block.last_op:
        return None
    if elements[0].text not in ("i8", "i16", "i32") or elements[0].is_float:
        return None
    if set(first.operands) != set(block.args) or list(block.last_op.operands if block.last_op else ()) != [
        *first.results
    ]:
        return None
    return _REDUX.get(type(first))


def extension_for(operation: str) -> str:
    """Return how narrower integers become 32 bits wide for `redux.sync`."""
    return "sext" if operation in _SIGNED else "zext"
