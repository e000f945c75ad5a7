"""Which target a launch runs on, and what Triton calls the driver.

The target follows from where the data lies: pointers into host memory mean the CPU. TILEWRIGHT_TARGET names another
target (a third party's, or a simulated one) for all launches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from tilewright.runtime.binding import Bound
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError
from tilewright.targets.base import Target, find_target


@dataclass(frozen=True)
class GPUTarget:
    """Triton's description of a target: backend name, architecture, threads per warp."""

    backend: str
    arch: int | str
    warp_size: int


@dataclass(frozen=True)
class Driver:
    """A target that kernels can be launched on."""

    name: str
    target: Target

    def get_current_target(self) -> GPUTarget:
        return GPUTarget(self.name, self.target.facts.cpu, 1)

    def get_current_device(self) -> int:
        """Index of the device; the CPU has one."""
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        """Launches on the CPU are synchronous: there is one stream, 0."""
        return 0

    def get_active_torch_device(self) -> Any:
        """The PyTorch device of this driver."""
        torch: Any = import_module("torch")
        return torch.device("cpu")

    def get_benchmarker(self) -> Any:
        """The function that measures launches."""
        from tilewright.testing import do_bench

        return do_bench


@lru_cache(maxsize=8)
def driver_for(name: str) -> Driver:
    """The driver of a target by name. Raises KeyError with the known names for an unknown one."""
    return Driver(name, find_target(name))


def default_target() -> str:
    """Where launches run: what the `target` switch names, the reference with `interpret`, else the CPU."""
    return knobs.get("target") or ("reference" if knobs.get("interpret") else "cpu")


def active_driver(bound: Bound) -> Driver:
    """The driver that a launch with these arguments runs on."""
    name = default_target()
    for pointer_name, leaf in bound.leaves():
        storage = getattr(leaf, "storage", None)
        if storage is not None and storage.device.partition(":")[0] != "cpu":
            raise ArgumentValueError(
                pointer_name,
                f"data on {storage.device}",
                "data in host memory: no target for that device is installed",
            )
    return driver_for(name)


class ActiveDriver:
    """`triton.runtime.driver.active`: the driver used when a launch names no other."""

    @property
    def active(self) -> Driver:
        return driver_for(default_target())

    def set_active(self, driver: Driver) -> None:
        """Make a driver the one that all launches use."""
        knobs.set_value("target", driver.name)

    def reset_active(self) -> None:
        """Back to the target that follows from the data."""
        knobs.set_value("target", "")


driver = ActiveDriver()
active = driver
