"""Code for older processors gives what code for the host gives; code for AArch64 is made of NEON vectors.

A sample of the corpus, another one for each processor: every kernel in turn would take minutes. `make test-levels` runs
all tests of kernels on each of them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import corpus_inputs
import corpus_oracle as oracle
import engines
import numpy as np
import pytest
from aarch64_machine import AArch64Machine  # pyright: ignore[reportMissingImports]

from suite.requirements import LEVELS
from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.lowering.loops_to_llvm.arena import HEADER_BYTES
from tilewright.targets.cpu.facts import host_facts, named_facts
from tilewright.targets.cpu.target import CpuTarget

STEP = 26
CHOSEN = {"attention", "casts", "histograms", "joining", "matmul", "sorting2d", "unpack_int4"}
"""Kernels that are in the sample whatever their number: products, conversions, shuffles, bits."""


def sample(first: int) -> list[oracle.Case]:
    cases = corpus_inputs.runnable_cases()
    return [case for number, case in enumerate(cases) if number % STEP == first or case.kernel in CHOSEN]


def cases_by_level() -> list[object]:
    return [
        pytest.param(cpu, case, marks=pytest.mark.needs(cpu))
        for number, cpu in enumerate(LEVELS)
        for case in sample(STEP // len(LEVELS) * number)
    ]


def run(inputs: corpus_inputs.Inputs, name: str, launch: Callable[[int, int], None]) -> engines.Result:
    """What a launch, given the address of its slots and the number of programs, leaves in the arrays."""
    initial = [array.copy() for array in inputs.reachable]
    copies = engines.fresh(inputs.arguments)
    slots = [engines.slot_of(value) for value in engines.flat(copies)]
    extents = [*inputs.grid, 1, 1][:3]
    packed = (ctypes.c_uint64 * (len(slots) + 3))(*slots, *extents)
    launch(ctypes.addressof(packed), int(np.prod(extents)))
    found = tuple(array.copy() for array in inputs.reachable)
    for array, contents in zip(inputs.reachable, initial, strict=True):
        array[...] = contents
    return engines.Result(name, (*engines.arrays_of(copies), *found))


def run_here(inputs: corpus_inputs.Inputs, target: CpuTarget) -> engines.Result:
    """Of code for a target, which this processor must be able to run."""
    entry = build_entry(inputs.source, CompileOptions(), target)
    kernel = target.load(entry.sections["obj"], entry.metadata)
    return run(inputs, target.facts.cpu, lambda slots, programs: kernel.launch(slots, programs, 1))


def run_emulated(inputs: corpus_inputs.Inputs, target: CpuTarget) -> engines.Result:
    """Of code for AArch64."""
    entry = build_entry(inputs.source, CompileOptions(), target)
    machine = AArch64Machine(entry.sections["obj"])
    launch = np.zeros(256, np.uint8)
    memory = np.zeros(HEADER_BYTES + entry.metadata["arena_bytes"] + 128, np.uint8)
    arena = -(-(memory.ctypes.data + HEADER_BYTES) // 64) * 64
    ctypes.c_uint64.from_address(arena - HEADER_BYTES).value = launch.ctypes.data
    name = entry.metadata["entry"]
    return run(inputs, "aarch64", lambda slots, programs: machine.call(name, slots, 0, programs, arena))


inputs_of = cache(corpus_inputs.inputs_of)
"""One set of arrays for all runs of a case: kernels may store their addresses."""


@cache
def on_the_host(case: oracle.Case) -> engines.Result:
    return run_here(inputs_of(case), CpuTarget(host_facts()))


@pytest.mark.parametrize(("cpu", "case"), cases_by_level(), ids=str)
def test_older_processors_agree_with_the_host(cpu: str, case: oracle.Case) -> None:
    inputs, target = inputs_of(case), CpuTarget(named_facts(cpu))
    found = engines.differences(on_the_host(case), run_here(inputs, target), ignored=inputs.ignored)
    assert not found, "\n".join(found)


@pytest.mark.costly
@pytest.mark.parametrize("case", sample(0), ids=str)
def test_kernels_compile_for_aarch64(case: oracle.Case) -> None:
    target = CpuTarget(named_facts("generic-aarch64"))
    entry = build_entry(inputs_of(case).source, CompileOptions(), target)
    text = target.assembly(entry.sections["llir"].decode())
    assert f"{entry.metadata['entry']}:" in text
    if re.search(r"<4 x float>", entry.sections["llir"].decode()):
        assert re.search(r"\bv\d+\.4s\b|\bq\d+\b", text)


@pytest.mark.costly
@pytest.mark.parametrize("features", [(), ("dotprod",)], ids=["plain", "dotprod"])
@pytest.mark.parametrize("case", sample(STEP // 2), ids=str)
def test_an_emulated_aarch64_agrees_with_the_host(case: oracle.Case, features: tuple[str, ...]) -> None:
    pytest.importorskip("unicorn", reason="needs the Unicorn emulator: make oracles")
    facts = named_facts("generic-aarch64")
    target = CpuTarget(replace(facts, features=facts.features.union(features)))
    inputs = inputs_of(case)
    differences = engines.differences(on_the_host(case), run_emulated(inputs, target), ignored=inputs.ignored)
    assert not differences, "\n".join(differences)
