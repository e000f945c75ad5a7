"""`tilewright.compile`: compile without launching."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tilewright.compiler.compile import compile_source
from tilewright.compiler.kernel import CompiledKernel
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource, TextSource
from tilewright.targets.base import Target, find_target


def compile(
    src: ASTSource | TextSource | str | Path, target: Any = None, options: dict[str, Any] | None = None
) -> CompiledKernel:
    """Compile a kernel: an `ASTSource`, or a file of IR whose suffix names its stage (`.ttir`, `.linalg`, ...).

    `target` is a target's name, a `Target`, or Triton's `GPUTarget`; by default the host's CPU. `options` are launch
    options such as `num_warps`. Raises CompilationError, ParseError or PassError classes, and KeyError for an unknown
    option.
    """
    source = TextSource.read(src) if isinstance(src, str | Path) else src
    return compile_source(source, CompileOptions.from_keywords(dict(options or {})), _resolve(target))


def _resolve(target: Any) -> Target:
    if target is None:
        return find_target("cpu")
    if isinstance(target, str):
        return find_target(target)
    backend = getattr(target, "backend", None)
    return find_target(backend) if isinstance(backend, str) else target
