"""What the functions of a module share while it is lowered, and the warps that run parts of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from xdsl.ir import Attribute

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.codegen.llvm_text import ModuleText
from tilewright.codegen.nvptx.emitter import NvptxEmitter
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.lowering.debug_info import DebugInfo
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class FunctionShape:
    """How a device function is called."""

    name: str
    parameters: tuple[Attribute, ...]
    results: tuple[Attribute, ...]


@dataclass
class ModuleNeeds:
    """What is to be linked in, found as functions are lowered."""

    uses_libdevice: bool = False
    """Whether functions of NVIDIA's math library are called."""
    bitcode_paths: dict[str, None] = field(default_factory=dict[str, None])
    """Files of LLVM bitcode whose functions are called, in order."""


@dataclass(frozen=True)
class GpuModuleLowering:
    """What the functions of one module share."""

    text: ModuleText
    facts: NvptxFacts
    emitter: NvptxEmitter
    debug: DebugInfo
    num_warps: int
    num_ctas: int
    axis_info: ModuleAxisInfo
    functions: Mapping[str, FunctionShape]
    total_warps: int
    """Warps of a CTA, those of partitions included."""
    global_scratch_bytes: int
    """Global scratch memory per program."""
    fuses: bool
    """Whether a multiplication and an addition may become one fused operation."""
    needs: ModuleNeeds = field(default_factory=ModuleNeeds)


@dataclass(frozen=True)
class Warps:
    """The warps of a CTA that run a piece of code, and the number of their own barrier."""

    first: int
    count: int
    barrier: int
    role: int
    """Its number among those of all partitions, from 1 on."""


class Workers(Protocol):
    """The warps of a kernel that run partitions (`warp_specialize_ops`)."""

    total_warps: int

    def meet(self) -> None:
        """All warps of the CTA wait for each other."""

    def end_kernel(self) -> None:
        """Before the kernel returns."""

    def arrive_in_cluster(self) -> None:
        """The warps that run the current region have come so far, in this CTA."""

    def wait_for_cluster(self) -> None:
        """They have in all CTAs."""
