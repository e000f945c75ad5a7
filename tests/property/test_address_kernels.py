"""Random kernels of address algebra, returns and dot loops: the CPU agrees with the reference, optimised and not.
`tilewright fuzz --only addresses` runs many more."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from suite.spoilt_engine import spoil_the_cpu
from tilewright.support import knobs
from tilewright.tools.fuzz import address_routes_of
from tilewright.tools.fuzzing.address_kernels import AddressKernelGenerator
from tilewright.tools.fuzzing.differential import BASELINE, CPU_ALONE, GPUS_ALONE, check_kernel
from tilewright.tools.fuzzing.indices import Index, Indices
from tilewright.tools.fuzzing.k_loops import KINDS
from tilewright.tools.fuzzing.replay import render

KERNELS = 12


@pytest.mark.parametrize("number", range(KERNELS))
def test_both_ways_agree_with_the_reference(number: int) -> None:
    seed = Random(number).getrandbits(40)
    kernel = AddressKernelGenerator(Random(seed)).generate()
    with knobs.scope(opt="strict"):
        failure = check_kernel(kernel, (CPU_ALONE, BASELINE))
    assert failure is None, render(kernel, f"seed {seed}\n{failure}")


PARTS = (
    *("//", " % ", " & ", " ^ ", ">>", "tl.where", "tl.minimum", "tl.maximum", "tl.cdiv", "int64", "elif", "else:"),
    *(
        " and ",
        " or ",
        "not ",
        "max_contig",
        "multiple_of",
        "block_ptr",
        "tl.trans",
        "nk",
        "sa",
        "acc +=",
        "static_range",
    ),
)


def test_kernels_have_what_they_are_for() -> None:
    features, texts = Counter[str](), Counter[str]()
    for seed in range(600):
        kernel = AddressKernelGenerator(Random(seed)).generate()
        features.update(kernel.features)
        texts.update(part for part in PARTS if part in kernel.source)
    wanted = {
        "return",
        "returning function",
        "loop",
        "while",
        "walk",
        "dot loop",
        *(f"k loop: {kind}" for kind in KINDS),
    }
    assert wanted <= set(features)
    assert min(features.values()) >= 5
    assert set(PARTS) <= set(texts)
    assert min(texts.values()) >= 5


def test_one_kernel_in_some_goes_to_each_simulated_gpu() -> None:
    routes = [address_routes_of(number, 4) for number in range(16)]
    assert all(both[:2] == (CPU_ALONE, BASELINE) for both in routes)
    assert [both[2] for both in routes if len(both) > 2] == [*GPUS_ALONE, *GPUS_ALONE]
    assert address_routes_of(0, 0) == (CPU_ALONE, BASELINE)


def test_ways_down_the_cpu_share_the_linalg_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.frontend import compile as frontend

    made: list[object] = []
    original = frontend.build_body
    monkeypatch.setattr(frontend, "build_body", lambda *args, **named: made.append(args) or original(*args, **named))
    assert check_kernel(AddressKernelGenerator(Random(3)).generate(), (CPU_ALONE, BASELINE)) is None
    assert len(made) == 1


def test_ranges_of_indices_hold() -> None:
    """What an index is computed from is tried out with Python's own integers, which divide the other way below zero."""
    for seed in range(400):
        generator = AddressKernelGenerator(Random(seed))
        generator.b.shape = (16,)
        indices = Indices(generator.b, [Index("x", 0, 15)], [Index("n", 3, 3), Index("m", 40, 40)])
        made = indices.index()
        assert made.low <= made.high
        if any(form in made.text for form in ("//", "%", ">>", "tl.", ".to")):
            continue
        values = [eval(made.text, {"x": x, "n": 3, "m": 40}) for x in range(16)]
        assert made.low <= min(values) <= max(values) <= made.high


@pytest.mark.parametrize("route", [CPU_ALONE, BASELINE], ids=["optimised", "baseline"])
def test_a_wrong_engine_is_seen(route, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil_the_cpu(monkeypatch)
    failure = check_kernel(AddressKernelGenerator(Random(3)).generate(), (route,))
    assert failure is not None
    assert (failure.engine, failure.kind) == ("cpu baseline" if route.is_baseline else "cpu", "difference")
