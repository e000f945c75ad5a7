"""Every kernel of the corpus on a GPU gives what its Triton IR means: on the simulated one, which also finds races,
accesses out of bounds and reads of memory that nobody wrote; and on a real one where there is one."""

from __future__ import annotations

from functools import partial

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


def check(case: oracle.Case, engine: str, arch: str | None) -> None:
    inputs = corpus_inputs.inputs_of(case)
    run = partial(gpu_engines.run_on_gpu, engine, inputs.source, inputs.arguments, inputs.grid, arch=arch)
    try:
        compare(case, inputs, run(reachable=inputs.reachable))
    except RaceError as race:
        found = run(reachable=inputs.reachable, race_detection=False)
        assert compare(case, inputs, found), f"a false alarm: {race}"


def compare(case: oracle.Case, inputs: corpus_inputs.Inputs, found: engines.Result) -> bool:
    """Holds a GPU's result against what the Triton IR means. The simulator keeps the order of the program where threads
    store to one element; a real GPU does not. Returns whether there are such elements.
    """
    stages = ("source",)
    with contested.watching() as watch:
        expected = next(
            engines.run_everywhere(inputs.source, inputs.arguments, inputs.grid, stages, reachable=inputs.reachable)
        )
    elements = watch.elements(expected.arrays)
    disputed = elements if found.engine == device_memory.REAL else []
    wrong = engines.differences(
        expected,
        found,
        ignored=[*inputs.ignored, *REORDERED.get(case.kernel, ()), *disputed],
        slack=SLACKS.get((case.file, case.kernel), SLACK),
    )
    assert not wrong, "\n".join(wrong)
    return bool(elements)


@pytest.mark.parametrize("case", corpus_inputs.runnable_cases(), ids=str)
def test_hopper_on_the_simulator(case: oracle.Case) -> None:
    check(case, gpu_engines.SIMULATED, "sm90")


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in corpus_inputs.runnable_cases()
        if case.file in MATRIX_FILES and (case.file, case.number) not in FP8_OF_ADA
    ],
    ids=str,
)
def test_ampere_on_the_simulator(case: oracle.Case) -> None:
    check(case, gpu_engines.SIMULATED, "sm80")


@pytest.mark.needs("gpu")
@pytest.mark.parametrize("case", corpus_inputs.runnable_cases(), ids=str)
def test_real_gpu(case: oracle.Case) -> None:
    check(case, device_memory.REAL, None)


@pytest.mark.needs("gpu")
@pytest.mark.parametrize("case", corpus_inputs.runnable_cases(), ids=str)
def test_real_gpu_by_launch(case: oracle.Case) -> None:
    """As users launch, with PyTorch tensors."""
    inputs = corpus_inputs.inputs_of(case)
    if reason := gpu_engines.why_not_launched(inputs.source):
        pytest.skip(reason)
    compare(case, inputs, gpu_engines.launch_on_gpu(inputs.source, inputs.arguments, inputs.grid, inputs.reachable))
