"""Expressions of a kernel: a table from node class to the function that computes its value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import getattr_static
from types import FunctionType, ModuleType
from typing import Any

from tilewright.frontend import operators
from tilewright.frontend.advice import LIST_METHODS, OF_LISTS, instead_of_attribute
from tilewright.frontend.calls import lower_call
from tilewright.frontend.conditions import RuntimeCondition, decide
from tilewright.frontend.errors import cause_of
from tilewright.frontend.state import FunctionState, Visitor
from tilewright.language.aggregates import find_fields
from tilewright.language.callables import JITCallable
from tilewright.language.dtypes import base_type
from tilewright.language.values import (
    base_value,
    constexpr,
    describe,
    is_python_sequence,
    is_sequence,
    slice,
    tensor,
    tuple,
    tuple_type,
    type_of,
    unwrap,
)
from tilewright.language.versions import check_available
from tilewright.support.errors import CompilationError, MissingFieldError
from tilewright.support.interruptions import find_interruption


def evaluate(state: FunctionState, node: ast.expr, *, is_statement: bool = False) -> Any:
    """The value of an expression; an exception on the way becomes an error at the innermost node concerned."""
    visitor = EXPRESSIONS.get(type(node))
    if visitor is None:
        message, hint = UNSUPPORTED.get(type(node), (f"unsupported AST node type: {type(node).__name__}", None))
        raise state.unsupported(node, message, hint)
    try:
        if is_statement and type(node) is ast.Call:
            return lower_call(state, node, result_is_unused=True)
        return visitor(state, node)
    except CompilationError:
        raise
    except Exception as error:
        if find_interruption(error) is not None:
            raise
        raise state.wrapped(node, error) from cause_of(error)


def wrap(value: Any) -> Any:
    """A Python object as a kernel value: numbers, strings and None become constants, tuples and lists language
    tuples."""
    if isinstance(value, base_value | base_type | JITCallable | ModuleType):
        return value
    if value is None or isinstance(value, bool | int | float | str):
        return constexpr(value)
    if is_python_sequence(value):
        fields = getattr(value, "_fields", None)
        values = [wrap(v) for v in value]
        return tuple(values, tuple_type([type_of(v) for v in values], fields) if fields is not None else None)
    return value


# -- leaves -----------------------------------------------------------------------------------------------------------
def lower_name(state: FunctionState, node: ast.Name) -> Any:
    return wrap(state.find(node.id))


def lower_constant(state: FunctionState, node: ast.Constant) -> constexpr:
    return constexpr(node.value)


def lower_tuple(state: FunctionState, node: ast.Tuple | ast.List) -> tuple:
    return tuple(evaluate_all(state, node.elts))


def evaluate_all(state: FunctionState, nodes: list[ast.expr]) -> list[Any]:
    """The values of several expressions; `*x` contributes the elements of the tuple x."""
    values: list[Any] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            values.extend(wrap(v) for v in spread(state, node))
        else:
            values.append(evaluate(state, node))
    return values


def spread(state: FunctionState, node: ast.Starred) -> list[Any]:
    """The elements of `*x`."""
    value = evaluate(state, node.value)
    plain = value if isinstance(value, tuple) else unwrap(value)
    if not is_sequence(plain):
        raise state.error(node, f"only a tuple can be unpacked with *, not {describe(value)}")
    return list(plain)


# -- operators --------------------------------------------------------------------------------------------------------
def lower_binary(state: FunctionState, node: ast.BinOp) -> Any:
    lhs = evaluate(state, node.left)
    rhs = evaluate(state, node.right)
    state.locate(node)
    return operators.binary(state, node, node.op, lhs, rhs)


def lower_unary(state: FunctionState, node: ast.UnaryOp) -> Any:
    value = evaluate(state, node.operand)
    state.locate(node)
    return operators.unary(state, node, node.op, value)


def lower_compare(state: FunctionState, node: ast.Compare) -> Any:
    """`a < b < c`: neighbours are compared, each operand computed once, and the results combined by `and`."""
    left = evaluate(state, node.left)

    def compared(position: int) -> Any:
        nonlocal left
        right = evaluate(state, node.comparators[position])
        state.locate(node)
        result = operators.compare(state, node, node.ops[position], left, right)
        left = right
        return result

    if len(node.ops) == 1:
        return compared(0)
    check_available("3.9", "a chain of comparisons")
    return _decided_in_turn(state, node, map(compared, range(len(node.ops))), is_and=True)


def lower_boolean(state: FunctionState, node: ast.BoolOp) -> Any:
    """`and`/`or`: constants decide at once and end the evaluation, run-time values are combined bit by bit."""

    def values() -> Iterator[Any]:
        for part in node.values:
            value = evaluate(state, part)
            if isinstance(value, tensor) and value.extents:
                state.warn("logical operators 'and' and 'or' on blocks are deprecated: use '&' and '|'")
            yield value

    return _decided_in_turn(state, node, values(), is_and=isinstance(node.op, ast.And))


def _decided_in_turn(state: FunctionState, node: ast.expr, values: Iterator[Any], *, is_and: bool) -> Any:
    runtime: list[Any] = []
    last: Any = None
    for value in values:
        last = value
        if operators.has_runtime_operators(value):
            runtime.append(value)
        elif bool(unwrap(value)) is not is_and:
            return value
    if not runtime:
        return last
    state.locate(node)
    result = runtime.pop()
    while runtime:
        result = operators.logical(state, node, is_and=is_and, lhs=runtime.pop(), rhs=result)
    return result


def lower_conditional(state: FunctionState, node: ast.IfExp) -> Any:
    from tilewright.frontend.branches import lower_ternary

    condition = decide(state, node.test, evaluate(state, node.test))
    if isinstance(condition, RuntimeCondition):
        return lower_ternary(state, node, condition.handle)
    return evaluate(state, node.body if condition else node.orelse)


# -- parts of values --------------------------------------------------------------------------------------------------
def lower_attribute(state: FunctionState, node: ast.Attribute) -> Any:
    owner = evaluate(state, node.value)
    state.locate(node)
    return attribute_of(state, node, owner, node.attr)


def attribute_of(state: FunctionState, node: ast.AST, owner: Any, name: str) -> Any:
    """`owner.name`: of a tensor, module, tuple with names, aggregate, or of the value inside a constant."""
    if isinstance(owner, constexpr) and name not in ("value", "type") and hasattr(owner.value, name):
        return wrap(getattr(owner.value, name))
    try:
        value = getattr(owner, name)
    except AttributeError:
        raise _no_attribute(state, node, owner, name) from None
    if isinstance(value, JITCallable) and not isinstance(owner, ModuleType | type):
        return BoundMethod(owner, value)
    if isinstance(value, FunctionType) and _is_static_method(owner, name):
        return StaticMethod(value)
    return wrap(value)


def _is_static_method(owner: Any, name: str) -> bool:
    """Is it a static method of an aggregate, looked up on the class or on a value?"""
    cls: Any = owner if isinstance(owner, type) else type(owner)
    return getattr(cls, "__triton_aggregate__", False) and isinstance(getattr_static(cls, name, None), staticmethod)


class StaticMethod:
    """A Python function in an aggregate that runs while compiling, on tensors, too: often it makes an instance."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function


