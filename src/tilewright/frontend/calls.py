"""Calls in a kernel: of language functions, device functions, classes, and compile-time Python functions."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Iterable
from functools import partial
from types import ModuleType
from typing import Any

from xdsl.ir import SSAValue

from tilewright import language
from tilewright.dialects import tt
from tilewright.frontend.advice import instead_of, instead_of_attribute
from tilewright.frontend.errors import add_caller, final, name_operands
from tilewright.frontend.recovery import FollowUpError
from tilewright.frontend.scope import is_named_tuple
from tilewright.frontend.state import CompiledFunction, FunctionState
from tilewright.language import iteration
from tilewright.language.aggregates import construct
from tilewright.language.callables import ConstexprFunction, JITCallable
from tilewright.language.dtypes import dtype, void
from tilewright.language.registry import is_builtin, with_hint
from tilewright.language.shape import ShapeMismatchError
from tilewright.language.values import (
    base_value,
    constexpr,
    describe,
    is_python_sequence,
    tensor,
    tuple,
    type_of,
    unwrap,
)
from tilewright.language.versions import check_call
from tilewright.support.errors import CompilationError

DEEPEST_RECURSION = 100
"""How many specialisations of one function may be under way in each other."""

_HOST_KEYWORDS = ("_semantic", "_builder", "_generator")
_LANGUAGE_CLASSES = (iteration.range, iteration.static_range, iteration.condition, constexpr, tuple)


def lower_call(state: FunctionState, node: ast.Call, *, result_is_unused: bool = False) -> Any:
    """Evaluate the function and its arguments, then call."""
    from tilewright.frontend.expressions import evaluate, evaluate_all

    function = evaluate(state, node.func)
    args = evaluate_all(state, node.args)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise state.unsupported(keyword, "`**` arguments are not supported", "name each keyword argument")
        if keyword.arg not in _HOST_KEYWORDS:
            keywords[keyword.arg] = evaluate(state, keyword.value)
    state.locate(node)
    advice = getattr(_marked(unwrap(function)), "_must_use_result", False)
    if result_is_unused and advice:
        raise state.error(
            node,
            f"The result of {ast.unparse(node.func)} is not being used. "
            f"{advice if isinstance(advice, str) else ''}".strip(),
        )
    try:
        return call(state, function, args, keywords)
    except ShapeMismatchError as error:
        if not any(isinstance(part, ast.Starred) for part in node.args):
            name_operands(error, [*node.args, *(k.value for k in node.keywords)], [*args, *keywords.values()])
        raise


def _marked(function: Any) -> Any:
    """The function behind a method that is looked up on a value, which bears the marks."""
    from tilewright.frontend.expressions import BoundMethod

    if isinstance(function, BoundMethod):
        return function.function
    return function.func if isinstance(function, partial) else function


def call(state: FunctionState, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Call what a kernel may call; the result is a kernel value."""
    from tilewright.frontend.expressions import BoundMethod, CompileTimeLambda, StaticMethod, wrap
    from tilewright.frontend.host_calls import HostFunction
    from tilewright.frontend.scope import PYTHON_BUILTINS

    function = unwrap(function)
    check_call(function, keywords)
    if isinstance(function, HostFunction):
        function.emit(state, args, keywords)
        return constexpr(None)
    if isinstance(function, BoundMethod):
        return call_jit(state, function.function, [function.owner, *args], keywords)
    if isinstance(function, StaticMethod):
        return wrap(function.function(*args, **keywords))
    if isinstance(function, JITCallable):
        return call_jit(state, function, args, keywords)
    if is_builtin(function) or inspect.ismethod(function):
        try:
            return wrap(function(*args, **keywords))
        except TypeError as error:
            _explain_arguments(function, args, keywords, error)
            raise
    if isinstance(function, CompileTimeLambda):
        return wrap(function(*args, **keywords))
    if isinstance(function, ConstexprFunction):
        return _call_at_compile_time(function, args, keywords)
    if isinstance(function, type):
        return _instantiate(state, function, args, keywords)
    if function in PYTHON_BUILTINS.values():
        return wrap(function(*[_class_of(a) for a in args], **keywords))
    if not callable(function):
        if isinstance(function, ModuleType):
            name = function.__name__.rpartition(".")[2]
            error = TypeError(f"`{name}` is a module and cannot be called")
            raise with_hint(error, advice) if (advice := instead_of_attribute(language, name)) else error
        raise TypeError(f"{describe(function)} cannot be called")
    _check_compile_time(function, args, keywords)
    return wrap(function(*[unwrap(a) for a in args], **{k: unwrap(v) for k, v in keywords.items()}))


