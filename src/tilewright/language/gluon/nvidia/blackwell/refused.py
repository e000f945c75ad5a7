"""What only Blackwell has: names that programs for several GPUs import, and errors where a kernel uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.language.registry import builtin, with_hint


def _error(name: str) -> Exception:
    what = f"`{name}` needs Blackwell (compute capability 10.0), for which there is no target"
    return with_hint(ValueError(what), "take the program's way for Hopper: `warpgroup_mma`, accumulators in registers")


def refused(name: str) -> Callable[..., Any]:
    """A function of the language whose call is an error that names it."""

    @builtin
    def function(*args: Any, **keywords: Any) -> None:
        raise _error(name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"An error: `{name}` is of Blackwell's GPUs."
    return function


class OfBlackwell:
    """A class that kernels may name in annotations, and that has no instances."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        raise _error(type(self).__name__)


__all__ = ["OfBlackwell", "refused"]
