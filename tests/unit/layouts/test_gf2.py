"""Linear algebra over GF(2) against enumeration of all vectors."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick

from tilewright.layouts import gf2

ROWS = 5
matrices = st.lists(st.integers(0, (1 << ROWS) - 1), max_size=6)
vectors = st.integers(0, (1 << ROWS) - 1)


def span(columns: gf2.Columns) -> set[int]:
    return {
        gf2.multiply(columns, sum(bit << index for index, bit in enumerate(choice)))
        for choice in product((0, 1), repeat=len(columns))
    }


@quick
@given(matrices)
def test_rank_and_image(columns: list[int]) -> None:
    assert 1 << gf2.rank(columns) == len(span(columns))
    basis = gf2.image(columns)
    assert span(basis) == span(columns) and len(basis) == gf2.rank(columns)


@quick
@given(matrices)
def test_kernel(columns: list[int]) -> None:
    zeros = {vector for vector in range(1 << len(columns)) if gf2.multiply(columns, vector) == 0}
    assert span(gf2.kernel(columns)) == zeros
    assert 1 << len(gf2.kernel(columns)) == len(zeros)


@quick
@given(matrices, vectors)
def test_solve(columns: list[int], target: int) -> None:
    solution = gf2.solve(columns, target)
    assert (solution is not None) == (target in span(columns))
    if solution is not None:
        assert gf2.multiply(columns, solution) == target
        dependent = {index for index in range(len(columns)) if columns[index] in span(columns[:index])}
        assert not dependent & set(gf2.bits_of(solution))


@quick
@given(matrices, st.lists(vectors, max_size=3))
def test_solve_all(columns: list[int], targets: list[int]) -> None:
    solutions = gf2.solve_all(columns, targets)
    if all(target in span(columns) for target in targets):
        assert solutions is not None and gf2.compose(columns, solutions) == tuple(targets)
    else:
        assert solutions is None


@quick
@given(st.lists(vectors, min_size=ROWS, max_size=ROWS))
def test_inverse(columns: list[int]) -> None:
    if gf2.rank(columns) == ROWS:
        assert gf2.compose(columns, gf2.inverse(columns)) == gf2.identity(ROWS)
        assert gf2.compose(gf2.inverse(columns), columns) == gf2.identity(ROWS)
    else:
        with pytest.raises(ValueError, match="singular"):
            gf2.inverse(columns)


@quick
@given(matrices, matrices)
def test_intersection(left: list[int], right: list[int]) -> None:
    both = gf2.intersection(left, right)
    assert span(both) == span(left) & span(right)
    assert len(both) == gf2.rank(both)


@quick
@given(matrices)
def test_transpose(columns: list[int]) -> None:
    rows = gf2.transpose(columns, ROWS)
    assert len(rows) == ROWS
    assert all((rows[i] >> j & 1) == (column >> i & 1) for j, column in enumerate(columns) for i in range(ROWS))
    assert list(gf2.transpose(rows, len(columns))) == columns


@quick
@given(matrices, matrices)
def test_extend_takes_what_grows_the_span(columns: list[int], candidates: list[int]) -> None:
    taken = gf2.extend(columns, candidates)
    assert span([*columns, *taken]) == span([*columns, *candidates])
    assert gf2.rank([*columns, *taken]) == gf2.rank(columns) + len(taken)
