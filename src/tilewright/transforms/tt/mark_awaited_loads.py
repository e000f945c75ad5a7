"""`triton-mark-awaited-loads`: what a loop waits for is read in each of its rounds.

A `while` whose condition is not an outcome of its own rounds, but of memory alone, can only end because others change
that memory: the program waits. Nothing else would keep its loads in the loop, or the loop itself where nothing uses
what it computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import scf, tt
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.values import op_of
from tilewright.ir.walking import find_ops, ops_within


@register_pass
class MarkAwaitedLoadsPass(Pass):
    """Loads that a loop waits on become volatile.

    ```mlir
    scf.while : () -> () {
      %v = tt.load %flag : !tt.ptr<i32>
      %more = arith.cmpi eq, %v, %c0 : i32
      scf.condition(%more)
    } do {
      scf.yield
    }
    ```
    becomes
    ```mlir
    scf.while : () -> () {
      %v = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
      ...
    ```
    These are the loads that the loop's condition depends on, provided that the condition depends on no value that an
    iteration computes from the previous one. A counter in the condition, for example, shows that the loop ends by
    itself. Loads in functions called on the way to the condition are included. A loop that calls a function that is
    only declared is left alone, because that function may change the memory.
    """

    name = "triton-mark-awaited-loads"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        functions = {op.sym_name.data: op for op in find_ops(module, tt.FuncOp)}
        declared = {name for name, function in functions.items() if function.is_declaration}
        for loop in find_ops(module, scf.WhileOp):
            if any(call.callee.string_value() in declared for call in find_ops(loop, tt.CallOp)):
                continue
            for load in _loads_among(_Condition(loop).sources(), functions, set()):
                load.properties["isVolatile"] = BoolAttr.from_bool(True)


class _Condition:
    """What the condition of a loop depends on inside of it."""

    def __init__(self, loop: scf.WhileOp) -> None:
        self._before, self._after = (region.block for region in loop.regions)
        condition, yielded = self._before.last_op, self._after.last_op
        assert condition is not None and yielded is not None
        self._condition, *self._passed = condition.operands
        self._yielded = yielded.operands
        self._ops: dict[Operation, None] = {}

    def sources(self) -> Iterable[Operation]:
        """The ops of the loop, or none where a round depends on the one before."""
        path: list[tuple[SSAValue, Iterator[SSAValue]]] = [(self._condition, iter(self._sources_of(self._condition)))]
        seen, on_path = {self._condition}, {self._condition}
        while path:
            value, sources = path[-1]
            source = next(sources, None)
            if source is None:
                path.pop()
                on_path.discard(value)
            elif source in on_path:
                return ()
            elif source not in seen:
                seen.add(source)
                on_path.add(source)
                path.append((source, iter(self._sources_of(source))))
        return self._ops

    def _sources_of(self, value: SSAValue) -> Iterable[SSAValue]:
        """The values that one is computed from in the loop; nothing where it is the same in all rounds."""
        if isinstance(value, BlockArgument):
            source = self._passed_as(value)
            return () if source is value or source is None else (source,)
        op = value.owner
        if not isinstance(op, Operation) or op.parent_block() not in (self._before, self._after):
            return ()
        self._ops[op] = None
        inner = set(ops_within(op))
        return [operand for each in inner for operand in each.operands if op_of(operand) not in inner]

    def _passed_as(self, argument: BlockArgument) -> SSAValue | None:
        """Return what an argument of the loop stands for: in the round before where it begins the test."""
        if argument.owner is self._after:
            return self._passed[argument.index]
        if argument.owner is not self._before:
            return None
        source = self._yielded[argument.index]
        if isinstance(source, BlockArgument) and source.owner is self._after:
            return self._passed[source.index]
        return source


def _loads_among(ops: Iterable[Operation], functions: dict[str, tt.FuncOp], called: set[str]) -> Iterable[tt.LoadOp]:
    """The loads in ops and in the functions that they call."""
    for op in (inner for outer in ops for inner in ops_within(outer)):
        if isinstance(op, tt.LoadOp):
            yield op
        elif isinstance(op, tt.CallOp):
            name = op.callee.string_value()
            function = functions.get(name)
            if function is not None and name not in called:
                called.add(name)
                yield from _loads_among([function], functions, called)
