"""One kernel on every engine: the reference at each stage of the compiler, then native code, on the same inputs.

The stages of one compilation are one module that is changed in place, so each is run when the compiler reaches it. The
first run also checks every access against the extents of the arguments: native code runs only what the reference found
to stay in bounds.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp

from suite.arrays import Array
from tilewright import reference
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.compiler.stages import lower
from tilewright.dialects import tt
from tilewright.targets.base import find_target

REFERENCE_STAGES = ("source", "ttir", "structured", "linalg")
NATIVE = "cpu"

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u1": np.bool_,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "fp32": np.float32,
    "fp64": np.float64,
    "fp8e5": ml_dtypes.float8_e5m2,
    "fp8e4nv": ml_dtypes.float8_e4m3fn,
}
"""NumPy's names for Triton's types."""

STEP_LIMIT = 2_000_000

TOLERANCES = {
    "float64": 1e-12,
    "float32": 2e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
    "float8_e5m2": 0.26,
    "float8_e4m3fn": 0.13,
}
"""How far two engines may differ that sum in different orders: relative to the value, or to the largest of them."""


@dataclass(frozen=True)
class Result:
    """What an engine left in the arrays, and what it printed (native prints go to the standard output)."""

    engine: str
    arrays: tuple[Array, ...]


def run_everywhere(
    source: ASTSource,
    arguments: Sequence[Any],
    grid: Sequence[int],
    engines: Sequence[str] = (*REFERENCE_STAGES, NATIVE),
    *,
    reachable: Sequence[Array] = (),
) -> Iterator[Result]:
    """The arrays after each engine, in the order of the pipeline. Every engine gets fresh copies of the arguments; the
    arrays that the kernel finds by their addresses stay where they are and get their first contents back."""
    initial = [array.copy() for array in reachable]

    def finish(engine: str, copies: list[Any]) -> Result:
        found = tuple(array.copy() for array in reachable)
        for array, contents in zip(reachable, initial, strict=True):
            array[...] = contents
        return Result(engine, (*arrays_of(copies), *found))

    target = find_target("cpu")
    module: ModuleOp | None = None
    for stage, module in lower(source, CompileOptions(), target):
        if stage in engines:
            copies = fresh(arguments)
            kernel = reference.find_kernel(module)
            reference.run_grid(module, kernel, flat(copies), grid, step_limit=STEP_LIMIT, reachable=reachable)
            yield finish(stage, copies)
    if NATIVE in engines:
        assert module is not None
        artefact = target.emit(module)
        kernel = target.load(artefact.object, {**artefact.metadata, "entry": artefact.entry})
        copies = fresh(arguments)
        slots = [slot_of(value) for value in flat(copies)]
        extents = [*grid, 1, 1][:3]
        packed = (ctypes.c_uint64 * (len(slots) + 3))(*slots, *extents)
        kernel.launch(ctypes.addressof(packed), int(np.prod(extents)), 1)
        yield finish(NATIVE, copies)


def fresh(arguments: Sequence[Any]) -> list[Any]:
    """The arguments with arrays copied."""
    return [
        fresh(value) if isinstance(value, (tuple, list)) else value.copy() if isinstance(value, np.ndarray) else value
        for value in arguments
    ]


def flat(arguments: Sequence[Any]) -> list[Any]:
    """Tuples among the arguments by their elements."""
    return [leaf for value in arguments for leaf in (flat(value) if isinstance(value, (tuple, list)) else [value])]


def arrays_of(arguments: Sequence[Any]) -> tuple[Array, ...]:
    return tuple(value for value in flat(arguments) if isinstance(value, np.ndarray))


def slot_of(value: Any) -> int:
    """The launch slot of an argument: the address of an array, the bits of a number."""
    if isinstance(value, np.ndarray):
        return value.ctypes.data
    bits = np.asarray(value)
    return int(np.frombuffer(bits.tobytes().ljust(8, b"\0"), np.uint64)[0])


def is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.name in TOLERANCES


def axes_of(module: ModuleOp) -> set[int]:
    """The axes of the grid along which a kernel asks for its place."""
    return {op.axis.value.data for op in module.walk() if isinstance(op, tt.GetProgramIdOp)}


def differences(
    expected: Result,
    actual: Result,
    *,
    exact: bool = False,
    ignored: Sequence[tuple[int, int]] = (),
    slack: float = 1.0,
) -> list[str]:
    """Where two engines differ: integers by anything, floats by more than `slack` times their type's tolerance (or by
    anything, if `exact`). Elements `ignored` are given as (array, element)."""
    found: list[str] = []
    for number, (want, got) in enumerate(zip(expected.arrays, actual.arrays, strict=True)):
        wrong = _differs(want, got, exact=exact, slack=slack)
        for array, element in ignored:
            if array == number:
                wrong.reshape(-1)[element] = False
        if np.any(wrong):
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            found.append(
                f"array {number}[{', '.join(map(str, place))}] and {int(wrong.sum()) - 1} more: "
                f"{expected.engine} {want[place]}, {actual.engine} {got[place]}"
            )
    return found


def _differs(want: Array, got: Array, *, exact: bool, slack: float) -> Array:
    if want.dtype == got.dtype and want.tobytes() == got.tobytes():
        return np.zeros(want.shape, np.bool_)
    limit = TOLERANCES.get(want.dtype.name)
    if limit is None:
        return want != got
    a, b = want.astype(np.float64), got.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if exact:
        return ~same
    finite = np.abs(a[np.isfinite(a)])
    scale = max(1.0, float(finite.max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        return ~(same | (np.abs(a - b) <= slack * limit * np.maximum(np.abs(a), scale)))
