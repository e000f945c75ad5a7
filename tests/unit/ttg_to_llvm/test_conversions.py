"""ttg.convert_layout between layouts of all kinds, run on the simulated GPU: every element arrives."""

from __future__ import annotations

import random

import numpy as np
import pytest
from kernel_text import KernelText, Tensor
from random_layouts import any_layout, any_shape
from simulated import DTYPES, Compiled, run_kernel

from suite.arrays import Array
from suite.seeds import seeds
from tilewright.layouts.distributed import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    NvidiaMmaLayout,
    SliceLayout,
)

ROWS = BlockedLayout((1, 4), (4, 8), (4, 1), (1, 0))
MMA = NvidiaMmaLayout(2, 0, (2, 2), (16, 8))


def converted(k: KernelText, x: Tensor, target: DistributedLayout) -> Tensor:
    result = x.with_layout(target)
    return k.add(f"ttg.convert_layout {x.name} : {x.type} -> {result.type}", result)


def contents(element: str, count: int, seed: int) -> Array:
    """Elements that differ as far as their type allows."""
    rng = np.random.default_rng(seed)
    if element == "i1":
        return rng.integers(0, 2, count).astype(np.int8)
    if element in ("i8", "f16", "bf16", "f8E5M2", "f8E4M3FN"):
        return rng.integers(-8, 8, count).astype(DTYPES[element])
    return np.arange(count).astype(DTYPES[element])


def check(
    source: DistributedLayout, target: DistributedLayout, shape: tuple[int, ...], element: str, **options: int
) -> Compiled:
    k = KernelText(**options)
    k.store(converted(k, k.load(element, shape, source), target))
    given = contents(element, int(np.prod(shape)), seed=1)
    result = np.full_like(given, 3)
    compiled = run_kernel(k, [given], [result])
    assert np.array_equal(given, result)
    return compiled


@pytest.mark.parametrize("seed", seeds(60, 160))
def test_random_pairs(seed: int) -> None:
    rng = random.Random(seed)
    rank, num_warps = rng.choice([1, 2, 2, 2, 3]), rng.choice([1, 2, 4, 8])
    source, target = (any_layout(rng, rank, num_warps) for _ in range(2))
    check(
        source,
        target,
        any_shape(rng, rank),
        rng.choice(list(DTYPES)),
        num_warps=num_warps,
        capability=rng.choice([80, 90]),
    )


def test_accumulator_to_operand_needs_no_instruction() -> None:
    mma = NvidiaMmaLayout(2, 0, (4, 1), (16, 8))
    compiled = check(mma, DotOperandLayout(0, mma, 2), (64, 32), "f16")
    assert not compiled.shared_bytes and not compiled.count("shfl")


def test_wide_vectors_between_accumulator_and_rows() -> None:
    rows = BlockedLayout((1, 8), (4, 8), (4, 1), (1, 0))
    ampere = check(MMA, rows, (64, 64), "f16", capability=80)
    assert ampere.count("ld.shared.v4") + ampere.count("ldmatrix") == 4
    hopper = check(MMA, rows, (64, 64), "f16", capability=90)
    assert hopper.count("stmatrix.sync.aligned.m8n8.x4") == 4 and not hopper.count("st.shared")


def test_one_swap_is_shuffles() -> None:
    source, target = BlockedLayout((2,), (32,), (4,), (0,)), BlockedLayout((1,), (32,), (4,), (0,))
    narrow = check(
        BlockedLayout((2,), (32,), (1,), (0,)), BlockedLayout((1,), (32,), (1,), (0,)), (64,), "f32", num_warps=1
    )
    assert narrow.count("shfl") == 2 and not narrow.shared_bytes
    packed = check(
        BlockedLayout((4, 2), (8, 4), (4, 1), (1, 0)), BlockedLayout((4, 2), (8, 4), (4, 1), (0, 1)), (128, 8), "i8"
    )
    assert not packed.count("bar.sync")
    check(source, target, (256,), "f32")


def test_warps_that_stay_apart_wait_for_their_own_lanes_only() -> None:
    source, target = BlockedLayout((4, 1), (1, 32), (4, 1), (0, 1)), BlockedLayout((1, 4), (4, 8), (4, 1), (1, 0))
    compiled = check(source, target, (16, 32), "f32")
    assert compiled.count("bar.warp.sync") == 1 and not compiled.count("bar.sync")


def test_rounds_reuse_the_scratch() -> None:
    compiled = check(ROWS, BlockedLayout((1, 4), (8, 4), (4, 1), (1, 0)), (256, 32), "f32")
    assert compiled.shared_bytes < 256 * 32 * 4 and compiled.count("bar.sync") > 1


def test_threads_that_repeat_elements_write_once() -> None:
    sliced = SliceLayout(1, ROWS)
    compiled = check(sliced, BlockedLayout((1,), (32,), (4,), (0,)), (32,), "f32")
    assert compiled.count("st.shared") == 1
    check(BlockedLayout((1,), (32,), (4,), (0,)), sliced, (32,), "i64")
