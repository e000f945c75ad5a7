"""From a kernel and its specialisation to an artefact: options, compilation, and the cache of what was compiled."""

from __future__ import annotations

from tilewright.support.late import late_names, names_of

NAMES = {
    "ASTSource": "tilewright.compiler.source:ASTSource",
    "TextSource": "tilewright.compiler.source:TextSource",
    "IRSource": "tilewright.compiler.source:TextSource",
    "CompiledKernel": "tilewright.compiler.kernel:CompiledKernel",
    "CompilationError": "tilewright.support.errors:CompilationError",
    "LazyDict": "tilewright.compiler.kernel:LaunchMetadata",
    "errors": "tilewright.compiler.errors",
}

__getattr__ = late_names(__name__, NAMES)

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
