"""Linear algebra over GF(2), the field of two elements where addition is XOR.

A vector is an int: bit i is coordinate i. A matrix is the sequence of its columns, column j being the image of unit
vector j. Elimination works on columns: `Echelon` holds independent vectors by their leading bit, each with the
combination of inserted columns that makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Columns = Sequence[int]
"""A matrix, column by column."""


class Echelon:
    """A growing set of independent vectors that answers whether, and how, a vector is a sum of inserted columns."""

    def __init__(self, columns: Iterable[int] = ()) -> None:
        self._pivots: dict[int, tuple[int, int]] = {}
        self.pivot_columns: list[int] = []
        self._inserted = 0
        for column in columns:
            self.insert(column)

    def __len__(self) -> int:
        return len(self._pivots)

    def reduce(self, vector: int) -> tuple[int, int]:
        """`(rest, combination)`: `vector` is `rest` plus the columns in the bit set `combination`; no rest where the
        span has `vector`.
        """
        combination = 0
        while vector:
            pivot = self._pivots.get(vector.bit_length())
            if pivot is None:
                break
            vector ^= pivot[0]
            combination ^= pivot[1]
        return vector, combination

    def __contains__(self, vector: int) -> bool:
        return self.reduce(vector)[0] == 0

    def insert(self, column: int) -> bool:
        """Adds the next column; whether it was independent of those before."""
        index = self._inserted
        self._inserted += 1
        rest, combination = self.reduce(column)
        if rest == 0:
            return False
        self._pivots[rest.bit_length()] = (rest, combination ^ (1 << index))
        self.pivot_columns.append(index)
        return True


def bits_of(value: int) -> Iterator[int]:
    """The positions of the set bits, lowest first."""
    while value:
        low = value & -value
        yield low.bit_length() - 1
        value ^= low


def multiply(columns: Columns, vector: int) -> int:
    """Matrix times vector: the sum of the columns that the bits of `vector` choose."""
    result = 0
    for index in bits_of(vector):
        result ^= columns[index]
    return result


def compose(outer: Columns, inner: Columns) -> tuple[int, ...]:
    """The product `outer * inner`: first `inner`, then `outer`."""
    return tuple(multiply(outer, column) for column in inner)


def identity(size: int) -> tuple[int, ...]:
    """The unit vectors."""
    return tuple(1 << index for index in range(size))


def transpose(columns: Columns, num_rows: int) -> tuple[int, ...]:
    """Rows as columns."""
    return tuple(sum(((column >> row) & 1) << index for index, column in enumerate(columns)) for row in range(num_rows))


def rank(columns: Columns) -> int:
    """The dimension of the span."""
    return len(Echelon(columns))


def image(columns: Columns) -> tuple[int, ...]:
    """A basis of the span: the columns that are independent of those before them."""
    return tuple(columns[index] for index in Echelon(columns).pivot_columns)


def kernel(columns: Columns) -> tuple[int, ...]:
    """A basis of the vectors that the matrix sends to zero."""
    echelon = Echelon()
    basis: list[int] = []
    for index, column in enumerate(columns):
        rest, combination = echelon.reduce(column)
        if rest == 0:
            basis.append(combination | (1 << index))
        echelon.insert(column)
    return tuple(basis)


def solve(columns: Columns, target: int) -> int | None:
    """A vector that the matrix sends to `target`, with zeros at every column that depends on earlier ones; None where
    there is none.
    """
    rest, combination = Echelon(columns).reduce(target)
    return None if rest else combination


def solve_all(columns: Columns, targets: Columns) -> tuple[int, ...] | None:
    """The matrix X with `columns * X = targets` that has zero rows where `columns` depends on earlier columns; None
    where there is none.
    """
    echelon = Echelon(columns)
    solutions: list[int] = []
    for target in targets:
        rest, combination = echelon.reduce(target)
        if rest:
            return None
        solutions.append(combination)
    return tuple(solutions)


def inverse(columns: Columns) -> tuple[int, ...]:
    """The inverse of a square matrix; ValueError for a singular one."""
    result = solve_all(columns, identity(len(columns)))
    if result is None or (len(columns) and max(columns).bit_length() > len(columns)):
        raise ValueError("the matrix is singular")
    return result


def intersection(left: Columns, right: Columns) -> tuple[int, ...]:
    """A basis of the intersection of two spans (Zassenhaus: kernel vectors of `[left | right]`, seen on the left)."""
    basis_left = image(left)
    both = (*basis_left, *image(right))
    mask = (1 << len(basis_left)) - 1
    return image(tuple(multiply(basis_left, vector & mask) for vector in kernel(both)))


def extend(columns: Columns, candidates: Iterable[int]) -> tuple[int, ...]:
    """Those of `candidates`, in order, that are independent of `columns` and of the candidates taken before."""
    echelon = Echelon(columns)
    return tuple(candidate for candidate in candidates if echelon.insert(candidate))
