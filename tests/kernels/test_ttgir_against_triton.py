"""Our TritonGPU IR has no more conversions, no more shared memory and no narrower accesses than official Triton's.

Every run looks at the examples, the tutorials' kernels, and many of the corpus once, those of files without loops over
products for Hopper alone; `pytest --long` at the whole corpus, as it is and with aligned arguments. `make ttgir-table`
writes down all numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from ttgir_cases import GpuCase, gpu_cases
from ttgir_oracle import Official, official
from ttgir_table import cost_of, official_module, our_module

SORTING = "our front end sorts on other shapes, between which there is one conversion more, none of them through memory"
ALONG_ROWS = (
    "ours knows that the elements of a descriptor's rows are neighbours in memory: a row lies along lanes, and the "
    "reduction across rows goes along warps; Triton reads with a stride"
)
GATHERED_ROWS = (
    "Triton gives each thread four row numbers for a copy of gathered rows, which needs compute capability 10.0; ours "
    "gathers by pointers"
)
BOTH_AHEAD = (
    "in the loop over tiles with their inner loop, Triton copies one operand ahead and loads the other when it is "
    "needed; ours copies both ahead"
)
TRANSPOSED_AHEAD = (
    "ours also copies ahead the load whose transpose is an operand; Triton loads it when it is needed, and converts it "
    "in every round"
)

SUMS_AFTER_LOOPS = (
    "ours adds up what a thread has of a row in the loop, and the threads' sums after it: two conversions more, none "
    "of them through memory; Triton exchanges between threads in every iteration"
)

EXCEPTIONS: dict[tuple[str, int], str] = {
    ("basics:attention:9", 90): SUMS_AFTER_LOOPS,
    ("examples/attention:attention_forward:-1", 90): SUMS_AFTER_LOOPS,
    ("examples/persistent_matmul:persistent_matmul_kernel:-1", 80): BOTH_AHEAD,
    ("examples/persistent_matmul:persistent_matmul_kernel:-1", 90): BOTH_AHEAD,
    ("memory:descriptor_argument:10", 80): ALONG_ROWS,
    ("memory:descriptor_rows:8", 90): GATHERED_ROWS,
    ("reductions:sorting:27", 80): SORTING,
    ("reductions:sorting:27", 90): SORTING,
    ("reductions:sorting:28", 80): SORTING,
    ("reductions:sorting:28", 90): SORTING,
    ("tutorials:attention_backward:6", 80): TRANSPOSED_AHEAD,
    ("tutorials:matmul_persistent:0", 80): BOTH_AHEAD,
    ("tutorials:matmul_persistent:0", 90): BOTH_AHEAD,
}
"""Kernels, and the architecture, for which some number is above official Triton's, and why."""


FILES_OF_HOPPER = ("patterns", "reductions", "unusual")
"""Files of which every run looks at kernels for Hopper alone: of 96 kernels 90 are the same text for Ampere."""


def _parameters() -> list[object]:
    return [_parameter(case, capability) for capability in (80, 90) for case in gpu_cases()]


def _parameter(case: GpuCase, capability: int) -> object:
    is_sample = case.is_sample and (capability == 90 or case.case.file not in FILES_OF_HOPPER)
    return pytest.param(case, capability, marks=() if is_sample else pytest.mark.long, id=f"{capability}-{case}")


@pytest.fixture(scope="session")
def official_kernels(request: pytest.FixtureRequest) -> Callable[[int], dict[str, Official]]:
    """What official Triton makes of the kernels that this run looks at, asked for once for a compute capability."""

    @cache
    def find(capability: int) -> dict[str, Official]:
        chosen = [getattr(item, "callspec", None) for item in request.session.items]
        params = [callspec.params for callspec in chosen if callspec is not None]
        wanted = {each["case"] for each in params if isinstance(each.get("case"), GpuCase)}
        return official(capability, [case for case in gpu_cases() if case in wanted])

    return find


@pytest.mark.costly
@pytest.mark.needs("triton")
@pytest.mark.parametrize(("case", "capability"), _parameters())
def test_costs_no_more_than_triton(
    case: GpuCase, capability: int, official_kernels: Callable[[int], dict[str, Official]]
) -> None:
    found = official_kernels(capability).get(str(case))
    if found is None:
        pytest.skip("official Triton refuses this kernel for this architecture")
    ours = our_module(case, capability)
    ours.verify()
    worse = cost_of(ours).worse_than(cost_of(official_module(found), found.shared))
    reason = EXCEPTIONS.get((str(case.case), capability))
    if reason is None:
        assert not worse
    elif worse:
        pytest.xfail(reason)
