"""The call graph, and the orders in which analyses visit functions.

Analyses work on a module whose functions do not call themselves: each function then has one summary, made once.
Recursion is refused with an error that names the cycle, at the call that closes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import tt
from tilewright.ir.diagnostics import op_error
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass


@dataclass
class CallGraph:
    """The functions of a module, with the calls inside of each and the calls of each."""

    functions: dict[str, tt.FuncOp]
    calls_in: dict[str, list[tt.CallOp]] = field(default_factory=dict[str, list[tt.CallOp]])
    calls_of: dict[str, list[tt.CallOp]] = field(default_factory=dict[str, list[tt.CallOp]])

    def callee(self, call: tt.CallOp) -> tt.FuncOp | None:
        """The function that a call calls; None if it has no body here."""
        function = self.functions.get(call.callee.string_value())
        return None if function is None or function.is_declaration else function

    def callers(self, function: tt.FuncOp) -> Sequence[tt.CallOp]:
        """The calls of a function."""
        return self.calls_of.get(function.sym_name.data, ())

    def is_root(self, function: tt.FuncOp) -> bool:
        """Return whether a function can be entered from outside of the module: a kernel, or what nothing here calls."""
        visibility = function.sym_visibility
        return not self.callers(function) or (visibility is not None and visibility.data == "public")

    @property
    def roots(self) -> list[tt.FuncOp]:
        """The functions that can be entered from outside, in order."""
        return [function for function in self.functions.values() if self.is_root(function)]

    def post_order(self) -> list[tt.FuncOp]:
        """Every function after all that it calls; PassError where functions call each other in a circle."""
        order: list[tt.FuncOp] = []
        done: set[str] = set()
        for name in self.functions:
            if name not in done:
                self._visit(name, done, order)
        return order

    def topological_order(self) -> list[tt.FuncOp]:
        """Every function before all that it calls; PassError where functions call each other in a circle."""
        return self.post_order()[::-1]

    def _visit(self, start: str, done: set[str], order: list[tt.FuncOp]) -> None:
        path: dict[str, Iterator[tt.CallOp]] = {start: iter(self.calls_in.get(start, ()))}
        while path:
            current, calls = next(reversed(path.items()))
            call = next(calls, None)
            if call is None:
                del path[current]
                done.add(current)
                order.append(self.functions[current])
                continue
            name = call.callee.string_value()
            if name in path:
                raise op_error(call, _describe_cycle([*path], name))
            if name in self.functions and name not in done:
                path[name] = iter(self.calls_in.get(name, ()))


def _describe_cycle(path: list[str], closing: str) -> str:
    cycle = [*path[path.index(closing) :], closing]
    if len(cycle) == 2:
        return f"function '@{closing}' calls itself: recursion is not supported on the device"
    names = " -> ".join(f"@{name}" for name in cycle)
    return f"functions call each other in a circle: {names}; recursion is not supported on the device"


def call_graph_of(module: ModuleOp) -> CallGraph:
    """The call graph of a module."""
    graph = CallGraph({op.sym_name.data: op for op in module.ops if isinstance(op, tt.FuncOp)})
    for name, function in graph.functions.items():
        for op in ops_within(function):
            if isinstance(op, tt.CallOp):
                graph.calls_in.setdefault(name, []).append(op)
                graph.calls_of.setdefault(op.callee.string_value(), []).append(op)
    return graph
