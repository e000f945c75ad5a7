"""Products by instructions that take words of several elements: every instruction that this machine has, every form."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from microkernel_names import kernel_of  # pyright: ignore[reportMissingImports]
from test_microkernel_forms import check  # pyright: ignore[reportMissingImports]
from test_microkernels import load, random_matrix  # pyright: ignore[reportMissingImports]

from suite.pairwise import pairwise
from tilewright.codegen.llvm_backend import emit_assembly
from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.microkernels import define_routine, flushes_subnormals, plan_panels
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts, without_features

SHAPES = [(17, 69, 33), (2, 17, 0), (64, 64, 64), (33, 70, 301), (20, 40, 1102)]
WIDTHS = {
    "x86-64": ("xmm", "pmaddwd"),
    "x86-64-v3": ("ymm", "vpmaddwd"),
    "x86-64-v4": ("zmm", "vpmaddwd"),
    "avxvnni": ("ymm", "vpdpbusd"),
    "avx512vnni": ("zmm", "vpdpbusd"),
    "neon": ("v0.4s", "mla"),
    "dotprod": ("v0.4s", "sdot"),
}
"""The register and the instruction by which each kind of processor multiplies int8."""


NEEDS: dict[str, tuple[str, ...]] = {
    "avx512vnni": ("avx512vnni", "avx512vl"), "znver4": ("avx512bf16",), "neon": (), "dotprod": ()
}  # fmt: skip
"""What a processor must have to run the code for another, where it is not of that name."""


def machines(*names: str) -> pytest.MarkDecorator:
    """Processors whose code this one can run; that of AArch64 is emulated."""
    marked = [pytest.param(name, marks=pytest.mark.needs(*NEEDS.get(name, (name,)))) for name in names]
    return pytest.mark.parametrize("name", marked)


def machine(name: str) -> CpuFacts:
    """A processor with that feature, or of that name."""
    host = host_facts()
    if name == "avxvnni":
        facts = without_features(host, ["amx-tile", "avx512f"]) if host.is_x86 else host
    elif name == "avx512vnni":
        facts = without_features(host, ["amx-tile"]) if host.is_x86 else host
    elif name in ("neon", "dotprod"):
        pytest.importorskip("unicorn", reason="needs the Unicorn emulator: make oracles")
        facts = named_facts("generic-aarch64")
        facts = replace(facts, features=facts.features | {name})
    elif name == "znver4":
        facts = replace(without_features(host, ["amx-tile"]), cpu=name) if host.is_x86 else host
    else:
        facts = named_facts(name)
    return facts


@pytest.mark.costly
@machines(*WIDTHS)
def test_forms_of_int8(name: str) -> None:
    facts = machine(name)
    for (m, n, k), nt, panels, zero in pairwise(SHAPES, *[(False, True)] * 3):
        check("i8", m, n, k, facts, nt=nt, zero=zero, panels=panels)
    for m, n, k in SHAPES:
        check("i8", m, n, k, facts, nt=False, zero=True, panels=True, out="i32")


@pytest.mark.costly
@machines("znver4", "neon")
def test_forms_of_bf16(name: str) -> None:
    facts = machine(name)
    for (m, n, k), nt, panels in pairwise(SHAPES, *[(False, True)] * 2):
        check("bf16", m, n, k, facts, nt=nt, zero=True, panels=panels, out="f32" if panels else "")


@machines(*WIDTHS)
@pytest.mark.parametrize("strides", ["transposed", "neither"])
def test_rows_of_a_that_are_not_contiguous(name: str, strides: str) -> None:
    facts = machine(name)
    for m, n, k in SHAPES:
        a, b = random_matrix("i8", m, k, 1), random_matrix("i8", k, n, 2)
        memory = np.zeros((2 * k, 2 * m), np.int8)
        view = memory[:k, :m].T if strides == "transposed" else memory[::2, ::2].T
        view[:] = a
        c = np.zeros((m, n), np.int32)
        row, column = view.strides
        load("tw_mk_i8_i32_1024x1024_zero", facts)(
            view.ctypes.data, row, column, b.ctypes.data, n, c.ctypes.data, n, k, m, n
        )
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@machines(*WIDTHS)
def test_extreme_bytes_are_exact(name: str) -> None:
    facts = machine(name)
    m, n, k = 40, 70, 2000
    for x, y in itertools.product((-128, 127), repeat=2):
        a, b, c = np.full((m, k), x, np.int8), np.full((k, n), y, np.int8), np.zeros((m, n), np.int32)
        load("tw_mk_i8_i32_1024x1024_zero", facts)(a.ctypes.data, k, 1, b.ctypes.data, n, c.ctypes.data, n, k, m, n)
        assert np.all(c == x * y * k)


@machines(*WIDTHS)
def test_the_instruction_of_the_machine(name: str) -> None:
    facts = machine(name)
    register, instruction = WIDTHS[name]
    lines = [line for line in assembly("tw_mk_i8_i32_1024x1024_zero", facts) if instruction in line.split()[:2]]
    assert any(register in line for line in lines)


@pytest.mark.parametrize(("kind", "feature", "instruction"), [("i8", "dotprod", "sdot"), ("bf16", "bf16", "bfdot")])
def test_instructions_of_aarch64(kind: str, feature: str, instruction: str) -> None:
    facts = named_facts("generic-aarch64")
    accumulator = "i32" if kind == "i8" else "f32"
    name = f"tw_mk_{kind}_{accumulator}_1024x1024_zero"
    assert not any(instruction in line for line in assembly(name, facts))
    newer = replace(facts, features=facts.features | {feature})
    assert any(instruction in line.split()[:2] for line in assembly(name, newer))
    assert flushes_subnormals(kind, accumulator, newer) == (kind == "bf16")
    groups = {"i8": 4, "bf16": 2}[kind]
    plans = [plan_panels(kind, accumulator, 1024, 64, which, transposed_b=False) for which in (facts, newer)]
    assert plans[0].bytes == groups * plans[1].bytes


def assembly(name: str, facts: CpuFacts) -> list[str]:
    module = ModuleText(triple=facts.triple)
    define_routine(kernel_of(name), module, facts)
    module.definitions[name] = module.definitions[name].replace("define internal", "define")
    return emit_assembly(str(module), facts).splitlines()
