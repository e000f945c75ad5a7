"""What a target is, and how targets are found.

A target knows the facts of its machine, the stages that a module goes through on the way there, and how to turn the
last stage into machine code and load it. tilewright's own are listed here; a third party's package registers one under
the entry point group `tilewright.targets`, whose value is a function without arguments that returns a `Target`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tilewright.support.errors import TargetError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.ir.facts import TargetFacts
    from tilewright.ir.passes import Pass
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


class NativeKernel(Protocol):
    """Loaded machine code. `launch` runs programs 0 to `num_programs` - 1 over the argument slots at an address.

    `num_threads` 0 leaves the number of threads to the target. Returns when all programs are done; raises
    DeviceAssertionError where a kernel's assertion failed, and KeyboardInterrupt on Ctrl-C. Where a kernel also has
    `launch_within` (extents of the data, and `names` of the slots) or `launch_on` (the data itself), that one is
    used: see `compiler/kernel.py`. For launches that are made again and again a kernel may have `starter(formats,
    device)`: the forms of its slots in the letters of Python's `struct`, and the number of the device; it returns a
    function (values, x, y, z) that runs a grid, or None where it cannot. One whose launches native code recognises
    has `recogniser` and `launcher(device)`; see `runtime/repeating.py` and `targets/launch_cache`.
    """

    def launch(self, slots_address: int, num_programs: int, num_threads: int = 0) -> None: ...


@runtime_checkable
class Target(Protocol):
    """A machine to compile for.

    A target whose stages depend on the options of a compilation has a method `configured(options)` that returns the
    target for them (see `Configurable`). `assembly_key` and `image_key` name its assembly and its machine code in
    `kernel.asm`, "asm" and "obj" where it has no such attributes. `ignored_options` names the options that say nothing
    about its code: kernels that differ in them alone are compiled once. `is_timed` is False where the time of a launch
    says nothing, as on a simulated machine: autotuning takes the first configuration that runs.
    """

    name: str

    @property
    def facts(self) -> TargetFacts: ...

    def fingerprint(self) -> str:
        """Return what machine code depends on: processor, features, versions of the tools that emit it."""
        ...

    def codegen_options(self, options: Any) -> CodegenOptions:
        """Return what the front end needs to know, from the options of a compilation."""
        ...

    def stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
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


@runtime_checkable
class Configurable(Protocol):
    """A target that is made for the options of one compilation: warps, stages, architecture."""

    def configured(self, options: Any) -> Target: ...


@runtime_checkable
class HasBaseline(Protocol):
    """A target with a second way down from linalg, slow and for every module, beside that of its optimising passes."""

    def baseline(self) -> Target:
        """The target that compiles that way."""
        ...


@runtime_checkable
class HasLibraries(Protocol):
    """A target whose kernels can be shared libraries, for PyTorch's ahead-of-time compiler."""

    def libraries(self, signature: Mapping[str, Any], metadata: Mapping[str, Any]) -> Any:
        """What makes them (`compiler.kernel.Libraries`), from the types of a kernel's signature in order and the
        metadata of its artefact; None where there can be none."""
        ...


@runtime_checkable
class HasGluon(Protocol):
    """A target that runs kernels written in Gluon."""

    def gluon_stages(self) -> Sequence[tuple[str, Sequence[Pass]]]:
        """The stages after Gluon's front end, as `stages`."""
        ...


@runtime_checkable
class Placed(Protocol):
    """A target of several devices that may need different code, such as GPUs of two generations in one machine."""

    def on_device(self, number: int) -> Target:
        """The target for one of the devices; the same object for devices that run the same code."""
        ...


@dataclass(frozen=True)
class GPUTarget:
    """Triton's description of a target: backend name, architecture, threads per warp."""

    backend: str
    arch: int | str
    warp_size: int


def describe_target(target: Target) -> GPUTarget:
    """A target as Triton describes its own: all that compile for NVIDIA GPUs are `cuda`."""
    capability = getattr(target.facts, "capability", None)
    if capability is not None:
        return GPUTarget("cuda", capability, 32)
    return GPUTarget(target.name, getattr(target.facts, "cpu", ""), 1)


def configured(target: Target, options: Any) -> Target:
    """The target under the options of a compilation."""
    return target.configured(options) if isinstance(target, Configurable) else target


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
            f"the entry point {name!r} of {ENTRY_POINT_GROUP} returned {type(target).__name__}, which is no target"
        )
    return target
