"""Stopwatches."""

from __future__ import annotations

from tilewright.support.timing import Stopwatch, measure


def test_spans_nest_and_count() -> None:
    watch = Stopwatch()
    with watch.active():
        for _ in range(3):
            with measure("outer"), measure("inner"):
                pass
    outer = watch.root.children["outer"]
    assert outer.calls == 3
    assert outer.children["inner"].calls == 3
    assert 0 <= outer.children["inner"].seconds <= outer.seconds <= watch.root.seconds


def test_nothing_is_recorded_without_a_stopwatch() -> None:
    watch = Stopwatch()
    with measure("outside"):
        pass
    with watch.active():
        pass
    assert watch.root.children == {}


def test_table_shows_every_span_indented() -> None:
    watch = Stopwatch()
    with watch.active(), measure("a"), measure("b"):
        pass
    lines = watch.table().rstrip("\n").split("\n")
    assert [line.split()[-1] for line in lines] == ["name", "total", "a", "b"]
    assert lines[1].index("total") < lines[2].index("a") < lines[3].rindex("b")
    assert "100.0%" in lines[1]
