"""The baseline (no optimising pass on linalg) against the reference: kernels of the corpus and of the library.

Every run takes some of them, `--long` all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import corpus_inputs
import corpus_oracle as oracle
import engines
import pytest
import test_library_kernels
from library_cases import Case

from tilewright.support import knobs

EVERY = 9
"""Of how many cases one is in the sample."""


@pytest.fixture(autouse=True)
def baseline() -> Iterator[None]:
    with knobs.scope(opt="0", target="cpu"):
        yield


def sampled(cases: Iterable[object]) -> list[object]:
    return [
        pytest.param(case, id=str(getattr(case, "name", case)), marks=() if number % EVERY == 0 else pytest.mark.long)
        for number, case in enumerate(cases)
    ]


@pytest.mark.parametrize("case", sampled(corpus_inputs.runnable_cases()))
def test_corpus(case: oracle.Case) -> None:
    inputs = corpus_inputs.inputs_of(case)
    wanted, found = engines.run_everywhere(
        inputs.source, inputs.arguments, inputs.grid, ("linalg", engines.NATIVE), reachable=inputs.reachable
    )
    differences = engines.differences(wanted, found, ignored=inputs.ignored)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("case", sampled(test_library_kernels.CASES))
def test_library(case: Case) -> None:
    test_library_kernels.test_library_kernel(case)
