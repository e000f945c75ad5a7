"""What Triton calls `triton.backends`: which back ends there are, and their drivers.

tilewright's own back ends are in `targets/`; programs look here for what they may launch on.
"""

from __future__ import annotations

from tilewright.compat.backends.compiler import BaseBackend
from tilewright.runtime.driver import GPU, Driver, chosen_target, driver_for
from tilewright.support.errors import TargetError
from tilewright.support.records import dataclass

DriverBase = Driver


__all__ = ["Backend", "BaseBackend", "CPUDriver", "CudaDriver", "DriverBase", "backends"]


class CPUDriver(Driver):
    """The driver of the CPU, made without arguments as Triton's are."""

    def __init__(self) -> None:
        chosen = driver_for("cpu")
        super().__init__(chosen.name, chosen.target)

    @staticmethod
    def is_active() -> bool:
        """Return whether launches go there: there is no GPU, or a switch says so. Programs insist on one."""
        return not CudaDriver.is_active()


class CudaDriver(Driver):
    """The driver of NVIDIA GPUs."""

    def __init__(self) -> None:
        chosen = driver_for("cuda")
        super().__init__(chosen.name, chosen.target)

    @staticmethod
    def is_active() -> bool:
        """Return whether this machine has what it drives, and no switch sends launches elsewhere."""
        from tilewright.targets.cuda.driver import cuda_driver

        if chosen_target() not in ("", GPU):
            return False
        try:
            return cuda_driver().device(0).capability > 0
        except TargetError:
            return False


@dataclass(frozen=True)
class Backend:
    """One of Triton's back ends: the class of its driver."""

    driver: type[CPUDriver | CudaDriver]


backends = {"cpu": Backend(CPUDriver), "nvidia": Backend(CudaDriver)}
