"""Launches on a GPU that is there: their memory is copied to it and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tilewright.support.errors import TilewrightError
from tilewright.targets.cuda.driver import cuda_driver
from tilewright.tools.validation.launches import Array, Launch

ALIGNMENT = 512
"""Of what the driver allocates; arguments are as far from a multiple of it as they were."""

DeviceLaunch = Callable[[Sequence[int], Mapping[int, Any], tuple[int, int, int]], None]


class _OnDevice:
    """Data on device 0, as the launch asks for it."""

    @staticmethod
    def get_device() -> int:
        return 0


def run_on_device(start: DeviceLaunch, launch: Launch, memory: Sequence[Array]) -> None:
    """Copy the memory of a launch to device 0, run it, wait, and copy the memory back in place. Raises the driver's
    errors."""
    driver = cuda_driver()
    with driver.entered(driver.device(0)):
        allocated: list[int] = []
        places: list[int] = []
        try:
            for region, data in zip(launch.regions, memory, strict=True):
                allocated.append(int(driver.call("cuMemAlloc", data.nbytes + ALIGNMENT)))
                places.append(allocated[-1] + region.low % ALIGNMENT)
                if data.nbytes:
                    driver.call("cuMemcpyHtoD", places[-1], data.ctypes.data, data.nbytes)
            start(launch.slots_at(places), {0: _OnDevice()}, launch.grid)
            driver.synchronize(0)
            for place, data in zip(places, memory, strict=True):
                if data.nbytes:
                    driver.call("cuMemcpyDtoH", data.ctypes.data, place, data.nbytes)
        finally:
            for address in allocated:
                with suppress(TilewrightError):  # of a GPU that the kernel has brought down, which is what is reported
                    driver.call("cuMemFree", address)


def device_bytes(low: int, high: int, device: str) -> Array:
    """A copy of a GPU's memory; `device` is its name, as `cuda:0`."""
    driver = cuda_driver()
    found = np.zeros(high - low, np.uint8)
    with driver.entered(driver.device(int(device.partition(":")[2] or 0))):
        driver.call("cuMemcpyDtoH", found.ctypes.data, low, high - low)
    return found
