"""Advice on what to write in a kernel instead of Python that only runs on the host."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from tilewright import language
from tilewright.language.extra import libdevice

NUMERIC_MODULES = ("math", "_operator", "operator", "cmath", "random", "statistics")
NUMERIC_PACKAGES = ("numpy", "torch", "jax", "cupy", "scipy")
OTHER_NAMES = {"fabs": "abs", "absolute": "abs", "power": "exp2", "clip": "clamp", "concatenate": "cat"}
LIST_METHODS = ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse")

OF_OTHER_LIBRARIES = {
    "astype": "use `x.to(tl.float32)`",
    "type": "use `x.to(tl.float32)`",
    "float": "use `x.to(tl.float32)`",
    "half": "use `x.to(tl.float16)`",
    "int": "use `x.to(tl.int32)`",
    "long": "use `x.to(tl.int64)`",
    "item": "a scalar is one already; reduce a block with tl.sum or tl.max",
    "relu": "use `tl.maximum(x, 0)`",
    "silu": "use `x * tl.sigmoid(x)`",
    "gelu": "use `0.5 * x * (1 + tl.erf(x * 0.7071067811865476))`",
    "mean": "use `tl.sum(x, axis) / n`",
    "prod": "use `tl.reduce` with a function that multiplies",
    "any": "use `tl.max(x.to(tl.int32), axis)`",
    "all": "use `tl.min(x.to(tl.int32), axis)`",
    "matmul": "use `tl.dot(a, b)`",
    "transpose": "use `tl.trans(x)` or `x.T`",
    "t": "use `tl.trans(x)` or `x.T`",
    "unsqueeze": "use `tl.expand_dims(x, axis)` or `x[:, None]`",
    "squeeze": "use `tl.reshape`",
    "repeat": "use `tl.broadcast_to`",
    "expand": "use `tl.broadcast_to`",
    "stack": "use `tl.join(a, b)`",
    "copy": "values never change: assign it to another name",
    "clone": "values never change: assign it to another name",
    "size": "use `x.numel` or `x.shape`",
    "ndim": "use `len(x.shape)`",
    "libdevice": "use `tl.extra.libdevice`, or `from triton.language.extra import libdevice`",
    "ops": "triton.ops is gone since Triton 3.0: write the kernel, or take it from a library",
    "empty": "use `tl.zeros(shape, dtype)`",
    "ones": "use `tl.full(shape, 1, dtype)`",
    "range": "use `for i in range(...)`, or `tl.arange(start, end)` for a block",
    "mul": "use `a * b`",
}
"""By a name of NumPy's, PyTorch's or older Triton's: what a kernel says."""

OF_THE_HOST = {
    "open": "a kernel reads and writes memory only: pass an array",
    "input": "a kernel has no terminal: pass an argument",
    "enumerate": "write `for i in range(n):` and compute the value from `i`",
    "breakpoint": "set TILEWRIGHT_INTERPRET=1 to stop there; tl.device_print shows values of the compiled kernel",
    "sorted": "use tl.sort",
    "map": "use a comprehension over a tuple, or the block as a whole",
    "filter": "use a mask",
    "list": "lists are tuples in a kernel",
    "dict": "use a named tuple or @triton.aggregate",
    "type": "use `x.dtype`",
    "id": "values have no identity in a kernel",
    "eval": "a kernel is compiled before it runs",
    "exec": "a kernel is compiled before it runs",
}
"""By a built-in function of Python's: why it is none of a kernel's, and what is."""

OF_LISTS = "lists are tuples in a kernel: grow one by `items = items + (value,)`"


def instead_of(function: Any) -> str:
    """Return what to call on run-time values in the place of a host function."""
    name = getattr(function, "__name__", type(function).__name__)
    home = getattr(function, "__module__", None) or type(function).__module__ or ""
    if home not in NUMERIC_MODULES and home.partition(".")[0] not in NUMERIC_PACKAGES:
        if getattr(builtins, name, None) is function:
            return instead_of_builtin(name)
        return "decorate it with @triton.jit to compile it"
    return _of_the_language(name) or "compute it before the launch and pass it as an argument"


def instead_of_builtin(name: str) -> str:
    """Return what to call in the place of one of Python's own functions."""
    known = OF_THE_HOST.get(name) or _of_the_language(name)
    return f"`{name}` is Python's own and not allowed in a kernel" + (f": {known}" if known else "")


def is_builtin(name: str) -> bool:
    """Return whether a name is one of Python's own."""
    return hasattr(builtins, name)


def instead_of_name(name: str) -> str:
    """Return what to write in place of a name that is not defined, where it is one of the language's or of a
    library's.
    """
    if name in NUMERIC_PACKAGES or name in ("np", "jnp"):
        return "a kernel calls functions of the language: `tl.exp(x)`, `tl.maximum(x, 0)`, ..."
    if callable(getattr(language, name, None)) and not name.startswith("_"):
        return f"did you mean `tl.{name}`?"
    return ""


def near_name(name: str, known: Sequence[str]) -> str:
    """Return the name that was meant: one of those that are known here, else one of the language's; empty where none is
    like it."""
    if close := get_close_matches(name, known, n=1):
        return close[0]
    functions = [one for one in dir(language) if not one.startswith("_") and callable(getattr(language, one))]
    close = get_close_matches(name, functions, n=1, cutoff=0.75)
    return f"tl.{close[0]}" if close else ""


def instead_of_attribute(owner: Any, name: str) -> str:
    """Return what to write in place of an attribute that a tensor or a module of the language does not have, where the
    name is one that other libraries use; empty where nothing is known.
    """
    module = getattr(owner, "__name__", "")
    if module.partition(".")[0] == "tilewright" or isinstance(owner, language.tensor):
        return OF_OTHER_LIBRARIES.get(name) or _of_the_language(name)
    return ""


def _of_the_language(name: str) -> str:
    name = OTHER_NAMES.get(name, name)
    if callable(getattr(language, name, None)):
        return f"use tl.{name}"
    return f"use tl.extra.libdevice.{name}" if callable(getattr(libdevice, name, None)) else ""
