"""Random kernels: the reference at every stage, the CPU and the simulated GPUs agree. `make fuzz MINUTES=n` runs many
more."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suite.seeds import seeds
from suite.spoilt_engine import spoil_the_cpu
from tilewright.tools.fuzz import routes_of
from tilewright.tools.fuzzing.differential import CPU, GPUS, check_kernel
from tilewright.tools.fuzzing.generator import KernelGenerator
from tilewright.tools.fuzzing.mutation import check_text, choose_text, mutate
from tilewright.tools.fuzzing.replay import render

KERNELS = 30
DEAR = (2, 9)
"""Kernels whose loops take the reference twelve seconds at all stages, as long as the other twenty together."""

SHARES = 10
"""Mutations come in shares, of which `make test` takes one."""

MUTATIONS = 1500 // SHARES


@pytest.mark.parametrize("number", seeds(22, KERNELS, but=DEAR))
def test_engines_agree(number: int) -> None:
    """A failing kernel is shown as the file that replays it."""
    seed = Random(number).getrandbits(40)
    kernel = KernelGenerator(Random(seed)).generate()
    failure = check_kernel(kernel, routes_of(seed, 4, kernel.features))
    assert failure is None, render(kernel, f"seed {seed}\n{failure}")


@pytest.mark.costly
@settings(max_examples=4, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_hypothesis_may_make_the_choices(random: Random) -> None:
    """With its own random numbers Hypothesis shrinks the choices that the generator makes."""
    kernel = KernelGenerator(random, 6).generate()
    failure = check_kernel(kernel, [replace(CPU, stages=("linalg",))])
    assert failure is None, render(kernel, str(failure))


def test_kernels_use_the_language() -> None:
    """Some hundred kernels have every construct in them."""
    features = Counter[str]()
    for seed in range(600):
        features.update(KernelGenerator(Random(seed)).generate().features)
    wanted = {
        "for", "while", "if", "static_range", "pointer loop", "product loop", "early return", "reload", "block store",
        "descriptor store", "narrow store", "special", "noinline", "other", "mask without other", "atomic", "batch",
        "binary", "unary", "comparison", "logic", "choice", "cast", "function", "bit_cast", "high_product", "histogram",
        "narrow_floats", "float8e5", "float8e4nv", "lookup", "scaled", "largest", "softmax", "by_element", "swizzle",
        "attention", "shared memory",
        "deep load", "deep store",
        *(f"load {kind}" for kind in ("plain", "strided", "wrapped", "gathered", "block", "row", "descriptor")),
        *(f"atomic {kind}" for kind in ("add", "max", "min", "and", "or", "xor", "xchg", "cas")),
        *(f"reduce {kind}" for kind in ("sum", "max", "min", "xor_sum", "or", "argmax", "with index", "own", "pair")),
        *(f"scan {kind}" for kind in ("sum", "product", "own", "pair")),
        *(f"dot {kind}" for kind in ("float32", "float16", "bfloat16", "int8", "float8e5", "float8e4nv")),
        *(f"call {kind}" for kind in ("plain", "constant", "tuple", "nested", "early")),
        *(f"shape {kind}" for kind in ("trans", "reshape", "flip", "interleave", "split", "sort", "deep", "cat")),
        *(f"random {kind}" for kind in ("randint", "randint4x", "rand", "philox")),
        *(f"deep {kind}" for kind in (
            "permute", "reduce", "centre", "scan", "flip", "index", "choose", "sort", "gather", "regroup", "halve",
        )),
    }  # fmt: skip
    assert wanted <= set(features)
    assert not [name for name in wanted if features[name] < 3]


def test_the_same_seed_gives_the_same_kernel() -> None:
    first, second = (KernelGenerator(Random(7)).generate() for _ in range(2))
    assert render(first) == render(second)


@pytest.mark.costly
def test_a_wrong_engine_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: with one element changed behind an engine's back it does."""
    spoil_the_cpu(monkeypatch)
    kernel = KernelGenerator(Random(3)).generate()
    for routes, engine in (((CPU,), "cpu"), ((replace(CPU, has_machine_code=False), GPUS[1]), "cuda_sim sm90")):
        failure = check_kernel(kernel, routes)
        assert failure is not None
        assert (failure.engine, failure.kind) == (engine, "difference")


@pytest.mark.parametrize("share", seeds(5, SHARES))
def test_mutated_text_is_diagnosed(share: int) -> None:
    for number in range(share * MUTATIONS, (share + 1) * MUTATIONS):
        random = Random(number)
        failure = check_text(mutate(choose_text(random), random), random)
        assert failure is None, f"seed {number}: {failure}"
