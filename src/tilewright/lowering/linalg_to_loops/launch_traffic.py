"""What a launch reads and writes, as far as it decides whether outputs are stored non-temporally."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import func, scf
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.memory import find_only_written
from tilewright.lowering.linalg_to_loops.nest import Nest
from tilewright.lowering.linalg_to_loops.sources import memory_of
from tilewright.lowering.linalg_to_loops.streaming import Streaming, streamed_from
from tilewright.support.facts import TargetFacts


class LaunchTraffic:
    """Bytes that each program reads for itself, counted nest by nest."""

    def __init__(self, emitter: LoopEmitter, function: func.FuncOp, facts: TargetFacts):
        self._emitter = emitter
        self._threshold = facts.streamed_traffic
        self.only_written = find_only_written(function) if self.counts_reads else frozenset[SSAValue]()
        """Arguments whose tiles may be streamed by loops of the program, too."""
        self._bytes: dict[tuple[bool, SSAValue], int] = {}
        """By memory, and whether it is read in a loop of the program. Tiles of the same memory count once: they may
        overlap."""

    @property
    def counts_reads(self) -> bool:
        """True if the bytes that a launch reads count, too, when non-temporal stores are chosen."""
        return self._threshold is not None

    def streamed_from(self, streaming: Streaming) -> int:
        """Bytes that a launch has to write for the outputs of a nest to be streamed."""
        in_loop = streaming.loop is not None
        read = sum(size for (is_repeated, _), size in self._bytes.items() if is_repeated == in_loop)
        return streamed_from(streaming.written, read, self._threshold)

    def count_reads(self, nest: Nest) -> None:
        """Count the tiles that a nest, which is about to be emitted, reads and other programs do not."""
        in_loop = self._emitter.cursor.block is not self._emitter.entry
        for operand in nest.inputs:
            view = memory_of(operand.source)
            if view is not None and not view.owned and self.is_of_program(view.offset):
                key = (in_loop, view.flat)
                self._bytes[key] = max(view.bytes, self._bytes.get(key, 0))

    def is_of_program(self, value: Index) -> bool:
        """Return whether an index depends on which program this is, if only as a loop starts where the program says."""
        ids = self._emitter.grid_arguments()[3:]
        pending, seen = [value], set[Operation]()
        while pending:
            current = pending.pop()
            if current in ids:
                return True
            if isinstance(current, int):
                continue
            op = current.owner
            if isinstance(op, Block):
                loop = op.parent_op()
                if isinstance(loop, scf.ForOp) and current is op.args[0]:
                    pending.append(loop.lb)
            elif op not in seen:
                seen.add(op)
                pending.extend(op.operands)
        return False
