"""Every kernel of the corpus gives the same on every engine: the reference at four stages, and native code."""

from __future__ import annotations

import corpus_inputs
import corpus_oracle as oracle
import engines
import pytest

REASSOCIATED = {"attention_backward", "grouped_gemm", "products"}
"""Kernels whose sums the tt passes reorder: `dot(a, b) + c` becomes `dot(a, b, c)`."""


@pytest.mark.parametrize("case", corpus_inputs.runnable_cases(), ids=str)
def test_engines_agree(case: oracle.Case) -> None:
    inputs = corpus_inputs.inputs_of(case)
    results = engines.run_everywhere(inputs.source, inputs.arguments, inputs.grid, reachable=inputs.reachable)
    first = next(results)
    ran = [first.engine]
    for result in results:
        ran.append(result.engine)
        is_reference = result.engine != engines.NATIVE
        exact = is_reference and case.kernel not in REASSOCIATED
        found = engines.differences(first, result, exact=exact, ignored=inputs.ignored)
        assert not found, "\n".join(found)
    assert ran == [*engines.REFERENCE_STAGES, engines.NATIVE]
