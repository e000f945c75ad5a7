"""Layouts of buffers and tensors that change shape, by enumeration of every element."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_distributed import any_distributed, blocked
from test_shared import shared_layouts

from tilewright.layouts import reshaping
from tilewright.layouts.distributed import BlockedLayout, LinearDistributedLayout, NvidiaMmaLayout, SliceLayout
from tilewright.layouts.draw import distribute
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import NvmmaSharedLayout, PaddedSharedLayout, SharedLayout, SwizzledSharedLayout

quick = settings(deadline=None, max_examples=60)


@quick
@given(case=shared_layouts(), data=st.data())
def test_transposed_buffers(case: tuple[SharedLayout, tuple[int, ...]], data: st.DataObject) -> None:
    layout, shape = case
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    result = reshaping.transpose_shared(layout, shape, order)
    assert np.array_equal(result.offsets([shape[dim] for dim in order]), layout.offsets(shape).transpose(order))


@pytest.mark.costly
@quick
@given(case=shared_layouts(), data=st.data())
def test_reshaped_buffers(case: tuple[SharedLayout, tuple[int, ...]], data: st.DataObject) -> None:
    layout, shape = case
    cut = 1 << data.draw(st.integers(0, shape[-1].bit_length() - 1))
    new_shape = (*shape[:-1], cut, shape[-1] // cut)
    result = reshaping.reshape_shared(layout, shape, new_shape)
    assert np.array_equal(result.offsets(new_shape), layout.offsets(shape).reshape(new_shape))


def test_padded_buffers_keep_their_gaps() -> None:
    layout = PaddedSharedLayout.ordered([(32, 4)], (1, 0), (16, 32))
    turned = reshaping.transpose_shared(layout, (16, 32), (1, 0))
    assert np.array_equal(turned.offsets((32, 16)), layout.offsets((16, 32)).T)
    assert reshaping.equivalent(layout, PaddedSharedLayout.ordered([(32, 4)], (1, 0), (16, 32)), (16, 32))
    assert not reshaping.equivalent(layout, PaddedSharedLayout.ordered([(32, 8)], (1, 0), (16, 32)), (16, 32))
    assert not reshaping.equivalent(layout, SwizzledSharedLayout(1, 1, 1, (1, 0)), (16, 32))


def test_nvmma_stays_nvmma() -> None:
    layout = NvmmaSharedLayout(128, False, 16)
    assert reshaping.transpose_shared(layout, (64, 64), (1, 0)) == NvmmaSharedLayout(128, True, 16)
    assert reshaping.reshape_shared(layout, (64, 64), (4, 16, 64)) == NvmmaSharedLayout(128, False, 16, rank=3)


@quick
@given(data=st.data(), rank=st.integers(1, 3))
def test_blocked_layouts_are_found_again(data: st.DataObject, rank: int) -> None:
    layout: BlockedLayout = data.draw(blocked(rank))
    shape = [data.draw(st.sampled_from([8, 32, 64])) for _ in range(rank)]
    linear = layout.to_linear(shape)
    found = reshaping.find_blocked(linear)
    if found is not None:
        assert found.to_linear(shape) == linear
    tile = zip(layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, shape, strict=True)
    if all(size * threads * warps <= extent for size, threads, warps, extent in tile):
        assert found is not None


def test_what_is_not_blocked_is_not_found() -> None:
    assert reshaping.find_blocked(NvidiaMmaLayout(2, 0, (2, 2), (16, 8)).to_linear((64, 64))) is None


@quick
@given(data=st.data(), rank=st.integers(1, 2))
def test_joins_and_splits(data: st.DataObject, rank: int) -> None:
    layout = data.draw(any_distributed(rank))
    shape = tuple(data.draw(st.sampled_from([8, 32])) for _ in range(rank))
    joined = reshaping.join(layout, shape)
    halves = reshaping.split(joined, (*shape, 2))
    assert reshaping.equivalent(halves, layout, shape)
    flat = np.moveaxis(np.arange(2 * np.prod(shape)).reshape(*shape, 2), -1, 0)
    names = [f"dim{index}" for index in range(rank + 1)]
    held = distribute(joined.to_linear((*shape, 2)).transpose_outs(names[::-1]))
    mine = distribute(layout.to_linear(shape).transpose_outs(names[:-1][::-1]))
    assert np.array_equal(held[..., 0::2], flat[0].reshape(-1)[mine])
    assert np.array_equal(held[..., 1::2], flat[1].reshape(-1)[mine])


@pytest.mark.parametrize("axis", [0, 1])
def test_unpacking_two_values(axis: int) -> None:
    layout = BlockedLayout((1, 4), (4, 8), (4, 1), (1, 0))
    doubled = reshaping.double_axis(layout, axis)
    assert reshaping.halve_axis(doubled, axis) == layout
    linear = LinearDistributedLayout.of(layout.to_linear((32, 64)))
    assert reshaping.halve_axis(reshaping.double_axis(linear, axis), axis) == linear
    with pytest.raises(ValueError, match="two neighbours along the axis"):
        reshaping.halve_axis(BlockedLayout((1,), (32,), (4,), (0,)), 0)


def _keeps_elements(source: LinearLayout, result: LinearLayout) -> bool:
    """By enumeration: the element of the result that a place holds follows from that of the source, and back."""
    forth: dict[object, object] = {}
    back: dict[object, object] = {}
    for place in product(*(range(size) for size in source.in_dims.values())):
        at = dict(zip(source.in_dims, place, strict=True))
        before, after = tuple(source.apply(at).items()), tuple(result.apply(at).items())
        if forth.setdefault(before, after) != after or back.setdefault(after, before) != before:
            return False
    return True


@quick
@given(data=st.data())
def test_registers_stay_where_any_order_is_right(data: st.DataObject) -> None:
    widths = {name: data.draw(st.integers(0, 2)) for name in ("register", "lane", "warp")}
    outs = [("dim0", data.draw(st.integers(0, 3))), ("dim1", data.draw(st.integers(0, 2)))]
    total = sum(bits for _, bits in outs)
    column = st.sampled_from([0, *(1 << bit for bit in range(total))])
    first, second = (
        LinearLayout([(name, data.draw(st.lists(column, min_size=n, max_size=n))) for name, n in widths.items()], outs)
        for _ in range(2)
    )
    assert reshaping.can_relabel(first, second) == _keeps_elements(first, second)
    assert reshaping.can_relabel(first, first)


def test_lanes_that_repeat_elements_must_be_the_same() -> None:
    """16 elements over 32 lanes and 4 warps: in a line, and as the rows of a matrix, other lanes hold copies."""
    line = BlockedLayout((1,), (32,), (4,), (0,)).to_linear((16,))
    rows = SliceLayout(1, BlockedLayout((1, 1), (4, 8), (4, 1), (1, 0))).to_linear((16,))
    assert line.in_dims == rows.in_dims
    assert not reshaping.can_relabel(line, rows)
    square = BlockedLayout((1, 1), (8, 4), (4, 1), (1, 0)).to_linear((4, 4))
    assert reshaping.can_relabel(line, square)


def test_parts_side_by_side() -> None:
    part, whole = BlockedLayout((1,), (32,), (4,), (0,)), BlockedLayout((2,), (32,), (4,), (0,))
    assert reshaping.can_concatenate([part.to_linear((128,))] * 2, whole.to_linear((256,)))
    assert not reshaping.can_concatenate([part.to_linear((128,))] * 2, part.to_linear((128,)))
    rows = SliceLayout(1, BlockedLayout((2, 1), (4, 8), (4, 1), (1, 0))).to_linear((32,))
    assert rows.in_dims == whole.to_linear((32,)).in_dims
    assert not reshaping.can_concatenate([part.to_linear((16,))] * 2, rows)
