"""What the functions of a module share while it is lowered: facts found before, needs found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from xdsl.ir import Attribute, Operation

from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.math_library import MathLibrary
from tilewright.codegen.microkernels import Routine, define_routine
from tilewright.lowering.debug_info import DebugInfo
from tilewright.lowering.loops_to_llvm.arena import FramePlan
from tilewright.lowering.loops_to_llvm.types import TypeTable
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class FunctionShape:
    """How a function is called: flattened parameter types, flattened results, whether it may stop the grid, whether it
    does without the hidden parameters, and which parameter is no launch slot but address 0.
    """

    name: str
    parameters: tuple[Attribute, ...]
    results: tuple[Attribute, ...]
    is_declaration: bool
    may_stop: bool
    is_leaf: bool = False
    address_zero: int | None = None


@dataclass(frozen=True)
class ModuleFacts:
    """What is known of a module before its functions are lowered."""

    routines: Mapping[str, Routine]
    """Micro-kernels that the module declares."""
    has_atomics: bool
    """Whether anything in the module is atomic."""
    waiting_loops: frozenset[Operation]
    """Loops in which a program may be waiting for another (see `waiting.py`)."""
    long_loops: frozenset[Operation]
    """Loops that count their rounds, to notice that the grid is stopped (see `interruption.py`)."""
    open_kernels: frozenset[str]
    """Micro-kernels that are called somewhere with counts that are known at run time only."""
    outlines_masks: bool
    """Whether masked accesses that the machine has no instruction for are calls (see `masked_access.py`)."""
    fuses: bool
    """Whether a multiplication and an addition may become one fused operation."""


@dataclass
class ModuleNeeds:
    """What the functions of a module need at run time, found as they are lowered."""

    externals: set[str] = field(default_factory=set[str])
    """Declared functions that are called and not defined here: the loader binds them."""
    streams: bool = False
    """Whether a store is non-temporal: such stores are ordered by a fence only."""
    uses_tiles: bool = False
    """Whether AMX tiles have to be configured while the kernel runs."""


@dataclass(frozen=True)
class CpuModuleLowering:
    """What the functions of one module share."""

    text: ModuleText
    facts: TargetFacts
    types: TypeTable
    math: MathLibrary
    debug: DebugInfo
    known: ModuleFacts
    needs: ModuleNeeds = field(default_factory=ModuleNeeds)
    functions: dict[str, FunctionShape] = field(default_factory=dict[str, FunctionShape])
    frames: dict[str, FramePlan] = field(default_factory=dict[str, FramePlan])

    def use_external(self, name: str, routine: Routine | None) -> None:
        """A declared function is called: define it if it is a micro-kernel, else leave it to the loader."""
        if routine is None:
            self.needs.externals.add(name)
        else:
            define_routine(routine, self.text, self.facts)
