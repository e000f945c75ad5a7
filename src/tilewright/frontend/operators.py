"""Operators of Python expressions applied to kernel values."""

from __future__ import annotations

import ast
import operator
from typing import Any

from tilewright.frontend.state import FunctionState
from tilewright.language.arithmetic import logical_and, logical_or
from tilewright.language.callables import ConstexprFunction, JITCallable
from tilewright.language.dtypes import dtype
from tilewright.language.values import constexpr, describe, tensor, tuple, unwrap


def _python(name: str) -> Any:
    """Return what the operator means for compile-time values."""
    return getattr(operator, name)


_BINARY: dict[type[ast.operator], Any] = {
    ast.Add: ("add", "+", _python("add")),
    ast.Sub: ("sub", "-", _python("sub")),
    ast.Mult: ("mul", "*", _python("mul")),
    ast.Div: ("truediv", "/", _python("truediv")),
    ast.FloorDiv: ("floordiv", "//", _python("floordiv")),
    ast.Mod: ("mod", "%", _python("mod")),
    ast.Pow: ("pow", "**", _python("pow")),
    ast.LShift: ("lshift", "<<", _python("lshift")),
    ast.RShift: ("rshift", ">>", _python("rshift")),
    ast.BitAnd: ("and", "&", _python("and_")),
    ast.BitOr: ("or", "|", _python("or_")),
    ast.BitXor: ("xor", "^", _python("xor")),
    ast.MatMult: ("matmul", "@", _python("matmul")),
}
_COMPARE: dict[type[ast.cmpop], Any] = {
    ast.Lt: ("lt", "<", _python("lt")),
    ast.LtE: ("le", "<=", _python("le")),
    ast.Gt: ("gt", ">", _python("gt")),
    ast.GtE: ("ge", ">=", _python("ge")),
    ast.Eq: ("eq", "==", _python("eq")),
    ast.NotEq: ("ne", "!=", _python("ne")),
}
_REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""What a comparison is with its operands exchanged; the methods of other operators have an `r` in front."""
_LOGICAL = ("logical_and", "logical_or")
_UNARY: dict[type[ast.unaryop], Any] = {
    ast.USub: ("neg", "-", _python("neg")),
    ast.UAdd: ("pos", "+", _python("pos")),
    ast.Invert: ("invert", "~", _python("invert")),
    ast.Not: ("not", "not", _python("not_")),
}
_ADVICE = {
    "@": "use tl.dot(a, b)",
    "**": "multiply, or use tl.exp2(y * tl.log2(x)) or tl.extra.libdevice.pow",
    "unary +": "leave the sign out",
}


def _unavailable(state: FunctionState, node: ast.AST, symbol: str, *operands: Any) -> Exception:
    kinds = " and ".join(describe(o) for o in operands)
    return state.unsupported(node, f"the operator `{symbol}` is not defined for {kinds}", _ADVICE.get(symbol))


def _operator_method(value: Any, name: str) -> Any:
    """The method of the value's class, unbound."""
    return getattr(value.__class__, name, None)


def has_runtime_operators(value: Any) -> bool:
    """Do the operators of `value` emit ops: is it a tensor or a record?"""
    return isinstance(value, tensor) or hasattr(value, "__triton_aggregate__")


def _priority(value: Any) -> int:
    """Whose operator decides: that of a record, then of a tensor, then Python's."""
    if hasattr(value, "__triton_aggregate__"):
        return 2
    return 1 if isinstance(value, tensor) else 0


def _owners(entry: Any, lhs: Any, rhs: Any) -> list[Any]:
    """List who may compute `lhs <op> rhs`, with the other operand and the method's name, the first choice first.

    As in Python, the right side comes first where its class is derived from the left side's.
    """
    name = entry[0]
    found: list[Any] = [(lhs, rhs, f"__{name}__"), (rhs, lhs, f"__{_REFLECTED.get(name, 'r' + name)}__")]
    if name in _LOGICAL:
        found = [(lhs, rhs, name), (rhs, lhs, name)]
    first, second = _priority(lhs), _priority(rhs)
    if first == second and type(lhs) is not type(rhs) and isinstance(rhs, type(lhs)):
        found.reverse()
    return [choice for choice in found if _priority(choice[0]) == max(first, second) > 0]


