"""Launching a kernel on the reference: the module of any stage, with the arguments of an ordinary launch."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilewright import reference
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.stages import lower
from tilewright.runtime.binding import Bound
from tilewright.runtime.driver import driver_for
from tilewright.runtime.grid import GridLike, normalize_grid
from tilewright.runtime.jit import JITFunction
from tilewright.runtime.request import kernel_source
from tilewright.runtime.specialization import Pointer, Scalar
from tilewright.support import knobs

FLOATS = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64}


def run_kernel(
    function: JITFunction, grid: GridLike, *args: Any, stage: str = "ttir", target: str = "cpu", **keywords: Any
) -> reference.Machine:
    """Run `function[grid](*args, **keywords)` on the reference, at a stage of a target ("source", "ttir", "structured",
    "linalg", ...). Tensors are changed in place; returns the machine, whose `output` is what was printed."""
    binder = function.binder
    values, options = binder.match(args, keywords)
    bound = binder.bind(values, options)
    module = module_at(function, bound, stage, target)
    extents = normalize_grid(grid, lambda: binder.meta(values, options), function.fn.__name__)
    return reference.run_grid(module, reference.find_kernel(module), launch_arguments(bound), extents)


def module_at(function: JITFunction, bound: Bound, stage: str, target: str = "cpu") -> ModuleOp:
    """The module of a launch at the end of a stage. Raises ValueError for a stage that the target does not have."""
    options = CompileOptions.from_keywords(bound.options, debug=bool(knobs.get("debug") or function.debug))
    for reached, module in lower(kernel_source(function, bound), options, driver_for(target).target):
        if reached == stage:
            return module
    raise ValueError(f"target {target} has no stage {stage!r}")


def launch_arguments(bound: Bound) -> Sequence[Any]:
    """The run-time arguments of a launch, in slot order, as the reference takes them."""
    return [_argument(leaf) for _, leaf in bound.leaves()]


def _argument(leaf: Scalar | Pointer) -> Any:
    match leaf:
        case Pointer(_, storage, _):
            size = storage.high - storage.low
            data = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(storage.low))
            return reference.ByteRange(data, storage.address - storage.low)
        case Scalar(kind, bits, _):
            raw = np.array([bits], np.uint64)
            if kind == "bf16":
                import ml_dtypes

                return raw.view(ml_dtypes.bfloat16)[0]
            return raw.view(FLOATS[kind])[0] if kind in FLOATS else bits
