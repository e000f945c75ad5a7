"""What `print` and `breakpoint` do in a kernel that runs in Python; `frontend.host_calls` says how their calls look."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from tilewright.dialects.attributes import HOST_BREAKPOINT, HOST_PRINT

CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda value: value, "r": repr, "s": str, "a": ascii}


def host_functions(module: ModuleOp) -> dict[str, Callable[..., None]]:
    """By symbol, the functions of Python that the kernels of a module call with the values of their operands."""
    found: dict[str, Callable[..., None]] = {}
    for op in module.body.block.ops:
        symbol = op.properties.get("sym_name")
        for attribute, function in ((HOST_PRINT, _print), (HOST_BREAKPOINT, _stop)):
            facts = op.attributes.get(attribute)
            if isinstance(facts, DictionaryAttr) and isinstance(symbol, StringAttr):
                found[symbol.data] = partial(function, facts.data)
    return found


def _print(facts: Mapping[str, Attribute], *operands: Any) -> None:
    values = [_value(value, operands) for value in _elements(facts["values"])]
    print(*values, sep=_text(facts["sep"]), end=_text(facts["end"]))


def _stop(facts: Mapping[str, Attribute], *operands: Any) -> None:
    """Call `breakpoint()` in a frame that looks like the kernel's: its file, line, name, locals and globals.

    A debugger that goes on from there stops at the next breakpoint of the kernel, not within the compiler: the frame
    itself ends tracing.
    """
    function, line = _text(facts["function"]), _number(facts["line"])
    program = ", ".join(str(int(number)) for number in operands[:3])
    names = facts["names"]
    assert isinstance(names, DictionaryAttr)
    values = {name: _value(value, operands) for name, value in names.data.items()}
    arguments = ", ".join(values)
    tree = ast.parse(f"def {function}({arguments}):\n    breakpoint()\n    __end_tracing__()")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr | ast.arg):
            node.lineno = node.end_lineno = _number(facts["next"]) if node.lineno == 3 else line
            node.col_offset = node.end_col_offset = 0
    home = sys.modules.get(_text(facts["module"]))
    tracing = sys.gettrace()
    space = {**(vars(home) if home is not None else {}), "__end_tracing__": partial(sys.settrace, tracing)}
    exec(compile(tree, _text(facts["file"]), "exec"), space)
    print(f"kernel '{function}', program ({program})", flush=True)
    try:
        space[function](**values)
    finally:
        sys.settrace(tracing)


def _value(described: Attribute, operands: Sequence[Any]) -> Any:
    """Return what a described value is: a NumPy array or number, a constant, a tuple, or text."""
    match described:
        case ArrayAttr():
            return tuple(_value(part, operands) for part in _elements(described))
        case StringAttr(data=text):
            return _constant(text)
        case DictionaryAttr(data=facts) if "text" in facts:
            return "".join(_formatted(part, operands) for part in _elements(facts["text"]))
        case DictionaryAttr(data=facts):
            value = np.asarray(operands[_number(facts["operand"])])
            if _number(facts["unsigned"]) and value.dtype.kind == "i":
                value = value.view(f"u{value.dtype.itemsize}")
            return value if value.ndim else value[()]
        case _:
            raise AssertionError(f"no value is described by {described}")


def _formatted(part: Attribute, operands: Sequence[Any]) -> str:
    if isinstance(part, StringAttr):
        return part.data
    assert isinstance(part, DictionaryAttr)
    value = CONVERSIONS[_text(part.data["conversion"])](_value(part.data["value"], operands))
    return format(value, _text(part.data["spec"]))


def _constant(text: str) -> Any:
    """A constant from its `repr`; of what Python cannot read back (a dtype, infinity) the text itself or a float."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return float(text) if text in ("inf", "-inf", "nan") else text


def _elements(attribute: Attribute) -> Sequence[Attribute]:
    assert isinstance(attribute, ArrayAttr)
    return cast("ArrayAttr[Attribute]", attribute).data


def _text(attribute: Attribute) -> str:
    assert isinstance(attribute, StringAttr)
    return attribute.data


def _number(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data
