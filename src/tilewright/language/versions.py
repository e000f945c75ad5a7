"""Which Triton a program is written for: the switch `triton_version` says what is reported, deprecated, and not there
yet.

What a later Triton removed stays, and what it added is there by default. A program that must also run with an older
official Triton asks for that version, and is told of names that it lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tilewright.language.context import current
from tilewright.language.registry import of_kind
from tilewright.support import knobs
from tilewright.support.errors import NewerTritonError
from tilewright.support.triton_version import is_before

SINCE_MARK = "__tilewright_since__"

F = TypeVar("F", bound=Callable[..., Any])


def since(version: str, **keywords: str) -> Callable[[F], F]:
    """Mark a language function that Triton has since `version`; `keywords` are those that came later still."""

    def mark(fn: F) -> F:
        setattr(fn, SINCE_MARK, (version, keywords))
        return fn

    return mark


def check_call(function: Any, keywords: dict[str, Any]) -> None:
    """Raise AttributeError where the chosen Triton lacks a function, or a keyword that it is called with."""
    marked = getattr(function, SINCE_MARK, None)
    if marked is None:
        return
    version, of_keywords = marked
    name = f"tl.{getattr(function, '__name__', function)}"
    check_available(version, f"`{name}`")
    for keyword in keywords:
        if keyword in of_keywords:
            check_available(of_keywords[keyword], f"the argument `{keyword}` of `{name}`")


def check_available(version: str, what: str) -> None:
    """Raise AttributeError where the chosen Triton is older than `version`, in which `what` came."""
    if not is_before(version):
        return
    error = AttributeError(f"{what} came with Triton {version}; Triton {knobs.get('triton_version')} is asked for")
    error.hint = f"set TILEWRIGHT_TRITON_VERSION={version} or later, or unset it"  # pyright: ignore[reportAttributeAccessIssue]
    raise of_kind(error, NewerTritonError)


def warn_since(version: str, text: str) -> None:
    """Warn at the current source line, once for a kernel, of what is deprecated since a version of Triton."""
    context = current()
    warned: set[str] = context.facts.setdefault("deprecations", set())
    if not is_before(version) and text not in warned:
        warned.add(text)
        context.warn(text)
