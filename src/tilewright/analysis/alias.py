"""Alias analysis: the shared-memory buffers that a memdesc may be, or be part of.

Buffers come from `ttg.local_alloc`, and from outside as arguments of functions; views pass them on, loops, branches
and selects join them.

```mlir
%a = ttg.local_alloc ...            // %a
%v = ttg.memdesc_index %a[%i] ...   // %a
%s = arith.select %c, %a, %b        // %a, %b
```
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tilewright.analysis.call_graph import CallGraph
from tilewright.analysis.shared_views import VIEWS
from tilewright.analysis.value_flow import flows_of
from tilewright.dialects import arith, tt, ttg, ttng
from tilewright.dialects.ttg.types import MemDescType
from tilewright.ir.walking import ops_within

NONE: frozenset[SSAValue] = frozenset()


def memdescs_of(function: tt.FuncOp) -> list[SSAValue]:
    """Every memdesc of a function in order: arguments of blocks, results of ops."""
    found: list[SSAValue] = []
    for block in function.body.blocks:
        found.extend(block.args)
        for op in (inner for outer in block.ops for inner in ops_within(outer)):
            found.extend(op.results)
            for region in op.regions:
                for inner in region.blocks:
                    found.extend(inner.args)
    return [value for value in found if isinstance(value.type, MemDescType)]


class ModuleAliases:
    """The buffers that each memdesc of a module may be."""

    def __init__(self, graph: CallGraph) -> None:
        self._buffers: dict[SSAValue, frozenset[SSAValue]] = {}
        self._graph = graph
        self._targets: dict[SSAValue, list[SSAValue]] = {}
        self.values: list[SSAValue] = []
        """Every memdesc, in order."""
        sources: list[SSAValue] = []
        for function in graph.functions.values():
            if not function.is_declaration:
                self._collect(function, sources)
        for source in sources:
            self._spread(source)

    def of(self, value: SSAValue) -> frozenset[SSAValue]:
        """The allocations and function arguments that a memdesc may be, or be a view of."""
        return self._buffers.get(value, NONE)

    def _collect(self, function: tt.FuncOp, sources: list[SSAValue]) -> None:
        self.values.extend(memdescs_of(function))
        sources.extend(argument for argument in function.args if isinstance(argument.type, MemDescType))
        for op in ops_within(function.body):
            if isinstance(op, ttg.LocalAllocOp):
                sources.append(op.result)
            for source, target in self._flows(op):
                if isinstance(source.type, MemDescType) and isinstance(target.type, MemDescType):
                    self._targets.setdefault(source, []).append(target)

    def _flows(self, op: Operation) -> list[tuple[SSAValue, SSAValue]]:
        if isinstance(op, VIEWS):
            return [(op.operands[0], op.results[0])]
        match op:
            case arith.SelectOp():
                return [(operand, op.result) for operand in op.operands[1:]]
            case ttng.WarpGroupDotWaitOp():
                return list(zip(op.inputs, op.outputs, strict=True))
            case tt.CallOp():
                return [(operand, result) for operand in op.operands for result in op.results]
            case tt.ReturnOp():
                return []
            case _:
                return flows_of(op, self._graph) or []

    def _spread(self, source: SSAValue) -> None:
        work, reached = [source], {source}
        while work:
            value = work.pop()
            self._buffers[value] = self._buffers.get(value, NONE) | {source}
            for target in self._targets.get(value, ()):
                if target not in reached:
                    reached.add(target)
                    work.append(target)
