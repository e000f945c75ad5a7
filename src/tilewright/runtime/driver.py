"""Which target a launch runs on, and what Triton calls the driver.

The target follows from where the data lies: pointers into host memory mean the CPU, pointers into a GPU's memory that
GPU. TILEWRIGHT_TARGET names another target (a third party's, or a simulated one) for all launches.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from typing import Any

from tilewright.runtime.binding import Bound
from tilewright.runtime.specialization import Pointer
from tilewright.runtime.storage import Storage
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError, TargetError
from tilewright.support.facts import GpuFacts
from tilewright.support.records import dataclass
from tilewright.targets.base import GPUTarget, Target, describe_target, find_target
from tilewright.targets.capabilities import Placed, is_timed

GPU = "cuda"
PLACEMENT = "tilewright.targets.cuda.placement"
"""Where that target finds devices and streams."""
CUDA_DRIVER = "tilewright.targets.cuda.driver"
"""Where that target asks devices about themselves."""
BENCHMARK_CACHE_BYTES = 256 * 1024 * 1024
"""What has to be overwritten so that a GPU's cache holds nothing of a kernel's data."""


@dataclass(frozen=True)
class DeviceUtilities:
    """`driver.active.utils`: what a device says of itself."""

    driver: Driver

    def get_device_properties(self, device: int | None = None) -> dict[str, int]:
        """The numbers by which programs size their grids: `multiprocessor_count`, `warpSize`, `max_num_regs` and
        `max_shared_mem` (bytes); of a GPU that is there also `sm_clock_rate`, `mem_clock_rate` (kHz) and
        `mem_bus_width` (bits).

        `device` None, which is the index of PyTorch's CPU device, means the current device.
        """
        if not self.driver.is_gpu:
            return self.driver.target.facts.device_properties()
        ordinal = self.driver.get_current_device() if device is None else device
        return import_module(CUDA_DRIVER).cuda_driver().device(ordinal).properties()


@dataclass(frozen=True)
class Driver:
    """A target that kernels can be launched on, for one of its devices."""

    name: str
    target: Target
    device: int = 0

    @property
    def utils(self) -> DeviceUtilities:
        return DeviceUtilities(self)

    @property
    def is_gpu(self) -> bool:
        """True if kernels run on a real GPU."""
        return self.name == GPU

    def described(self) -> str:
        """The target's name and its processor's."""
        return f"target '{self.name}' ({self.target.facts.cpu})"

    def runs_code_of(self, other: Driver) -> bool:
        """Return whether code for one of them runs on the other."""
        if self.target is other.target:
            return True
        mine, its = self.target.facts, other.target.facts
        machines = [(facts.triple, facts.cpu, facts.features) for facts in (mine, its)]
        return self.name == other.name and machines[0] == machines[1]

    def get_current_target(self) -> GPUTarget:
        return describe_target(self.target)

    def get_current_device(self) -> int:
        """Index of the device; the CPU has one."""
        return self.device

    def set_current_device(self, device: int) -> None:
        """Make a GPU PyTorch's current one. Raises TargetError for a device that the CPU does not have."""
        if self.is_gpu:
            self.get_device_interface().set_device(device)
        elif device != 0:
            raise TargetError(f"the target '{self.name}' has one device, number 0; there is no device {device}")

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """Major and minor compute capability. Raises TargetError for a target that is not an NVIDIA GPU."""
        facts = self.target.facts
        capability = facts.capability if isinstance(facts, GpuFacts) else None
        if self.is_gpu and device is not None:
            capability = import_module(CUDA_DRIVER).cuda_driver().device(device).capability
        if capability is None:
            raise TargetError(f"the target '{self.name}' has no compute capability: it is not an NVIDIA GPU")
        major, minor = divmod(capability, 10)
        return major, minor

    def get_current_stream(self, device: int | None = None) -> int:
        """The stream that launches go to; launches on the CPU are synchronous, on the one stream 0."""
        if not self.is_gpu:
            return 0
        return import_module(PLACEMENT).current_stream(self.get_current_device() if device is None else device)

    def get_active_torch_device(self) -> Any:
        """The PyTorch device of this driver."""
        torch: Any = import_module("torch")
        return torch.device("cuda", self.get_current_device()) if self.is_gpu else torch.device("cpu")

    def get_device_interface(self) -> Any:
        """The part of PyTorch for this driver's devices: `torch.cuda` or `torch.cpu`."""
        torch: Any = import_module("torch")
        return torch.cuda if self.is_gpu else torch.cpu

    def get_empty_cache_for_benchmark(self) -> Any:
        """A tensor as large as the caches that a benchmark has to flush between two calls."""
        torch: Any = import_module("torch")
        return torch.empty(BENCHMARK_CACHE_BYTES // 4, dtype=torch.int, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        """Flush the caches by writing to what `get_empty_cache_for_benchmark` gave."""
        cache.zero_()

    def get_benchmarker(self) -> Any:
        """The function that measures launches."""
        from tilewright.testing import do_bench

        return do_bench


@lru_cache(maxsize=64)
def driver_for(name: str, device: int | None = None, *, for_its_code: bool = True) -> Driver:
    """The driver of a target by name, for one of its devices where it has several. Their code may differ: the target is
    then the device's own, unless the architecture is named and so the device does not matter. Raises TargetError with
    the known names for an unknown target."""
    target = find_target(name)
    if device is None or not isinstance(target, Placed):
        return Driver(name, target)
    return Driver(name, target.on_device(device) if for_its_code else target, device)


def current_driver(name: str) -> Driver:
    """The driver of a target by name, for the current device where it has several."""
    return driver_for(name, _present_device() if name == GPU else None)


def _present_device() -> int:
    return import_module(PLACEMENT).current_device()


def chosen_target() -> str:
    """The target that switches name for all launches: `target`, or the reference with `interpret`; else nothing."""
    return knobs.get("target") or ("reference" if knobs.get("interpret") else "")


def chosen_target_is_timed() -> bool:
    """Return whether the time of a launch says something about the kernel, as it does not on a simulated machine."""
    name = chosen_target()
    return not name or is_timed(current_driver(name).target)


def default_target() -> str:
    """Return where launches run that have no data: what switches name, else where PyTorch's GPU is in use there, else
    the CPU.
    """
    chosen = chosen_target()
    if chosen:
        return chosen
    torch: Any = sys.modules.get("torch")
    uses_gpu = torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized()
    return GPU if uses_gpu else "cpu"


def active_driver(bound: Bound, *, is_launched: bool = True) -> Driver:
    """The driver that a launch with these arguments runs on. Raises ArgumentValueError for data that it cannot reach,
    or that lies on several devices, unless the kernel is only compiled."""
    places = [(name, leaf.storage) for name, leaf in bound.leaves() if isinstance(leaf, Pointer)]
    on_gpu = [storage.device for _, storage in places if storage.device != "cpu"]
    name = chosen_target() or (GPU if on_gpu else "cpu" if places else default_target())
    if is_launched:
        check_places(name, bound)
    if name != GPU:
        return driver_for(name)
    is_named = bool(bound.options.get("arch") or knobs.get("override_arch"))
    ordinal = _number(on_gpu[0]) if on_gpu else _present_device()
    return driver_for(name, ordinal, for_its_code=not is_named)


def check_places(target: str, bound: Bound) -> None:
    """Raise ArgumentValueError for data that a target cannot reach, or that lies on several devices."""
    places = [(name, leaf.storage) for name, leaf in bound.leaves() if isinstance(leaf, Pointer)]
    on_gpu = [storage.device for _, storage in places if storage.device != "cpu"]
    for name, storage in places:
        _check_place(target, name, storage, on_gpu)


def _number(device: str) -> int:
    """The number in `cuda:1`; 0 where there is none."""
    return int(device.partition(":")[2] or 0)


def _check_place(target: str, argument: str, storage: Storage, on_gpu: list[str]) -> None:
    kind = storage.device.partition(":")[0]
    if target != GPU and kind != "cpu":
        expected = f"data in host memory, which target '{target}' runs on"
    elif target == GPU and kind == "cpu" and not storage.is_pinned():
        expected = "data on the GPU, as the other arguments" if on_gpu else "data on the GPU"
    elif target == GPU and kind not in ("cpu", "cuda"):
        expected = "data in host memory or on an NVIDIA GPU: no target for that device is installed"
    elif on_gpu and storage.device not in ("cpu", on_gpu[0]):
        expected = f"all data on one device; other arguments are on {on_gpu[0]}"
    else:
        return
    raise ArgumentValueError(argument, f"data {_where(storage.device)}", expected)


def _where(device: str) -> str:
    return "in host memory" if device == "cpu" else f"on {device}"


class ActiveDriver:
    """What Triton calls `triton.runtime.driver`: knows the driver that is used when a launch names no other."""

    @property
    def active(self) -> Driver:
        return current_driver(default_target())

    def set_active(self, driver: object) -> None:
        """Make a driver the one that all launches use. Raises TargetError for what is none."""
        if not isinstance(driver, Driver):
            raise TargetError(f"{driver!r} is not a driver: `driver_for(name)` gives one for each target")
        knobs.set_value("target", driver.name)

    def set_active_to_cpu(self) -> None:
        """As `set_active` with the CPU's driver; programs for triton-cpu have this name."""
        self.set_active(driver_for("cpu"))

    def reset_active(self) -> None:
        """Back to the target that follows from the data."""
        knobs.set_value("target", "")


driver = ActiveDriver()
set_active = driver.set_active
set_active_to_cpu = driver.set_active_to_cpu
reset_active = driver.reset_active


def __getattr__(name: str) -> Any:
    """`active`: in Triton `triton.runtime.driver` is the object that has the active driver, here also this module."""
    if name == "active":
        return driver.active
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