def _explain_arguments(function: Any, args: list[Any], keywords: dict[str, Any], error: TypeError) -> None:
    """Add the nearest parameter, or all, to the error of a call with a keyword that there is no parameter for, and the
    signature to that of one with too few or too many arguments."""
    import difflib

    signature = inspect.signature(function)
    parameters = signature.parameters
    unknown = [name for name in keywords if name not in parameters]
    if hasattr(error, "hint"):
        return
    if unknown:
        near = difflib.get_close_matches(unknown[0], parameters, n=1)
        with_hint(error, f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(parameters)}")
        return
    try:
        signature.bind(*args, **keywords)
    except TypeError:
        plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters.values()]
        with_hint(error, f"its signature is {function.__name__}{inspect.Signature(plain)}")


def _class_of(argument: Any) -> Any:
    """`int` or `float` as an argument (of isinstance) is the Python class, not the conversion function."""
    from tilewright.frontend.scope import PYTHON_CLASSES

    if isinstance(argument, tuple):
        return argument.with_values([_class_of(a) for a in argument.values])
    try:
        return PYTHON_CLASSES.get(argument, argument)
    except TypeError:
        return argument


def _call_at_compile_time(function: ConstexprFunction, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Run a `constexpr_function`: it may ask a run-time value for its type, and answers with a constant.

    What it raises is its own, but for the errors that Python and `tensor` raise where it computes with such a value.
    """
    from tilewright.frontend.expressions import wrap

    try:
        result = function(*args, **keywords)
    except (TypeError, AttributeError):
        _check_compile_time(function, args, keywords)
        raise
    if isinstance(unwrap(result), tensor):
        _check_compile_time(function, args, keywords)
    return wrap(result)


def _check_compile_time(function: Any, args: Iterable[Any], keywords: dict[str, Any]) -> None:
    for value in [*args, *keywords.values()]:
        if isinstance(value, tensor):
            name = getattr(function, "__name__", type(function).__name__)
            raise with_hint(
                TypeError(f"`{name}` runs at compile time and cannot take {describe(value)}"),
                instead_of(function),
            )


def _instantiate(state: FunctionState, cls: type, args: list[Any], keywords: dict[str, Any]) -> Any:
    from tilewright.frontend.expressions import wrap

    if getattr(cls, "__triton_aggregate__", False):
        return construct(cls, args, keywords, partial(run_in_place, state))
    if issubclass(cls, _LANGUAGE_CLASSES):
        return cls(*args, **keywords)
    if is_named_tuple(cls):
        return wrap(cls(*args, **keywords))
    _check_compile_time(cls, args, keywords)
    return wrap(cls(*[unwrap(a) for a in args], **{k: unwrap(v) for k, v in keywords.items()}))


# -- device functions -------------------------------------------------------------------------------------------------
def call_jit(state: FunctionState, function: JITCallable, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Compile a device function for these arguments, unless that was done, and emit `tt.call`.

    ```mlir
    %3 = tt.call @mod.helper__fp32_i32__(%0, %1) : (f32, i32) -> f32
    ```
    """
    values = bind_arguments(function, args, keywords)
    node, location = state.node, state.builder.location
    compiled = _compile(state, function, values, node)
    handles: list[SSAValue] = []
    for value in values:
        value.flatten_ir(handles)
    return_type = compiled.return_type
    result_types: list[Any] = [] if return_type == void else return_type.flatten_ir_types()
    state.builder.location = location
    op = state.insert(tt.CallOp(compiled.symbol, handles, result_types))
    if return_type == void:
        return constexpr(None)
    return return_type.unflatten_ir(list(op.results), 0)[0]


def bind_arguments(function: JITCallable, args: list[Any], keywords: dict[str, Any]) -> list[Any]:
    """One value per parameter, defaults filled in; what is not a run-time value becomes a constant."""
    try:
        bound = function.signature.bind(*args, **keywords)
    except TypeError as error:
        raise with_hint(
            TypeError(f"{function.fn.__name__}() {error}"),
            f"its signature is {function.fn.__name__}{function.signature}",
        ) from None
    bound.apply_defaults()
    return [as_argument(bound.arguments[p.name]) for p in function.params]


def as_argument(value: Any) -> base_value:
    """A value as it enters a device function, whatever the parameter's annotation says: as in Triton, a run-time value
    in a parameter that is declared constexpr is an error only where a constant is needed."""
    from tilewright.frontend.expressions import wrap

    value = wrap(value)
    if isinstance(value, tuple):
        return value.with_values([v if isinstance(v, base_value) else constexpr(v) for v in value.values])
    return value if isinstance(value, base_value) else constexpr(value)


def _compile(state: FunctionState, function: JITCallable, values: list[base_value], node: ast.AST) -> CompiledFunction:
    from tilewright.frontend.functions import compile_device_function

    num_warps = state.context.num_warps
    key = (id(function), num_warps, *[identity(value) for value in values])
    if key in state.module.functions:
        found = state.module.functions[key]
        if key in state.module.failed:
            raise FollowUpError(f"`{function.fn.__name__}` is wrong")
        if found is None:
            raise final(
                state.error(
                    node,
                    f"recursion is not supported: `{function.fn.__name__}` calls itself",
                    "a function may call itself with other constants or other shapes",
                )
            )
        return found
    if state.module.in_progress.count(function) >= DEEPEST_RECURSION:
        raise final(
            state.error(
                node,
                f"recursion is not supported: `{function.fn.__name__}` calls itself {DEEPEST_RECURSION} times, with "
                f"other constants or shapes each time",
                "end it where a constant is reached",
            )
        )
    if function.noinline:
        _check_noinline(function, values)
    state.module.functions[key] = None
    try:
        compiled = compile_device_function(state.module, function, values, num_warps)
    except CompilationError as error:
        if add_caller(error, function, state.function, node):
            del state.module.functions[key]
        else:
            state.module.failed.add(key)
        raise
    state.module.functions[key] = compiled
    return compiled


def _check_noinline(function: JITCallable, values: list[base_value]) -> None:
    for parameter, value in zip(function.params, values, strict=True):
        if isinstance(value, tensor) and value.extents:
            raise with_hint(
                TypeError(
                    f"Function {function.fn.__name__} is marked noinline, but was called with non-scalar argument "
                    f"{parameter.name}:{value.type}"
                ),
                "pass scalars (pointers and numbers), or drop noinline=True",
            )


def identity(value: Any) -> Any:
    """Return what a device function is compiled for: the type of a run-time value, the value of a constant."""
    if isinstance(value, tensor):
        ty = value.type
        return (ty.name, getattr(ty.scalar, "address_space", 0))
    if isinstance(value, tuple):
        fields = value.type.fields
        return ("tuple", builtins.tuple(fields) if fields else None, *[identity(v) for v in value.values])
    if isinstance(value, constexpr):
        plain = value.value
        if is_python_sequence(plain):
            return ("list", *[identity(constexpr(v)) for v in plain])
        if plain is None or isinstance(plain, bool | int | float | str | dtype):
            return ("constant", type(plain).__name__, repr(plain))
        from tilewright.language.gluon.layout_base import Layout  # and all of Gluon, for what is rare

        if isinstance(plain, Layout):
            return ("layout", plain)
        return ("object", _Same(plain))
    return ("value", type_of(value).mangle())


class _Same:
    """Compares by identity and keeps the object alive, so that its identity is not used again."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def run_in_place(state: FunctionState, function: JITCallable, args: list[Any], keywords: dict[str, Any]) -> None:
    """Compile a function's statements where it is called, as for the `__init__` of an aggregate: no call, no result."""
    from tilewright.frontend.statements import lower_body

    inner = FunctionState(state.module, function, inside=state)
    for parameter, value in zip(function.params, bind_arguments(function, args, keywords), strict=True):
        inner.scope[parameter.name] = value
    lower_body(inner, inner.source.tree.body)
    inner.mistakes.check()
