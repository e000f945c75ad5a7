"""Conversions between CTAs: every element is read where it was written."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tilewright.layouts.between_ctas import OFFSET, RANK, ClusterConversion, plan_between_ctas
from tilewright.layouts.convert import plan_conversion
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP, BlockedLayout
from tilewright.layouts.linear import LinearLayout

PLACES = (REGISTER, LANE, WARP, BLOCK)


def places(layout: LinearLayout) -> list[dict[str, int]]:
    sizes = (range(layout.in_dims[name]) for name in PLACES)
    return [dict(zip(PLACES, numbers, strict=True)) for numbers in product(*sizes)]


def check(plan: ClusterConversion, source: LinearLayout, target: LinearLayout) -> None:
    memory: dict[tuple[int, int], tuple[int, ...]] = {}
    for place in places(source):
        at = place[BLOCK], plan.store.apply(place)[OFFSET]
        element = tuple(source.apply(place).values())
        assert memory.setdefault(at, element) == element
        assert at[1] < plan.num_elements
    for place in places(target):
        found = plan.load.apply(place)
        rank = found[RANK] ^ (place[BLOCK] & plan.own)
        assert memory[rank, found[OFFSET]] == tuple(target.apply(place).values())


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
    check(plan, source, target)
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
