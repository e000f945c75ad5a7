"""Running one kernel on the reference at the three stages of the middle layer, on random inputs that it can take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from corpus_stages import Stages
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from suite.arrays import Array
from tilewright import reference
from tilewright.dialects import tt
from tilewright.dialects.numeric import dtype_of
from tilewright.dialects.types import is_float

NOT_RUN = {
    "grouped_gemm_kernel": "reads memory that is no argument (tests/oracle_mlir runs such kernels)",
}
"""Kernels that the reference has no inputs for, and why."""

ELEMENTS = 1 << 14
TRIES = 12
FREE = 1
"""The first try in which locks are free. A kernel that waits for one would wait until its steps are used up."""

STEPS = 60_000
EPSILON = {2: 4e-3, 4: 2e-5, 8: 1e-11, 1: 0.13}
"""Tolerance by size of the float: the stages add up in different orders."""


def random_array(kind: Attribute, rng: np.random.Generator, level: int) -> Array:
    """Elements behind a pointer; integers are small, so that they can be indices, or zero: free locks."""
    dtype = dtype_of(kind) if not isinstance(kind, tt.PointerType) else np.dtype(np.int64)
    if is_float(kind):
        return (rng.integers(-16, 17, ELEMENTS) / 4).astype(dtype)
    if level % 2:
        return np.zeros(ELEMENTS, dtype)
    return rng.integers(0, 2 if dtype == np.bool_ else 8, ELEMENTS).astype(dtype)


def random_number(kind: Attribute, rng: np.random.Generator, level: int) -> Any:
    """A scalar argument: odd and small, the smaller the more tries have failed."""
    if isinstance(kind, IntegerType):
        largest = (37, 37, 37, 17, 17, 9, 9, 5, 3, 2, 1, 1)[level]
        return int(rng.integers(1, largest + 1)) if kind.width.data > 1 else int(rng.integers(0, 2))
    return float(rng.integers(1, 9)) / 8


def random_arguments(types: Sequence[Attribute], rng: np.random.Generator, level: int) -> list[Any]:
    return [
        random_array(kind.pointee_type, rng, level)
        if isinstance(kind, tt.PointerType)
        else random_number(kind, rng, level)
        for kind in types
    ]


def kernel_types(stages: Stages) -> list[Attribute]:
    name = reference.find_kernel(stages.tt)
    function = next(op for op in stages.tt.ops if isinstance(op, tt.FuncOp) and op.sym_name.data == name)
    return list(function.function_type.inputs.data)


def compare_stages(stages: Stages, rng: np.random.Generator) -> bool:
    """Run a kernel at all stages on the first inputs that it can take; False if there were none.

    Raises AssertionError where stages differ, ReferenceError where only a later stage leaves memory."""
    types, name = kernel_types(stages), reference.find_kernel(stages.tt)
    waits = any(isinstance(op, tt.AtomicCASOp) for op in stages.tt.walk())
    for level in range(FREE if waits else 0, TRIES):
        arguments = random_arguments(types, rng, level)
        expected = copies(arguments)
        try:
            reference.run_grid(stages.tt, name, expected, (2, 2), step_limit=STEPS)
        except reference.ReferenceError:
            continue
        for stage, module in (("structured", stages.structured), ("linalg", stages.linalg)):
            actual = copies(arguments)
            try:
                reference.run_grid(module, name, actual, (2, 2), step_limit=10 * STEPS)
            except Exception as error:
                raise AssertionError(f"{stages.name} at {stage} with {numbers(arguments)}: {error}") from error
            for place, (want, got) in enumerate(zip(expected, actual, strict=True)):
                if isinstance(want, np.ndarray):
                    same = equal(want, got)
                    where = np.flatnonzero(~same)[:4]
                    assert same.all(), (
                        f"{stages.name} at {stage} with {numbers(arguments)}: argument {place}, elements {where}: "
                        f"{want[where]} became {got[where]}"
                    )
        return True
    return False


def copies(arguments: Sequence[Any]) -> list[Any]:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]


def numbers(arguments: Sequence[Any]) -> list[Any]:
    return [value for value in arguments if not isinstance(value, np.ndarray)]


def equal(want: Array, got: Array) -> Array:
    """Bits of integers; floats up to the rounding of a different order, relative to the largest."""
    if want.dtype.kind in "iub" and want.dtype not in (ml_dtypes.bfloat16,):
        return want == got
    a, b = want.astype(np.float64), got.astype(np.float64)
    tolerance = EPSILON[want.dtype.itemsize]
    finite = np.abs(a[np.isfinite(a)])
    with np.errstate(invalid="ignore"):
        close = np.abs(a - b) <= tolerance * np.maximum(np.abs(a), max(1.0, float(finite.max(initial=0.0)) * 0.1))
    return (a == b) | (np.isnan(a) & np.isnan(b)) | close
