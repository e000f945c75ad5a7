"""What the machine code of a kernel says of it: registers, spills with their lines, shared memory, occupancy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.ir.line_places import PrintedLine
from tilewright.support import knobs
from tilewright.support.facts import GpuFacts
from tilewright.targets.base import Target
from tilewright.tools.explore.machine_text import read_machine_text
from tilewright.tools.explore.overview import SPILL, Fact, cpu_facts, gpu_facts

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def machine_facts(module: ModuleOp, target: Target, file: str) -> Sequence[Fact]:
    """Facts of the code that a target makes of a module at its last stage, with lines of the kernel's file; none of
    targets that are not ours."""
    with knobs.scope(debug_symbols=True, disable_line_info=False):
        artefact = target.emit(module)
        if isinstance(target.facts, GpuFacts):
            return gpu_facts(target.facts.capability, artefact.metadata, artefact.object)
        if target.name != "cpu":
            return ()
        from tilewright.codegen.llvm_backend import emit_assembly

        assembly = read_machine_text("asm", emit_assembly(artefact.llir, target.facts, comments=True), {})
    facts = cpu_facts(target.facts, artefact.metadata, artefact.object, assembly)
    return [_with_lines(fact, assembly, file) if fact.label == "spilled registers" else fact for fact in facts]


def _with_lines(fact: Fact, assembly: Sequence[PrintedLine], file: str) -> Fact:
    """A fact about spills, with the source lines that have them."""
    spilling = (line for line in assembly if SPILL.search(line.text))
    lines = sorted({place.line for line in spilling for place in line.places if place.filename == file})
    if not lines:
        return fact
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines))}"
    return replace(fact, note=f"{fact.note}, at {where}")