class BoundMethod:
    """A device function looked up on a value: called with that value first."""

    def __init__(self, owner: Any, function: JITCallable) -> None:
        self.owner, self.function = owner, function


def _no_attribute(state: FunctionState, node: ast.AST, owner: Any, name: str) -> CompilationError:
    import difflib

    if isinstance(owner, tuple) and name in LIST_METHODS:
        return state.error(node, f"{describe(owner)} has no attribute `{name}`", OF_LISTS)
    advice = instead_of_attribute(owner, name)
    close = difflib.get_close_matches(name, [n for n in dir(owner) if not n.startswith("_")], n=1)
    advice = advice or (f"did you mean `{close[0]}`?" if close else None)
    fields = find_fields(owner)
    if fields is not None:
        advice = f"its fields are {', '.join(fields)}" + (f"; {advice}" if advice else "")
        message = f"{type(owner).__name__} has no field '{name}'"
        return state.error(node, message, advice, MissingFieldError)
    what = f"module `{owner.__name__}`" if isinstance(owner, ModuleType) else describe(owner)
    return state.error(node, f"{what} has no attribute `{name}`", advice)


def lower_subscript(state: FunctionState, node: ast.Subscript) -> Any:
    owner = evaluate(state, node.value)
    index = evaluate(state, node.slice)
    state.locate(node)
    if isinstance(owner, tensor):
        return owner[index]
    if isinstance(owner, JITCallable):
        raise state.error(
            node, "a kernel cannot be launched from within a kernel", "call the function directly: `f(x)`"
        )
    if find_fields(owner) is not None:
        return operators.item_of_record(state, node, owner, index)
    try:
        return owner[index] if isinstance(owner, tuple) else wrap(unwrap(owner)[unwrap(index)])
    except IndexError:
        text, count = ast.unparse(node.value), len(unwrap(owner))
        knows_no_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and not count
        raise state.error(
            node,
            f"`{text}` has no item {unwrap(index)}: it has {count or 'none'}",
            "a pointer does not know how large its array is: pass the size as an argument" if knows_no_shape else None,
        ) from None


def lower_slice(state: FunctionState, node: ast.Slice) -> slice:
    bounds = [evaluate(state, part) if part is not None else None for part in (node.lower, node.upper, node.step)]
    return slice(*bounds)


# -- strings, comprehensions, lambdas ---------------------------------------------------------------------------------
_CONVERSIONS: dict[int, Any] = {-1: unwrap, 115: str, 114: repr, 97: ascii}


def lower_fstring(state: FunctionState, node: ast.JoinedStr) -> Any:
    from tilewright.frontend.host_calls import FormattedPart, FormattedText

    parts = [evaluate(state, part) for part in node.values]
    if any(isinstance(part, FormattedPart) for part in parts):
        return FormattedText([part if isinstance(part, FormattedPart) else str(unwrap(part)) for part in parts])
    return constexpr("".join(str(unwrap(part)) for part in parts))


