"""Generated kernels as files: a file holds the kernel and its inputs, runs by itself, and is what a failure leaves.

```python
import numpy as np
import triton
import triton.language as tl

@triton.jit
def kernel(a0, n0): ...

def tilewright_inputs():
    ...
    return kernel, (grid,), {"a0": ..., "n0": 3}
```
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.tools.fuzzing.values import BOOL, FILL, FLOATS, FP8, GLUON, UNSIGNED, Argument, GeneratedKernel
from tilewright.tools.user_files import load_file
from tilewright.tools.validation.compare import Tolerance

_NAMES = {"bfloat16": "bfloat16", "float8e5": "float8_e5m2", "float8e4nv": "float8_e4m3fn"}
"""What `ml_dtypes` calls the types that NumPy lacks."""

SPECIAL = (0.0, -0.0, 1.0, -1.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 1e-41, -6e-8, 3e-39, 6e4, 3e38, -2e300, 5e-320)
"""All sorts of floats; the narrow types have fewer of them."""

HEADER = """import triton
import triton.language as tl

from tilewright.tools.fuzzing.replay import make_arrays
from tilewright.tools.fuzzing.values import Argument

"""
GLUON_HEADER = """from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2

from tilewright.tools.fuzzing.replay import make_arrays
from tilewright.tools.fuzzing.values import Argument

"""


def render(kernel: GeneratedKernel, note: str = "") -> str:
    """The file of a kernel; `note` goes into comment lines at its top."""
    comment = "".join(f"# {line}\n" for line in note.splitlines())
    arguments = ",\n    ".join(repr(argument) for argument in kernel.arguments)
    numbers = {**kernel.scalars, **kernel.options}
    others = "".join(f", {name!r}: {value!r}" for name, value in numbers.items())
    comma = "," if kernel.arguments else ""
    header = GLUON_HEADER if GLUON in kernel.features else HEADER
    return (
        f"{comment}{header}\nARGUMENTS = (\n    {arguments}{comma}\n)\nDATA_SEED = {kernel.data_seed}\n\n\n"
        f"{kernel.source}\n\n"
        "def tilewright_inputs():\n"
        f"    keywords = {{**make_arrays(ARGUMENTS, DATA_SEED){others}}}\n"
        f"    return kernel, {kernel.grid!r}, keywords\n"
    )


def make_arrays(arguments: Sequence[Argument], seed: int) -> dict[str, np.ndarray[Any, Any]]:
    """The contents of all arguments, by name. Those that lie in the memory of others are views of it."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for index, argument in enumerate(arguments):
        if argument.within:
            rest = arrays[argument.within].view(np.uint8)[argument.start :]
            dtype = _numpy_type(argument.dtype)
            arrays[argument.name] = rest[: argument.count * dtype.itemsize].view(dtype)
        else:
            arrays[argument.name] = make_array(argument, seed + index)
    return arrays


def make_array(argument: Argument, seed: int) -> np.ndarray[Any, Any]:
    """The contents of an argument."""
    rng = np.random.default_rng(seed)
    dtype = _numpy_type(argument.dtype)
    if argument.contents == "zeros":
        return np.zeros(argument.count, dtype)
    if argument.contents == "fill":
        return np.full(argument.count, FILL).astype(dtype)
    if argument.contents.startswith("index:"):
        return rng.integers(0, int(argument.contents.partition(":")[2]), argument.count).astype(dtype)
    if argument.contents == "special":
        with np.errstate(over="ignore"):
            return rng.choice(np.array(SPECIAL), argument.count).astype(dtype)
    if argument.dtype == BOOL:
        return rng.integers(0, 2, argument.count).astype(dtype)
    if argument.dtype in (*FLOATS, *FP8):
        return (rng.integers(-32, 33, argument.count) / 4.0).astype(dtype)
    if argument.dtype in UNSIGNED:
        return rng.integers(0, 2 ** min(int(argument.dtype[4:]), 63), argument.count, dtype=np.int64).astype(dtype)
    high = 2 ** (int(argument.dtype[3:]) - 1)
    small = rng.random() < 0.6
    values = (
        rng.integers(-8, 8, argument.count) if small else rng.integers(-high, high - 1, argument.count, endpoint=True)
    )
    return values.astype(dtype)


def _numpy_type(name: str) -> np.dtype[Any]:
    if name in _NAMES:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, _NAMES[name]))
    return np.dtype(np.bool_ if name == BOOL else name)


def tolerance_of(kernel: GeneratedKernel) -> Tolerance:
    """Return how far the outputs of engines may be apart."""
    return Tolerance(absolute={argument.name: argument.slack for argument in kernel.arguments})


def tolerance_of_file(path: Path) -> Tolerance:
    """The tolerance that a replay file's arguments ask for; exact for other files."""
    arguments = getattr(load_file(path), "ARGUMENTS", ())
    return Tolerance(absolute={argument.name: argument.slack for argument in arguments})
