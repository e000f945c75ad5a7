"""Which tests a run takes: all, or the sample of `make test`, which takes some two minutes on two cores.

The sample holds every file test, the unit tests that are quick, of every test over the corpus one case of each of its
files (the same for all engines), of every thirtieth other test function one case, and one part of the rest. The parts
go round by the date: within `TURNS` days every function has run, within `PARTS` days every test. Costly cases of one
function come on the same days. `--sample=N` repeats a run; `--all` runs everything.

Continuous integration runs every test on every day, but a share of families of like cases (`families.py`), `--day=N`:
within `DAYS` days every case has run, and on every day one of each kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import pytest

from suite.families import FAMILIES, PROGRAMS
from suite.pairwise import index_grid

PARTS = 60
"""Runs on so many days in a row run everything."""

TURNS = 30
"""Of a function that compiles and runs kernels, but not those of the corpus, a case is taken every so many days."""

DAYS = 8
"""Runs of continuous integration on so many days in a row run every case of every family."""

FEW = 6
"""Axes of grids with so many values have each of them on every day."""

WHOLE = ("tests/file/", "tests/unit/")
"""Folders whose tests are all taken ..."""

SAMPLED = tuple(
    f"tests/unit/{name}/"
    for name in (
        *("analysis", "codegen", "inline_ptx", "layouts", "linalg_to_loops", "loops_to_llvm", "middle_layer", "tools"),
        *("tools_correctness", "ttg_to_llvm"),
    )
)
"""... but for these, which compile and run whole kernels, or try each property on a hundred layouts."""


def today() -> int:
    return date.today().toordinal()


def part_of_today() -> int:
    return today() % PARTS


def _hash(*words: object) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(map(str, words)).encode()).digest()[:8], "little")


def part_of(nodeid: str) -> int:
    """The part that a test belongs to, the same on every machine and in every version of Python."""
    return _hash(nodeid) % PARTS


def part_of_costly(nodeid: str) -> int:
    """The part that a costly test belongs to: its function's turn, within which cases take turns.

    Cases of a function often share what is costly, such as a process of official Triton: it is made every `TURNS` days.
    Programs share nothing, and each has its own part.
    """
    if nodeid.partition("::")[0] in PROGRAMS:
        return part_of(nodeid)
    return _hash(nodeid.partition("[")[0]) % TURNS + TURNS * (_hash(nodeid) % (PARTS // TURNS))


def is_quick(item: pytest.Item) -> bool:
    """Whether a test stands in a folder of quick ones."""
    return item.nodeid.startswith(WHOLE) and not item.nodeid.startswith(SAMPLED)


def is_whole(item: pytest.Item) -> bool:
    """Whether a sample has all cases of a test: those of the quick folders, but for tests that say otherwise."""
    return is_quick(item) and not item.get_closest_marker("sampled")


def choose(items: Sequence[pytest.Item], sample: int) -> set[str]:
    """The node ids of a sample."""
    cheap = [item for item in items if not item.get_closest_marker("costly")]
    costly = {item.nodeid for item in items} - {item.nodeid for item in cheap}
    chosen = {nodeid for nodeid in costly if part_of_costly(nodeid) == sample}
    chosen.update(item.nodeid for item in cheap if part_of(item.nodeid) == sample)
    chosen.update(item.nodeid for item in cheap if is_whole(item))
    chosen.update(_representatives(cheap, sample))
    return chosen


def _representatives(items: Sequence[pytest.Item], sample: int) -> Iterator[str]:
    """One case of each function whose turn it is, and of each function and file of the corpus.

    Cases are chosen by their parameters alone, so that functions with the same cases take the same ones.
    """
    groups: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        groups.setdefault((item.nodeid.partition("[")[0], _corpus_file(item)), []).append(item)
    for (function, file), group in groups.items():
        if file or is_quick(group[0]) or _hash(function) % TURNS == sample % TURNS:
            yield min(group, key=lambda item: _hash(sample, _case(item))).nodeid


def choose_of_day(items: Sequence[pytest.Item], day: int) -> set[str]:
    """The node ids of what continuous integration runs on a day: all but what of a family waits for its turn."""
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        function = item.nodeid.partition("[")[0]
        file = function.partition("::")[0]
        if file in FAMILIES or file in PROGRAMS:
            families.setdefault(file if file in PROGRAMS else function, []).append(item)
    waiting = {item.nodeid for family in families.values() for item in family}
    chosen = {item.nodeid for item in items} - waiting
    for family in families.values():
        chosen.update(_share(family, day))
    return chosen


def _share(family: Sequence[pytest.Item], day: int) -> Iterator[str]:
    """The cases whose turn it is, and as many more as it takes to have one of each kind."""
    kinds = dict(zip([item.nodeid for item in family], _kinds(family), strict=True))
    seen: set[tuple[int, object]] = set()
    for nodeid in sorted(kinds, key=lambda nodeid: (not _has_turn(nodeid, day), _hash(day, nodeid))):
        if _has_turn(nodeid, day) or not kinds[nodeid] <= seen:
            seen |= kinds[nodeid]
            yield nodeid


def _has_turn(nodeid: str, day: int) -> bool:
    return _hash(nodeid) % DAYS == day % DAYS


def _kinds(family: Sequence[pytest.Item]) -> list[set[tuple[int, object]]]:
    """What each case is one of: its family, the file that its kernel is from, and of a grid each value of an axis
    that has few."""
    is_grid = len({item.nodeid.partition("[")[0] for item in family}) == 1 and _parameters(family[0])
    rows = index_grid(family) if is_grid else [()] * len(family)
    columns = list(zip(*rows, strict=True))
    axes = [axis for axis, column in enumerate(columns) if len(set(column)) <= FEW] if len(columns) > 1 else []
    return [
        {(-2, ""), (-1, _file(item)), *((axis, row[axis]) for axis in axes)}
        for item, row in zip(family, rows, strict=True)
    ]


def _file(item: pytest.Item) -> str:
    return _corpus_file(item) or str(getattr(_parameters(item).get("case"), "kind", ""))


def _parameters(item: pytest.Item) -> dict[str, Any]:
    return getattr(getattr(item, "callspec", None), "params", {})


def _corpus_file(item: pytest.Item) -> str:
    """The file of the corpus that a test's kernel is from, or nothing."""
    case = _parameters(item).get("case")
    return str(getattr(getattr(case, "case", case), "file", ""))


def _case(item: pytest.Item) -> str:
    case = _parameters(item).get("case")
    return str(case) if _corpus_file(item) else item.nodeid.partition("[")[2]
