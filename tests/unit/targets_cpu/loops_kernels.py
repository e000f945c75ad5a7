"""Kernels written by hand at the loops stage, and a way to run them on NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from suite.arrays import Array
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.targets.cpu.facts import CpuFacts, host_facts
from tilewright.targets.cpu.kernel import CpuKernel
from tilewright.targets.cpu.target import CpuArtefact, CpuTarget

GRID = "%gx: i32, %gy: i32, %gz: i32, %px: i32, %py: i32, %pz: i32"

Argument = np.ndarray | int | float | np.generic


def parse_loops(text: str) -> ModuleOp:
    """The module of loops stage text."""
    return parse_module(text.replace("$GRID", GRID), make_context())


def compile_loops(text: str, facts: CpuFacts | None = None) -> CpuArtefact:
    """Machine code of loops stage text."""
    return CpuTarget(facts or host_facts()).emit(parse_loops(text))


@lru_cache(maxsize=64)
def load_loops(text: str, facts: CpuFacts | None = None) -> CpuKernel:
    """A callable kernel from loops stage text."""
    target = CpuTarget(facts or host_facts())
    artefact = compile_loops(text, facts)
    return target.load(artefact.object, {**artefact.metadata, "entry": artefact.entry})


def fill_slots(arguments: Sequence[Argument], grid: tuple[int, int, int]) -> Array:
    """The 8-byte slots that an entry reads."""
    slots = np.zeros(len(arguments) + 3, np.int64)
    for position, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            slots[position] = argument.ctypes.data
            continue
        value = np.int64(argument) if isinstance(argument, int) else np.asarray(argument)
        raw = np.asarray(value).tobytes()
        slots[position : position + 1].view(np.uint8)[: len(raw)] = np.frombuffer(raw, np.uint8)
    slots[len(arguments) :] = grid
    return slots


def run_loops(
    text: str,
    *arguments: Argument,
    grid: tuple[int, int, int] = (1, 1, 1),
    num_threads: int = 1,
    facts: CpuFacts | None = None,
) -> None:
    """Compile (once) and run a kernel over a grid."""
    slots = fill_slots(arguments, grid)
    kernel = load_loops(text, facts)
    kernel.launch(slots.ctypes.data, grid[0] * grid[1] * grid[2], num_threads)
