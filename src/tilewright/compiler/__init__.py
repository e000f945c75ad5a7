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
    "LazyDict": "tilewright.compiler.kernel",
    "compile": "tilewright.runtime.compiling",
    "make_backend": "tilewright.compat.compiler",
}
_RENAMED = {"IRSource": "TextSource", "LazyDict": "LaunchMetadata"}
_MODULES = {"errors": "tilewright.compiler.errors", "compiler": "tilewright.compat.compiler"}

__all__ = [*_HOMES, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), _RENAMED.get(name, name))
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'tilewright.compiler' has no attribute {name!r}")
