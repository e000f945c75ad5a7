"""Operators of Python expressions applied to kernel values."""

from __future__ import annotations

import ast
import operator
from typing import Any

from tilewright.frontend.state import FunctionState
from tilewright.language.arithmetic import logical_and
from tilewright.language.callables import JITCallable
from tilewright.language.dtypes import dtype
from tilewright.language.values import constexpr, describe, tensor, tuple, unwrap


def _python(name: str) -> Any:
    """What the operator means for compile-time values."""
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


def _apply(state: FunctionState, node: ast.AST, entry: Any, lhs: Any, rhs: Any) -> Any:
    """Apply a binary operator: a run-time operand decides, else Python computes at compile time."""
    from tilewright.frontend.calls import call
    from tilewright.frontend.expressions import wrap

    name, symbol, python = entry
    for owner, other, method_name in ((lhs, rhs, f"__{name}__"), (rhs, lhs, f"__r{name}__")):
        if not has_runtime_operators(owner):
            continue
        method = _operator_method(owner, method_name)
        if isinstance(method, JITCallable):
            return call(state, method, [owner, other], {})
        if method is None or isinstance(other, tuple):
            raise _unavailable(state, node, symbol, lhs, rhs)
        result = method(owner, other)
        if result is not NotImplemented:
            return result
    return wrap(python(_constant(lhs), _constant(rhs)))


def _constant(value: Any) -> Any:
    return value.value if isinstance(value, constexpr) else value


def binary(state: FunctionState, node: ast.AST, kind: ast.operator, lhs: Any, rhs: Any) -> Any:
    """`lhs <kind> rhs`."""
    return _apply(state, node, _BINARY[type(kind)], lhs, rhs)


def unary(state: FunctionState, node: ast.AST, kind: ast.unaryop, value: Any) -> Any:
    """`<kind> value`."""
    from tilewright.frontend.expressions import wrap

    name, symbol, python = _UNARY[type(kind)]
    if isinstance(value, tensor):
        method = getattr(type(value), f"__{name}__", None)
        if method is None:
            raise _unavailable(state, node, f"unary {symbol}", value)
        return method(value)
    return wrap(python(_constant(value)))


def compare(state: FunctionState, node: ast.Compare, values: list[Any]) -> Any:
    """`a < b < c`: each neighbouring pair is compared, the results combined by `and`."""
    result: Any = None
    for kind, lhs, rhs in zip(node.ops, values, values[1:], strict=False):
        pair = _compare_pair(state, node, kind, lhs, rhs)
        if result is None:
            result = pair
        elif isinstance(result, tensor) or isinstance(pair, tensor):
            result = logical_and(result, pair)
        else:
            result = constexpr(bool(unwrap(result)) and bool(unwrap(pair)))
    return result


def _compare_pair(state: FunctionState, node: ast.Compare, kind: ast.cmpop, lhs: Any, rhs: Any) -> Any:
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
