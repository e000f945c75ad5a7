"""A recording as one HTML file: `page.html` with the recording as JSON in it. It needs no other file and no network."""

from __future__ import annotations

import difflib
import json
import linecache
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from tilewright.ir.line_places import PrintedLine
from tilewright.layouts.draw import render_svg
from tilewright.support.spans import Span
from tilewright.tools.explore.recording import Recording, Step

BEFORE, AFTER = 12, 6
"""Lines of a source file that are shown around those that IR comes from."""


def render_page(recording: Recording) -> str:
    """The page's text."""
    template = files("tilewright.tools.explore").joinpath("page.html").read_text(encoding="utf-8")
    data = json.dumps(page_data(recording), separators=(",", ":")).replace("<", "\\u003c")  # no tag, no comment
    return template.replace("{{title}}", escape(f"{recording.name} for {recording.target}")).replace("{{data}}", data)


def page_data(recording: Recording) -> dict[str, Any]:
    """Return what the page shows, JSON-able. Texts of steps are lists of numbers of lines, and of places, of which each
    is written down once: most lines are the same after most passes.
    """
    sources = _Sources(line for step in recording.steps for line in step.lines)
    texts, places = _Numbered(), _Numbered()
    steps = [
        _step_data(step, recording.before(number), texts, places, sources)
        for number, step in enumerate(recording.steps)
    ]
    return {
        "name": recording.name,
        "target": recording.target,
        "options": recording.options,
        "failure": recording.failure,
        "files": sources.shown(),
        "lines": list(texts.numbers),
        "places": [list(map(list, place)) for place in places.numbers],
        "steps": steps,
        "machine": recording.machine,
        "drawings": [
            {"title": d.title, "encoding": d.encoding, "summary": d.summary, "svg": render_svg([d.picture])}
            for d in recording.drawings
        ],
    }


def _step_data(
    step: Step, before: Sequence[PrintedLine], texts: _Numbered, places: _Numbered, sources: _Sources
) -> dict[str, Any]:
    data: dict[str, Any] = {
        "stage": step.stage,
        "name": step.name,
        "ms": round(step.milliseconds, 2),
        "ops": step.num_ops,
        "remarks": list(step.remarks),
        "summary": step.summary,
    }
    if not step.is_changed:
        return data
    data["text"] = [texts.number(line.text) for line in step.lines]
    data["from"] = [places.number(tuple(sources.place(span) for span in line.places)) for line in step.lines]
    data["changes"] = _changes(before, step.lines) if before else []
    return data


def _changes(before: Sequence[PrintedLine], after: Sequence[PrintedLine]) -> list[tuple[int, int, int, int]]:
    """Return which lines of the text before (from, to) became which of the text after."""
    old, new = ([line.text for line in lines] for lines in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [(i, j, first, last) for tag, i, j, first, last in matcher.get_opcodes() if tag != "equal"]


class _Numbered:
    """Numbers things by their first appearance."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def number(self, thing: Any) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))


class _Sources:
    """The source files that lines come from."""

    def __init__(self, lines: Iterable[PrintedLine]) -> None:
        self._lines: dict[str, set[int]] = {}
        for line in lines:
            for span in reversed(line.places):  # the kernel's own file is the outermost, and comes first
                self._lines.setdefault(span.filename, set()).add(span.line)
        self._numbers = {name: number for number, name in enumerate(self._lines)}

    def place(self, span: Span) -> tuple[int, int]:
        """Number of the file, and line."""
        return self._numbers[span.filename], span.line

    def shown(self) -> list[dict[str, Any]]:
        """Of each file the lines around those that IR comes from, in stretches."""
        return [{"name": name, "stretches": _stretches(name, numbers)} for name, numbers in self._lines.items()]


def _stretches(filename: str, numbers: Iterable[int]) -> list[dict[str, Any]]:
    lines = linecache.getlines(filename)
    shown = sorted({near for number in numbers for near in range(number - BEFORE, number + AFTER + 1)})
    shown = [number for number in shown if 1 <= number <= len(lines)]
    found: list[dict[str, Any]] = []
    for number in shown:
        if not found or number != found[-1]["first"] + len(found[-1]["lines"]):
            found.append({"first": number, "lines": []})
        found[-1]["lines"].append(lines[number - 1].rstrip("\n"))
    return found