def _apply(state: FunctionState, node: ast.AST, entry: Any, lhs: Any, rhs: Any) -> Any:
    """Apply a binary operator: a run-time operand decides, else Python computes at compile time."""
    from tilewright.frontend.calls import call
    from tilewright.frontend.expressions import wrap

    _, symbol, python = entry
    owners = _owners(entry, lhs, rhs)
    for owner, other, method_name in owners:
        method = _operator_method(owner, method_name)
        if method is None:
            continue
        if isinstance(method, JITCallable | ConstexprFunction):
            result = call(state, method, [owner, other], {})
        elif isinstance(owner, tensor) and isinstance(other, tuple):
            raise _unavailable(state, node, symbol, lhs, rhs)
        else:
            result = method(owner, other)
        if unwrap(result) is not NotImplemented:
            return result
    if owners:
        raise _unavailable(state, node, symbol, lhs, rhs)
    return wrap(python(_constant(lhs), _constant(rhs)))


def logical(state: FunctionState, node: ast.AST, *, is_and: bool, lhs: Any, rhs: Any) -> Any:
    """`lhs and rhs`, `lhs or rhs`, where one of them is known at run time."""
    if isinstance(lhs, tensor) and isinstance(rhs, tensor):
        return logical_and(lhs, rhs) if is_and else logical_or(lhs, rhs)
    entry = ("logical_and", "and", None) if is_and else ("logical_or", "or", None)
    return _apply(state, node, entry, lhs, rhs)


def _constant(value: Any) -> Any:
    return value.value if isinstance(value, constexpr) else value


def binary(state: FunctionState, node: ast.AST, kind: ast.operator, lhs: Any, rhs: Any) -> Any:
    """`lhs <kind> rhs`."""
    return _apply(state, node, _BINARY[type(kind)], lhs, rhs)


def unary(state: FunctionState, node: ast.AST, kind: ast.unaryop, value: Any) -> Any:
    """`<kind> value`."""
    from tilewright.frontend.calls import call
    from tilewright.frontend.expressions import wrap

    name, symbol, python = _UNARY[type(kind)]
    if has_runtime_operators(value):
        method = _operator_method(value, f"__{name}__")
        result = NotImplemented
        if isinstance(method, JITCallable | ConstexprFunction):
            result = call(state, method, [value], {})
        elif method is not None:
            result = method(value)
        if unwrap(result) is NotImplemented:
            raise _unavailable(state, node, f"unary {symbol}", value)
        return result
    return wrap(python(_constant(value)))


def item_of_record(state: FunctionState, node: ast.AST, record: Any, index: Any) -> Any:
    """`record[index]`: the class's `__getitem__`, called with the index as it is written."""
    from tilewright.frontend.calls import call

    method = _operator_method(record, "__getitem__")
    if method is None:
        raise state.unsupported(node, f"{describe(record)} has no `__getitem__`", "read a field: `record.name`")
    return call(state, method, [record, index], {})


def compare(state: FunctionState, node: ast.Compare, kind: ast.cmpop, lhs: Any, rhs: Any) -> Any:
    """One comparison."""
    if isinstance(kind, ast.Is):
        return constexpr(_is_same(unwrap(lhs), unwrap(rhs)))
    if isinstance(kind, ast.IsNot):
        return constexpr(not _is_same(unwrap(lhs), unwrap(rhs)))
    if isinstance(kind, ast.In | ast.NotIn):
        if isinstance(lhs, tensor) or _holds_tensor(rhs):
            raise state.unsupported(node, "`in` is defined for compile-time values only")
        return constexpr(
            (
                unwrap(lhs) in [unwrap(v) for v in rhs]
                if not isinstance(unwrap(rhs), str)
                else unwrap(lhs) in unwrap(rhs)
            )
            is isinstance(kind, ast.In)
        )
    for value, other in ((lhs, rhs), (rhs, lhs)):
        if (
            isinstance(value, tensor)
            and not isinstance(other, tensor)
            and not isinstance(unwrap(other), bool | int | float)
        ):
            # Only None and foreign values come here: equality is decided now, an order does not exist.
            if isinstance(kind, ast.Eq | ast.NotEq):
                return constexpr(isinstance(kind, ast.NotEq))
            raise state.error(node, f"cannot compare {describe(value)} with {describe(other)}")
    return _apply(state, node, _COMPARE[type(kind)], lhs, rhs)


def _is_same(lhs: Any, rhs: Any) -> bool:
    """`lhs is rhs`. There is one object per element type in Triton, so `x.dtype is tl.float32` asks for equality."""
    if type(lhs) is dtype and type(rhs) is dtype:
        return lhs == rhs
    return lhs is rhs


def _holds_tensor(value: Any) -> bool:
    return isinstance(value, tensor) or (isinstance(value, tuple) and any(isinstance(v, tensor) for v in value.values))
