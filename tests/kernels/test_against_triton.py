"""Our front end and the official one, of the newest and the oldest version, give the same ops for the corpus."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import corpus_oracle as oracle
import official_texts
import pytest

from suite.official_packages import NEWEST, OLDEST

SORTING = (
    "sorts on [outer, 2, inner] views of the block, Triton on a hypercube of twos: fewer dimensions, more reshapes"
)
BY_BITS = "converts float8e4b15 by integer operations that every target has, Triton by inline assembly of NVIDIA's GPUs"
NO_BLOCK_POINTERS = "Triton has no block pointers since 3.9; ours stay for programs of earlier versions"

KNOWN_DIFFERENCES: dict[str, str] = {"sorting": SORTING, "sorting2d": SORTING, "converted_by_bits": BY_BITS}

REFUSED: dict[str, str] = {
    "attention": NO_BLOCK_POINTERS,
    "block_pointers": NO_BLOCK_POINTERS,
    "block_ptr_advance": NO_BLOCK_POINTERS,
    "block_ptr_complex_offset": NO_BLOCK_POINTERS,
}
"""Kernels that the newest Triton does not compile, and why ours does."""

FOLDED = "random floats come of `~x` where `x` is negative since 3.9; it was `-x - 1`"
SIGN = "-x of a float flips the sign since 3.7; it was 0 - x"
HALVES = "float16 and bfloat16 are converted into each other directly since 3.8; it was by way of float32"
NUMBERS = "a number in a comparison or a minimum adopts the type of the tensor since 3.9; it was int32 or float32"
BFLOATS = "minimum, maximum, clamp and scans of bfloat16 stay in it since 3.9; they were done in float32"
ROUNDED = "a division that asks for IEEE rounding is one since 3.8; it was as fast as others"

CHANGED: dict[str, str] = {
    "clamps": BFLOATS,
    "convert": HALVES,
    "dropout": FOLDED,
    "every_operator": SIGN,
    "extrema": BFLOATS,
    "limits": NUMBERS,
    "mathematics": ROUNDED,
    "mixed": HALVES,
    "narrow_arguments": HALVES,
    "normalised": SIGN,
    "numbers": NUMBERS,
    "philox_wide": FOLDED,
    "positions": BFLOATS,
    "random_numbers": FOLDED,
    "random_numbers_of_offsets": FOLDED,
    "random_numbers_wide": FOLDED,
    "running": BFLOATS,
    "seeded_dropout": FOLDED,
    "selections": NUMBERS,
    "swiglu": SIGN,
}
"""Kernels of which some have other ops than the oldest Triton makes, by what a later one changed."""


ABSENT_FROM_THE_OLDEST = ("recent",)
"""Files that it cannot even execute."""


def cases(*, differing: bool, absent: Sequence[str] = ()) -> pytest.MarkDecorator:
    """Cases of the corpus: those known to differ, too, and files that are absent. The scope has the tests of a case run
    one after the other, so that what they share is made once."""
    chosen = [case for case in oracle.cases() if case.file not in absent]
    if not differing:
        chosen = [case for case in chosen if case.kernel not in KNOWN_DIFFERENCES]
    return pytest.mark.parametrize("case", chosen, ids=str, scope="module")


@cases(differing=True)
def test_corpus_verifies(case: oracle.Case) -> None:
    assert our_ops(case)


@pytest.mark.costly
@pytest.mark.needs("triton-3.9")
@cases(differing=False)
def test_same_ops_as_the_newest_triton(case: oracle.Case) -> None:
    found = official_texts.answers(NEWEST)[str(case)]
    if case.kernel in REFUSED:
        assert found.refusal is not None, "Triton compiles it: it should not be listed"
    else:
        assert has_same_ops(case, found)


@pytest.mark.costly
@pytest.mark.needs("triton-3.6")
@cases(differing=False, absent=ABSENT_FROM_THE_OLDEST)
def test_same_ops_as_the_oldest_triton(case: oracle.Case) -> None:
    if not has_same_ops(case, official_texts.answers(OLDEST)[str(case)]):
        assert case.kernel in CHANGED
        pytest.xfail(CHANGED[case.kernel])


@pytest.mark.costly
@pytest.mark.needs("triton-3.6", "triton-3.9")
def test_what_changed_since_is_what_is_listed() -> None:
    answers, newest, differing = official_texts.answers(OLDEST), official_texts.answers(NEWEST), set[str]()
    for case in oracle.cases():
        found = answers.get(str(case))
        if case.kernel not in CHANGED.keys() - differing or found is None or found == newest[str(case)]:
            continue
        if not has_same_ops(case, found):
            differing.add(case.kernel)
    assert differing == set(CHANGED)
    known = {case.file for case in oracle.cases() if str(case) in answers}
    assert set(oracle.files()) - known == set(ABSENT_FROM_THE_OLDEST)


def has_same_ops(case: oracle.Case, found: official_texts.Answer) -> bool:
    """Does our front end make as many ops of each kind, after clean-up, as the official one did?"""
    assert found.text is not None, found.refusal
    return our_ops(case) == official_ops(found.text)


@lru_cache(maxsize=1)
def our_ops(case: oracle.Case) -> Counter[str]:
    """How many ops of each kind our front end makes, after clean-up. Raises where the module does not verify."""
    module = oracle.our_module(case)
    module.verify()
    oracle.cleaned(module).verify()
    return oracle.op_counts(module)


@lru_cache(maxsize=1)
def official_ops(text: str) -> Counter[str]:
    """How many ops of each kind a text of the official front end's has, after clean-up. Two versions often write the
    same."""
    return oracle.op_counts(oracle.cleaned(oracle.official_module(text)))
