"""`if` statements and conditional expressions whose condition is known only at run time."""

from __future__ import annotations

import ast
from typing import Any

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import cf, scf
from tilewright.frontend.conditions import RuntimeCondition, decide
from tilewright.frontend.recovery import WrongValue
from tilewright.frontend.state import FunctionState, LoopVariableAfterLoop
from tilewright.language.creation import to_tensor
from tilewright.language.values import base_value, constexpr, describe, describe_type, type_of, unwrap


def lower_if(state: FunctionState, node: ast.If) -> None:
    from tilewright.frontend.expressions import evaluate
    from tilewright.frontend.statements import lower_body

    condition = decide(state, node.test, evaluate(state, node.test))
    if not isinstance(condition, RuntimeCondition):
        lower_body(state, node.body if condition else node.orelse)
    elif (returned := state.returns.find(node)) is not None:
        if state.structured_depth:
            raise state.unsupported(
                returned,
                "Cannot have `return` statements inside `while` or `for` statements in triton.",
                "compute a value in the loop and return it afterwards; mask the work that is to be skipped",
            )
        _lower_returning_if(state, node, condition.handle)
    else:
        _lower_structured_if(state, node, condition.handle)


class Merge:
    """The names whose values differ between the two ways through an `if`, and their values on both."""

    def __init__(
        self, state: FunctionState, node: ast.AST, before: dict[str, Any], then: dict[str, Any], other: dict[str, Any]
    ):
        self.names: list[str] = []
        self.types: list[Any] = []
        self.sides: tuple[list[Any], list[Any]] = ([], [])
        self.fixed: dict[str, Any] = {}
        self.dropped: dict[str, str] = {}
        for name in dict.fromkeys([*before, *then, *other]):
            if name not in then or name not in other:
                self.dropped[name] = (
                    f"`{name}` is assigned on only one way through the `if`; give it a value before the `if` or in "
                    f"both branches"
                )
            elif isinstance(then[name], WrongValue) or isinstance(other[name], WrongValue):
                self.fixed[name] = then[name] if isinstance(then[name], WrongValue) else other[name]
            elif isinstance(then[name], LoopVariableAfterLoop) or isinstance(other[name], LoopVariableAfterLoop):
                self.fixed[name] = then[name] if isinstance(then[name], LoopVariableAfterLoop) else other[name]
            elif then[name] is not other[name]:
                self._add(state, node, name, then[name], other[name])
            elif name not in before or then[name] is not before[name]:
                self.fixed[name] = then[name]

    def _add(self, state: FunctionState, node: ast.AST, name: str, left: Any, right: Any) -> None:
        left_type, right_type = type_of(left), type_of(right)
        if left_type != right_type and isinstance(left, constexpr) and isinstance(right, constexpr):
            self.dropped[name] = (
                f"`{name}` is {describe(left)} on one way through the `if` and {describe(right)} on the other; assign "
                f"it without `tl.constexpr` to make it a run-time value"
            )
            return
        if left_type != right_type:
            raise state.error(
                node,
                f"Mismatched type for {name} between then block ({describe_type(left)}) and else block "
                f"({describe_type(right)})",
                f"give `{name}` one type on both ways, for example with `.to(...)`",
            )
        if not isinstance(left, base_value) or isinstance(left, constexpr):
            self.fixed[name] = left
            return
        self.names.append(name)
        self.types.append(left_type)
        self.sides[0].append(left)
        self.sides[1].append(right)

    def handles(self, side: int) -> list[SSAValue]:
        found: list[SSAValue] = []
        for value in self.sides[side]:
            value.flatten_ir(found)
        return found

    def ir_types(self) -> list[Any]:
        return [ir for ty in self.types for ir in ty.flatten_ir_types()]

    def bind(self, state: FunctionState, before: dict[str, Any], results: list[SSAValue]) -> None:
        """Continue after the `if`: what was before, with the merged names on top."""
        state.scope.clear()
        state.scope.update({name: value for name, value in before.items() if name not in self.dropped})
        state.scope.update(self.fixed)
        cursor = 0
        for name, ty in zip(self.names, self.types, strict=True):
            value, cursor = ty.unflatten_ir(results, cursor)
            state.assign(name, value)
        state.undefined_reasons.update(self.dropped)


