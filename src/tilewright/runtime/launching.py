"""The slow path of a launch: any kernel, any arguments, any target, sanitisers and read-only arrays included.

Launches take one of three paths, each of which falls back to the next. One program of an empty kernel on one thread of
a Zen 3, called in a loop:

| path | file | microseconds | what it cannot |
|---|---|--:|---|
| native | `repeating.py`, `targets/launch_cache` | 0.6 | descriptors, hooks, objects of unknown layout |
| fast path | `fast_path.py` | 5 | the first launch of a kind, hooks, sanitised kernels |
| slow path | `jit.py` or `compiled_launch.py`, and this file | 100 | nothing |

`compiled_launch.py` and `triton_backend/launcher.py` check arguments against a kernel that is there already, and use
the same plans; `compiled_launch.py` the native path, too (`kernel[grid](...)` 1.5, `kernel.run(...)` of PyTorch's
compiler 0.6), and `launch_sites.py` from generated code. Programs without Python have a C
function (`tools/aot`, `cpu/nativert.py`).
"""

from __future__ import annotations

from array import array
from typing import Any

from tilewright.compiler.kernel import CompiledKernel
from tilewright.runtime.fast_path import is_writable, read_only
from tilewright.runtime.storage import extents_of
from tilewright.targets.capabilities import BoundedKernel, DeviceKernel, can


def launch(kernel: CompiledKernel, slots: list[int], arrays: dict[int, Any], grid: tuple[int, int, int]) -> None:
    """Run a compiled kernel over a grid; `arrays` maps each slot that is an address to the argument it came from.

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
    native: Any = kernel.native
    if can(native.__class__, BoundedKernel):
        native.launch_within(slots, extents_of(arrays), grid, kernel.parameters.names)
    elif can(native.__class__, DeviceKernel):
        native.launch_on(slots, arrays, grid)
    else:
        x, y, z = grid
        packed = array("Q", (*slots, x, y, z))
        native.launch(packed.buffer_info()[0], x * y * z)
