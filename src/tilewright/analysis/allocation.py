"""Shared memory of each function: which buffers there are, when they live, and where they lie.

Explicit buffers come from `ttg.local_alloc`; scratch buffers are what lowering an op needs for itself; a call of a
function that is not inlined has a virtual buffer in which the callee's own buffers lie, at offsets from its start.

```mlir
%a = ttg.local_alloc %x : ...                    // explicit: offset 0, from here to the last use of %a or a view of it
%y = ttg.convert_layout %x : ...                 // scratch: while this op runs
tt.call @f(%a) : ...                             // virtual: as large as all that @f needs
```
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, Region, SSAValue

from tilewright.analysis.alias import ModuleAliases, memdescs_of
from tilewright.analysis.call_graph import CallGraph, call_graph_of
from tilewright.analysis.liveness import Interval, Liveness
from tilewright.analysis.placement import Request, place
from tilewright.analysis.scratch import scratch_bytes
from tilewright.analysis.shared_views import buffer_bytes
from tilewright.dialects import tt, ttg
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.types import MemDescType
from tilewright.ir.diagnostics import op_error
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass

ScratchSize = Callable[[Operation], int]
"""Bytes of scratch that an op needs."""

SCRATCH_ALIGNMENT = 128
OFFSET = "allocation.offset"
"""The attribute that says where an op's buffer lies."""


def find_offset(op: Operation) -> int | None:
    """The offset that an allocation gave an op's buffer."""
    attribute = op.attributes.get(OFFSET)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


class BufferKind(Enum):
    """What a buffer is for."""

    EXPLICIT = "explicit"
    SCRATCH = "scratch"
    VIRTUAL = "virtual"


@dataclass(eq=False)
class Buffer:
    """One buffer of a function, and its byte offset from the start of the function's shared memory."""

    kind: BufferKind
    owner: Operation
    size: int
    alignment: int
    interval: Interval
    offset: int = 0


class FunctionAllocation:
    """The buffers of one function."""

    def __init__(
        self,
        function: tt.FuncOp,
        aliases: ModuleAliases,
        scratch: ScratchSize,
        callee_bytes: Callable[[tt.CallOp], int],
        *,
        keep_offsets: bool = False,
    ) -> None:
        self.function = function
        self.buffers: list[Buffer] = []
        self.by_owner: dict[Operation, Buffer] = {}
        liveness = Liveness(function)
        views = _views_of_allocations(function, aliases)
        for op in liveness.number:
            buffer = self._buffer_of(op, liveness, views, scratch, callee_bytes)
            if buffer is not None:
                self.buffers.append(buffer)
                self.by_owner[op] = buffer
        offsets = [find_offset(buffer.owner) for buffer in self.buffers] if keep_offsets else [None]
        self._place([offset for offset in offsets if offset is not None])

    @property
    def shared_bytes(self) -> int:
        """Bytes that the function needs, with all that it calls."""
        return max((buffer.offset + buffer.size for buffer in self.buffers), default=0)

    def buffer_of(self, op: Operation) -> Buffer | None:
        """The buffer that belongs to an op."""
        return self.by_owner.get(op)

    @staticmethod
    def _buffer_of(
        op: Operation,
        liveness: Liveness,
        views: dict[Operation, list[SSAValue]],
        scratch: ScratchSize,
        callee_bytes: Callable[[tt.CallOp], int],
    ) -> Buffer | None:
        now = Interval(liveness.number[op], liveness.number[op] + 1)
        match op:
            case ttg.LocalAllocOp():
                interval = liveness.of_all(views[op])
                assert interval is not None
                size = buffer_bytes(as_memdesc(op.result.type))
                return Buffer(BufferKind.EXPLICIT, op, size, op.alignment_bytes(), interval)
            case tt.CallOp():
                kind, size = BufferKind.VIRTUAL, callee_bytes(op)
            case _:
                kind, size = BufferKind.SCRATCH, scratch(op)
        return Buffer(kind, op, size, SCRATCH_ALIGNMENT, now) if size else None

    def _place(self, given: list[int]) -> None:
        """Offsets as they were given, if all were; else new ones."""
        if len(given) == len(self.buffers):
            for buffer, offset in zip(self.buffers, given, strict=True):
                buffer.offset = offset
            return
        homes = [_concurrent_homes(buffer.owner) for buffer in self.buffers]
        conflicts: list[list[int]] = [[] for _ in self.buffers]
        for i, left in enumerate(self.buffers):
            for j in range(i):
                if left.interval.overlaps(self.buffers[j].interval) or _run_at_once(homes[i], homes[j]):
                    conflicts[i].append(j)
                    conflicts[j].append(i)
        requests = [Request(b.size, b.alignment, b.interval.start, b.interval.stop) for b in self.buffers]
        for buffer, offset in zip(self.buffers, place(requests, conflicts), strict=True):
            buffer.offset = offset


