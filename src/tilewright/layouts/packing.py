"""Named dims and their places: coordinates packed into one int, the first dim in the lowest bits.

Coordinates (5, 2) of dims a of 3 bits and b of 2 are `2 << 3 | 5`. `LinearLayout` keeps the bases of its outputs so;
what renames, reorders, widens or cuts dims moves fields of bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def log2(size: int) -> int:
    """The exponent of a power of two; ValueError for any other size."""
    if size <= 0 or size & (size - 1):
        raise ValueError(f"a size in a linear layout must be a power of two, got {size}")
    return size.bit_length() - 1


class Repack:
    """Moves the coordinates of a packed output to the dims of another packing, each shifted up by some bits."""

    def __init__(self, source: Iterable[tuple[str, int]], target: Iterable[tuple[str, int]], shifts: Mapping[str, int]):
        offsets = offsets_of(target)
        position = 0
        moves: list[tuple[int, int, int]] = []
        for name, bits in source:
            if bits:
                moves.append((position, (1 << bits) - 1, offsets[name] + shifts.get(name, 0)))
            position += bits
        self._moves = moves

    def __call__(self, packed: int) -> int:
        return sum(((packed >> shift) & mask) << target for shift, mask, target in self._moves)


class Extract:
    """Takes some bits of some coordinates of a packed output: for each target dim as many as it has, after dropping
    low ones.
    """

    def __init__(self, source: Iterable[tuple[str, int]], target: Iterable[tuple[str, int]], drop: Mapping[str, int]):
        offsets, widths = offsets_of(source), dict(source)
        position = 0
        moves: list[tuple[int, int, int]] = []
        for name, bits in target:
            present = max(0, min(bits, widths[name] - drop.get(name, 0)))
            moves.append((offsets[name] + drop.get(name, 0), (1 << present) - 1, position))
            position += bits
        self._moves = moves

    def __call__(self, packed: int) -> int:
        return sum(((packed >> shift) & mask) << target for shift, mask, target in self._moves)


def offsets_of(dims: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The lowest bit of each dim in a packed number."""
    offsets: dict[str, int] = {}
    position = 0
    for name, bits in dims:
        offsets[name] = position
        position += bits
    return offsets


def pack(vector: Sequence[int], widths: Iterable[int]) -> int:
    """One number of all coordinates."""
    packed = position = 0
    for coordinate, bits in zip(vector, widths, strict=True):
        packed |= coordinate << position
        position += bits
    return packed


def merge_orders(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """The names of both; those only on the right stand before the common name that follows them there."""
    result = list(left)
    position = len(result)
    for name in reversed(right):
        if name in result:
            position = result.index(name)
        else:
            result.insert(position, name)
    return result


def check_distinct(names: Sequence[str], what: str) -> None:
    """Raises ValueError where a name stands twice."""
    if len(set(names)) != len(names):
        raise ValueError(f"{what} names must differ, got {list(names)}")


def check_fits(vector: Sequence[int], widths: Mapping[str, int], in_dim: str) -> None:
    """Raises ValueError where a coordinate of a basis has more bits than its dim."""
    for coordinate, (name, bits) in zip(vector, widths.items(), strict=True):
        if coordinate < 0 or coordinate >> bits:
            raise ValueError(f"basis {list(vector)} of {in_dim} does not fit {name} of size {1 << bits}")


def check_permutation(order: Iterable[str], names: Mapping[str, int]) -> tuple[str, ...]:
    """The order, if it has each of the names once; else ValueError."""
    result = tuple(order)
    if len(result) != len(names) or set(result) != set(names):
        raise ValueError(f"{list(result)} is not an order of {list(names)}")
    return result
