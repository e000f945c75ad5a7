"""`for` and `while` loops.

The values that a loop carries are found without compiling its body twice: every name that the body assigns and that
exists before the loop gets a block argument; after the body, the arguments of names that ended as they began are taken
out again.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import scf
from tilewright.frontend.advice import OF_THE_HOST
from tilewright.frontend.branches import RuntimeCondition
from tilewright.frontend.conditions import decide
from tilewright.frontend.errors import cause_of
from tilewright.frontend.names import assigned_names
from tilewright.frontend.recovery import WrongValue
from tilewright.frontend.state import FunctionState, LoopVariableAfterLoop
from tilewright.ir.naming import hint_value
from tilewright.language import iteration
from tilewright.language.aggregates import is_carried_as
from tilewright.language.casts import cast_to
from tilewright.language.creation import as_tensor
from tilewright.language.dtypes import dtype
from tilewright.language.promotion import promote_integers
from tilewright.language.values import base_value, constexpr, describe, describe_type, tensor, type_of, unwrap


class Carried:
    """The names that a loop may carry: values before it, block arguments inside, values at the end of the body."""

    def __init__(self, state: FunctionState, assigned: set[str]) -> None:
        self.state = state
        self.assigned = assigned
        self.before = dict(state.scope)
        self.names = [n for n, v in self.before.items() if n in assigned and _has_handles(v)]
        self.counts: list[int] = []
        self.initial: list[SSAValue] = []
        for name in self.names:
            start = len(self.initial)
            self.before[name].flatten_ir(self.initial)
            self.counts.append(len(self.initial) - start)

    def ir_types(self) -> list[Attribute]:
        return [handle.type for handle in self.initial]

    def enter(self, args: list[SSAValue]) -> dict[str, Any]:
        """Bind the names to block arguments; returns their values."""
        inside: dict[str, Any] = {}
        cursor = 0
        for name in self.names:
            value, cursor = type_of(self.before[name]).unflatten_ir(args, cursor)
            inside[name] = self.state.scope[name] = value
        for arg, name in zip(args, self._argument_names(), strict=True):
            hint_value(arg, name)
        return inside

    def _argument_names(self) -> list[str]:
        return [name for name, count in zip(self.names, self.counts, strict=True) for _ in range(count)]

    def check_and_collect(self, node: ast.AST) -> list[SSAValue]:
        """The values at the end of the body, one per block argument; types must be those of the start. Of a wrong
        assignment, which is reported already, the type is taken to be right."""
        state = self.state
        handles: list[SSAValue] = []
        for name in self.assigned:
            if name in self.before and name not in self.names:
                self._check_constant(node, name)
        for name in self.names:
            start = self.before[name]
            now = start if isinstance(state.scope.get(name), WrongValue) else state.find(name)
            if not is_carried_as(type_of(start), type_of(now)):
                raise state.error(
                    _last_assignment(node, name) or node,
                    f"Loop-carried variable {name} has initial type {describe_type(start)} but is re-assigned to "
                    f"{describe_type(now)} in loop! "
                    "Please make sure that the type stays consistent.",
                    f"give `{name}` its final type before the loop, or cast the new value back",
                )
            now.flatten_ir(handles)
        return handles

    def _check_constant(self, node: ast.AST, name: str) -> None:
        now, start = self.state.scope.get(name), self.before[name]
        if now is start or any(isinstance(value, LoopVariableAfterLoop | WrongValue) for value in (start, now)):
            return
        if type_of(now) != type_of(start):
            raise self.state.error(
                _last_assignment(node, name) or node,
                f"cannot reassign {name} in the loop: it is {describe(start)} before the loop and {describe(now)} "
                f"in it",
                f"make `{name}` a run-time value before the loop, for example with tl.zeros or `{name} = "
                f"tl.full((), 0, tl.int32)`",
            )

    def leave(self, kept: list[int], results: list[SSAValue], own: set[str]) -> None:
        """Bind the names to the loop's results; names first bound in the body do not exist after it."""
        state = self.state
        values = list(self.initial)
        for position, result in zip(kept, results, strict=True):
            values[position] = result
        for name in state.scope:
            if name not in self.before and name not in own:
                state.undefined_reasons[name] = (
                    f"`{name}` is first assigned inside a loop; give it a value before the loop"
                )
        state.scope.clear()
        state.scope.update(self.before)
        cursor = 0
        for name, count in zip(self.names, self.counts, strict=True):
            if any(position in kept for position in range(cursor, cursor + count)):
                value, _ = type_of(self.before[name]).unflatten_ir(values, cursor)
                state.assign(name, value)
            cursor += count


def _has_handles(value: Any) -> bool:
    if isinstance(value, tensor):
        return True
    if not isinstance(value, base_value) or isinstance(value, constexpr):
        return False
    handles: list[SSAValue] = []
    value.flatten_ir(handles)
    return bool(handles)


