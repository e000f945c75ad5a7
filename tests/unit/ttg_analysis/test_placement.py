"""Placing blocks of memory: nothing that lives at one time overlaps, offsets are aligned, little is wasted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.analysis.placement import Request, lower_bound, place, total_size

REQUESTS = st.lists(
    st.builds(
        lambda size, alignment, start, length: Request(size, alignment, start, start + length),
        st.integers(1, 5000),
        st.sampled_from((8, 16, 128, 1024)),
        st.integers(0, 30),
        st.integers(1, 12),
    ),
    max_size=14,
)


def conflicts_of(requests: list[Request]) -> list[list[int]]:
    return [
        [j for j, b in enumerate(requests) if i != j and a.start < b.stop and b.start < a.stop]
        for i, a in enumerate(requests)
    ]


@pytest.mark.costly
@settings(max_examples=200, deadline=None)
@given(REQUESTS)
def test_no_two_that_live_at_once_overlap(requests: list[Request]) -> None:
    conflicts = conflicts_of(requests)
    offsets = place(requests, conflicts)
    for i, a in enumerate(requests):
        assert offsets[i] % a.alignment == 0 and offsets[i] >= 0
        for j in conflicts[i]:
            assert offsets[i] + a.size <= offsets[j] or offsets[j] + requests[j].size <= offsets[i]
    assert total_size(requests, offsets) >= lower_bound(requests)


@pytest.mark.costly
@settings(max_examples=200, deadline=None)
@given(REQUESTS)
def test_no_larger_than_one_behind_the_other(requests: list[Request]) -> None:
    end = 0
    for request in requests:
        end = -(-end // request.alignment) * request.alignment + request.size
    waste = sum(request.alignment for request in requests)
    assert total_size(requests, place(requests, conflicts_of(requests))) <= end + waste


def test_reaches_the_busiest_moment() -> None:
    """Small blocks that live long go below, so that large ones fit one after the other."""
    requests = [Request(64, 16, 0, 10), Request(1024, 16, 0, 3), Request(1024, 16, 3, 6), Request(512, 16, 6, 10)]
    assert total_size(requests, place(requests, conflicts_of(requests))) == 1088 == lower_bound(requests)


def test_nothing() -> None:
    assert place([], []) == []
