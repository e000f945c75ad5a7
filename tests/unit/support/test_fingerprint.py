"""Fingerprints are equal exactly when the values are."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.support.fingerprint import fingerprint

_NAMES = st.text(max_size=4)
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _NAMES | st.binary(max_size=4)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=8,
)


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Point:
    x: int
    y: int


@dataclass(frozen=True)
class Pair:
    x: int
    y: int


@pytest.mark.costly
@given(_VALUES, _VALUES)
def test_different_values_differ(first: object, second: object) -> None:
    assert (fingerprint(first) == fingerprint(second)) == (repr(_sorted(first)) == repr(_sorted(second)))


def _sorted(value: Any) -> Any:
    """Mappings in one order, so that `repr` tells values apart as the fingerprint should."""
    if value.__class__ is dict:
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if value.__class__ is list else value


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, True),
        (1, 1.0),
        (1, "1"),
        (0.0, -0.0),
        ("ab", b"ab"),
        (["ab", "c"], ["a", "bc"]),
        ([[1], 2], [[1, 2]]),
        (Colour.RED, Colour.BLUE),
        (Point(1, 2), Pair(1, 2)),
        (Point(1, 2), Point(2, 1)),
        (int, bool),
        (Path("a"), "a"),
    ],
)
def test_near_misses_differ(first: object, second: object) -> None:
    assert fingerprint(first) != fingerprint(second)


def test_order_of_sets_and_mappings_does_not_matter() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({3, 1, 2}) == fingerprint({2, 3, 1})


def test_unknown_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="cannot fingerprint a value of type object"):
        fingerprint(object())


def test_same_in_another_process() -> None:
    script = "from tilewright.support.fingerprint import fingerprint; print(fingerprint({'a', 'b'}, {'x': [1, None]}))"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    assert other == fingerprint({"a", "b"}, {"x": [1, None]})
