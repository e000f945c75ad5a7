"""Accesses to shared memory: each register gets the element that the instruction's own rules give it, and the passes
that are promised are those that counting addresses gives.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_distributed import any_distributed

from suite.arrays import Array
from tilewright.layouts.access import AccessKind, SharedAccess, plan_access, span_of
from tilewright.layouts.banks import count_passes
from tilewright.layouts.distributed import DistributedLayout, DotOperandLayout, NvidiaMmaLayout
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import NvmmaSharedLayout, SharedLayout, SwizzledSharedLayout
from tilewright.layouts.swizzle import MatrixMoves, plan_shared_memory

quick = settings(deadline=None, max_examples=60)
MMA = NvidiaMmaLayout(2, 0, (2, 2), (16, 8))


def element_offsets(access: SharedAccess) -> dict[int, Array]:
    """Per register the offset of its element in each (warp, lane), by what the instructions do."""
    warps, lanes = np.array(span_of(access.warps)), np.array(span_of(access.lanes))
    parts = warps[:, None] ^ lanes[None, :]
    found: dict[int, Array] = {}
    for step in access.steps:
        if access.kind is AccessKind.VECTOR:
            for position, register in enumerate(step.registers):
                found[register] = (parts ^ step.offset) + position
        else:
            found.update(zip(step.registers, _matrix_elements(access, parts ^ step.offset), strict=True))
    return {register: found[copy] for register, copy in enumerate(access.copies)}


def _matrix_elements(access: SharedAccess, rows: Array) -> list[Array]:
    """`ldmatrix`: matrix m has its rows at the addresses of lanes 8m to 8m+7; lane t holds of it row t/4, the word t%4,
    or transposed the elements t/4 of rows 2(t%4) and 2(t%4)+1."""
    lane = np.arange(32)
    in_word = 32 // access.element_bits
    elements: list[Array] = []
    for place in range(access.vector):
        matrix, element = divmod(place, in_word)
        if access.kind is AccessKind.MATRIX:
            elements.append(rows[:, 8 * matrix + lane // 4] + lane % 4 * in_word + element)
        else:
            elements.append(rows[:, 8 * matrix + 2 * (lane % 4) + element] + lane // 4)
    return elements


def check(layout: LinearLayout, access: SharedAccess) -> None:
    table = layout.sublayout(["register", "lane", "warp"], ["offset"]).table
    wanted = table.reshape(layout.in_dims["warp"], layout.in_dims["lane"], layout.in_dims["register"])
    offsets = element_offsets(access)
    for register in range(layout.in_dims["register"]):
        assert np.array_equal(offsets[register], wanted[..., register])
    assert access.passes_per_step == counted_passes(access)


def counted_passes(access: SharedAccess) -> int:
    """Passes of the first instruction of warp 0, from the addresses."""
    rows = np.array(span_of(access.lanes)) ^ access.steps[0].offset
    size = access.element_bits // 8
    if access.kind is AccessKind.VECTOR:
        return count_passes([int(row) * size for row in rows], access.vector * size)
    matrices = access.vector * access.element_bits // 32
    return sum(passes_of_rows([int(row) * size for row in rows[8 * m : 8 * m + 8]]) for m in range(matrices))


def passes_of_rows(addresses: list[int]) -> int:
    words = {word for address in addresses for word in range(address // 4, address // 4 + 4)}
    return max(sum(word % 32 == bank for word in words) for bank in range(32))


@pytest.mark.parametrize("op_index, shape", [(0, (64, 32)), (1, (32, 64))])
@pytest.mark.parametrize("bits, k_width", [(8, 4), (16, 2), (32, 1)])
@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_operands_of_matrix_products(
    op_index: int, shape: tuple[int, int], bits: int, k_width: int, order: tuple[int, int]
) -> None:
    operand = DotOperandLayout(op_index, MMA, k_width).to_linear(shape)
    shared = SwizzledSharedLayout.for_dot_operand(shape, order, bits, op_index, k_width)
    layout = operand.invert_and_compose(shared.to_linear(shape))
    access = plan_access(layout, bits, matrices=True)
    k_is_contiguous = order[0] == (1 if op_index == 0 else 0)
    if k_is_contiguous:
        assert access.kind is AccessKind.MATRIX and access.vector * bits == 128
    else:
        assert (access.kind is AccessKind.MATRIX_TRANSPOSED) == (bits == 16)
    assert access.conflicts == 0
    check(layout, access)
    check(layout, plan_access(layout, bits, matrices=False))


def test_accumulators_are_stored_by_rows() -> None:
    shape = (64, 64)
    layout = MMA.to_linear(shape).invert_and_compose(NvmmaSharedLayout.make(shape, (1, 0), 16).to_linear(shape))
    access = plan_access(layout, 16, matrices=True)
    assert access.kind is AccessKind.MATRIX and len(access.steps) == 4 and access.conflicts == 0
    check(layout, access)


def any_buffer(shape: tuple[int, ...]) -> st.SearchStrategy[SharedLayout]:
    powers = st.sampled_from([1, 2, 4, 8])
    orders = st.permutations(range(len(shape))).map(tuple)
    return st.builds(SwizzledSharedLayout, powers, powers, powers, orders)


@quick
@given(st.data(), st.sampled_from([8, 16, 32, 64]), st.integers(1, 2), st.booleans())
def test_any_layout_on_any_buffer(data: st.DataObject, bits: int, rank: int, matrices: bool) -> None:
    shape = tuple(data.draw(st.sampled_from([8, 16, 32, 64])) for _ in range(rank))
    layouts = any_distributed(rank).filter(lambda layout: layout.num_blocks == 1)
    layout: DistributedLayout = data.draw(layouts)
    buffer = data.draw(any_buffer(shape))
    access_layout = layout.to_linear(shape).invert_and_compose(buffer.to_linear(shape))
    check(access_layout, plan_access(access_layout, bits, matrices=matrices))


@pytest.mark.costly
@quick
@given(st.data(), st.sampled_from([8, 16, 32]))
def test_conversions_with_matrices(data: st.DataObject, bits: int) -> None:
    """What the plan of a conversion says of its instructions is so."""
    shape = data.draw(st.sampled_from([(16, 64), (64, 64), (128, 32)]))
    layouts = any_distributed(2).filter(lambda layout: layout.num_warps == 4 and layout.num_blocks == 1)
    source, target = data.draw(layouts).to_linear(shape), data.draw(layouts).to_linear(shape)
    plan = plan_shared_memory(source, target, bits, MatrixMoves(load=True, store=True), in_rounds=False)
    plain = plan_shared_memory(source, target, bits, in_rounds=False)
    assert plan.passes <= plain.passes
    for layout, access in ((source, plan.store_access), (target, plan.load_access)):
        check(layout.invert_and_compose(plan.scratch), access)


def test_rounds_are_told_apart() -> None:
    layout = LinearLayout([("register", [1, 8, 2]), ("lane", [4]), ("warp", ())], [("offset", 3), ("repeat", 1)])
    access = plan_access(layout, 32, matrices=False)
    assert access.vector == 4
    assert [(step.offset, step.round, step.registers) for step in access.steps] == [
        (0, 0, (0, 1, 4, 5)),
        (0, 1, (2, 3, 6, 7)),
    ]
