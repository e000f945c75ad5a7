"""Kernels are launched, then their loops are read: the module is kept in between, not made a second time."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.compiler import compile as compiling
from tilewright.ir.printing import print_op

STAGE = "loops"


@pytest.fixture(autouse=True)
def modules_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Emission leaves its module as it is: the text of the stage is printed from that, for the same LLVM IR."""
    kept: dict[str, Any] = {}
    emit, text_of = compiling.Compilation.emit, compiling._stage_text

    def emit_and_keep(self: compiling.Compilation) -> Any:
        entry = emit(self)
        kept[entry.sections["llir"].decode()] = self._module
        return entry

    def find_text(stage: str, source: Any, options: Any, target: Any, llir: str) -> str:
        if stage == STAGE and llir in kept:
            return print_op(kept[llir], locations=False)
        return text_of(stage, source, options, target, llir)

    monkeypatch.setattr(compiling.Compilation, "emit", emit_and_keep)
    monkeypatch.setattr(compiling, "_stage_text", find_text)
