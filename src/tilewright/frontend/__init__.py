"""From the Python syntax tree of a kernel to a module of the `tt` dialect.

`compile_to_tt` is the entry. The walk is a table from node class to function (`expressions`, `statements`); the
meaning of each language function is its own code in `tilewright.language`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilewright.language.callables import (
    ConstexprFunction,
    JITCallable,
    Parameter,
    constexpr_function,
    language_function,
)
from tilewright.language.context import CodegenOptions
from tilewright.language.source import KernelSource

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def compile_to_tt(
    kernel: JITCallable,
    signature: dict[str, Any],
    constants: dict[tuple[int, ...], Any] | None = None,
    attrs: dict[tuple[int, ...], dict[str, int]] | None = None,
    options: CodegenOptions | None = None,
    *,
    name: str | None = None,
) -> ModuleOp:
    """Compile a kernel for argument types and constants; see `frontend.compile.compile_to_tt`."""
    from tilewright.frontend.compile import compile_to_tt as compile_

    return compile_(kernel, signature, constants, attrs, options, name=name)


__all__ = [
    "CodegenOptions",
    "ConstexprFunction",
    "JITCallable",
    "KernelSource",
    "Parameter",
    "compile_to_tt",
    "constexpr_function",
    "language_function",
]
