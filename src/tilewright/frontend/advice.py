"""What to write in a kernel in the place of Python that runs on the host alone."""

from __future__ import annotations

import builtins
from typing import Any

from tilewright import language
from tilewright.language.extra import libdevice

NUMERIC_MODULES = ("math", "_operator", "operator", "cmath", "random", "statistics")
NUMERIC_PACKAGES = ("numpy", "torch", "jax", "cupy", "scipy")
OTHER_NAMES = {"fabs": "abs", "absolute": "abs", "power": "exp2", "clip": "clamp", "concatenate": "cat"}
LIST_METHODS = ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse")

OF_LISTS = "lists are tuples in a kernel: grow one by `items = items + (value,)`"


def instead_of(function: Any) -> str:
    """What to call on run-time values in the place of a host function."""
    name = getattr(function, "__name__", type(function).__name__)
    home = getattr(function, "__module__", None) or type(function).__module__ or ""
    if home not in NUMERIC_MODULES and home.partition(".")[0] not in NUMERIC_PACKAGES:
        if getattr(builtins, name, None) is function:
            return instead_of_builtin(name)
        return "decorate it with @triton.jit to compile it"
    return _of_the_language(name) or "compute it in front of the launch and pass it as an argument"


def instead_of_builtin(name: str) -> str:
    """What to call in the place of one of Python's own functions."""
    known = _of_the_language(name)
    return f"`{name}` is Python's own and does not work on run-time values" + (f": {known}" if known else "")


def is_builtin(name: str) -> bool:
    """Whether a name is one of Python's own."""
    return hasattr(builtins, name)


def _of_the_language(name: str) -> str:
    name = OTHER_NAMES.get(name, name)
    if callable(getattr(language, name, None)):
        return f"use tl.{name}"
    return f"use tl.extra.libdevice.{name}" if callable(getattr(libdevice, name, None)) else ""
