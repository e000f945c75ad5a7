"""Membar: places barriers so that no thread reads or overwrites data that another thread has yet to write or read.

Two accesses of overlapping bytes, one of them a write, need a barrier between them on every path from one to the
other: within a block, around loops, across branches, from what a caller left to what its callee does. The lowerings
of the ops themselves put barriers only between the writes and reads of their own scratch.

```mlir
ttg.local_store %x, %m                    // writes %m
ttg.barrier local                         // <- needed
%y = ttg.local_load %m                    // reads it
```

Asynchronous accesses count twice: when they start, and again at the wait after which they are done for the thread
that waits, for a barrier in between says nothing about them. Functions are visited callees first; a caller takes over
what a callee does before its first barrier, and what it leaves unsynchronised after its last.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from tilewright.analysis.allocation import ModuleAllocation
from tilewright.analysis.membar.accesses import Access, SliceFinder
from tilewright.analysis.membar.filters import MembarFilter, find_filter, no_filter, nvidia_filter, register_filter
from tilewright.analysis.membar.solver import FunctionBarriers, Summary
from tilewright.analysis.scratch import is_warp_synchronous
from tilewright.dialects import tt


class Membar:
    """The barriers that a module needs, given where its buffers lie."""

    def __init__(
        self,
        allocation: ModuleAllocation,
        skips: MembarFilter = no_filter,
        warp_synchronous: Callable[[Operation], bool] = is_warp_synchronous,
    ) -> None:
        self._allocation = allocation
        self.functions: dict[tt.FuncOp, FunctionBarriers] = {}
        finder = SliceFinder(allocation)
        for function in allocation.graph.post_order():
            if not function.is_declaration:
                self.functions[function] = FunctionBarriers(function, finder, skips, warp_synchronous, self._summary_of)

    def _summary_of(self, call: tt.CallOp) -> Summary:
        callee = self._allocation.graph.callee(call)
        return Summary() if callee is None else self.functions[callee].summary

    @property
    def places(self) -> list[Operation]:
        """The ops before which a barrier has to go."""
        return [place for function in self.functions.values() for place in function.places]


__all__ = [
    "Access",
    "Membar",
    "MembarFilter",
    "Summary",
    "find_filter",
    "no_filter",
    "nvidia_filter",
    "register_filter",
]
