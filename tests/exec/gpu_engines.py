"""One kernel on a GPU: the simulated one everywhere, a real one where there is one.

Both compile the same way; `cuda_sim` runs the PTX with every access and every barrier checked, `cuda` runs machine code
on copies of the arrays in the GPU's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from engines import Array, Result, arrays_of, flat, fresh, slot_of

from tilewright.compiler.compile import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.support.errors import TilewrightError
from tilewright.targets.base import configured, find_target

SIMULATED, REAL = "cuda_sim", "cuda"


@cache
def why_no_gpu() -> str:
    """Why nothing can run on a real GPU here; empty where it can."""
    from tilewright.targets.cuda.driver import cuda_driver

    try:
        cuda_driver().device(0)
    except TilewrightError as error:
        return str(error)
    return ""


def run_on_gpu(
    engine: str,
    source: ASTSource,
    arguments: Sequence[Any],
    grid: Sequence[int],
    *,
    reachable: Sequence[Array] = (),
    arch: str | None = None,
) -> Result:
    """What the arrays hold after a run on `cuda_sim` or `cuda`; arrays that the kernel finds by their addresses get
    their first contents back."""
    options = CompileOptions(arch=arch)
    target = configured(find_target(engine), options)
    entry = build_entry(source, options, target)
    kernel: Any = target.load(entry.sections["obj"], entry.metadata)
    copies = fresh(arguments)
    x, y, z = [*grid, 1, 1][:3]
    initial = [array.copy() for array in reachable]
    if engine == SIMULATED:
        values = flat(copies)
        extents = {slot: extent(value) for slot, value in enumerate(values) if isinstance(value, np.ndarray)}
        kernel.launch_within([slot_of(value) for value in values], extents, (x, y, z))
    else:
        _run_on_device(kernel, flat(copies), (x, y, z), reachable)
    found = tuple(array.copy() for array in reachable)
    for array, contents in zip(reachable, initial, strict=True):
        array[...] = contents
    return Result(engine, (*arrays_of(copies), *found))


def extent(array: Array) -> tuple[int, int]:
    """The addresses of a contiguous array."""
    return array.ctypes.data, array.ctypes.data + array.nbytes


class _OnDevice:
    """Where a launch finds its device."""

    @staticmethod
    def get_device() -> int:
        return 0


def _run_on_device(kernel: Any, values: list[Any], grid: tuple[int, int, int], reachable: Sequence[Array]) -> None:
    """Copy arrays there, launch, wait, copy them back. What the kernel finds by addresses is mapped where it lies."""
    from tilewright.targets.cuda.driver import cuda_driver

    driver = cuda_driver()
    device = driver.device(0)
    with driver.entered(device):
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        places = [int(driver.call("cuMemAlloc", max(array.nbytes, 16))) for array in arrays]
        for array in reachable:
            driver.call("cuMemHostRegister", array.ctypes.data, array.nbytes, 0)
        try:
            for array, place in zip(arrays, places, strict=True):
                driver.call("cuMemcpyHtoD", place, array.ctypes.data, array.nbytes)
            addresses = iter(places)
            slots = [next(addresses) if isinstance(value, np.ndarray) else slot_of(value) for value in values]
            kernel.launch_on(slots, {0: _OnDevice()}, grid)
            driver.synchronize(0)
            for array, place in zip(arrays, places, strict=True):
                driver.call("cuMemcpyDtoH", array.ctypes.data, place, array.nbytes)
        finally:
            for place in places:
                driver.call("cuMemFree", place)
            for array in reachable:
                driver.call("cuMemHostUnregister", array.ctypes.data)
