"""Functions that programs name and that are not supported: an error where a kernel calls one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilewright.language.registry import builtin, with_hint


def refused(name: str, reason: str, advice: str) -> Callable[..., Any]:
    """A function of the language whose call is an error that names it."""

    @builtin
    def function(*args: Any, **keywords: Any) -> None:
        raise with_hint(ValueError(f"`{name}` {reason}"), advice)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"An error: `{name}` {reason}."
    return function


__all__ = ["refused"]
