"""Groups of registers that are accessed at once: all elements are covered once, and groups are what they claim."""

from __future__ import annotations

import numpy as np
import pytest
from sample_layouts import SAMPLES

from tilewright.analysis.axis_info import AxisInfo
from tilewright.layouts.distributed import BlockedLayout, DistributedLayout
from tilewright.lowering.ttg_to_llvm.access_plan import plan_access


def _row_major(shape: tuple[int, ...], element_bytes: int) -> AxisInfo:
    """Pointers to a dense row-major tensor at an address that 128 divides."""
    rank = len(shape)
    return AxisInfo((*(1,) * (rank - 1), shape[-1]), (shape[-1] * element_bytes,) * (rank - 1) + (128,), (1,) * rank)


@pytest.mark.parametrize("element_bits", [8, 16, 32, 64])
@pytest.mark.parametrize(("name", "layout", "shape"), SAMPLES, ids=[name for name, _, _ in SAMPLES])
def test_groups_cover_each_register_once_and_are_consecutive(
    name: str, layout: DistributedLayout, shape: tuple[int, ...], element_bits: int
) -> None:
    linear = layout.to_linear(shape)
    plan = plan_access(linear, _row_major(shape, element_bits // 8), None, element_bits)
    assert plan.width * element_bits <= 128
    accessed = [register for group in plan.groups for register in group]
    assert len(set(accessed)) == len(accessed)
    assert set(plan.sources) == set(accessed)
    flat = linear.transpose_outs(reversed(linear.out_dims)).flatten_outs("index")
    place = flat.table.reshape(*[flat.in_dims[dim] for dim in ("block", "warp", "lane", "register")])
    for register, source in enumerate(plan.sources):
        np.testing.assert_array_equal(place[..., register], place[..., source], err_msg=name)
    for group in plan.groups:
        first = place[..., group[0]]
        assert not np.any(first % plan.width), "groups begin at a multiple of their size"
        for step, register in enumerate(group):
            np.testing.assert_array_equal(place[..., register], first + step)


@pytest.mark.parametrize(
    ("pointers", "masks", "width"),
    [
        (AxisInfo((1024,), (16,), (1,)), None, 4),
        (AxisInfo((1024,), (8,), (1,)), None, 2),
        (AxisInfo((1024,), (4,), (1,)), None, 1),
        (AxisInfo((2,), (16,), (1,)), None, 2),
        (AxisInfo((1,), (16,), (1,)), None, 1),
        (AxisInfo((1024,), (16,), (1,)), AxisInfo((1,), (1,), (16,)), 4),
        (AxisInfo((1024,), (16,), (1,)), AxisInfo((1,), (1,), (2,)), 2),
        (AxisInfo((1024,), (16,), (1,)), AxisInfo((1,), (1,), (1,)), 1),
        (AxisInfo((6,), (16,), (1,)), None, 2),
    ],
)
def test_contiguity_alignment_and_masks_limit_the_width(pointers: AxisInfo, masks: AxisInfo | None, width: int) -> None:
    linear = BlockedLayout((4,), (32,), (4,), (0,)).to_linear((1024,))
    assert plan_access(linear, pointers, masks, 32).width == width


def test_the_dimension_with_the_widest_groups_wins() -> None:
    linear = BlockedLayout((8, 2), (8, 4), (4, 1), (1, 0)).to_linear((256, 8))
    columns = AxisInfo((256, 1), (128, 4), (1, 1))
    plan = plan_access(linear, columns, None, 16)
    assert plan.width == 8
    assert plan.groups[0] == (0, 2, 4, 6, 8, 10, 12, 14)


def test_registers_that_repeat_are_accessed_once() -> None:
    linear = BlockedLayout((4,), (32,), (4,), (0,)).to_linear((2,))
    plan = plan_access(linear, AxisInfo((2,), (16,), (1,)), None, 32)
    assert plan.groups == ((0, 1),)
    assert plan.sources == (0, 1, 0, 1)
