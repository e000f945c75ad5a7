"""What a target, its artefacts and its kernels may be able to do besides what all can: a protocol for each.

Whoever needs one asks `isinstance`. A class has a capability by having its members; nothing is registered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tilewright.ir.passes import Pass
    from tilewright.targets.base import Target
    from tilewright.targets.launch_cache.calls import Launcher, Recogniser

Stages = Sequence[tuple[str, "Sequence[Pass]"]]
"""Name of each stage in `kernel.asm`, and the passes that lead there."""

Start = Callable[[Sequence[Any], int, int, int], None]
"""Runs a grid (x, y, z) over slot values."""


@runtime_checkable
class Configurable(Protocol):
    """A target that is made for the options of one compilation: warps, stages, architecture."""

    def configured(self, options: Any) -> Target: ...


@runtime_checkable
class IgnoresOptions(Protocol):
    """A target whose code some options say nothing about: kernels that differ in them alone are compiled once."""

    ignored_options: frozenset[str]


@runtime_checkable
class NamesCode(Protocol):
    """A target whose assembly and machine code are not called "asm" and "obj" in `kernel.asm`."""

    assembly_key: str
    image_key: str


@runtime_checkable
class Untimed(Protocol):
    """A target on which the time of a launch says nothing, such as a simulated machine, with `is_timed` False:
    autotuning takes the first configuration that runs."""

    is_timed: bool


@runtime_checkable
class HasBaseline(Protocol):
    """A target with a second way down from linalg, slow and for every module, beside that of its optimising passes."""

    @property
    def is_baseline(self) -> bool:
        """True if this is that way."""
        ...

    def baseline(self) -> Target:
        """The target that compiles that way."""
        ...


@runtime_checkable
class HasSmallerPlans(Protocol):
    """A target whose passes choose plans before it is known what memory all of a kernel takes."""

    def with_more_room(self, module: ModuleOp) -> Target | None:
        """Return the target whose plans take less, where a module at the last stage takes too much because of them."""
        ...


@runtime_checkable
class HasGluon(Protocol):
    """A target that runs kernels written in Gluon."""

    def gluon_stages(self) -> Stages:
        """The stages after Gluon's front end, as `stages`."""
        ...


@runtime_checkable
class HasLateStages(Protocol):
    """A target whose emission starts with passes, which tools run one by one."""

    def late_stages(self) -> Stages: ...


@runtime_checkable
class HasLibraries(Protocol):
    """A target whose kernels can be shared libraries, for PyTorch's ahead-of-time compiler."""

    def libraries(self, signature: Mapping[str, Any], metadata: Mapping[str, Any]) -> Any:
        """Return what makes them (`compiler.kernel.Libraries`), from the types of a kernel's signature in order and the
        metadata of its artefact."""
        ...


@runtime_checkable
class LinksFiles(Protocol):
    """A target whose objects others may link, once each is in one piece."""

    def in_one_object(self) -> Target: ...


@runtime_checkable
class PreparesToLoad(Protocol):
    """A target that has to make something before it loads the first kernel, and can while that is compiled."""

    def preparing_to_load(self) -> AbstractContextManager[None]: ...


@runtime_checkable
class Placed(Protocol):
    """A target of several devices that may need different code, such as GPUs of two generations in one machine."""

    def on_device(self, ordinal: int) -> Target:
        """The target for one of the devices; the same object for devices that run the same code."""
        ...


@runtime_checkable
class HasTexts(Protocol):
    """An artefact with texts, by stage, that are cached beside the machine code."""

    @property
    def texts(self) -> dict[str, str]: ...


@runtime_checkable
class HostKernel(Protocol):
    """A kernel in this process."""

    def launch(self, slots_address: int, num_programs: int, num_threads: int = 0) -> None:
        """Run programs 0 to `num_programs` - 1 over the argument slots, and the grid's extents after them, at an
        address; `num_threads` 0 leaves the number of threads to the target.

        Returns when all programs are done; raises DeviceAssertionError where a kernel's assertion failed, and
        KeyboardInterrupt on Ctrl-C.
        """
        ...


@runtime_checkable
class BoundedKernel(Protocol):
    """A kernel that runs inside of memory whose extents are known: on the reference, on a simulated GPU."""

    def launch_within(
        self,
        slots: Sequence[int],
        extents: Mapping[int, tuple[int, int]],
        grid: Sequence[int],
        names: Sequence[str] = (),
    ) -> None:
        """Run a grid; `extents` has the lowest and one past the highest address of the memory of each slot that is an
        address, `names` the parameters, for reports."""
        ...


@runtime_checkable
class DeviceKernel(Protocol):
    """A kernel that runs where its data lies."""

    def launch_on(self, slots: Sequence[int], arrays: Mapping[int, Any], grid: tuple[int, int, int]) -> None:
        """Start a grid; `arrays` maps each slot that is an address to the argument it came from."""
        ...


NativeKernel = HostKernel | BoundedKernel | DeviceKernel
"""Loaded machine code, or what stands for it: launched in one of three ways."""


@runtime_checkable
class Repeatable(Protocol):
    """A kernel whose launches can be prepared for all that follow with arguments of the same kinds."""

    def starter(self, formats: Sequence[str], device: int) -> Start:
        """From the forms of the slots, in the letters of Python's `struct`, and the number of the device."""
        ...


@runtime_checkable
class Recognisable(Protocol):
    """A kernel that native code launches, once it recognises the call: see `runtime/repeating.py`."""

    def find_recogniser(self) -> Recogniser | None:
        """Return what recognises calls; None where native code cannot read arguments or launch this kernel."""
        ...

    def find_launcher(self, device: int) -> Launcher | None:
        """Return how native code launches on a device; None for programs that need more than it does."""
        ...


@runtime_checkable
class HasOtherForm(Protocol):
    """A kernel that computes tensor maps, and needs a form without them for launches in which there can be none."""

    def take_other_form(self, give: Callable[[], NativeKernel]) -> None:
        """Be told what gives that form, compiled when it is first asked for."""
        ...


@runtime_checkable
class CountsRegisters(Protocol):
    """A kernel whose registers are known once it is loaded."""

    def resources(self) -> tuple[int, int]:
        """Load it. Return registers, and bytes of registers that are kept in memory, of each thread."""
        ...

    def loaded_resources(self) -> tuple[int, int]:
        """The same, (0, 0) while it is not loaded."""
        ...


@cache
def can(kind: type, capability: type) -> bool:
    """Return whether a class has a capability, for launches: `isinstance` takes 5 us for a protocol in Python 3.11."""
    return issubclass(kind, capability)


def configured(target: Target, options: Any) -> Target:
    """The target under the options of a compilation."""
    return target.configured(options) if isinstance(target, Configurable) else target


def baseline_of(target: Target) -> Target:
    """The baseline of a target that has one, else the target."""
    return target.baseline() if isinstance(target, HasBaseline) else target


def code_keys(target: Target) -> tuple[str, str]:
    """Return what `kernel.asm` calls assembly and machine code."""
    return (target.assembly_key, target.image_key) if isinstance(target, NamesCode) else ("asm", "obj")


def is_timed(target: Target) -> bool:
    """Return whether the time of a launch says something about the kernel."""
    return not isinstance(target, Untimed) or target.is_timed


def texts_of(artefact: object) -> dict[str, str]:
    """The texts that are cached beside an artefact's machine code."""
    return artefact.texts if isinstance(artefact, HasTexts) else {}
