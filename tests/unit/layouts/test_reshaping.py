"""Layouts of buffers and tensors that change shape, by enumeration of every element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_distributed import any_distributed, blocked
from test_shared import shared_layouts

from tilewright.layouts import reshaping
from tilewright.layouts.distributed import BlockedLayout, LinearDistributedLayout, NvidiaMmaLayout
from tilewright.layouts.shared import NvmmaSharedLayout, PaddedSharedLayout, SharedLayout, SwizzledSharedLayout
from tilewright.layouts.simulate import distribute

quick = settings(deadline=None, max_examples=60)


@quick
@given(case=shared_layouts(), data=st.data())
def test_transposed_buffers(case: tuple[SharedLayout, tuple[int, ...]], data: st.DataObject) -> None:
    layout, shape = case
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    result = reshaping.transpose_shared(layout, shape, order)
    assert np.array_equal(result.offsets([shape[dim] for dim in order]), layout.offsets(shape).transpose(order))


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
