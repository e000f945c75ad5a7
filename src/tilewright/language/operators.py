"""Gives tensors their Python operators, all defined in `arithmetic` and `shape`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.language import arithmetic, shape
from tilewright.language.values import tensor

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": arithmetic.add,
    "sub": arithmetic.sub,
    "mul": arithmetic.mul,
    "truediv": arithmetic.truediv,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.mod,
    "and": arithmetic.and_,
    "or": arithmetic.or_,
    "xor": arithmetic.xor_,
    "lshift": arithmetic.shl,
    "rshift": arithmetic.shr,
}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def _reflect(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: operation(other, self)


def install() -> None:
    """Attach every operator to the tensor class."""
    for name, operation in _BINARY.items():
        setattr(tensor, f"__{name}__", operation)
        setattr(tensor, f"__r{name}__", _reflect(operation))
    for name in _COMPARISONS:
        compare = arithmetic.comparison(name)
        setattr(tensor, f"__{name}__", compare)
        setattr(tensor, f"__r{name}__", _reflect(compare))
    for name, operation in {
        "__neg__": arithmetic.negate,
        "__invert__": arithmetic.invert,
        "__not__": arithmetic.logical_not,
        "logical_and": arithmetic.logical_and,
        "logical_or": arithmetic.logical_or,
        "__getitem__": shape.subscript,
        "T": property(shape.transposed),
    }.items():
        setattr(tensor, name, operation)


install()
