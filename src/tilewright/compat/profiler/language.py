"""What Triton calls `triton.profiler.language`: marks inside of kernels. They record nothing: a kernel is one frame."""

from __future__ import annotations

from typing import Any

from tilewright.language.registry import builtin


@builtin
def enter_scope(name: Any) -> None:
    """Marks where a part of the kernel begins."""


@builtin
def exit_scope(name: Any) -> None:
    """Marks where it ends."""


def enable_semantic(semantic_name: str) -> None:
    """Triton's kernels have marks only after this."""


def disable_semantic(semantic_name: str) -> None:
    """And none after this."""


__all__ = ["disable_semantic", "enable_semantic", "enter_scope", "exit_scope"]
