"""Kernels of the simulated GPU without one of their instructions. The kernel is decoded once for all of them: reading
and decoding its PTX takes as long as running it."""

from __future__ import annotations

import re
from dataclasses import replace

from tilewright.reference.simt.code import Code
from tilewright.reference.simt.program import Step, decode
from tilewright.reference.simt.run import load
from tilewright.support.ptx.syntax import Immediate, Instruction
from tilewright.targets.cuda.simulated import SimulatedKernel

WAIT = "mbarrier.try_wait"


def without_each(kernel: SimulatedKernel, instruction: str) -> list[tuple[str, SimulatedKernel]]:
    """The kernel without one instruction, for each of a kind, and which it was. A wait is replaced by having waited."""
    pattern = re.compile(rf"\s*(?:@\S+\s+)?{re.escape(instruction)}\b")
    lines = [(n, line.strip()) for n, line in enumerate(kernel.ptx.splitlines(), 1) if pattern.match(line)]
    return [(f"line {number}: {text}", without_line(kernel, number)) for number, text in lines]


def without_line(kernel: SimulatedKernel, line: int) -> SimulatedKernel:
    """The kernel without the instruction in a line of its PTX, counted from 1."""
    code = load(kernel.ptx, kernel.name)
    [number] = [number for number, each in enumerate(code.instructions) if each.line == line]
    changed = SimulatedKernel(kernel.facts, kernel.ptx)
    changed.program = _replaced(code, number, _instead(code, code.instructions[number]))
    return changed


def _instead(code: Code, instruction: Instruction) -> Step:
    """What is executed in the place of an instruction."""
    if not instruction.opcode.startswith(WAIT):
        return lambda machine: None
    zero = Immediate(0)
    operands = (instruction.operands[0], zero, zero)
    return decode(replace(instruction, opcode="setp.eq.u32", operands=operands, guard=None), code.decoder)


def _replaced(code: Code, number: int, step: Step) -> Code:
    """Code with another step at a number, where nothing branches or waits any more."""
    controls = {each: control for each, control in code.controls.items() if each != number}
    jumped_to = {
        start + target
        for name, start in code.decoder.starts.items()
        for each in code.module.functions[name].body
        for target in (each.target, *each.targets)
        if target is not None
    }
    leaders = jumped_to | {each + 1 for each in controls}
    steps = {**code.steps, number: step}
    return replace(code, steps=steps, controls=controls, leaders=leaders, _segments={})
