"""tt.gather, tt.histogram, ttg.fp4_to_fp against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest
from kernel_text import KernelText, Tensor
from random_layouts import any_blocked, any_layout
from simulated import DTYPES, run_kernel

from suite.seeds import seeds
from tilewright.layouts.distributed import BlockedLayout
from tilewright.layouts.reshaping import double_axis

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


@pytest.mark.parametrize("seed", seeds(15, 30))
def test_gather(seed: int) -> None:
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    rank, num_warps = rng.choice([1, 2, 3]), rng.choice([1, 4, 8])
    axis = rng.randrange(rank)
    shape = tuple(rng.choice([4, 8, 16]) for _ in range(rank))
    taken = (*shape[:axis], rng.choice([2, 8, 32]), *shape[axis + 1 :])
    element, index_type = rng.choice(["i8", "f16", "f32", "i64", "i1"]), rng.choice(["i32", "i64"])
    k = KernelText(num_warps=num_warps)
    source = k.load(element, shape, any_layout(rng, rank, num_warps))
    indices = k.load(index_type, taken, any_layout(rng, rank, num_warps))
    result = indices.of(element)
    k.store(
        k.add(
            f"tt.gather {source.name}[{indices.name}] {{axis = {axis} : i32}} : "
            f"({source.type}, {indices.type}) -> {result.type}",
            result,
        )
    )
    given = numbers.integers(0, 2 if element == "i1" else 100, shape).astype(DTYPES[element])
    places = numbers.integers(0, shape[axis], taken).astype(DTYPES[index_type])
    gathered = np.zeros(taken, given.dtype)
    run_kernel(k, [given, places], [gathered])
    assert np.array_equal(gathered, np.take_along_axis(given, places.astype(np.int64), axis))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("count, bins, element", [(1024, 64, "i32"), (64, 2, "i8"), (32, 512, "i64"), (256, 16, "i32")])
def test_histogram(count: int, bins: int, element: str, masked: bool) -> None:
    rng = random.Random(count)
    k = KernelText()
    layout = any_blocked(rng, 1, 4)
    source = k.load(element, (count,), layout)
    result = Tensor("", "i32", (bins,), any_blocked(rng, 1, 4))
    mask = f", {k.load('i1', (count,), layout).name}" if masked else ""
    k.store(k.add(f"tt.histogram {source.name}{mask} : {source.type} -> {result.type}", result))
    numbers = np.random.default_rng(count)
    given = numbers.integers(0, min(bins, 127), count).astype(DTYPES[element])
    kept = numbers.integers(0, 2, count).astype(np.int8)
    counts = np.zeros(bins, np.int32)
    run_kernel(k, [given, kept] if masked else [given], [counts])
    counted = given[kept.astype(bool)] if masked else given
    assert np.array_equal(counts, np.bincount(counted, minlength=bins))


@pytest.mark.parametrize("bins, element", [(16, "i32"), (128, "i8"), (256, "i8"), (64, "i64")])
def test_histogram_of_numbers_without_a_bin(bins: int, element: str) -> None:
    """They are not counted, and nothing outside of the counters is changed. Numbers are read as unsigned."""
    rng, numbers = random.Random(bins), np.random.default_rng(bins)
    k = KernelText()
    source = k.load(element, (256,), any_blocked(rng, 1, 4))
    result = Tensor("", "i32", (bins,), any_blocked(rng, 1, 4))
    k.store(k.add(f"tt.histogram {source.name} : {source.type} -> {result.type}", result))
    limits = np.iinfo(DTYPES[element])
    edges = [-1, limits.min, limits.max, min(bins, limits.max), *([2**32, 2**32 + 1] if element == "i64" else [])]
    given = np.concatenate([np.array(edges), numbers.integers(0, min(bins, 127), 256 - len(edges))])
    given = numbers.permutation(given).astype(DTYPES[element])
    counts = np.zeros(bins, np.int32)
    run_kernel(k, [given], [counts])
    unsigned = given.view(f"u{given.itemsize}")
    assert np.array_equal(counts, np.bincount(unsigned[unsigned < bins].astype(np.int64), minlength=bins))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_fp4(element: str, axis: int) -> None:
    layout = BlockedLayout((2, 2), (4, 8), (4, 1), (1, 0))
    shape = (16, 64)
    k = KernelText()
    source = k.load("i8", shape, layout)
    extents = tuple(size * (2 if dim == axis else 1) for dim, size in enumerate(shape))
    result = Tensor("", element, extents, double_axis(layout, axis))
    k.store(k.add(f"ttg.fp4_to_fp {source.name} {{axis = {axis} : i32}} : {source.type} -> {result.type}", result))
    given = np.arange(1024).astype(np.uint8).reshape(shape).view(np.int8)
    unpacked = np.zeros(extents, DTYPES[element])
    run_kernel(k, [given], [unpacked])
    nibbles = np.stack([given & 15, given >> 4 & 15], axis=axis + 1).reshape(extents)
    wanted = E2M1[nibbles & 7] * np.where(nibbles & 8, -1, 1)
    assert np.array_equal(unpacked.astype(np.float64), wanted)
