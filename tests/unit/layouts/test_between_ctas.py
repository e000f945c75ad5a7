"""Conversions between CTAs: every element is read where it was written."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from running_plans import run_plan

from tilewright.layouts.between_ctas import ClusterConversion, plan_between_ctas
from tilewright.layouts.convert import plan_conversion
from tilewright.layouts.distributed import BlockedLayout
from tilewright.layouts.draw import distribute
from tilewright.layouts.linear import LinearLayout


@st.composite
def layouts(draw: st.DrawFn, num_bits: int) -> LinearLayout:
    """Tiles of two by four threads and two warps, cut among CTAs anyhow."""
    order = draw(st.sampled_from([(0, 1), (1, 0)]))
    size = draw(st.sampled_from([(1, 1), (1, 4), (2, 2), (4, 1)]))
    splits, cga = [1, 1], list[tuple[int, int]]()
    for dim in (draw(st.sampled_from([0, 1, 2])) for _ in range(num_bits)):
        cga.append((splits[0] if dim == 0 else 0, splits[1] if dim == 1 else 0))
        if dim < 2:
            splits[dim] *= 2
    warps = draw(st.sampled_from([(1, 2), (2, 1)]))
    return BlockedLayout(size, (2, 4), warps, order, tuple(draw(st.permutations(cga)))).to_linear((16, 16))


@given(st.data(), st.integers(1, 3), st.booleans())
def test_every_element_is_found(data: st.DataObject, num_bits: int, from_first: bool) -> None:
    source, target = data.draw(layouts(num_bits)), data.draw(layouts(num_bits))
    plan = plan_between_ctas(source, target, 16, from_first=from_first)
    moved = run_plan(plan, distribute(source), source, target)
    np.testing.assert_array_equal(moved, distribute(target))
    assert not (from_first and plan.own)


def test_what_each_cta_has_is_read_from_its_own_memory() -> None:
    whole = BlockedLayout((1, 4), (2, 4), (2, 1), (1, 0), ((0, 0),)).to_linear((16, 16))
    half = BlockedLayout((1, 4), (2, 4), (2, 1), (1, 0), ((1, 0),)).to_linear((16, 16))
    plan = plan_conversion(whole, half, 32)
    assert isinstance(plan, ClusterConversion) and plan.own == 1 and plan.is_local
    assert not plan_between_ctas(whole, half, 32, from_first=True).is_local


def test_vectors() -> None:
    """Elements that both sides hold in registers of one thread move together."""
    rows, columns = (
        BlockedLayout((1, 4), (2, 4), (2, 1), (1, 0), (vector,)).to_linear((16, 16)) for vector in ((1, 0), (0, 1))
    )
    plan = plan_conversion(rows, columns, 32)
    assert isinstance(plan, ClusterConversion) and (plan.vector, plan.num_elements) == (4, 128)
