"""What the functions of a module share while it is lowered, and the warps that run parts of a kernel."""

from __future__ import annotations

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
class GpuModuleLowering:
    """What the functions of one module share."""

    text: ModuleText
    facts: NvptxFacts
    emitter: NvptxEmitter
    debug: DebugInfo
    num_warps: int
    num_ctas: int
    axis_info: ModuleAxisInfo
    functions: dict[str, FunctionShape] = field(default_factory=dict[str, FunctionShape])
    uses_libdevice: bool = False
    bitcode_paths: dict[str, None] = field(default_factory=dict[str, None])
    """Files of LLVM bitcode whose functions are called, in order."""
    global_scratch_bytes: int = 0
    """Global scratch memory per program."""
    total_warps: int = 0
    """Warps of a CTA, those of partitions included."""
    fuses: bool = True
    """Whether a product and a sum may become one fused operation."""


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

    def end_kernel(self) -> None:
        """Before the kernel returns."""

    def arrive_in_cluster(self) -> None:
        """The warps that run the current region have come so far, in this CTA."""

    def wait_for_cluster(self) -> None:
        """They have in all CTAs."""
