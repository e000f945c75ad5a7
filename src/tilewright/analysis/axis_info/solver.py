"""Facts about all values of a module: a sparse fixed point through loops, branches and calls.

Every value starts without facts, and facts flow forward from constants and function arguments; where several values
may become one (block arguments, results of loops and conditionals, arguments of called functions) their facts are
joined. Whatever changes is looked at again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import gcd

from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tilewright.analysis.axis_info import lattice
from tilewright.analysis.axis_info.hints import argument_hints, with_attributes, with_hints
from tilewright.analysis.axis_info.lattice import AxisInfo, pointee_bytes, shape_of
from tilewright.analysis.axis_info.rules import RULES
from tilewright.analysis.call_graph import CallGraph
from tilewright.analysis.signs import Signs
from tilewright.analysis.value_flow import flows_of
from tilewright.dialects import arith, scf, tt
from tilewright.ir.walking import ops_within

MOST_CHANGES = 12
"""A value whose facts changed so often is given up: a loop that halves a number each time would take as many turns
as the number has bits."""


class IndexSigns(Signs):
    """Signs of indices, with what is taken for granted of kernels: sizes that they are given as arguments are not
    negative, and nothing is divided by a negative number.

    Without that `pid // num_blocks_n` would have no sign, and no offset made from it any groups.
    """

    def __init__(self, graph: CallGraph) -> None:
        super().__init__()
        self._graph = graph

    def _prove_result(self, op: Operation, index: int, depth: int) -> bool:
        if isinstance(op, arith.DivSIOp | arith.CeilDivSIOp | arith.FloorDivSIOp):
            return self.is_value_nonnegative(op.operands[0], depth)
        return super()._prove_result(op, index, depth)

    def _prove_block_argument(self, value: SSAValue, depth: int) -> bool:
        function = _function_of_argument(value)
        if function is None:
            return super()._prove_block_argument(value, depth)
        assert isinstance(value, BlockArgument)
        calls = () if self._graph.is_root(function) else self._graph.callers(function)
        return all(self.is_value_nonnegative(call.operands[value.index], depth) for call in calls)


def _function_of_argument(value: SSAValue) -> tt.FuncOp | None:
    block = value.owner
    function = block.parent_op() if isinstance(block, Block) else None
    return function if isinstance(function, tt.FuncOp) and function.body.blocks.first is block else None


class Solver:
    """One run over the functions of a module; `infos` has the facts of every value that can be reached.

    All ops are visited once in order; then those again that were visited before the facts about an operand changed.
    """

    def __init__(self, graph: CallGraph) -> None:
        self.infos: dict[SSAValue, AxisInfo] = {}
        self._graph = graph
        self._signs = IndexSigns(graph)
        self._changes: dict[SSAValue, int] = {}
        self._work: deque[Operation] = deque()
        self._waiting: set[Operation] = set()
        self._seen: set[Operation] = set()
        self._argument_hints: dict[SSAValue, Mapping[str, Attribute]] = {}
        for function in graph.topological_order():
            self._enter(function)
            for op in ops_within(function.body):
                self._seen.add(op)
                self._visit(op)
        while self._work:
            op = self._work.popleft()
            self._waiting.discard(op)
            self._visit(op)

    def _enter(self, function: tt.FuncOp) -> None:
        """Arguments of a function have the facts that its attributes promise; of others its calls tell."""
        if function.is_declaration:
            return
        for argument, hints in zip(function.args, argument_hints(function), strict=True):
            if hints:
                self._argument_hints[argument] = hints
            if self._graph.is_root(function):
                self._set(argument, lattice.unknown(argument.type))

    def _set(self, value: SSAValue, info: AxisInfo) -> None:
        """Joins facts into what is known of a value."""
        hints = self._argument_hints.get(value)
        if hints is not None:
            info = with_attributes(info, hints, shape_of(value.type))
        known = self.infos.get(value)
        if known is not None:
            if known == info:
                return
            info = known.join(info, pointee_bytes(value.type))
            if known == info:
                return
            changes = self._changes[value] = self._changes.get(value, 0) + 1
            if changes > MOST_CHANGES:
                info = lattice.unknown(value.type)
        self.infos[value] = info
        for use in value.uses:
            user = use.operation
            if user in self._seen and user not in self._waiting:
                self._waiting.add(user)
                self._work.append(user)

    def _visit(self, op: Operation) -> None:
        flows = flows_of(op, self._graph)
        if flows is None:
            self._compute(op)
            return
        for source, target in flows:
            info = self.infos.get(source)
            if info is not None:
                self._set(target, info)
        match op:
            case scf.ForOp():
                self._start_induction(op)
            case tt.CallOp() if self._graph.callee(op) is None:
                for result in op.results:
                    self._set(result, lattice.unknown(result.type))
            case _:
                pass

    def _start_induction(self, loop: scf.ForOp) -> None:
        """An induction variable is a multiple of what divides its start and its step."""
        start, step = self.infos.get(loop.lb), self.infos.get(loop.step)
        if start is not None and step is not None:
            divisibility = gcd(start.divisibility[0], step.divisibility[0])
            self._set(loop.induction_variable, AxisInfo((1,), (divisibility,), (1,)))

    def _compute(self, op: Operation) -> None:
        for region in op.regions:
            self._enter_unknown(region.blocks.first)
        rule = RULES.get(type(op))
        if rule is None:
            for result in op.results:
                self._set(result, with_hints(lattice.unknown(result.type), op))
            return
        infos = [self.infos.get(operand) for operand in op.operands]
        known = [info for info in infos if info is not None]
        if len(known) == len(infos):
            info = with_hints(rule(op, known, self._signs), op)
            for result in op.results:
                self._set(result, info)

    def _enter_unknown(self, block: Block | None) -> None:
        """The body of a reduction or the like: nothing is known of what it is called with."""
        for argument in () if block is None else block.args:
            self._set(argument, lattice.unknown(argument.type))
