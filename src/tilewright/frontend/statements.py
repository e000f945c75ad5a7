"""Statements of a kernel: a table from node class to the function that compiles it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from tilewright.frontend.branches import lower_if
from tilewright.frontend.errors import cause_of
from tilewright.frontend.expressions import CompileTimeLambda, evaluate, wrap
from tilewright.frontend.loops import lower_for, lower_while
from tilewright.frontend.names import assigned_names
from tilewright.frontend.operators import binary
from tilewright.frontend.recovery import WrongValue
from tilewright.frontend.returns import collect_return
from tilewright.frontend.state import FunctionState, Visitor
from tilewright.language.creation import to_tensor
from tilewright.language.dtypes import base_type
from tilewright.language.values import base_value, constexpr, describe, tensor, tuple, unwrap
from tilewright.support.errors import CompilationError
from tilewright.support.interruptions import find_interruption
from tilewright.support.triton_version import is_before


def lower_body(state: FunctionState, body: Iterable[ast.stmt]) -> None:
    """Compile statements in order; what follows a `return` is dead and left out. A wrong one is noted, and the others
    are compiled for the sake of their errors, which `state.mistakes.check()` raises."""
    for statement in body:
        if state.terminated:
            return
        block = state.builder.block
        before = dict(state.scope) if isinstance(statement, _WITH_BODIES) else state.scope
        wrong: CompilationError | None = None
        try:
            lower_statement(state, statement)
        except CompilationError as error:
            wrong = error
        if wrong is None:
            continue
        if not state.mistakes.add(wrong):
            state.mistakes.check()
        state.builder.move_to_end(block)
        _continue_after(state, statement, before)


_WITH_BODIES = (ast.If, ast.For, ast.While, ast.With)


def _continue_after(state: FunctionState, statement: ast.stmt, before: dict[str, Any]) -> None:
    """Leave a wrong statement: the names that it assigns have no value that can be read."""
    state.scope = {**before, **dict.fromkeys(assigned_names([statement]), WrongValue())}
    state.terminated = isinstance(statement, ast.Return) and not state.structured_depth


def lower_statement(state: FunctionState, node: ast.stmt) -> None:
    visitor = STATEMENTS.get(type(node))
    if visitor is None:
        message, hint = UNSUPPORTED.get(type(node), (f"unsupported AST node type: {type(node).__name__}", None))
        raise state.unsupported(node, message, hint)
    try:
        visitor(state, node)
    except CompilationError:
        raise
    except Exception as error:
        if find_interruption(error) is not None:
            raise
        raise state.wrapped(node, error) from cause_of(error)


# -- assignment -------------------------------------------------------------------------------------------------------
def materialize(value: Any) -> Any:
    """Return what an assignment without annotation stores: numbers become run-time scalars; None, dtypes, tuples,
    lambdas stay.
    """
    if isinstance(value, tensor):
        return value
    if isinstance(value, tuple):
        return value.with_values([materialize(v) for v in value.values])
    value = unwrap(value)
    if isinstance(value, bool | int | float):
        return to_tensor(value)
    if value is None or isinstance(value, base_value | base_type | CompileTimeLambda):
        return value
    return to_tensor(value)


def lower_assign(state: FunctionState, node: ast.Assign) -> None:
    if len(node.targets) != 1:
        raise state.unsupported(node, "simultaneous multiple assignment is not supported", "assign one name at a time")
    value = evaluate(state, node.value)
    state.locate(node)
    bind(state, node.targets[0], assigned_value(state, node.targets[0], node.value, value))


def assigned_value(state: FunctionState, target: ast.expr, source: ast.expr, value: Any) -> Any:
    """Return what an assignment stores: a name that was declared `name: tl.constexpr` before keeps its constant."""
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, tuple) and len(value) == len(target.elts):
        parts = zip(target.elts, value.values, strict=True)
        return value.with_values([assigned_value(state, element, source, part) for element, part in parts])
    if isinstance(target, ast.Name) and target.id in state.declared_constants:
        state.declared_constants.discard(target.id)
        return value if isinstance(value, base_value) else constexpr(value)
    try:
        return materialize(value)
    except TypeError:
        raise state.error(
            source,
            f"cannot assign {describe(value)} to a variable",
            "annotate the variable to keep a compile-time value: `name: tl.constexpr = ...`",
        ) from None


def bind(state: FunctionState, target: ast.expr, value: Any) -> None:
    """Store a value under a name, or the elements of a tuple under as many. Triton before 3.9 dropped elements beyond
    the last name: so does this, with a warning, where such a version is asked for."""
    match target:
        case ast.Name(id=name):
            state.assign(name, value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            if not isinstance(value, tuple):
                raise state.error(target, f"cannot unpack {describe(value)} into {len(elements)} names")
            starred = next((e for e in elements if isinstance(e, ast.Starred)), None)
            if starred is not None:
                raise state.unsupported(
                    starred, "starred assignment targets are not supported", "unpack into one name per element"
                )
            if len(elements) > len(value):
                counts = f"(expected {len(elements)}, got {len(value)})"
                raise state.error(target, f"not enough values to unpack {counts}")
            if len(elements) < len(value):
                counts = f"(expected {len(elements)}, got {len(value)})"
                if not is_before("3.9"):
                    raise state.error(
                        target, f"too many values to unpack {counts}", "name the others, too: `a, _ = f()`"
                    )
                state.warn(f"too many values to unpack {counts}: the others are dropped")
            for element, part in zip(elements, value.values, strict=False):
                bind(state, element, part)
        case ast.Subscript():
            raise state.unsupported(
                target, "__setitem__ is not supported in triton", "build a new block instead, for example with tl.where"
            )
        case ast.Attribute(value=owner, attr=attribute):
            assign_attribute(state, target, evaluate(state, owner), attribute, value)
        case _:
            raise state.unsupported(target, f"cannot assign to {type(target).__name__}")


def assign_attribute(state: FunctionState, target: ast.expr, owner: Any, attribute: str, value: Any) -> None:
    """Fields can be set only on an aggregate, and only while its `__init__` runs."""
    if getattr(owner, "_is_under_construction", False):
        setattr(owner, attribute, value)
        return
    hint = "make a new value with the changed field"
    if hasattr(owner, "__triton_aggregate__"):
        hint = f"an aggregate is immutable; use tl.aggregate_replace(..., {attribute}=...) to make a changed copy"
    raise state.unsupported(target, "Attribute assignment is not supported in triton", hint)


def lower_annotated_assign(state: FunctionState, node: ast.AnnAssign) -> None:
    annotation = ast.unparse(node.annotation).strip("'\"")
    is_constant = annotation == "constexpr" or annotation.endswith(".constexpr")
    if node.value is None:
        if is_constant and isinstance(node.target, ast.Name):
            state.declared_constants.add(node.target.id)
        return
    if not is_constant:
        lower_assign(state, ast.copy_location(ast.Assign([node.target], node.value), node))
        return
    if not isinstance(node.target, ast.Name):
        raise state.unsupported(node.target, "only a plain name can be declared constexpr")
    name = node.target.id
    if name in state.scope:
        raise state.error(node.target, f"{name} is already defined. constexpr cannot be reassigned.")
    value = evaluate(state, node.value)  # as in Triton, a run-time value is an error only where a constant is needed
    state.scope[name] = value if isinstance(value, base_value) else constexpr(value)


def lower_augmented_assign(state: FunctionState, node: ast.AugAssign) -> None:
    if not isinstance(node.target, ast.Name):
        raise state.unsupported(node.target, "augmented assignment needs a plain name on the left")
    left = evaluate(state, ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
    right = evaluate(state, node.value)
    state.locate(node)
    bind(state, node.target, materialize(binary(state, node, node.op, left, right)))


# -- other simple statements ------------------------------------------------------------------------------------------
def lower_expression(state: FunctionState, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return
    evaluate(state, node.value, is_statement=True)


def lower_return(state: FunctionState, node: ast.Return) -> None:
    if state.structured_depth:
        raise state.unsupported(
            node,
            "Cannot have `return` statements inside `while` or `for` statements in triton.",
            "compute a value in the loop and return it afterwards; mask the work that is to be skipped",
        )
    value = evaluate(state, node.value) if node.value is not None else None
    state.locate(node)
    collect_return(state, node, value)


def lower_assert(state: FunctionState, node: ast.Assert) -> None:
    from tilewright.language.debugging import device_assert

    condition = evaluate(state, node.test)
    message = evaluate(state, node.msg) if node.msg is not None else ""
    state.locate(node)
    device_assert(condition, message)


def lower_with(state: FunctionState, node: ast.With) -> None:
    if any(state.returns.find(inner) is not None for inner in node.body):
        raise state.unsupported(node, "`return` inside a `with` statement is not supported")
    if len(node.items) != 1:
        raise state.unsupported(node, "a `with` statement in a kernel takes one context manager")
    item = node.items[0]
    if not isinstance(item.context_expr, ast.Call):
        raise state.unsupported(item.context_expr, "the context manager of a `with` statement must be a call")
    manager = unwrap(evaluate(state, item.context_expr))
    if not hasattr(manager, "__enter__"):
        raise state.error(item.context_expr, f"{describe(manager)} is not a context manager")
    with manager as entered:
        if item.optional_vars is not None:
            bind(state, item.optional_vars, wrap(entered))
        lower_body(state, node.body)


def lower_pass(state: FunctionState, node: ast.Pass) -> None:
    return


STATEMENTS: dict[type[ast.stmt], Visitor] = {
    ast.Assign: lower_assign,
    ast.AnnAssign: lower_annotated_assign,
    ast.AugAssign: lower_augmented_assign,
    ast.Expr: lower_expression,
    ast.Return: lower_return,
    ast.Assert: lower_assert,
    ast.With: lower_with,
    ast.Pass: lower_pass,
    ast.If: lower_if,
    ast.For: lower_for,
    ast.While: lower_while,
}

UNSUPPORTED: dict[type[ast.stmt], Any] = {
    ast.Break: (
        "unsupported AST node type: Break",
        "use a `while` loop with the condition, or mask the work of later iterations",
    ),
    ast.Continue: ("unsupported AST node type: Continue", "put the rest of the loop body under an `if`"),
    ast.FunctionDef: (
        "nested function definition is not supported.",
        "define the function at module level with @triton.jit",
    ),
    ast.ClassDef: ("unsupported AST node type: ClassDef", "define the class at module level"),
    ast.Try: ("unsupported AST node type: Try", "a kernel cannot raise or catch exceptions"),
    ast.Raise: ("unsupported AST node type: Raise", "use tl.static_assert or tl.device_assert"),
    ast.Import: ("unsupported AST node type: Import", "import at module level"),
    ast.ImportFrom: ("unsupported AST node type: ImportFrom", "import at module level"),
    ast.Match: ("unsupported AST node type: Match", "write `if` and `elif`"),
    ast.Delete: ("unsupported AST node type: Delete", "values live as long as they are used"),
    ast.Global: ("unsupported AST node type: Global", "pass the value as an argument"),
}
