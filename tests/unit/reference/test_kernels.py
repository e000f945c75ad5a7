"""Whole kernels through the middle layer, run by the reference: grids, masks, loops, dots."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright import reference
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.lowering import registration as lowerings
from tilewright.tools.user_files import load_file
from tilewright.transforms import registration as transforms

PIPELINE = "inline,canonicalize,cse,canonicalize,symbol-dce,triton-to-linalg"
REGISTERED = (lowerings, transforms)
KERNELS = Path(__file__).parents[2] / "oracle_mlir" / "kernels.py"
TYPES = {np.float32: "*fp32", np.int32: "*i32", np.int64: "*i64"}
rng = np.random.default_rng(3)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@pytest.fixture(scope="module")
def kernels() -> ModuleType:
    """The oracle's kernels with tilewright standing in for Triton."""
    return load_file(KERNELS)


def launch(kernels: ModuleType, name: str, grid: tuple[int, ...], *args: Any, **constants: Any) -> None:
    """Compile a kernel to the linalg stage and run its grid."""
    from tilewright.frontend import compile_to_tt

    kernel = getattr(kernels, name)
    kinds = [TYPES[a.dtype.type] if isinstance(a, np.ndarray) else "i32" for a in args]
    signature = dict(zip(kernel.arg_names, kinds, strict=False)) | dict.fromkeys(constants, "constexpr")
    values = {(kernel.arg_names.index(key),): value for key, value in constants.items()}
    module = compile_to_tt(kernel, signature, values, {})
    parse_pipeline(PIPELINE).run(module, PassContext())
    reference.run_grid(module, name, args, grid)


def floats(*shape: int) -> Array:
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n", [1, 64, 1000])
def test_vector_add(kernels: ModuleType, n: int) -> None:
    x, y, out = floats(n), floats(n), np.full(n, 5, np.float32)
    launch(kernels, "vector_add", (-(-n // 64),), x, y, out, n, BLOCK=64)
    np.testing.assert_array_equal(out, x + y)


def test_softmax(kernels: ModuleType) -> None:
    x, out = floats(5, 100), np.empty((5, 100), np.float32)
    launch(kernels, "softmax", (5,), out, x, 100, 100, BLOCK=128)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


def test_matmul_with_wrapped_tiles(kernels: ModuleType) -> None:
    a, b, c = floats(20, 24), floats(24, 28), np.zeros((20, 28), np.float32)
    sizes, strides = (20, 28, 24), (24, 1, 28, 1, 28, 1)
    launch(kernels, "matmul", (2, 2), a, b, c, *sizes, *strides, BM=16, BN=16, BK=16)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


@pytest.mark.costly
@pytest.mark.parametrize("stage", ["source", "ttir", "structured", "linalg"])
def test_a_grid_of_a_thousand_programs(stage: str) -> None:
    """What it costs: benchmarks/reference.py."""
    from tilewright.tools.reference_run import run_kernel

    n = 1000 * 256 - 7
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    out = np.zeros(n, np.float32)
    run_kernel(add_kernel, (1000,), x, y, out, n, BLOCK=256, stage=stage)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("stage", ["ttir", "structured", "linalg"])
def test_arguments_that_start_inside_of_an_array(stage: str) -> None:
    """Views: pointers start where the view does, at every stage."""
    from tilewright.tools.reference_run import run_kernel

    memory = np.arange(96, dtype=np.float32)
    run_kernel(add_kernel, (1,), memory[32:64], memory[64:], memory[:32], 32, BLOCK=32, stage=stage)
    np.testing.assert_array_equal(memory[:32], 2 * np.arange(32) + 96)