def lower_formatted(state: FunctionState, node: ast.FormattedValue) -> Any:
    value = evaluate(state, node.value)
    if isinstance(value, tensor) and state.module.options.runs_in_python:
        from tilewright.frontend.host_calls import FormattedPart

        spec = str(unwrap(evaluate(state, node.format_spec))) if node.format_spec is not None else ""
        return FormattedPart(value, chr(node.conversion) if node.conversion > 0 else "", spec)
    if isinstance(value, tensor):
        raise state.unsupported(
            node.value,
            "Cannot evaluate f-string containing non-constexpr conversion values, found conversion of "
            + describe(value),
            "use tl.device_print for run-time values",
        )
    spec = str(unwrap(evaluate(state, node.format_spec))) if node.format_spec is not None else ""
    return constexpr(format(_CONVERSIONS[node.conversion](unwrap(value)), spec))


def lower_comprehension(state: FunctionState, node: ast.ListComp) -> tuple:
    if len(node.generators) != 1:
        raise state.unsupported(node, "nested comprehensions are not supported", "use one `for` in a comprehension")
    generator = node.generators[0]
    items = evaluate(state, generator.iter)
    if not isinstance(items, tuple):
        from tilewright.language.iteration import static_range

        if not isinstance(items, static_range):
            what = f"a comprehension runs over a tuple, not over {describe(items)}"
            raise state.error(generator.iter, what, "for numbers that are constants write tl.static_range(...)")
        items = tuple(list(items))
    from tilewright.frontend.statements import bind

    outer = dict(state.scope)
    results: list[Any] = []
    try:
        for item in items.values:
            bind(state, generator.target, item)
            chosen = [decide(state, test, evaluate(state, test)) for test in generator.ifs]
            if any(isinstance(c, RuntimeCondition) for c in chosen):
                raise state.unsupported(generator.ifs[0], "the filter of a comprehension must be known at compile time")
            if all(chosen):
                results.append(evaluate(state, node.elt))
    finally:
        state.scope.clear()
        state.scope.update(outer)
    return tuple(results)


def lower_named(state: FunctionState, node: ast.NamedExpr) -> Any:
    """`(name := value)`."""
    from tilewright.frontend.statements import assigned_value, bind

    check_available("3.8", "`:=`")
    value = evaluate(state, node.value)
    state.locate(node)
    bind(state, node.target, assigned_value(state, node.target, node.value, value))
    return state.find(node.target.id)


class CompileTimeLambda:
    """A lambda: its body is compiled anew at each call, with the names of the place where it was written."""

    def __init__(self, state: FunctionState, node: ast.Lambda) -> None:
        self.state, self.node = state, node
        self.captured = dict(state.scope)

    def __call__(self, *args: Any) -> Any:
        names = [a.arg for a in self.node.args.args]
        if len(args) != len(names) or self.node.args.defaults or self.node.args.vararg or self.node.args.kwonlyargs:
            raise TypeError(f"the lambda takes {len(names)} positional arguments, {len(args)} given")
        outer = self.state.scope
        self.state.scope = {**self.captured, **dict(zip(names, args, strict=True))}
        try:
            return evaluate(self.state, self.node.body)
        finally:
            self.state.scope = outer


def lower_lambda(state: FunctionState, node: ast.Lambda) -> constexpr:
    return constexpr(CompileTimeLambda(state, node))


def lower_starred(state: FunctionState, node: ast.Starred) -> Any:
    raise state.unsupported(node, "a starred expression can stand only in a call, tuple or list")


EXPRESSIONS: dict[type[ast.expr], Visitor] = {
    ast.Name: lower_name,
    ast.Constant: lower_constant,
    ast.Tuple: lower_tuple,
    ast.List: lower_tuple,
    ast.BinOp: lower_binary,
    ast.UnaryOp: lower_unary,
    ast.Compare: lower_compare,
    ast.BoolOp: lower_boolean,
    ast.IfExp: lower_conditional,
    ast.Call: lower_call,
    ast.Attribute: lower_attribute,
    ast.Subscript: lower_subscript,
    ast.Slice: lower_slice,
    ast.JoinedStr: lower_fstring,
    ast.FormattedValue: lower_formatted,
    ast.ListComp: lower_comprehension,
    ast.Lambda: lower_lambda,
    ast.Starred: lower_starred,
    ast.NamedExpr: lower_named,
}

UNSUPPORTED: dict[type[ast.expr], Any] = {
    ast.Dict: ("unsupported AST node type: Dict", "use a tuple or a named tuple"),
    ast.Set: ("unsupported AST node type: Set", "use a tuple"),
    ast.Yield: ("unsupported AST node type: Yield", "a kernel gives nothing back: store results with tl.store"),
    ast.GeneratorExp: ("unsupported AST node type: GeneratorExp", "use a list comprehension over a tuple"),
}