def _last_assignment(node: ast.AST, name: str) -> ast.AST | None:
    found = None
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Store):
            found = child
    return found


def lower_for(state: FunctionState, node: ast.For) -> None:
    from tilewright.frontend.expressions import evaluate

    if node.orelse:
        raise state.unsupported(
            node.orelse[0], "`else` after a `for` loop is not supported", "put the code after the loop"
        )
    if not isinstance(node.target, ast.Name):
        called = getattr(node.iter, "func", None)
        advice = OF_THE_HOST.get(called.id) if isinstance(called, ast.Name) else None
        raise state.unsupported(node.target, "the loop variable must be a plain name", advice)
    iterator = unwrap(evaluate(state, node.iter))
    if isinstance(iterator, iteration.static_range):
        _unroll(state, node, iterator)
    elif isinstance(iterator, iteration.range):
        _lower_counted(state, node, iterator)
    else:
        raise state.unsupported(
            node.iter,
            f"Only `range`, `tl.range` and `tl.static_range` iterators are currently supported, not "
            f"{describe(iterator)}",
            "to run over a tuple, index it in a loop over tl.static_range(len(t))",
        )


def _unroll(state: FunctionState, node: ast.For, iterator: iteration.static_range) -> None:
    from tilewright.frontend.statements import lower_body

    assert isinstance(node.target, ast.Name)
    own_constants = {
        child.target.id
        for child in ast.walk(node)
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name)
    }
    outer = set(state.scope)
    for index in iterator:
        for name in own_constants - outer:
            state.scope.pop(name, None)
        state.scope[node.target.id] = index
        lower_body(state, node.body)


def _bound(state: FunctionState, node: ast.expr, value: Any) -> tensor:
    try:
        bound = as_tensor(value, "range bound")
    except TypeError as error:
        raise state.wrapped(node, error) from cause_of(error)
    if bound.extents or not bound.dtype.is_int():
        raise state.error(
            node, f"For loop bounds and step must all be ints, got {describe(bound)}", _hint_about_bound(bound)
        )
    return bound


def _hint_about_bound(bound: tensor) -> str:
    if bound.extents:
        return "a loop counts one number: reduce the block to it, for example with tl.max"
    if bound.dtype.is_floating():
        return "divide with `//`, or convert the bound with `.to(tl.int32)`"
    return "a pointer is not a count: load what it points to with tl.load"


def _lower_counted(state: FunctionState, node: ast.For, iterator: iteration.range) -> None:
    from tilewright.frontend.statements import lower_body

    assert isinstance(node.target, ast.Name)
    variable = node.target.id
    state.locate(node.iter)
    start, end, step = iterator.start, iterator.end, iterator.step
    constant_step = unwrap(step) if not isinstance(step, tensor) else None
    if constant_step == 0:
        raise state.error(node.iter, "the step of a range must not be zero")
    counts_down = isinstance(constant_step, int) and constant_step < 0
    if isinstance(constant_step, int) and constant_step < 0:
        start, end, step = end, start, constexpr(-constant_step)
    bounds = [_bound(state, node.iter, v) for v in (start, end, step)]
    counter = promote_integers(promote_integers(bounds[0].dtype, bounds[1].dtype), bounds[2].dtype)
    bounds = [cast_to(b, counter) for b in bounds]

    carried = Carried(state, assigned_names(node.body) - {variable})
    block = Block(arg_types=[counter.to_ir(), *carried.ir_types()])
    with state.in_region(block):
        state.locate(node.iter)
        carried.enter(list(block.args[1:]))
        _bind_counter(state, variable, block.args[0], counter, bounds, counts_down)
        lower_body(state, node.body)
        yielded = carried.check_and_collect(node)
    _hand_hints_on(state, block.args[1:], carried.initial)
    kept = _prune([block], 1, carried.initial, yielded)
    with state.builder.at(block):
        state.locate(node)
        state.insert(scf.YieldOp(*[yielded[i] for i in kept]))
    state.locate(node)
    handles = [b.handle for b in bounds]
    loop = scf.ForOp(
        handles[0],
        handles[1],
        handles[2],
        [carried.initial[i] for i in kept],
        Region(block),
        unsigned_cmp=counter.is_int_unsigned(),
    )
    _annotate(loop, iterator)
    state.insert(loop)
    carried.leave(kept, list(loop.results), {variable})
    state.scope[variable] = LoopVariableAfterLoop(counter, variable)


def _bind_counter(
    state: FunctionState, name: str, arg: SSAValue, counter: dtype, bounds: list[tensor], counts_down: bool
) -> None:
    """The loop variable; a loop that counts down runs upwards and mirrors the counter: `end - i + start`."""
    hint_value(arg, name)
    value = tensor(arg, counter)
    if counts_down:
        value = bounds[1] - value + bounds[0]
    state.assign(name, value)


