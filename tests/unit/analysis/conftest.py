"""Running a kernel before and after the pointer passes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import make_context, tt
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import Pass, PassContext, PassPipeline
from tilewright.ir.verify import verify_module
from tilewright.lowering.tt_to_structured.triton_to_structured import TritonToStructuredPass
from tilewright.lowering.tt_to_unstructured.triton_to_unstructured import TritonToUnstructuredPass

sys.path.insert(0, str(Path(__file__).parent))

from tile_machine import Machine, OutOfBounds

from suite.arrays import Array

PASSES: tuple[Pass, ...] = (TritonToStructuredPass(), TritonToUnstructuredPass())


def kernel_of(module: ModuleOp) -> tt.FuncOp:
    """The first function of a module."""
    return next(op for op in module.body.walk() if isinstance(op, tt.FuncOp))


def run_once(module: ModuleOp, arrays: Sequence[Array], scalars: Sequence[int], program: Sequence[int]) -> list[Array]:
    """Copies of the arrays after one program has run."""
    copies = [array.copy() for array in arrays]
    Machine(copies, program).run(kernel_of(module), scalars)
    return copies


def check_passes(
    text: str,
    arrays: Sequence[Array],
    scalars: Sequence[int] = (),
    *,
    program: Sequence[int] = (0, 0, 0),
    passes: Sequence[Pass] = PASSES,
    more_scalars: Sequence[Sequence[int]] = (),
    may_be_wild: bool = False,
) -> ModuleOp:
    """Runs the passes one after the other; after each, the module is valid and computes what it did before.

    With `may_be_wild`, scalars with which the kernel itself leaves its arrays are not compared."""
    module = parse_module(text, make_context())
    verify_module(module)
    sets: list[Sequence[int]] = []
    expected: list[list[Array]] = []
    for numbers in (scalars, *more_scalars):
        try:
            expected.append(run_once(module, arrays, numbers, program))
            sets.append(numbers)
        except OutOfBounds:
            if not may_be_wild:
                raise
    context = PassContext()
    for pass_ in passes:
        PassPipeline([pass_]).run(module, context)
        verify_module(module)
        for numbers, wanted in zip(sets, expected, strict=True):
            for array, reference in zip(run_once(module, arrays, numbers, program), wanted, strict=True):
                np.testing.assert_array_equal(array, reference, err_msg=f"{pass_.name} with {numbers}")
    return module


@pytest.fixture
def check() -> Callable[..., ModuleOp]:
    """`check_passes`."""
    return check_passes


@pytest.fixture
def names() -> Callable[[ModuleOp], list[str]]:
    """The names of all ops of a module."""

    def names_of(module: Any) -> list[str]:
        return [op.name for op in module.walk()]

    return names_of
