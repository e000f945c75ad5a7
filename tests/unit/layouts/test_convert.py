"""Conversion plans, executed on simulated registers, and the bank conflicts they promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running_plans import PlanError, run_plan
from test_distributed import any_distributed

from tilewright.layouts import gf2
from tilewright.layouts.access import AccessStep
from tilewright.layouts.banks import count_conflicts, count_passes
from tilewright.layouts.convert import (
    NoConversion,
    RegisterPermutation,
    WarpShuffle,
    plan_conversion,
    plan_shuffle,
)
from tilewright.layouts.distributed import (
    LANE,
    REGISTER,
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    NvidiaMmaLayout,
    SliceLayout,
)
from tilewright.layouts.draw import distribute
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.swizzle import SharedMemoryConversion, plan_shared_memory

quick = settings(deadline=None, max_examples=60)
element_bits = st.sampled_from([8, 16, 32, 64])
OUTS = {"dim0": 16, "dim1": 16, "dim2": 2}


def access_conflicts(access: LinearLayout, vector: int, element_bits: int) -> int:
    """The most conflicts that an instruction of warp 0 has, for `access` from (register, lane, ...) to (offset, ...).

    Each instruction moves `vector` elements at neighbouring offsets.
    """
    num_bytes = vector * max(element_bits, 8) // 8
    lanes = access.in_dims[LANE]
    inner = access.sublayout([REGISTER, LANE], [next(iter(access.out_dims))]).transpose_ins([LANE, REGISTER])
    offsets = inner.table.reshape(-1, lanes)
    worst = 0
    for of_register in offsets:
        addresses = [int(offset) // vector * num_bytes for offset in of_register]
        worst = max(worst, count_conflicts(addresses, num_bytes))
    return worst


def blocked(size: tuple[int, ...], lanes: tuple[int, ...], warps: tuple[int, ...], *order: int) -> BlockedLayout:
    return BlockedLayout(size, lanes, warps, order)


def check(plan: object, source: LinearLayout, target: LinearLayout) -> None:
    moved = run_plan(plan, distribute(source), source, target)  # pyright: ignore[reportArgumentType]
    assert np.array_equal(moved, distribute(target))


def check_conflicts(plan: SharedMemoryConversion) -> None:
    """What the plan promises is what counting addresses gives, for whole vectors of at least a word."""
    for access, vector, promised in (
        (plan.store, plan.store_vector, plan.store_access.conflicts),
        (plan.load, plan.load_vector, plan.load_access.conflicts),
    ):
        if vector * plan.element_bits >= 32 and gf2.rank(access.packed_bases["lane"]) == 5:
            phases = max(1, vector * plan.element_bits // 32)
            assert access_conflicts(access, vector, plan.element_bits) == promised * phases


@pytest.mark.parametrize(
    "source, target, shape, kind",
    [
        (blocked((1, 4), (4, 8), (4, 1), 1, 0), blocked((1, 4), (4, 8), (4, 1), 1, 0), (32, 64), NoConversion),
        (
            blocked((1, 2), (4, 8), (4, 1), 1, 0),
            blocked((2, 1), (4, 8), (4, 1), 0, 1),
            (16, 16),
            SharedMemoryConversion,
        ),
        (blocked((2, 2), (4, 8), (4, 1), 1, 0), blocked((2, 2), (4, 8), (4, 1), 0, 1), (32, 16), WarpShuffle),
        (blocked((4,), (32,), (4,), 0), blocked((1,), (32,), (4,), 0), (512,), SharedMemoryConversion),
        (blocked((2,), (32,), (1,), 0), blocked((1,), (32,), (1,), 0), (64,), WarpShuffle),
        (blocked((1,), (32,), (1,), 0), blocked((4,), (32,), (1,), 0), (128,), SharedMemoryConversion),
        (
            NvidiaMmaLayout(2, 0, (4, 1), (16, 8)),
            DotOperandLayout(0, NvidiaMmaLayout(2, 0, (4, 1), (16, 8)), 2),
            (64, 32),
            NoConversion,
        ),
        (
            SliceLayout(1, blocked((1, 4), (4, 8), (4, 1), 1, 0)),
            blocked((1,), (32,), (4,), 0),
            (32,),
            SharedMemoryConversion,
        ),
    ],
    ids=str,
)
def test_kinds(source: DistributedLayout, target: DistributedLayout, shape: tuple[int, ...], kind: type) -> None:
    a, b = source.to_linear(shape), target.to_linear(shape)
    plan = plan_conversion(a, b, 32)
    assert isinstance(plan, kind), plan
    check(plan, a, b)


def test_register_permutation() -> None:
    a = blocked((2, 2), (8, 4), (4, 1), 1, 0).to_linear((64, 8))
    b = blocked((2, 2), (8, 4), (4, 1), 0, 1)
    moved = LinearLayout(
        ((n, a.packed_bases[n][::-1] if n == "register" else c) for n, c in a.packed_bases.items()),
        [("dim0", 6), ("dim1", 3)],
    )
    plan = plan_conversion(a, moved, 32)
    assert plan == RegisterPermutation((0, 2, 1, 3)) and b.rank == 2
    check(plan, a, moved)


def test_shuffles_are_counted() -> None:
    a = blocked((2,), (32,), (1,), 0).to_linear((64,))
    b = blocked((1,), (32,), (1,), 0).to_linear((64,))
    plan = plan_conversion(a, b, 32)
    assert isinstance(plan, WarpShuffle) and len(plan.swaps) == 1 and plan.moves_lanes and plan.num_shuffles == 2
    swapped = LinearLayout.from_bases(
        {"register": [[32]], "lane": [[2], [4], [8], [16], [1]], "warp": [], "block": []}, ["dim0"]
    )
    plan = plan_conversion(a, swapped, 32)
    assert isinstance(plan, WarpShuffle) and not plan.moves_lanes and plan.num_shuffles == 1


@quick
@given(st.data(), element_bits, st.integers(1, 2))
def test_every_plan_moves_every_element(data: st.DataObject, bits: int, rank: int) -> None:
    shape = tuple(data.draw(st.sampled_from([8, 16, 32, 64])) for _ in range(rank))
    layouts = any_distributed(rank).filter(lambda layout: layout.num_warps == 4 and layout.num_blocks == 1)
    source, target = data.draw(layouts).to_linear(shape), data.draw(layouts).to_linear(shape)
    plan = plan_conversion(source, target, bits)
    check(plan, source, target)
    through_memory = plan_shared_memory(source, target, bits)
    check(through_memory, source, target)
    check_conflicts(through_memory)


@st.composite
def generic_linear(draw: st.DrawFn, bits: int) -> LinearLayout:
    """Any basis, of which registers, lanes and two bits of warps get parts; some registers repeat elements."""
    columns = list(draw(st.permutations([1 << bit for bit in range(bits)])))
    for target, source in draw(st.lists(st.tuples(*[st.integers(0, bits - 1)] * 2), max_size=6)):
        columns[target] ^= columns[source] if source != target else 0
    ends = [*columns[7:], *([0] if draw(st.booleans()) else [])]
    parts = [("register", ends), ("lane", columns[:5]), ("warp", columns[5:7]), ("block", [])]
    return LinearLayout(parts, [("dim0", bits)])


@quick
@given(st.data(), element_bits, st.integers(9, 11))
def test_layouts_whose_bases_are_sums(data: st.DataObject, bits: int, size: int) -> None:
    source, target = data.draw(generic_linear(size)), data.draw(generic_linear(size))
    check(plan_conversion(source, target, bits), source, target)
    check(plan_shared_memory(source, target, bits), source, target)


def test_lanes_that_have_part_of_a_register() -> None:
    """The register [8, 0, 0] is of both sides, but lanes of the second have it, too: it cannot count rounds."""
    sides = [
        LinearLayout.from_bases({"register": registers, "lane": lanes, "warp": [], "block": []}, OUTS)
        for registers, lanes in (
            ([(0, 0, 1), (0, 1, 0), (8, 0, 0), (0, 8, 0)], [(0, 2, 0), (0, 4, 0), (1, 0, 0), (2, 0, 0), (4, 0, 0)]),
            ([(8, 0, 0), (0, 0, 1), (0, 3, 0), (2, 0, 0)], [(0, 8, 0), (8, 4, 0), (4, 2, 0), (0, 2, 0), (1, 0, 0)]),
        )
    ]
    plan = plan_shared_memory(*sides, 32)
    check(plan, *sides)


@quick
@given(st.permutations(range(8)), st.integers(0, 2), st.integers(0, 2))
def test_shuffles_of_any_bit_permutation(order: list[int], more: int, fewer: int) -> None:
    """Three register bits and five lane bits, placed anyhow, with registers that repeat elements on either side."""
    columns = [1 << bit for bit in range(8)]
    rest = [("warp", ()), ("block", ())]
    source = LinearLayout([("register", columns[:3] + [0] * more), ("lane", columns[3:]), *rest], [("dim0", 8)])
    moved = [columns[bit] for bit in order]
    target = LinearLayout([("register", [0] * fewer + moved[:3]), ("lane", moved[3:]), *rest], [("dim0", 8)])
    plan = plan_shuffle(source, target)
    assert plan is not None
    crossing = sum(bit >= 3 for bit in order[:3])
    assert len(plan.swaps) == crossing
    check(plan, source, target)


@quick
@given(st.data(), st.lists(st.integers(0, 4), max_size=2))
def test_lanes_that_repeat_elements(data: st.DataObject, zeros: list[int]) -> None:
    columns = [1 << bit for bit in range(7 - len(set(zeros)))]
    lanes = data.draw(st.permutations(columns))
    source_lanes, registers = lanes[: 5 - len(set(zeros))], lanes[5 - len(set(zeros)) :]
    source_lanes = data.draw(st.permutations([*source_lanes, *[0] * len(set(zeros))]))
    outs = [("dim0", len(columns))]
    source = LinearLayout([("register", registers), ("lane", source_lanes), ("warp", ()), ("block", ())], outs)
    target = LinearLayout(
        [("register", columns[:2]), ("lane", [*columns[2:7], *[0] * (7 - len(columns))]), ("warp", ()), ("block", ())],
        outs,
    )
    plan = plan_shuffle(source, target)
    assert plan is not None
    check(plan, source, target)
    check(plan_conversion(source, target, 16), source, target)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("shape", [(64, 64), (128, 32), (32, 128)])
def test_transposes_have_no_conflicts(bits: int, shape: tuple[int, int]) -> None:
    width = 128 // bits
    a = BlockedLayout.make(shape, (1, width), (1, 0), 4).to_linear(shape)
    b = BlockedLayout.make(shape, (width, 1), (0, 1), 4).to_linear(shape)
    plan = plan_shared_memory(a, b, bits)
    passes_one_by_one = 2 * a.in_dims["register"] * max(1, bits // 32)
    assert plan.passes <= passes_one_by_one
    assert bits == 8 or plan.store_access.conflicts == plan.load_access.conflicts == 0
    check(plan, a, b)
    check_conflicts(plan)


def test_wide_vectors_and_small_scratch() -> None:
    a = blocked((1, 8), (4, 8), (4, 1), 1, 0).to_linear((64, 64))
    b = blocked((1, 8), (8, 4), (1, 4), 1, 0).to_linear((64, 64))
    plan = plan_shared_memory(a, b, 16)
    assert plan.store_vector == plan.load_vector == 8
    assert plan.store_access.conflicts == plan.load_access.conflicts == 0
    check(plan, a, b)
    big = plan_shared_memory(
        blocked((1, 4), (4, 8), (4, 1), 1, 0).to_linear((256, 64)),
        blocked((1, 4), (8, 4), (4, 1), 1, 0).to_linear((256, 64)),
        32,
    )
    assert big.repeats > 1 and big.num_elements * big.repeats == 256 * 64


def test_barriers_of_one_warp() -> None:
    a = blocked((4, 1), (1, 32), (4, 1), 0, 1).to_linear((16, 32))
    b = blocked((1, 4), (4, 8), (4, 1), 1, 0).to_linear((16, 32))
    assert plan_shared_memory(a, b, 32).stays_in_warp
    assert not plan_shared_memory(
        a, blocked((1, 4), (4, 8), (1, 4), 1, 0).to_linear((16, 128)).resize_out_dim("dim1", 32), 32
    ).stays_in_warp


def test_within_blocks() -> None:
    a = BlockedLayout((1, 2), (4, 8), (4, 1), (1, 0), ((1, 0),)).to_linear((64, 32))
    same = BlockedLayout((2, 1), (8, 4), (1, 4), (0, 1), ((1, 0),)).to_linear((64, 32))
    plan = plan_conversion(a, same, 32)
    assert isinstance(plan, SharedMemoryConversion)
    check(plan, a, same)
    repeated = BlockedLayout((1, 2), (4, 8), (4, 1), (1, 0), ((0, 0),)).to_linear((64, 32))
    check(plan_conversion(repeated, repeated, 32), repeated, repeated)


def test_misuse_is_explained() -> None:
    a = blocked((1,), (32,), (4,), 0)
    with pytest.raises(ValueError, match="keeps the shape"):
        plan_conversion(a.to_linear((128,)), a.to_linear((256,)), 32)
    with pytest.raises(ValueError, match="warp counts differ: 4 and 8"):
        plan_conversion(a.to_linear((128,)), blocked((1,), (32,), (8,), 0).to_linear((128,)), 32)


def test_the_simulation_refuses_wrong_plans() -> None:
    a = blocked((4,), (32,), (4,), 0).to_linear((512,))
    b = blocked((1,), (32,), (4,), 0).to_linear((512,))
    plan = plan_shared_memory(a, b, 32)
    with pytest.raises(PlanError, match="two threads write"):
        bases = {**plan.store.packed_bases, "warp": (plan.store.packed_bases["warp"][0], 0)}
        outs = [(name, size.bit_length() - 1) for name, size in plan.store.out_dims.items()]
        run_plan(replace(plan, store=LinearLayout(bases.items(), outs)), distribute(a), a, b)
    with pytest.raises(PlanError, match="a read finds nothing"):
        run_plan(plan, np.full_like(distribute(a), -1), a, b)
    with pytest.raises(PlanError, match="whole vectors"):
        too_wide = replace(plan.store_access, steps=(AccessStep(0, 0, tuple(range(8))),))
        run_plan(replace(plan, store_access=too_wide), distribute(a), a, b)
    wrong = plan_shuffle(a, a)
    assert wrong is not None and not np.array_equal(run_plan(wrong, distribute(a), a, b), distribute(b))


def test_bank_conflicts_of_known_accesses() -> None:
    assert count_conflicts([4 * lane for lane in range(32)], 4) == 0
    assert count_conflicts([128 * lane for lane in range(32)], 4) == 31
    assert count_conflicts([8 * lane for lane in range(32)], 4) == 1
    assert count_conflicts([0] * 32, 4) == 0
    assert count_conflicts([2 * lane for lane in range(32)], 2) == 0
    assert count_conflicts([16 * lane for lane in range(32)], 16) == 0
    assert count_passes([16 * lane for lane in range(32)], 16) == 4
    assert count_conflicts([128 * lane for lane in range(32)], 16) == 4 * 7
