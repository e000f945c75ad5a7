"""tt.reduce and tt.scan against NumPy, on layouts of all kinds and along every axis."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from combining_cases import Case, add, affine, any_case, arg_max, exclusive_or, maximum, running, unsigned_minimum
from kernel_text import KernelText, Tensor
from random_layouts import any_layout, any_shape
from simulated import DTYPES, Compiled, run_kernel

from suite.seeds import seeds
from tilewright.layouts.distributed import BlockedLayout, DistributedLayout, NvidiaMmaLayout, SliceLayout

FLAT = BlockedLayout((4,), (32,), (8,), (0,))
ROWS = BlockedLayout((1, 4), (4, 8), (2, 2), (1, 0))


def combine(
    k: KernelText, name: str, case: Case, sources: list[Tensor], properties: str, results: list[Tensor]
) -> None:
    """Adds the op and stores its results."""
    count = len(results)
    operands = ", ".join(source.name for source in sources)
    types = ", ".join(result.type for result in results)
    k.line(
        f'%c{f":{count}" if count > 1 else ""} = "tt.{name}"({operands}) <{{{properties}}}> '
        f"{case.region(f'tt.{name}.return')} : ({', '.join(source.type for source in sources)}) -> ({types})"
    )
    for index, result in enumerate(results):
        k.store(replace(result, name=f"%c#{index}" if count > 1 else "%c"))


def check_reduction(
    case: Case, layout: DistributedLayout, shape: tuple[int, ...], axis: int, seed: int = 0, **options: int
) -> Compiled:
    k = KernelText(**options)
    sources = [k.load(element, shape, layout) for element in case.elements]
    rest = (*shape[:axis], *shape[axis + 1 :])
    results = [Tensor("", source.element, rest, SliceLayout(axis, layout) if rest else None) for source in sources]
    combine(k, "reduce", case, sources, f"axis = {axis} : i32", results)
    inputs = case.contents(shape, seed)
    outputs = [np.zeros(rest or (1,), DTYPES[element]) for element in case.elements]
    compiled = run_kernel(k, inputs, outputs)
    for output, scanned in zip(outputs, running(case, inputs, axis), strict=True):
        assert np.array_equal(output, np.take(scanned, -1, axis).reshape(output.shape))
    return compiled


def check_scan(
    case: Case,
    layout: DistributedLayout,
    shape: tuple[int, ...],
    axis: int,
    *,
    reverse: bool,
    seed: int = 0,
    **options: int,
) -> Compiled:
    k = KernelText(**options)
    sources = [k.load(element, shape, layout) for element in case.elements]
    combine(k, "scan", case, sources, f"axis = {axis} : i32, reverse = {str(reverse).lower()}", sources)
    inputs = case.contents(shape, seed)
    outputs = [np.zeros(shape, DTYPES[element]) for element in case.elements]
    compiled = run_kernel(k, inputs, outputs)
    for output, wanted in zip(outputs, running(case, inputs, axis, reverse=reverse), strict=True):
        assert np.array_equal(output, wanted)
    return compiled


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_random_reductions(seed: int) -> None:
    rng = random.Random(seed)
    rank, num_warps = rng.choice([1, 2, 2, 3]), rng.choice([1, 2, 4, 8, 16])
    layout, shape = any_layout(rng, rank, num_warps), any_shape(rng, rank)
    options = {"num_warps": num_warps, "capability": rng.choice([80, 90])}
    check_reduction(any_case(rng, ordered=False), layout, shape, rng.randrange(rank), seed, **options)


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_random_scans(seed: int) -> None:
    rng = random.Random(seed)
    rank, num_warps = rng.choice([1, 2, 2, 3]), rng.choice([1, 2, 4, 8, 16])
    layout, shape = any_layout(rng, rank, num_warps), any_shape(rng, rank)
    options = {"num_warps": num_warps, "capability": rng.choice([80, 90])}
    case, axis, reverse = any_case(rng, ordered=True), rng.randrange(rank), rng.random() < 0.5
    check_scan(case, layout, shape, axis, reverse=reverse, seed=seed, **options)


def test_one_barrier_between_warps() -> None:
    compiled = check_reduction(add("f32"), FLAT, (4096,), 0, num_warps=8)
    assert compiled.count("bar.sync") == 1 and compiled.count("shfl") == 5
    assert compiled.count("ld.shared.v4") == 2 and compiled.count("st.shared") == 1


def test_rows_of_an_accumulator_need_no_shared_memory() -> None:
    mma = NvidiaMmaLayout(2, 0, (4, 1), (16, 8))
    compiled = check_reduction(maximum("f32"), mma, (64, 64), 1)
    assert compiled.count("shfl") == 4 and not compiled.shared_bytes


def test_halves_are_shuffled_in_pairs() -> None:
    mma = NvidiaMmaLayout(2, 0, (4, 1), (16, 8))
    assert check_reduction(maximum("f16"), mma, (64, 64), 1).count("shfl") == 2


@pytest.mark.parametrize("case", [add("i32"), exclusive_or("i16"), unsigned_minimum("i8"), maximum("i8")])
def test_integers_of_a_whole_warp(case: Case) -> None:
    compiled = check_reduction(case, BlockedLayout((4,), (32,), (4,), (0,)), (512,), 0)
    assert compiled.count("redux.sync") == 1 and not compiled.count("shfl")


def test_integers_under_a_condition_are_shuffled() -> None:
    """ptxas 12.8 and 12.9 guard `redux.sync` under a uniform branch by a predicate that is not computed yet."""
    k = KernelText()
    case = add("i32")
    source = k.load("i32", (512,), BlockedLayout((4,), (32,), (4,), (0,)))
    k.line("%program = tt.get_program_id x : i32")
    k.line("%zero = arith.constant 0 : i32")
    k.line("%condition = arith.cmpi sge, %program, %zero : i32")
    k.line("scf.if %condition {")
    combine(k, "reduce", case, [source], "axis = 0 : i32", [Tensor("", "i32", (), None)])
    k.line("}")
    inputs = case.contents((512,), 0)
    output = np.zeros(1, np.int32)
    compiled = run_kernel(k, inputs, [output])
    assert output[0] == inputs[0].sum(dtype=np.int32)
    assert compiled.count("shfl") and not compiled.count("redux.sync")


def test_many_results_take_two_rounds() -> None:
    layout = BlockedLayout((1, 8), (1, 32), (16, 1), (1, 0))
    compiled = check_reduction(add("f32"), layout, (32, 256), 0, num_warps=16)
    assert compiled.count("bar.sync") == 3


def test_all_warps_of_the_largest_cta() -> None:
    check_reduction(arg_max("f32"), BlockedLayout((1,), (32,), (32,), (0,)), (4096,), 0, num_warps=32)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape, axis", [((64, 64), 0), ((64, 64), 1), ((8, 256), 1), ((2, 8), 1)])
def test_scans_of_functions(shape: tuple[int, int], axis: int, reverse: bool) -> None:
    check_scan(affine(), ROWS, shape, axis, reverse=reverse)


def test_scan_in_one_warp_needs_no_barrier() -> None:
    compiled = check_scan(add("f32"), BlockedLayout((1, 4), (1, 32), (4, 1), (1, 0)), (4, 128), 1, reverse=False)
    assert not compiled.count("bar.sync") and compiled.count("shfl") == 6


def test_only_last_lanes_give_their_totals() -> None:
    """The same rows in all lanes but the scanned ones: the shape of matrices in registers, whose stores are of all
    lanes."""
    layout = BlockedLayout((1, 1), (2, 16), (4, 1), (1, 0))
    for num_warps, rows in ((4, 8), (8, 16)):
        wide = replace(layout, warps_per_cta=(num_warps, 1))
        for columns in (16, 64):
            check_scan(affine(), wide, (rows, columns), 0, reverse=False, num_warps=num_warps, capability=90)


def test_scan_over_warps_takes_one_barrier() -> None:
    compiled = check_scan(add("f32"), FLAT, (1024,), 0, reverse=False, num_warps=8)
    assert compiled.count("bar.sync") == 1
