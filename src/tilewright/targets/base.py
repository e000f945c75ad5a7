"""The definition of a target, and how targets are found.

A target knows the facts of its machine, the stages that a module goes through on the way there, and how to turn the
last stage into machine code and load it. tilewright's own are listed here; a third party's package registers one under
the entry point group `tilewright.targets`, whose value is a function without arguments that returns a `Target`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tilewright.support.errors import TargetError
from tilewright.support.facts import GpuFacts, TargetFacts
from tilewright.support.records import dataclass
from tilewright.targets.capabilities import NativeKernel, Stages

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.language.context import CodegenOptions

ENTRY_POINT_GROUP = "tilewright.targets"

BUILT_IN = {
    "cpu": ("tilewright.targets.cpu", "make_target"),
    "cuda": ("tilewright.targets.cuda", "make_target"),
    "cuda_sim": ("tilewright.targets.cuda", "make_simulated_target"),
    "reference": ("tilewright.targets.reference", "make_target"),
}
"""Module and function that make each of our own targets."""


ELSEWHERE = {"amd": "AMD's GPUs", "hip": "AMD's GPUs", "rocm": "AMD's GPUs", "xpu": "Intel's GPUs"}
"""Back ends of Triton's that programs name, and what they are for: there are none of ours."""


class Artefact(Protocol):
    """Machine code of one kernel. `metadata` is JSON-able and comes back to `Target.load` from the cache."""

    @property
    def llir(self) -> str: ...
    @property
    def object(self) -> bytes: ...
    @property
    def entry(self) -> str: ...
    @property
    def metadata(self) -> dict[str, Any]: ...


@runtime_checkable
class Target(Protocol):
    """A machine to compile for. `capabilities.py` has what a target may do besides."""

    name: str

    @property
    def facts(self) -> TargetFacts: ...

    def fingerprint(self) -> str:
        """Return what machine code depends on: processor, features, versions of the tools that emit it."""
        ...

    def codegen_options(self, options: Any) -> CodegenOptions:
        """Return what the front end needs to know, from the options of a compilation."""
        ...

    def stages(self) -> Stages:
        """The stages after the front end, `ttir` first: name in `kernel.asm`, and the passes that lead there."""
        ...

    def emit(self, module: ModuleOp) -> Artefact:
        """Machine code of a module at the last stage."""
        ...

    def assembly(self, llir: str) -> str:
        """Assembly text of the LLVM text that an artefact carries."""
        ...

    def load(self, image: bytes, metadata: dict[str, Any]) -> NativeKernel:
        """Make an artefact's object callable; `metadata` is the artefact's, with `entry` added."""
        ...


@dataclass(frozen=True)
class GPUTarget:
    """Triton's description of a target: backend name, architecture, threads per warp."""

    backend: str
    arch: int | str
    warp_size: int


@runtime_checkable
class DescribedTarget(Protocol):
    """A target as Triton describes it, by our `GPUTarget` or by official Triton's."""

    backend: str
    arch: int | str


def describe_target(target: Target) -> GPUTarget:
    """A target as Triton describes its own: all that compile for NVIDIA GPUs are `cuda`."""
    facts = target.facts
    if isinstance(facts, GpuFacts):
        return GPUTarget("cuda", facts.capability, 32)
    return GPUTarget(target.name, facts.cpu, 1)


@cache
def find_target(name: str) -> Target:
    """The target of that name. Raises TargetError with the names that there are."""
    if name in BUILT_IN:
        module, maker = BUILT_IN[name]
        return getattr(import_module(module), maker)()
    from importlib.metadata import entry_points  # takes longer to import than all of `import tilewright`

    registered = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in registered:
        known = ", ".join(sorted({*BUILT_IN, *registered}))
        if name in ELSEWHERE:
            raise TargetError(
                f"there is no target for {ELSEWHERE[name]} ({name!r}). There are {known}: compile for one of these, or "
                f"register one under the entry point group {ENTRY_POINT_GROUP}"
            )
        raise TargetError(f"there is no target {name!r}; known are: {known}")
    try:
        target = registered[name].load()()
    except ImportError as error:
        raise TargetError(f"the target {name!r} cannot be loaded from its package: {error}") from error
    if not isinstance(target, Target):
        raise TargetError(
            f"the entry point {name!r} of {ENTRY_POINT_GROUP} returned {type(target).__name__}, which is not a target"
        )
    return target
