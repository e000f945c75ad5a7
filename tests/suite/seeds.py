"""Seeds of random cases: some for every run of all tests, more for `pytest --long`."""

from __future__ import annotations

import pytest


def seeds(usual: int, long: int) -> list[object]:
    """The seeds below `long`, of which only `--long` has those from `usual` on."""
    return [pytest.param(seed, marks=() if seed < usual else (pytest.mark.long,)) for seed in range(long)]
