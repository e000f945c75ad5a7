"""Code for older processors gives what code for the host gives; code for AArch64 is made of NEON vectors.

A sample of the corpus, another one for each processor: every kernel in turn would take minutes. `make test-levels` runs
all tests of kernels on each of them.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache

import corpus_inputs
import corpus_oracle as oracle
import engines
import numpy as np
import pytest

from tilewright.compiler.compile import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.targets.cpu.facts import host_facts, named_facts
from tilewright.targets.cpu.target import CpuTarget

STEP = 26
LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
CHOSEN = {"attention", "casts", "histograms", "joining", "matmul", "sorting2d", "unpack_int4"}
"""Kernels that are in the sample whatever their number: products, conversions, shuffles, bits."""


def sample(first: int) -> list[oracle.Case]:
    cases = corpus_inputs.runnable_cases()
    return [case for number, case in enumerate(cases) if number % STEP == first or case.kernel in CHOSEN]


def cases_by_level() -> list[tuple[str, oracle.Case]]:
    return [(cpu, case) for number, cpu in enumerate(LEVELS) for case in sample(STEP // len(LEVELS) * number)]


def run(inputs: corpus_inputs.Inputs, target: CpuTarget) -> engines.Result:
    """What the code of a target leaves in the arrays."""
    entry = build_entry(inputs.source, CompileOptions(), target)
    kernel = target.load(entry.sections["obj"], entry.metadata)
    initial = [array.copy() for array in inputs.reachable]
    copies = engines.fresh(inputs.arguments)
    slots = [engines.slot_of(value) for value in engines.flat(copies)]
    extents = [*inputs.grid, 1, 1][:3]
    packed = (ctypes.c_uint64 * (len(slots) + 3))(*slots, *extents)
    kernel.launch(ctypes.addressof(packed), int(np.prod(extents)), 1)
    found = tuple(array.copy() for array in inputs.reachable)
    for array, contents in zip(inputs.reachable, initial, strict=True):
        array[...] = contents
    return engines.Result(target.facts.cpu, (*engines.arrays_of(copies), *found))


@cache
def on_the_host(case: oracle.Case) -> engines.Result:
    return run(corpus_inputs.inputs_of(case), CpuTarget(host_facts()))


@pytest.mark.parametrize(("cpu", "case"), cases_by_level(), ids=str)
def test_older_processors_agree_with_the_host(cpu: str, case: oracle.Case) -> None:
    facts = named_facts(cpu)
    if not host_facts().is_x86 or not facts.features <= host_facts().features:
        pytest.skip(f"this machine cannot run code for {cpu}")
    inputs = corpus_inputs.inputs_of(case)
    found = engines.differences(on_the_host(case), run(inputs, CpuTarget(facts)), ignored=inputs.ignored)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("case", sample(0), ids=str)
def test_kernels_compile_for_aarch64(case: oracle.Case) -> None:
    target = CpuTarget(named_facts("generic-aarch64"))
    entry = build_entry(corpus_inputs.inputs_of(case).source, CompileOptions(), target)
    text = target.assembly(entry.sections["llir"].decode())
    assert f"{entry.metadata['entry']}:" in text
    if re.search(r"<4 x float>", entry.sections["llir"].decode()):
        assert re.search(r"\bv\d+\.4s\b|\bq\d+\b", text)
