"""One kernel on a GPU: the simulated one everywhere, a real one where there is one.

Both compile the same way; `cuda_sim` runs the PTX with every access and every barrier checked, `cuda` runs machine code
on copies of the arrays in the GPU's memory.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from device_memory import REAL, launching_on_gpu, registered
from engines import Result, arrays_of, flat, fresh, slot_of

import tilewright.language as tl
from suite.arrays import Array
from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs
from tilewright.targets.base import find_target
from tilewright.targets.capabilities import configured

SIMULATED = "cuda_sim"


def run_on_gpu(
    engine: str,
    source: ASTSource,
    arguments: Sequence[Any],
    grid: Sequence[int],
    *,
    reachable: Sequence[Array] = (),
    arch: str | None = None,
    race_detection: bool = True,
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
        kernel.launch_within([slot_of(value) for value in values], extents, (x, y, z), race_detection=race_detection)
    else:
        _run_on_device(kernel, flat(copies), (x, y, z), reachable)
    found = tuple(array.copy() for array in reachable)
    for array, contents in zip(reachable, initial, strict=True):
        array[...] = contents
    return Result(engine, (*arrays_of(copies), *found))


LAUNCHED_AS = ("i32", "fp32", "i1", "u1")
"""Types that a number without an annotation has in a launch."""


def why_not_launched(source: ASTSource) -> str:
    """Why `kernel[grid](...)` cannot mean what the source says; empty where it can."""
    rules = {rule.name: rule for rule in source.fn.binder.rules}  # pyright: ignore[reportAttributeAccessIssue]
    for name, kind in source.full_signature().items():
        for leaf in flat([kind]):
            is_number = not leaf.startswith(("*", "tensordesc", "constexpr"))
            if is_number and leaf not in LAUNCHED_AS and rules[name].forced_type != leaf:
                return f"a number without an annotation is not launched as {leaf}"
    return ""


def launch_on_gpu(
    source: ASTSource, arguments: Sequence[Any], grid: Sequence[int], reachable: Sequence[Array]
) -> Result:
    """What the arrays hold after `kernel[grid](...)` on CUDA tensors."""
    kernel: Any = source.fn
    copies, constants = fresh(arguments), source.paths(source.constexprs)
    initial = [array.copy() for array in reachable]
    values = [
        _launch_value(kind, value, (index,), constants)
        for index, (kind, value) in enumerate(zip(source.full_signature().values(), copies, strict=True))
    ]
    parameters = inspect.signature(kernel.fn).parameters
    named = [name for name, parameter in parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    positional = values[: len(values) - len(named)]
    by_name = dict(zip(named, values[len(positional) :], strict=True))
    with knobs.scope(target=REAL), registered(reachable):
        launching_on_gpu(kernel[tuple(grid)])(*positional, **by_name)
    found = tuple(array.copy() for array in reachable)
    for array, contents in zip(reachable, initial, strict=True):
        array[...] = contents
    return Result(REAL, (*arrays_of(copies), *found))


def _launch_value(kind: Any, value: Any, path: tuple[int, ...], constants: Mapping[Any, Any]) -> Any:
    """An argument as users give it."""
    if path in constants:
        return constants[path] if len(path) == 1 else tl.constexpr(constants[path])
    if isinstance(kind, tuple):
        return tuple(
            _launch_value(k, v, (*path, index), constants) for index, (k, v) in enumerate(zip(kind, value, strict=True))
        )
    if kind.startswith("tensordesc"):
        block = [int(size) for size in kind.partition("[")[2].partition("]")[0].split(",")]
        return TensorDescriptor.from_tensor(value[0], block)
    return value.item() if isinstance(value, np.generic) else value


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
    with driver.entered(driver.device(0)), registered(reachable):
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        places = [int(driver.call("cuMemAlloc", max(array.nbytes, 16))) for array in arrays]
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
