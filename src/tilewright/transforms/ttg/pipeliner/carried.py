"""Loops that get further carried values while their bodies are rewritten."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects import scf
from tilewright.ir.builder import OpBuilder


class CarriedValues:
    """Values to be added to a loop: `add` gives each one's argument in the body at once, `yields` says what the next
    iteration gets, and `finish` rebuilds the loop.
    """

    def __init__(self, loop: scf.ForOp) -> None:
        self.loop = loop
        self._initial: list[SSAValue] = []
        self._next: list[SSAValue] = []

    def add(self, initial: SSAValue) -> SSAValue:
        """The argument of a new carried value that starts as `initial`."""
        block = self.loop.body.block
        self._initial.append(initial)
        return block.insert_arg(initial.type, len(block.args))

    @property
    def count(self) -> int:
        """The number of values that were added."""
        return len(self._initial)

    def yields(self, value: SSAValue) -> None:
        """Give the first added value that has none its value in the next iteration."""
        self._next.append(value)

    def finish(self) -> scf.ForOp:
        """The loop with all its values, in place of the old one."""
        loop = self.loop
        assert len(self._initial) == len(self._next), "a carried value without a next one"
        if not self._initial:
            return loop
        terminator = loop.body.block.last_op
        assert isinstance(terminator, scf.YieldOp)
        terminator.operands = (*terminator.operands, *self._next)
        new = loop.carrying((*loop.iter_args, *self._initial))
        OpBuilder.before(loop).insert(new)
        for old, result in zip(loop.results, new.results, strict=False):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)
        loop.detach()
        loop.erase()
        return new