def _lower_structured_if(state: FunctionState, node: ast.If, condition: SSAValue) -> None:
    from tilewright.frontend.statements import lower_body

    before = dict(state.scope)
    location = state.location_of(node)
    blocks = (Block(), Block())
    scopes: list[dict[str, Any]] = []
    for block, body in zip(blocks, (node.body, node.orelse), strict=True):
        with state.in_region(block):
            lower_body(state, body)
        scopes.append(dict(state.scope))
        state.scope.clear()
        state.scope.update(before)
    merge = Merge(state, node, before, scopes[0], scopes[1])
    state.builder.location = location
    op = _make_if(state, condition, blocks, merge.ir_types(), (merge.handles(0), merge.handles(1)))
    merge.bind(state, before, list(op.results))


def _make_if(
    state: FunctionState,
    condition: SSAValue,
    blocks: tuple[Block, Block],
    result_types: list[Any],
    yielded: tuple[list[SSAValue], list[SSAValue]],
) -> scf.IfOp:
    for block, values in zip(blocks, yielded, strict=True):
        with state.builder.at(block):
            state.insert(scf.YieldOp(*values))
    has_else = bool(result_types) or len(blocks[1].ops) > 1
    return state.insert(scf.IfOp(condition, result_types, Region(blocks[0]), Region(blocks[1]) if has_else else None))


def _lower_returning_if(state: FunctionState, node: ast.If, condition: SSAValue) -> None:
    """An `if` with a `return` in it: branches between blocks of the function; what goes on meets in a join block.

    ```mlir
    cf.cond_br %c, ^then, ^else
    ^then:  tt.return %x : f32
    ^else:  cf.br ^join(%y : f32)
    ```
    """
    from tilewright.frontend.statements import lower_body

    before = dict(state.scope)
    location = state.location_of(node)
    starts = [state.new_block(), state.new_block()]
    state.insert(cf.ConditionalBranchOp(condition, starts[0], [], starts[1], []))
    ways: list[tuple[Block, dict[str, Any]]] = []
    for start, body in zip(starts, (node.body, node.orelse), strict=True):
        state.builder.move_to_end(start)
        state.terminated = False
        lower_body(state, body)
        if not state.terminated:
            ways.append((state.builder.block, dict(state.scope)))
        state.scope.clear()
        state.scope.update(before)
    state.terminated = not ways
    if len(ways) == 1:
        state.builder.move_to_end(ways[0][0])
        state.scope.update(ways[0][1])
    elif ways:
        merge = Merge(state, node, before, ways[0][1], ways[1][1])
        state.builder.location = location
        join = state.new_block(merge.ir_types())
        for side, (end, _) in enumerate(ways):
            state.builder.move_to_end(end)
            state.insert(cf.BranchOp(join, *merge.handles(side)))
        state.builder.move_to_end(join)
        merge.bind(state, before, list(join.args))


def lower_ternary(state: FunctionState, node: ast.IfExp, condition: SSAValue) -> Any:
    """`a if c else b` with a run-time condition: an `scf.if` with one value (or none, for equal constants)."""
    from tilewright.frontend.expressions import evaluate

    blocks = (Block(), Block())
    values: list[Any] = []
    for block, part in zip(blocks, (node.body, node.orelse), strict=True):
        with state.in_region(block):
            value = evaluate(state, part)
            values.append(to_tensor(value) if isinstance(unwrap(value), bool | int | float) else value)
    left, right = values
    if type_of(left) != type_of(right):
        raise state.error(
            node,
            f"Ternary expression with dynamic condition has inconsistent types {describe_type(left)} and "
            f"{describe_type(right)}",
            "cast one side so that both have the same type, or use tl.where",
        )
    state.locate(node)
    handles: tuple[list[SSAValue], list[SSAValue]] = ([], [])
    for value, out in zip(values, handles, strict=True):
        if isinstance(value, base_value):
            value.flatten_ir(out)
    types = type_of(left).flatten_ir_types()
    op = _make_if(state, condition, blocks, types, handles)
    if not isinstance(left, base_value):
        return left
    return type_of(left).unflatten_ir(list(op.results), 0)[0]
