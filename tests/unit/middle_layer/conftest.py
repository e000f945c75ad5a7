"""The corpus of kernels and the examples, lowered by the middle layer, once for all tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

for _folder in (Path(__file__).parents[2] / "kernels", Path(__file__).parent):
    sys.path.insert(0, str(_folder))

if TYPE_CHECKING:
    from corpus_stages import Stages


@pytest.fixture(scope="session")
def corpus() -> list[Stages]:
    """`corpus_stages.all_stages`."""
    from corpus_stages import all_stages

    return list(all_stages())
