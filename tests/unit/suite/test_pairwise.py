"""Grids by pairs lose no pair, and are small."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from suite.pairwise import Row, cover_pairs, pairwise


def pairs(rows: list[Row]) -> set[tuple[int, int, int, int]]:
    return {(i, row[i], j, row[j]) for row in rows for i, j in combinations(range(len(row)), 2)}


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 4)), max_size=40))
def test_every_pair_occurs(rows: list[Row]) -> None:
    chosen = cover_pairs(rows)
    assert pairs([rows[index] for index in chosen]) == pairs(rows)
    assert chosen == sorted(set(chosen))


def test_a_grid_is_hardly_larger_than_its_two_longest_axes() -> None:
    grid: list[Row] = list(product(range(9), range(4), range(3), range(2)))
    assert 36 <= len(cover_pairs(grid)) <= 45 < len(grid) == 216


def test_one_axis_is_kept_whole() -> None:
    assert cover_pairs([(0,), (1,), (1,), (2,)]) == [0, 1, 3]


def test_nothing_is_kept_of_nothing() -> None:
    assert cover_pairs([]) == []


def test_loops_inside_a_test_have_every_pair() -> None:
    axes = ("abc", (1, 2), (False, True))
    rows = list(pairwise(*axes))
    for (i, left), (j, right) in combinations(enumerate(axes), 2):
        assert {(row[i], row[j]) for row in rows} == set(product(left, right))
    assert len(rows) == 6 < 12
