"""Grids of parameters by pairs: `@pytest.mark.pairwise` keeps as many combinations as all pairs of values need.

Most defects of a grid show with two values together (a type and an extent, a layout and a target). All combinations of
a grid of four axes are many times as many as those in which each pair occurs. `pytest --long` runs all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import pytest

Row = tuple[int, ...]


def cover_pairs(rows: Sequence[Row]) -> list[int]:
    """Indices of rows in which every pair of values of two columns occurs that occurs in any, fewest first by greed.

    Of rows with equally many new pairs the first is taken, so that the answer is always the same.
    """
    missing = [_pairs(row) for row in rows]
    chosen: list[int] = []
    while True:
        best = max(range(len(rows)), key=lambda index: len(missing[index]), default=0)
        if not rows or not missing[best]:
            return sorted(chosen)
        chosen.append(best)
        new = missing[best]
        missing = [pairs - new for pairs in missing]


def _pairs(row: Row) -> frozenset[tuple[int, int, int, int]]:
    """The pairs of a row as (column, value, column, value); a row of one column pairs with itself."""
    if len(row) == 1:
        return frozenset({(0, row[0], 0, row[0])})
    return frozenset((i, row[i], j, row[j]) for i, j in combinations(range(len(row)), 2))


def pairwise(*axes: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Combinations of values of axes, one of each, in which every pair occurs: the marker for loops inside a test."""
    rows = list(product(*(range(len(axis)) for axis in axes)))
    for chosen in cover_pairs(rows):
        yield tuple(axis[index] for axis, index in zip(axes, rows[chosen], strict=True))


def keep_pairs(items: Sequence[pytest.Item]) -> set[str]:
    """The node ids of marked items that no pair needs."""
    grids: dict[str, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("pairwise") and hasattr(item, "callspec"):
            grids.setdefault(item.nodeid.partition("[")[0], []).append(item)
    dropped: set[str] = set()
    for grid in grids.values():
        kept = set(cover_pairs(index_grid(grid)))
        dropped.update(item.nodeid for index, item in enumerate(grid) if index not in kept)
    return dropped


def index_grid(grid: Sequence[Any]) -> list[Row]:
    """The indices of each item's values, parameters that always go together as one."""
    columns = [_indices([item.callspec.params[name] for item in grid]) for name in grid[0].callspec.params]
    return list(zip(*dict.fromkeys(columns), strict=True))


def _indices(values: Sequence[object]) -> Row:
    """Small numbers for values, which are the same object wherever they occur."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(id(value), len(numbers)) for value in values)
