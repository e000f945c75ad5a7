"""PTX beside official Triton's: it assembles, accesses memory in pieces as wide, and takes no more registers.

Every run looks at a sample; `pytest --long` assembles the whole corpus and compares all examples and tutorials.
"""

from __future__ import annotations

import re

import corpus_oracle as oracle
import ptx_oracle
import pytest
from ttgir_cases import EXAMPLES, TUTORIALS, GpuCase, gpu_cases

from tilewright.codegen.nvptx.disasm import get_sass
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble
from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.targets.base import find_target
from tilewright.targets.capabilities import configured

needs_ptxas = pytest.mark.needs("ptxas")

CAPABILITIES = (80, 90)

WITHOUT_FP8 = ("fp8e4nv",)
"""Types that compute capability 8.0 lacks."""

SPARSE = 20
"""Every run assembles one case of so many."""

COMPARED = (*EXAMPLES, *TUTORIALS)

SAMPLE = (
    "vector add any size",
    "softmax f16 8 warps",
    "matmul B transposed",
    "descriptor matmul",
    "layer norm dx",
    "attention 64 causal",
)
"""What every run compares."""

WIDER = {"matmul f32": "the operand that is not pipelined is copied 16 bytes at a time too"}
"""Where our accesses differ, and how."""

BY_TMA = "cp.async.bulk.tensor"
"""What copies tiles for threads, so that they access fewer themselves."""

MORE_REGISTERS = {80: 1.4, 90: 1.15}
"""How many more registers than official Triton's a kernel may take, by compute capability: copies by threads keep their
addresses in registers."""

FEW_SPILLS = 16
"""Bytes of spilled registers that nobody notices."""

FEW_REGISTERS = 40
"""A thread with so many limits nothing."""

UNALIGNED_ROWS = "64-bit addresses of unaligned rows are kept over the loop, and spilled"

BOTH_ENDS = "four rows' numbers and an offset, of queries and results, are in memory while the loops run: 24 bytes"

ROLES = "a warp copies; those that multiply are given 168 registers"

HUNGRIER = {
    ("attention 128 causal", 80): BOTH_ENDS,
    ("matmul A transposed", 90): ROLES,
    ("matmul B transposed", 90): ROLES,
    ("persistent matmul", 90): "addresses of both operands' rows stay in registers from tile to tile: 159 to 124",
    ("tutorial attention 128x64", 80): UNALIGNED_ROWS,
    ("tutorial attention 128x64", 90): UNALIGNED_ROWS,
}
"""Kernels that take more registers than official Triton's on an architecture, and why."""


def ptx_of(case: GpuCase, capability: int) -> str:
    signature, constants, attributes = oracle.arguments_of(case.case, "tilewright")
    options = CompileOptions(arch=f"sm{capability}", num_warps=case.num_warps, num_stages=case.num_stages)
    target = configured(find_target("cuda_sim"), options)
    source = ASTSource(oracle.kernel_of(case.case, "tilewright"), signature, constants, attributes)
    return build_entry(source, options, target).sections["obj"].decode()


def assembled_cases() -> list[object]:
    found: list[object] = []
    for number, case in enumerate(oracle.cases()):
        for capability in CAPABILITIES:
            if capability < 89 and any(name in case.arguments for name in WITHOUT_FP8):
                continue
            marks = () if number % SPARSE == capability // 10 % 4 else (pytest.mark.long,)
            found.append(pytest.param(case, capability, marks=marks, id=f"{case}-sm{capability}"))
    return found


@needs_ptxas
@pytest.mark.parametrize(("case", "capability"), assembled_cases())
def test_assembles(case: oracle.Case, capability: int) -> None:
    """ptxas takes it, and runs products beside each other."""
    made = assemble(ptx_of(GpuCase(str(case), case), capability), nvptx_facts(capability))
    assert made.image
    assert "serialized" not in made.log or "function call" in made.log, made.log


def compared_cases() -> list[object]:
    found: list[object] = []
    by_name = {case.name: case for case in gpu_cases()}
    for name in COMPARED:
        for capability in CAPABILITIES:
            is_sample = name in SAMPLE and capability == 90
            marks = () if is_sample else (pytest.mark.long,)
            found.append(pytest.param(by_name[name], capability, marks=marks, id=f"{name}-sm{capability}"))
    return found


def spills_in_loops(sass: str) -> list[str]:
    """The accesses of local memory between a label and a branch back to it."""
    lines = sass.splitlines()
    starts = {line.strip().rstrip(":"): number for number, line in enumerate(lines) if line.strip().endswith(":")}
    loops = [
        (starts[target], number)
        for number, line in enumerate(lines)
        for target in re.findall(r"\bBRA\b.*?([.\w]+)", line)
        if starts.get(target, number) < number
    ]
    return [lines[n] for start, end in loops for n in range(start, end) if re.search(r"\b(STL|LDL)\b", lines[n])]


@pytest.mark.costly
@needs_ptxas
@pytest.mark.needs("triton")
@pytest.mark.parametrize(("case", "capability"), compared_cases())
def test_beside_triton(case: GpuCase, capability: int, request: pytest.FixtureRequest) -> None:
    is_long = bool(request.config.getoption("--long"))
    names = COMPARED if is_long else SAMPLE
    theirs = ptx_oracle.official_ptx(capability, [each for each in gpu_cases() if each.name in names])[case.name]
    ours = ptx_of(case, capability)
    if case.name not in WIDER:
        own, others = (set(ptx_oracle.accesses(ptx)) for ptx in (ours, theirs))
        assert own == others or (own < others and BY_TMA in ours), "bytes that a thread accesses"
    mine, official = (assemble(ptx, nvptx_facts(capability)) for ptx in (ours, theirs))
    reason = HUNGRIER.get((case.name, capability))
    if reason == BOTH_ENDS:
        assert not spills_in_loops(get_sass(mine.image)) and mine.spill_bytes <= 2 * FEW_SPILLS
    else:
        assert reason == UNALIGNED_ROWS or mine.spill_bytes <= official.spill_bytes + FEW_SPILLS
    assert reason or mine.registers <= max(FEW_REGISTERS, MORE_REGISTERS[capability] * official.registers)
