"""tt.dot against NumPy: `mma.sync` for every type, shape and kWidth, and products in threads."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_text import KernelText
from simulated import DTYPES, run_kernel

from suite.arrays import Array
from tilewright.layouts.distributed import BlockedLayout, DistributedLayout, DotOperandLayout, NvidiaMmaLayout

TYPES = (
    ("f16", "f16", "f32", 2, 80),
    ("f16", "f16", "f32", 4, 80),
    ("f16", "f16", "f32", 8, 80),
    ("f16", "f16", "f16", 2, 80),
    ("bf16", "bf16", "f32", 2, 80),
    ("f32", "f32", "f32", 1, 80),
    ("i8", "i8", "i32", 4, 80),
    ("f64", "f64", "f64", 1, 80),
    ("f64", "f64", "f64", 1, 90),
    ("f8E5M2", "f8E4M3FN", "f32", 4, 90),
    ("f8E4M3FN", "f8E4M3FN", "f32", 4, 89),
)
TOLERANCE = {"f16": 1e-2, "bf16": 1e-2}


def mma(*warps: int) -> NvidiaMmaLayout:
    return NvidiaMmaLayout(2, 0, warps, (1,) * (len(warps) - 2) + (16, 8))


def contents(element: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Small numbers whose products and sums are exact."""
    numbers = rng.integers(-8, 8, shape)
    return (numbers if element[0] == "i" else numbers / 4).astype(DTYPES[element])


def check(
    types: tuple[str, str, str, int, int],
    parent: DistributedLayout,
    extents: tuple[int, int, int],
    batch: tuple[int, ...] = (),
    precision: str = "tf32",
) -> None:
    a_type, b_type, c_type, k_width, capability = types
    m, n, depth = extents
    k = KernelText(capability=capability)
    a = k.load(a_type, (*batch, m, depth), DotOperandLayout(0, parent, k_width))
    b = k.load(b_type, (*batch, depth, n), DotOperandLayout(1, parent, k_width))
    c = k.load(c_type, (*batch, m, n), parent)
    operands = f"{a.name}, {b.name}, {c.name}"
    k.store(k.add(f"tt.dot {operands}, inputPrecision = {precision} : {a.type} * {b.type} -> {c.type}", c))
    rng = np.random.default_rng(0)
    inputs = [contents(tensor.element, tensor.shape, rng) for tensor in (a, b, c)]
    result = np.zeros_like(inputs[2])
    compiled = run_kernel(k, inputs, [result])
    wide = [array.astype(np.int64 if a_type[0] == "i" else np.float64) for array in inputs]
    assert np.allclose(result.astype(np.float64), wide[0] @ wide[1] + wide[2], rtol=TOLERANCE.get(c_type, 1e-6))
    assert bool(compiled.count("mma.sync")) == isinstance(parent, NvidiaMmaLayout)


@pytest.mark.parametrize("warps", [(2, 2), (4, 1), (1, 4)], ids=str)
@pytest.mark.parametrize("types", TYPES, ids=str)
def test_tiles(types: tuple[str, str, str, int, int], warps: tuple[int, int]) -> None:
    check(types, mma(*warps), (32, 16, 64))


@pytest.mark.parametrize("extents", [(16, 8, 16), (8, 8, 8), (16, 4, 4), (64, 64, 16), (8, 16, 2), (4, 32, 8)], ids=str)
@pytest.mark.parametrize("types", [TYPES[0], TYPES[5], TYPES[6], TYPES[7]], ids=str)
def test_extents_smaller_than_a_tile(types: tuple[str, str, str, int, int], extents: tuple[int, int, int]) -> None:
    check(types, mma(2, 2), extents)


@pytest.mark.parametrize("parent", [mma(4, 1, 1), mma(2, 2, 1), mma(1, 2, 2)], ids=str)
def test_batches(parent: NvidiaMmaLayout) -> None:
    check(TYPES[0], parent, (16, 16, 32), (4,))


@pytest.mark.parametrize("extents", [(32, 32, 16), (8, 64, 4), (1, 16, 8)], ids=str)
@pytest.mark.parametrize(
    "types",
    [
        ("f32", "f32", "f32", 0, 80),
        ("f16", "f16", "f32", 0, 80),
        ("f16", "f16", "f16", 0, 80),
        ("bf16", "bf16", "f32", 0, 80),
        ("f64", "f64", "f64", 0, 80),
        ("f8E5M2", "f8E4M3FN", "f32", 0, 80),
        ("i8", "i8", "i32", 0, 80),
        ("i32", "i32", "i32", 0, 80),
    ],
    ids=str,
)
def test_products_in_threads(types: tuple[str, str, str, int, int], extents: tuple[int, int, int]) -> None:
    check(types, BlockedLayout((2, 2), (4, 8), (2, 2), (1, 0)), extents, precision="ieee")


def test_batches_of_products_in_threads() -> None:
    check(
        ("f32", "f32", "f32", 0, 80),
        BlockedLayout((1, 2, 2), (1, 4, 8), (2, 2, 1), (2, 1, 0)),
        (16, 8, 8),
        (4,),
        precision="ieee",
    )
