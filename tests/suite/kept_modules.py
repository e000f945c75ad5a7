"""Modules that tests read: kernels are launched, then their stage is read, which is kept in between, not made anew."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.compiler import compilation
from tilewright.ir.printing import print_op

CHANGED_BY_EMISSION = "ttgir"
"""The last stage for GPUs, whose emission begins with passes. That for CPUs leaves its module as it is."""


def keep_modules(monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """Print the text of the last stage before emission from the module that was emitted, for the same LLVM IR."""
    kept: dict[str, Any] = {}
    emit, text_of = compilation.Compilation.emit, compilation._stage_text

    def emit_and_keep(self: compilation.Compilation) -> Any:
        module: Any = self._module
        module = module.clone() if stage == CHANGED_BY_EMISSION else module
        entry = emit(self)
        kept[entry.sections["llir"].decode()] = module
        return entry

    def find_text(asked: str, source: Any, options: Any, target: Any, llir: str) -> str:
        if asked == stage and llir in kept:
            return print_op(kept[llir], locations=False)
        return text_of(asked, source, options, target, llir)

    monkeypatch.setattr(compilation.Compilation, "emit", emit_and_keep)
    monkeypatch.setattr(compilation, "_stage_text", find_text)
