"""`print` and `breakpoint` of kernels that run in Python (`CodegenOptions.runs_in_python`): calls of functions that the
reference target provides.

```mlir
tt.func private @print(tensor<8xf32>) -> () attributes {host.print = {end = "\\0A", sep = " ",
  values = ["'x ='", {operand = 0, unsigned = false}]}}
tt.call @print(%x) : (tensor<8xf32>) -> ()
```

A value is written as an attribute: a run-time one as the number of its operand, a constant as its `repr`, a tuple as an
array, and an f-string as a dictionary of its parts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Region, SSAValue

from tilewright.dialects import tt
from tilewright.dialects.attributes import HOST_BREAKPOINT, HOST_PRINT
from tilewright.frontend.errors import span_of
from tilewright.frontend.functions import unique_symbol
from tilewright.frontend.state import FunctionState
from tilewright.language.values import base_value, tensor, tuple, unwrap
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class HostFunction:
    """A function of Python's own that a kernel may call where it runs in Python."""

    emit: Callable[[FunctionState, Sequence[Any], Mapping[str, Any]], None]


@dataclass(frozen=True)
class FormattedPart:
    """`{value!r:spec}` of an f-string, of a run-time value."""

    value: Any
    conversion: str
    spec: str


@dataclass(frozen=True)
class FormattedText:
    """An f-string with run-time values: text and formatted parts in turn. It can be printed."""

    parts: Sequence[str | FormattedPart]


def _emit_print(state: FunctionState, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    unknown = next((name for name in keywords if name not in ("sep", "end", "flush", "file")), None)
    if unknown is not None:
        raise TypeError(f"print() got an unexpected keyword argument '{unknown}'")
    operands: list[SSAValue] = []
    sep, end = (unwrap(keywords.get(name, default)) for name, default in (("sep", " "), ("end", "\n")))
    facts = {
        "values": ArrayAttr([_described(value, operands) for value in args]),
        "sep": StringAttr(" " if sep is None else sep),
        "end": StringAttr("\n" if end is None else end),
    }
    _emit_call(state, "print", HOST_PRINT, facts, operands)


def _emit_breakpoint(state: FunctionState, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    operands: list[SSAValue] = [state.insert(tt.GetProgramIdOp(axis)).results[0] for axis in range(3)]
    span = span_of(state.source, state.node)
    shown = {name: value for name, value in state.scope.items() if isinstance(unwrap(value), _SHOWN)}
    facts = {
        "function": StringAttr(state.function.fn.__name__),
        "module": StringAttr(state.function.fn.__module__),
        "file": StringAttr(span.filename),
        "line": IntegerAttr(span.line, i64),
        "next": IntegerAttr(_line_after(state, span.line), i64),
        "names": DictionaryAttr({name: _described(value, operands) for name, value in shown.items()}),
    }
    _emit_call(state, "breakpoint", HOST_BREAKPOINT, facts, operands)


_SHOWN = (base_value, bool, int, float, str, type(None), type(()))

HOST_FUNCTIONS = {"print": HostFunction(_emit_print), "breakpoint": HostFunction(_emit_breakpoint)}


def _line_after(state: FunctionState, line: int) -> int:
    """The line of the statement that follows in the source."""
    tree = state.source.tree
    lines = [state.source.line_of(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return min((other for other in lines if other > line), default=line + 1)


def _described(value: Any, operands: list[SSAValue]) -> Attribute:
    """A value as an attribute; run-time parts are appended to `operands`."""
    if isinstance(value, tensor):
        operands.append(value.handle)
        is_unsigned = value.dtype.is_int() and not value.dtype.is_int_signed()
        number = IntegerAttr(len(operands) - 1, i64)
        return DictionaryAttr({"operand": number, "unsigned": BoolAttr.from_bool(is_unsigned)})
    if isinstance(value, tuple):
        return ArrayAttr([_described(part, operands) for part in value.values])
    if isinstance(value, FormattedText):
        return DictionaryAttr({"text": ArrayAttr([_described_part(part, operands) for part in value.parts])})
    return StringAttr(repr(unwrap(value)))


def _described_part(part: str | FormattedPart, operands: list[SSAValue]) -> Attribute:
    if isinstance(part, str):
        return StringAttr(part)
    facts = {"value": _described(part.value, operands)}
    return DictionaryAttr({**facts, "conversion": StringAttr(part.conversion), "spec": StringAttr(part.spec)})


def _emit_call(
    state: FunctionState, name: str, attribute: str, facts: Mapping[str, Attribute], operands: Sequence[SSAValue]
) -> None:
    symbol = unique_symbol(state.module, name)
    function = tt.FuncOp(symbol, ([value.type for value in operands], []), Region(), visibility="private")
    function.attributes[attribute] = DictionaryAttr(dict(facts))
    function.location = state.location_of(state.node)
    state.module.module.body.block.add_op(function)
    state.insert(tt.CallOp(symbol, list(operands), []))
