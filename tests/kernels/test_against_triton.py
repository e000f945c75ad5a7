"""Our front end and the official one give the same ops for every kernel of the corpus."""

import corpus_oracle as oracle
import pytest

SORTING = (
    "sorts on [outer, 2, inner] views of the block, Triton on a hypercube of twos: fewer dimensions, more reshapes"
)
KNOWN_DIFFERENCES: dict[str, str] = {"sorting": SORTING, "sorting2d": SORTING}


@pytest.mark.parametrize("case", oracle.cases(), ids=str)
def test_corpus_verifies(case: oracle.Case) -> None:
    module = oracle.our_module(case)
    module.verify()
    oracle.cleaned(module).verify()


@pytest.mark.needs("triton")
@pytest.mark.parametrize("case", oracle.cases(), ids=str)
def test_same_ops_as_triton(case: oracle.Case) -> None:
    if case.kernel in KNOWN_DIFFERENCES:
        pytest.skip(KNOWN_DIFFERENCES[case.kernel])
    ours = oracle.op_counts(oracle.cleaned(oracle.our_module(case)))
    theirs = oracle.op_counts(oracle.cleaned(oracle.official_module(case)))
    assert ours == theirs
