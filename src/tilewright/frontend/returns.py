"""What a function gives back: its `return` statements are collected, brought to one type, and emitted at its end.

A constant stays one where all ways return the same; ways with different numbers return a run-time scalar.
"""

from __future__ import annotations

import ast
from typing import Any

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block

from tilewright.dialects import tt, ub
from tilewright.frontend.state import FunctionState
from tilewright.language.creation import constant, literal_dtype
from tilewright.language.dtypes import base_type, void
from tilewright.language.values import base_value, constexpr, constexpr_type, describe, tuple, tuple_type, type_of
from tilewright.support.records import dataclass

NOTHING = constexpr_type(None)


@dataclass(frozen=True)
class Return:
    """A `return` statement: its value, and the block that it ends."""

    node: ast.Return
    value: base_value
    block: Block
    location: LocationAttr


def collect_return(state: FunctionState, node: ast.Return, value: Any) -> None:
    """Note a `return`; the op comes when the type of the function is known."""
    value = _as_value(value)
    if not isinstance(value, base_value):
        raise state.error(node, f"cannot return {describe(value)} from a kernel function")
    state.returned.collected.append(Return(node, value, state.builder.block, state.builder.location))
    state.terminated = True


def _as_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return value.with_values([_as_value(v) for v in value.values])
    if isinstance(value, base_value):
        return value
    is_constant = value is None or isinstance(value, bool | int | float | str | base_type)
    return constexpr(value) if is_constant else value


def emit_returns(state: FunctionState) -> None:
    """End every block that a `return` left open, and the last one, if the end of the function is reached: it returns
    nothing or, where other ways return a value, an undefined one."""
    collected: list[Return] = state.returned.collected
    common: Any = NOTHING
    for index, found in enumerate(collected):
        common = type_of(found.value) if index == 0 else _common_type(state, found, common)
    for found in collected:
        with state.builder.at(found.block, found.location):
            handles: list[Any] = []
            _converted(found.value, common).flatten_ir(handles)
            state.insert(tt.ReturnOp(handles))
    state.returned.type = void if common == NOTHING else common
    if not state.terminated:
        _fall_through(state)


def warn_of_lost_constants(state: FunctionState) -> None:
    """Warn of `return 5` in a kernel: it leaves nothing in the IR, and nobody gets the value."""
    if state.returned.type != void and not state.returned.type.flatten_ir_types():
        state.node = state.returned.collected[-1].node
        state.warn(
            f"the kernel `{state.function.fn.__name__}` returns a value, which is lost: a launch gives back the "
            "compiled kernel; store results through a pointer with tl.store"
        )


def _fall_through(state: FunctionState) -> None:
    state.builder.location = state.location_of(state.source.tree)
    if state.returned.type == void:
        state.insert(tt.ReturnOp())
        return
    state.warn(f"`{state.function.fn.__name__}` returns a value on some ways only; on the others it is undefined")
    poison = [state.insert(ub.PoisonOp(ir)).results[0] for ir in state.returned.type.flatten_ir_types()]
    state.insert(tt.ReturnOp(poison))


def _common_type(state: FunctionState, found: Return, other: Any) -> Any:
    try:
        return _meet(type_of(found.value), other)
    except TypeError:
        ours = type_of(found.value)
        raise state.error(
            found.node,
            f"Return type mismatch: {_words(other)} and {_words(ours)}",
            "return values of one type on all ways, for example with `.to(...)`",
        ) from None


def _meet(a: Any, b: Any) -> Any:
    if a == b:
        return a
    if isinstance(a, tuple_type) and isinstance(b, tuple_type):
        if a.fields != b.fields or len(a.types) != len(b.types):
            raise TypeError
        return tuple_type([_meet(x, y) for x, y in zip(a.types, b.types, strict=True)], a.fields)
    if not isinstance(a, constexpr_type) and not isinstance(b, constexpr_type):
        raise TypeError
    first, second = _runtime_type(a), _runtime_type(b)
    if first != second:
        raise TypeError
    return first


def _runtime_type(ty: Any) -> Any:
    """The type of a number at run time; that of other constants, which have none, is a TypeError."""
    if not isinstance(ty, constexpr_type):
        return ty
    if not isinstance(ty.value, bool | int | float):
        raise TypeError
    return literal_dtype(ty.value)


def _converted(value: Any, ty: Any) -> base_value:
    if isinstance(value, tuple) and isinstance(ty, tuple_type):
        return value.with_values([_converted(v, t) for v, t in zip(value.values, ty.types, strict=True)])
    if isinstance(value, constexpr) and not isinstance(ty, constexpr_type):
        return constant(value.value, ty)
    return value


def _words(ty: Any) -> str:
    return f"the constant {ty.value!r}" if isinstance(ty, constexpr_type) else str(ty)
