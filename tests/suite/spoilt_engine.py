"""An engine that gives wrong memory, which comparisons must see."""

from __future__ import annotations

import pytest


def spoil_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native engine gives wrong memory from now on."""
    from tilewright.tools.fuzzing import differential

    original = differential.run_native

    def spoilt(*args):
        outcome = original(*args)
        for region in outcome.memory:
            region[...] ^= 1
        return outcome

    monkeypatch.setattr(differential, "run_native", spoilt)