def _hand_hints_on(state: FunctionState, args: Sequence[SSAValue], initial: list[SSAValue]) -> None:
    """Copy hints (`tl.multiple_of` and its kin) from the values that a loop carries to their initial values."""
    begins = dict(zip(args, initial, strict=True))
    hints: list[Any] = state.context.facts.get("argument_hints", [])
    for handle, name, attribute in list(hints):
        first = begins.get(handle)
        if first is not None and isinstance(first.owner, Operation):
            first.owner.attributes[name] = attribute
        elif first is not None:
            hints.append((first, name, attribute))


def _prune(
    blocks: list[Block], first: int, initial: list[SSAValue], final: list[SSAValue], other: list[SSAValue] | None = None
) -> list[int]:
    """Take out the block arguments whose value does not change from one iteration to the next.

    Returns the positions that stay; `final` and `other`, values not yet used by an op, are rewritten. With two blocks
    (the regions of a while) the arguments correspond.
    """
    last = blocks[-1]
    kept: list[int] = []
    replaced: dict[SSAValue, SSAValue] = {}
    for position, (start, end) in enumerate(zip(initial, final, strict=True)):
        if end is last.args[first + position] or end is start:
            for block in blocks:
                replaced[block.args[first + position]] = start
        else:
            kept.append(position)
    for values in (final, other or []):
        values[:] = [replaced.get(value, value) for value in values]
    for arg, start in replaced.items():
        arg.replace_all_uses_with(start)
    for block in blocks:
        for arg in [a for a in block.args if a in replaced]:
            block.erase_arg(arg)
    return kept


_ATTRIBUTES = ("disallow_acc_multi_buffer", "flatten", "warp_specialize")


def _annotate(loop: scf.ForOp, iterator: iteration.range) -> None:
    """Write the hints of `tl.range` onto the loop."""
    attributes = loop.attributes
    if iterator.num_stages is not None:
        attributes["tt.num_stages"] = IntegerAttr(iterator.num_stages, i32)
    if iterator.loop_unroll_factor is not None:
        attributes["tt.loop_unroll_factor"] = IntegerAttr(iterator.loop_unroll_factor, i32)
    for name in _ATTRIBUTES:
        if getattr(iterator, name):
            attributes[f"tt.{name}"] = UnitAttr()
    if iterator.disable_licm:
        attributes["llvm.loop_annotation"] = _no_licm()


def _no_licm() -> Attribute:
    from tilewright.dialects.llvm import loop_annotation_without_licm

    return loop_annotation_without_licm()


def lower_while(state: FunctionState, node: ast.While) -> None:
    """`scf.while`: the condition is computed in the first region from the carried values, the body runs in the
    second."""
    from tilewright.frontend.statements import lower_body

    if node.orelse:
        raise state.unsupported(
            node.orelse[0], "`else` after a `while` loop is not supported", "put the code after the loop"
        )
    named = next((part for part in ast.walk(node.test) if isinstance(part, ast.NamedExpr)), None)
    if named is not None:
        raise state.unsupported(
            named, "`:=` in the condition of a `while` loop is not supported", "assign before the loop and in its body"
        )
    carried = Carried(state, assigned_names(node.body))
    test, work = Block(arg_types=carried.ir_types()), Block(arg_types=carried.ir_types())
    with state.in_region(test):
        carried.enter(list(test.args))
        condition, disable_licm = _loop_condition(state, node.test)
    state.scope.clear()
    state.scope.update(carried.before)
    with state.in_region(work):
        carried.enter(list(work.args))
        lower_body(state, node.body)
        yielded = carried.check_and_collect(node)
    _hand_hints_on(state, work.args, carried.initial)
    conditions = [condition]
    kept = _prune([test, work], 0, carried.initial, yielded, conditions)
    state.locate(node)
    with state.builder.at(test):
        state.insert(scf.ConditionOp(conditions[0], *test.args))
    with state.builder.at(work):
        state.insert(scf.YieldOp(*[yielded[i] for i in kept]))
    start = [carried.initial[i] for i in kept]
    loop = scf.WhileOp(start, [v.type for v in start], Region(test), Region(work))
    if disable_licm:
        loop.attributes["llvm.loop_annotation"] = _no_licm()
    state.insert(loop)
    carried.leave(kept, list(loop.results), set())


def _loop_condition(state: FunctionState, node: ast.expr) -> tuple[SSAValue, bool]:
    from tilewright.frontend.expressions import evaluate
    from tilewright.language.creation import constant
    from tilewright.language.dtypes import int1

    value = unwrap(evaluate(state, node))
    disable_licm = False
    if isinstance(value, iteration.condition):
        disable_licm = value.disable_licm
        value = value.condition
    decided = decide(state, node, value)
    if isinstance(decided, RuntimeCondition):
        return decided.handle, disable_licm
    return constant(decided, int1).handle, disable_licm
