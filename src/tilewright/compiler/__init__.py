"""From a kernel and its specialisation to an artefact: options, compilation, and the cache of what was compiled."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "ASTSource": "tilewright.compiler.source",
    "TextSource": "tilewright.compiler.source",
    "IRSource": "tilewright.compiler.source",
    "CompiledKernel": "tilewright.compiler.kernel",
    "CompilationError": "tilewright.support.errors",
    "compile": "tilewright.runtime.compiling",
}
_RENAMED = {"IRSource": "TextSource"}

__all__ = ["ASTSource", "CompilationError", "CompiledKernel", "IRSource", "TextSource", "compile"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), _RENAMED.get(name, name))
    if name == "errors":
        return import_module("tilewright.compiler.errors")
    raise AttributeError(f"module 'tilewright.compiler' has no attribute {name!r}")
