"""The launch grid: what the user wrote between the brackets, as three checked integers."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.support.errors import ArgumentTypeError, ArgumentValueError

MAX_AXIS = 2**31 - 1

GridLike = int | Sequence[int] | Callable[[Mapping[str, Any]], int | Sequence[int]]


class UnknownNameError(ArgumentValueError, KeyError):
    """A grid function asks for an argument or option that the launch does not have."""


class UnknownAttributeError(ArgumentValueError, AttributeError):
    """A grid function asks for an argument or option as an attribute, not by a key."""


class _Names(dict[str, Any]):
    """What a grid function is given: the bound arguments and options by name."""

    def __init__(self, names: Mapping[str, Any], kernel: str) -> None:
        super().__init__(names)
        self.kernel = kernel

    def __missing__(self, name: Any) -> Any:
        near = difflib.get_close_matches(name, self, n=1) if isinstance(name, str) else []
        expected = f"`{near[0]}`" if near else f"one of {', '.join(self)}"
        raise UnknownNameError("grid", f"the launch has no {name!r}", expected, kernel=self.kernel)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks objects for, when it copies them
            raise AttributeError(name)
        expected = f"`[{name!r}]`" if name in self else f"one of {', '.join(self)}, in brackets"
        raise UnknownAttributeError("grid", f"its function asks for `.{name}`", expected, kernel=self.kernel)


def normalize_grid(grid: GridLike, meta: Callable[[], Mapping[str, Any]], kernel: str) -> tuple[int, int, int]:
    """`grid` as (x, y, z); a callable is called with the bound arguments. An axis of 0 is allowed: nothing runs.

    Raises ArgumentTypeError or ArgumentValueError for anything but one to three integers from 0 to 2**31 - 1.
    """
    given: Any = grid
    if given.__class__ is tuple and len(given) == 1 and given[0].__class__ is int and 0 <= given[0] <= MAX_AXIS:
        return given[0], 1, 1  # what most launches pass
    if callable(given):
        given = given(_Names(meta(), kernel))
    several: Any = (tuple, list)
    axes: Sequence[Any] = given if isinstance(given, several) else (given,)
    if not 1 <= len(axes) <= 3:
        raise ArgumentValueError("grid", f"{len(axes)} axes", "1 to 3", kernel=kernel)
    sizes = [_axis(axis, kernel) for axis in axes] + [1, 1]
    return sizes[0], sizes[1], sizes[2]


def _axis(value: Any, kernel: str) -> int:
    value = getattr(value, "value", value)
    try:
        size = operator.index(value)
    except TypeError:
        expected = "integers; use triton.cdiv or `//`" if isinstance(value, float) else "integers"
        raise ArgumentTypeError("grid", f"axis of type {type(value).__name__}", expected, kernel=kernel) from None
    if not 0 <= size <= MAX_AXIS:
        raise ArgumentValueError("grid", f"axis of size {size}", f"0 to {MAX_AXIS}", kernel=kernel)
    return size