def _views_of_allocations(function: tt.FuncOp, aliases: ModuleAliases) -> dict[Operation, list[SSAValue]]:
    """The values of the function that may be (views of) each of its allocations."""
    views: dict[Operation, list[SSAValue]] = {}
    for op in ops_within(function.body):
        if isinstance(op, tt.ReturnOp) and any(isinstance(v.type, MemDescType) for v in op.operands):
            raise op_error(op, "a buffer in shared memory cannot be returned: it ends with the function")
    for value in memdescs_of(function):
        for source in aliases.of(value):
            if isinstance(source.owner, Operation):
                views.setdefault(source.owner, []).append(value)
    return views


Home = tuple[Operation, Region]


def _concurrent_homes(op: Operation) -> list[Home]:
    """The regions of warp-specialised code that an op is in; regions of one such op run at the same time."""
    homes: list[Home] = []
    region = op.parent_region()
    while region is not None:
        parent = region.parent
        if isinstance(parent, ttg.WarpSpecializeOp):
            homes.append((parent, region))
        elif isinstance(parent, ttg.WarpSpecializePartitionsOp):
            outer = parent.parent_op()
            assert outer is not None
            homes.append((outer, region))
            parent = outer
        region = None if parent is None else parent.parent_region()
    return homes


def _run_at_once(homes: list[Home], others: list[Home]) -> bool:
    return any(op is other and region is not elsewhere for op, region in homes for other, elsewhere in others)


class ModuleAllocation:
    """The shared memory of a module: of each function, callees before their callers."""

    def __init__(
        self,
        module: ModuleOp,
        graph: CallGraph | None = None,
        scratch: ScratchSize = scratch_bytes,
        *,
        keep_offsets: bool = False,
    ) -> None:
        """Places all buffers; with `keep_offsets` those of a function whose ops say where they lie stay there."""
        self.graph = call_graph_of(module) if graph is None else graph
        order = self.graph.post_order()
        self.aliases = ModuleAliases(self.graph)
        self.functions: dict[tt.FuncOp, FunctionAllocation] = {}
        self._by_owner: dict[Operation, Buffer] = {}
        for function in order:
            if not function.is_declaration:
                self.functions[function] = FunctionAllocation(
                    function, self.aliases, scratch, self._callee_bytes, keep_offsets=keep_offsets
                )
                self._by_owner.update(self.functions[function].by_owner)

    def _callee_bytes(self, call: tt.CallOp) -> int:
        callee = self.graph.callee(call)
        return 0 if callee is None else self.functions[callee].shared_bytes

    @property
    def shared_bytes(self) -> int:
        """Bytes that any kernel of the module needs at most."""
        return max((allocation.shared_bytes for allocation in self.functions.values()), default=0)

    def buffer_of(self, op: Operation) -> Buffer | None:
        """The buffer that belongs to an op: of a `ttg.local_alloc`, an op with scratch, or a call."""
        return self._by_owner.get(op)

    def offset_of(self, op: Operation) -> int | None:
        """Byte offset of an op's buffer in the shared memory of its function; None if it has none."""
        buffer = self.buffer_of(op)
        return None if buffer is None else buffer.offset
