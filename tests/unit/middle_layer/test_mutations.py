"""Mutated modules are refused, or lowered to valid IR; `make fuzz-middle-layer` tries as many as it is told."""

from __future__ import annotations

import pytest
from corpus_stages import Stages
from mutations import Seed, seeds_of, try_mutant

QUICK, CHUNKS = 1200, 6
"""The first mutants; the long mode goes on from there."""

KNOWN = (344, 591, 2406, 2515, 4480, 7470, 8255, 12335)
"""Mutants that were defects once."""


@pytest.fixture(scope="module")
def seeds(corpus: list[Stages]) -> list[Seed]:
    return seeds_of(corpus)


@pytest.mark.costly
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutants(seeds: list[Seed], chunk: int) -> None:
    size = QUICK // CHUNKS
    outcomes = [try_mutant(seeds, number) for number in range(chunk * size, (chunk + 1) * size)]
    assert not [outcome.story for outcome in outcomes if outcome.kind == "defect"]
    kinds = [outcome.kind for outcome in outcomes]
    assert kinds.count("valid") > size // 5, "mutants that every pass sees are the point"


@pytest.mark.costly
def test_mutants_that_were_defects(seeds: list[Seed]) -> None:
    outcomes = [try_mutant(seeds, number) for number in KNOWN]
    assert not [outcome.story for outcome in outcomes if outcome.kind == "defect"]
