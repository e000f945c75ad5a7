"""Every kernel of the corpus on a GPU gives what its Triton IR means: on the simulated one, which also finds races,
accesses out of bounds and reads of memory that nobody wrote; and on a real one where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import contested
import corpus_inputs
import corpus_oracle as oracle
import device_memory
import engines
import gpu_engines
import pytest

from tilewright.reference.simt.errors import RaceError

MATRIX_FILES = ("functions", "tutorials", "patterns", "unusual")
"""Files with products: what Ampere and Hopper do differently."""

FP8_OF_ADA = {("functions", 25), ("tutorials", 1)}
"""Kernels with a type that compute capability 8.0 lacks, by file and number."""

SLACK = 16.0
"""How much more than two CPU engines a GPU may differ: its functions are approximations, its products round to tf32."""

SLACKS = {("functions", "products"): 128.0, ("reductions", "sums"): 2e6}
"""By file and kernel: tf32 products of large numbers; sums in f32 that are kept as f64."""

REORDERED = {"joining": [(2, element) for element in range(2, 64)]}
"""By kernel, arrays and elements in no fixed order: tl.cat(can_reorder=True) may put its parts as it likes."""


@dataclass(frozen=True)
class Expected:
    """What a case's Triton IR leaves in the arrays, and elements that threads contest: by number of array and element."""

    result: engines.Result
    contested: list[tuple[int, int]]


@lru_cache(maxsize=1)
def inputs_of(case: oracle.Case) -> corpus_inputs.Inputs:
    return corpus_inputs.inputs_of(case)


@lru_cache(maxsize=1)
def expected_of(case: oracle.Case) -> Expected:
    inputs, stages = inputs_of(case), ("source",)
    with contested.watching() as watch:
        results = engines.run_everywhere(
            inputs.source, inputs.arguments, inputs.grid, stages, reachable=inputs.reachable
        )
        result = next(results)
    return Expected(result, watch.elements(result.arrays))


def check(case: oracle.Case, engine: str, arch: str | None) -> None:
    inputs = inputs_of(case)
    run = partial(gpu_engines.run_on_gpu, engine, inputs.source, inputs.arguments, inputs.grid, arch=arch)
    try:
        compare(case, run(reachable=inputs.reachable))
    except RaceError as race:
        found = run(reachable=inputs.reachable, race_detection=False)
        assert compare(case, found), f"a false alarm: {race}"


def compare(case: oracle.Case, found: engines.Result) -> bool:
    """Holds a GPU's result against what the Triton IR means. The simulator keeps the order of the program where threads
    store to one element; a real GPU does not. Returns whether there are such elements.
    """
    expected = expected_of(case)
    disputed = expected.contested if found.engine == device_memory.REAL else []
    wrong = engines.differences(
        expected.result,
        found,
        ignored=[*inputs_of(case).ignored, *REORDERED.get(case.kernel, ()), *disputed],
        slack=SLACKS.get((case.file, case.kernel), SLACK),
    )
    assert not wrong, "\n".join(wrong)
    return bool(expected.contested)


def each(cases: Sequence[oracle.Case]) -> pytest.MarkDecorator:
    """A parameter. Its scope has the tests of a case run one after the other, so that what they share is made once."""
    return pytest.mark.parametrize("case", cases, ids=str, scope="module")


ON_AMPERE = [
    case
    for case in corpus_inputs.runnable_cases()
    if case.file in MATRIX_FILES and (case.file, case.number) not in FP8_OF_ADA
]


@each(corpus_inputs.runnable_cases())
def test_hopper_on_the_simulator(case: oracle.Case) -> None:
    check(case, gpu_engines.SIMULATED, "sm90")


@each(ON_AMPERE)
def test_ampere_on_the_simulator(case: oracle.Case) -> None:
    check(case, gpu_engines.SIMULATED, "sm80")


@pytest.mark.needs("gpu")
@each(corpus_inputs.runnable_cases())
def test_real_gpu(case: oracle.Case) -> None:
    check(case, device_memory.REAL, None)


@pytest.mark.needs("gpu")
@each(corpus_inputs.runnable_cases())
def test_real_gpu_by_launch(case: oracle.Case) -> None:
    """As users launch, with PyTorch tensors."""
    inputs = inputs_of(case)
    if reason := gpu_engines.why_not_launched(inputs.source):
        pytest.skip(reason)
    compare(case, gpu_engines.launch_on_gpu(inputs.source, inputs.arguments, inputs.grid, inputs.reachable))
