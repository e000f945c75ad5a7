"""What Triton calls `triton._utils`, as far as programs use it: paths into nested tuples of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import getitem
from typing import Any

Path = tuple[int, ...]

_SEQUENCES: Any = (tuple, list)


def find_paths_if(values: Any, holds: Callable[[Path, Any], bool]) -> list[Path]:
    """Return where in nested sequences there is what fulfils a condition on path and value, from the left."""
    return [path for path, value in _leaves((), values) if holds(path, value)]


def _leaves(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    if not isinstance(value, _SEQUENCES):
        yield path, value
        return
    for index, item in enumerate(value):
        yield from _leaves((*path, index), item)


def get_iterable_path(values: Sequence[Any], path: Path) -> Any:
    """Return what is at a path."""
    return reduce(getitem, path, values)
