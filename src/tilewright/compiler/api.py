"""`tilewright.compile`: compile without launching."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tilewright.compiler.compile import compile_source
from tilewright.compiler.kernel import CompiledKernel
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource, TextSource
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.targets.base import Target, find_target

GPU = "cuda"
"""The back end whose targets differ by architecture."""


@ends_tracebacks
def compile(
    src: ASTSource | TextSource | str | Path, target: Any = None, options: dict[str, Any] | None = None
) -> CompiledKernel:
    """Compile a kernel: an `ASTSource`, or a file of IR whose suffix names its stage (`.ttir`, `.linalg`, ...).

    `target` is a target's name, a `Target`, or Triton's `GPUTarget`; by default the host's CPU. `options` are launch
    options such as `num_warps`. Raises CompilationError, ParseError or PassError classes, and OptionError and
    UnknownOptionError.
    """
    source = TextSource.read(src) if isinstance(src, str | Path) else src
    keywords = dict(options or {})
    backend = getattr(target, "backend", None)
    if isinstance(backend, str):
        if backend == GPU:
            keywords.setdefault("arch", f"sm{target.arch}")
        target = backend
    return compile_source(source, CompileOptions.from_keywords(keywords), _resolve(target))


def _resolve(target: Target | str | None) -> Target:
    return find_target(target or "cpu") if isinstance(target, str | None) else target
