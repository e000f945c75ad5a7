"""One launch of a compiled kernel, whatever it runs on: the general path, which every first launch takes.

What may be launched again is filed by `fast_path.py`; this costs a look at the kernel's class more.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from tilewright.compiler.kernel import CompiledKernel
from tilewright.runtime.fast_path import is_writable, read_only
from tilewright.runtime.storage import extents_of
from tilewright.targets.capabilities import BoundedKernel, DeviceKernel, NativeKernel

Grid = tuple[int, int, int]
Run = Callable[[Any, Sequence[int], Mapping[int, Any], Grid, Sequence[str]], None]
"""Runs a grid of a loaded kernel: slots, the values behind those that are addresses, the grid, names of the slots."""


def launch(kernel: CompiledKernel, slots: list[int], arrays: dict[int, Any], grid: Grid) -> None:
    """Run a compiled kernel over a grid; `arrays` holds the values behind the slots that are addresses.

    An empty grid does nothing. Raises ArgumentValueError where the kernel stores to a read-only array.
    """
    for index in kernel.parameters.written:
        if not is_writable(arrays[index]):
            raise read_only(kernel, kernel.parameters.names[index])
    if not all(grid):
        return
    if kernel.sanitizer is not None:
        from tilewright.runtime.sanitizer import launch_checked

        launch_checked(kernel, slots, arrays, grid)
        return
    _runner_of(kernel.native.__class__)(kernel.native, slots, arrays, grid, kernel.parameters.names)


@cache
def _runner_of(kind: type[NativeKernel]) -> Run:
    """Return how kernels of a class are launched: asking a class what it can takes longer than a launch."""
    if issubclass(kind, BoundedKernel):
        return _run_within
    return _run_on if issubclass(kind, DeviceKernel) else _run_here


def _run_within(native: Any, slots: Sequence[int], arrays: Mapping[int, Any], grid: Grid, names: Sequence[str]) -> None:
    native.launch_within(slots, extents_of(arrays), grid, names)


def _run_on(native: Any, slots: Sequence[int], arrays: Mapping[int, Any], grid: Grid, names: Sequence[str]) -> None:
    native.launch_on(slots, arrays, grid)


def _run_here(native: Any, slots: Sequence[int], arrays: Mapping[int, Any], grid: Grid, names: Sequence[str]) -> None:
    x, y, z = grid
    packed = array("Q", (*slots, x, y, z))
    native.launch(packed.buffer_info()[0], x * y * z)
