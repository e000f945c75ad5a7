"""What official Triton launches on: one of our targets as a driver of Triton's."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from triton.backends.driver import DriverBase

from tilewright.compat.after_import import AfterImport
from tilewright.compat.dynamo import hide_from_dynamo
from tilewright.support import knobs
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.targets.base import describe_target
from tilewright.targets.capabilities import is_timed
from tilewright.triton_backend.naming import PREFIX, check_version, official

CPP_TYPES = {
    "i1": "int8_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u1": "uint8_t", "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "fp16": "uint16_t", "bf16": "uint16_t", "fp32": "float", "f32": "float", "fp64": "double",
}  # fmt: skip

NO_LIMIT = 1 << 30
"""Threads of a program, where Triton asks how many there may be: the compilation has checked."""

_devices: dict[tuple[str, int], int] = {}

_in_torch = AfterImport("torch._dynamo.trace_rules", hide_from_dynamo)


def device_number(target: str, index: int) -> int:
    """Return what Triton is told the number of a device is: below zero, and different for each target.

    Triton keeps compiled kernels and properties of devices by that number alone, so those of a GPU, which Triton's own
    driver may have had before, would be taken for ours.
    """
    return -1 - _devices.setdefault((target, index), len(_devices))


class WallClock:
    """An event that knows the time at which it was recorded: launches on CPUs are over when they return."""

    def __init__(self, enable_timing: bool = False) -> None:
        self._seconds = 0.0

    def record(self, stream: Any = None) -> None:
        self._seconds = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def elapsed_time(self, end: WallClock) -> float:
        """Milliseconds from this event to another."""
        return (end._seconds - self._seconds) * 1e3


class Devices:
    """What Triton asks PyTorch's module of a kind of devices (`torch.cuda`) for, of a device whose launches are over
    when they return."""

    Event = WallClock

    def __init__(self, driver: TilewrightDriver) -> None:
        self._driver = driver

    def synchronize(self, device: Any = None) -> None:
        """Nothing to wait for."""

    def current_device(self) -> int:
        return self._driver.get_current_device()

    def set_device(self, device: int) -> None:
        self._driver.set_current_device(device)


class TilewrightDriver(DriverBase):
    """Launches on one of our targets; Triton makes it active by `is_active`, or by `triton_backend.activate`."""

    @ends_tracebacks
    def __init__(self, target: str = "") -> None:
        from tilewright.runtime.driver import current_driver

        check_version()
        _in_torch.wait()
        super().__init__()
        self.name = target or knobs.get("triton_backend") or "cpu"
        self._find = lambda: current_driver(self.name)
        self._find()  # raises for a target that there is not
        self.utils = SimpleNamespace(
            load_binary=self._load_binary,
            unload_module=_forget,
            get_device_properties=self._properties,
            set_printf_fifo_size=_ignore,
        )

    @classmethod
    def is_active(cls) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Only where it was asked for: other drivers are left alone."""
        return bool(knobs.get("triton_backend"))

    @property
    def launcher_cls(self) -> Any:
        """The class of launchers of a compiled kernel."""
        from tilewright.triton_backend.launcher import Launcher

        return Launcher

    def get_current_target(self) -> Any:
        """Triton's description of the target."""
        target = self._find().target
        described = describe_target(target)
        return official("backends.compiler").GPUTarget(PREFIX + self.name, described.arch, described.warp_size)

    def get_current_device(self) -> int:
        return device_number(self.name, self._find().device)

    def set_current_device(self, device: int) -> None:
        """Take a device by the number that `get_current_device` gives. Raises TargetError for one that is not there."""
        index = next(
            (index for (name, index), known in _devices.items() if (name, -1 - known) == (self.name, device)), device
        )
        self._find().set_current_device(index)

    def get_current_stream(self, device: Any = None) -> int:
        """The stream that launches go to; 0 where they are over when they return."""
        return self._find().get_current_stream()

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """Compute capability of a GPU. Raises TargetError for other targets."""
        return self._find().get_device_capability()

    def get_active_torch_device(self) -> Any:
        """The PyTorch device that tensors are to be on."""
        return self._find().get_active_torch_device()

    def get_device_interface(self) -> Any:
        """`torch.cuda` on a real GPU, else what stands for it."""
        driver = self._find()
        return driver.get_device_interface() if driver.is_gpu else Devices(self)

    def get_benchmarker(self) -> Any:
        """Return what measures configurations: one launch, and no time, where the target is a simulated machine."""
        from tilewright.testing import do_bench

        return do_bench if is_timed(self._find().target) else _run_once

    def get_empty_cache_for_benchmark(self) -> Any:
        """A tensor as large as the caches that a benchmark has to flush between two calls."""
        return self._find().get_empty_cache_for_benchmark()

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C type of a parameter, which pointers are addresses of."""
        return "void *" if ty.startswith("*") else CPP_TYPES[ty]

    def _properties(self, device: Any = None) -> dict[str, int]:
        return self._find().utils.get_device_properties(None)

    def _load_binary(self, name: str, image: bytes, shared: int, device: int) -> tuple[bytes, bytes, int, int, int]:
        """Module, function, registers, spills and the most threads: the launcher loads the image when it first runs."""
        return image, image, 1, 0, NO_LIMIT


# See `compiler`: a driver that another version of Triton finds incomplete must not keep it from being imported.
TilewrightDriver.__abstractmethods__ = frozenset()


def _ignore(size_bytes: int) -> None:
    """The buffer of a kernel's prints is as large as it needs to be."""


def _forget(module: bytes) -> None:
    """The launcher holds what it has loaded of an image, and goes with the kernel."""


def _run_once(fn: Any, quantiles: Any = None, **keywords: Any) -> Any:
    """Run, and say that it took no time: of several configurations the first one that runs is taken."""
    fn()
    return [0.0] * len(quantiles) if quantiles else 0.0
