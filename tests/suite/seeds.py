"""Seeds of random cases: some for every run of all tests, more for `pytest --long`."""

from __future__ import annotations

from collections.abc import Collection

import pytest


def seeds(usual: int, long: int, *, but: Collection[int] = ()) -> list[object]:
    """The seeds below `long`, of which only `--long` has those from `usual` on, and those in `but`."""
    is_long = [seed >= usual or seed in but for seed in range(long)]
    return [pytest.param(seed, marks=(pytest.mark.long,) if is_long[seed] else ()) for seed in range(long)]
