"""Samples: stable, each function in its turn, and everything within so many days."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from suite import families, sampling

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Case:
    """A case of the corpus."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass
class Item:
    """What sampling asks of a test."""

    nodeid: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    mark: str = ""

    @property
    def callspec(self) -> Item:
        return self

    def get_closest_marker(self, name: str) -> bool:
        return self.mark == name


def choose(items: Sequence[Item], sample: int) -> set[str]:
    chosen: Any = items
    return sampling.choose(chosen, sample)


CASES = [Case(file, number) for file in ("memory", "shapes") for number in range(20)]
ENGINES = [Item(f"tests/exec/test_{engine}.py::test[{case}]", {"case": case}) for engine in "abc" for case in CASES]
GRID = [Item(f"tests/exec/test_grid.py::test_grid[{number}]") for number in range(300)]
COSTLY = [Item(f"tests/unit/runtime/test_long.py::test_{number}", mark="costly") for number in range(50)]
WHOLE = [Item(f"tests/unit/ir/test_ir.py::test[{number}]") for number in range(50)]
SAMPLED = [Item(f"tests/unit/ir/test_slow.py::test[{number}]", mark="sampled") for number in range(200)]
ALL = [*ENGINES, *GRID, *COSTLY, *WHOLE, *SAMPLED]


def test_all_samples_together_are_everything() -> None:
    chosen = [choose(ALL, sample) for sample in range(sampling.PARTS)]
    assert set().union(*chosen) == {item.nodeid for item in ALL}
    assert all(len(each) < len(ALL) // 2 for each in chosen)


@pytest.mark.parametrize("sample", range(0, sampling.PARTS, 4))
def test_a_sample_has_a_case_of_each_file_of_the_corpus_and_the_same_for_each_engine(sample: int) -> None:
    chosen = choose(ALL, sample)
    assert {item.nodeid for item in WHOLE} <= chosen
    for file in ("memory", "shapes"):
        cases = [
            {each.params["case"] for each in ENGINES if each.nodeid in chosen and f"_{e}" in each.nodeid} for e in "abc"
        ]
        assert any(case.file == file for case in set.intersection(*cases))


def test_costly_cases_of_a_function_come_together() -> None:
    """On one of so many days, with what they share."""
    items = [Item(f"tests/kernels/test_official.py::test[{number}]", mark="costly") for number in range(300)]
    days = [sample for sample in range(sampling.PARTS) if choose(items, sample)]
    assert len(days) == sampling.PARTS // sampling.TURNS
    assert {day % sampling.TURNS for day in days} == {days[0] % sampling.TURNS}
    assert set().union(*(choose(items, day) for day in days)) == {item.nodeid for item in items}


def test_programs_come_one_by_one() -> None:
    """They share nothing: no day has many of them."""
    items = [Item(f"{families.PROGRAMS[0]}::test[{number}]", mark="costly") for number in range(20)]
    days = [choose(items, sample) for sample in range(sampling.PARTS)]
    assert set().union(*days) == {item.nodeid for item in items} and max(map(len, days)) <= 3


@pytest.mark.parametrize("sample", range(0, sampling.PARTS - sampling.TURNS, 8))
def test_each_function_has_its_turn(sample: int) -> None:
    functions = [f"tests/exec/test_{number}.py::test" for number in range(60)]
    days = [
        choose([Item(f"{name}[{case}]") for name in functions for case in range(9)], sample + day)
        for day in range(sampling.TURNS)
    ]
    ran = [{nodeid.partition("[")[0] for nodeid in day} for day in days]
    assert set.union(*ran) == set(functions)
    assert max(map(len, ran)) < len(functions)


def test_one_case_of_what_is_marked_as_sampled() -> None:
    sample = next(n for n in range(sampling.PARTS) if n not in {sampling.part_of(item.nodeid) for item in SAMPLED[:50]})
    assert len(choose(SAMPLED[:50], sample)) == 1


def test_costly_tests_wait_for_their_turn() -> None:
    (test,) = COSTLY[:1]
    turns = [sample for sample in range(sampling.PARTS) if test.nodeid in choose(ALL, sample)]
    assert turns == [sampling.part_of_costly(test.nodeid)]


def test_parts_are_the_same_everywhere() -> None:
    assert [sampling.part_of(f"tests/a.py::test_{number}") for number in range(6)] == PARTS_OF_THESE


PARTS_OF_THESE = [8, 59, 15, 0, 14, 47]


FAMILY = families.FAMILIES[0]
TYPES = [
    Item(f"{FAMILY}::test_types[{target}-{kind}-{number}]", {"target": target, "type": kind, "number": number})
    for target in ("cpu", "gpu")
    for kind in ("f16", "f32", "i8")
    for number in range(30)
]
CHUNKS = [Item(f"{FAMILY}::test_chunks[{number}]", {"chunk": number}) for number in range(4)]
ONE = [Item(f"{FAMILY}::test_one")]
OF_CORPUS = [Item(f"{FAMILY}::test_corpus[{case}]", {"case": case}) for case in CASES]


def choose_of_day(items: Sequence[Item], day: int) -> set[str]:
    chosen: Any = items
    return sampling.choose_of_day(chosen, day)


def test_all_days_together_are_everything() -> None:
    items = [*TYPES, *CHUNKS, *ONE, *OF_CORPUS, *GRID, *COSTLY]
    days = [choose_of_day(items, day) for day in range(sampling.DAYS)]
    assert set().union(*days) == {item.nodeid for item in items}
    for day in days:
        assert {item.nodeid for item in (*ONE, *GRID, *COSTLY)} <= day, "what is no family runs on every day"
        assert any(item.nodeid in day for item in CHUNKS)
        assert sum(item.nodeid in day for item in TYPES) < len(TYPES) // 2


@pytest.mark.parametrize("day", range(20_000, 20_020))
def test_a_day_has_a_case_of_each_kind(day: int) -> None:
    for items in (TYPES, TYPES[::7]):
        chosen = choose_of_day(items, day)
        ran = [item.params for item in items if item.nodeid in chosen]
        for name in ("target", "type"):
            assert {each[name] for each in ran} == {item.params[name] for item in items}
    chosen = choose_of_day(OF_CORPUS, day)
    assert {item.params["case"].file for item in OF_CORPUS if item.nodeid in chosen} == {"memory", "shapes"}


def test_the_functions_of_a_file_of_programs_have_turns() -> None:
    items = [Item(f"{file}::test_{number}") for file in families.PROGRAMS[:2] for number in range(30)]
    days = [choose_of_day(items, day) for day in range(sampling.DAYS)]
    assert set().union(*days) == {item.nodeid for item in items}
    for day in days:
        assert {nodeid.partition("::")[0] for nodeid in day} == set(families.PROGRAMS[:2])
        assert len(day) < len(items) // 2


def test_families_are_files_of_today() -> None:
    names = [*families.FAMILIES, *families.PROGRAMS]
    assert not [name for name in names if not (ROOT / name).exists()]
    assert len(set(names)) == len(names)
