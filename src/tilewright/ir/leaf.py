"""The seam between a lowering and the machine: what hardware does is asked of a leaf emitter, never of a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from xdsl.ir import Operation

from tilewright.ir.facts import TargetFacts


class InstructionSink(Protocol):
    """Where LLVM instructions go: the function writer of `codegen`, as far as a leaf emitter may use it."""

    def emit(self, instruction: str, result_type: str = "") -> str:
        """Append one instruction line; with a result type, a fresh register receives it and its name is returned."""
        ...

    def declare(self, declaration: str) -> None:
        """Make sure that the module declares an external function or intrinsic (a whole ``declare`` line), once."""
        ...


@runtime_checkable
class LeafEmitter(Protocol):
    """A target's own instruction selection for single ops.

    A lowering that reaches a hardware op (a dot, a shuffle, a barrier, an asynchronous copy, a vector math function)
    offers it here first and uses its own general form when the answer is None.
    """

    @property
    def facts(self) -> TargetFacts:
        """The machine that instructions are chosen for."""
        ...

    def emit_leaf(self, op: Operation, operands: Sequence[str], sink: InstructionSink) -> Sequence[str] | None:
        """Emit `op` on LLVM operands; returns the registers of its results, or None to take the general form."""
        ...
