"""Recordings as one HTML file: `web/page.html` with styles, scripts and the recordings as JSON in it. It needs no other
file and no network.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import tilewright
from tilewright.ir.line_places import PrintedLine
from tilewright.layouts.draw import render_svg
from tilewright.support.spans import Span
from tilewright.tools.explore.recording import Recording, Step
from tilewright.tools.explore.roofline import gpu_roofline, host_roofline

BEFORE, AFTER = 12, 6
"""Lines of a source file that are shown around those that IR comes from."""

SCRIPTS = ("data", "code", "diff", "views", "overview", "layouts", "compare", "list", "state", "panes", "main")
"""The scripts of a page, in this order."""


def render_page(*recordings: Recording, labels: Sequence[str] = (), live: int = 0) -> str:
    """The page's text. Several recordings are versions, told apart by `labels`; a live page asks its server for what
    comes after that number."""
    web = files("tilewright.tools.explore").joinpath("web")
    first = recordings[0]
    parts = {
        "title": escape(f"{first.kernel.name} for {first.kernel.target}"),
        "style": web.joinpath("style.css").read_text(encoding="utf-8"),
        "data": page_json(*recordings, labels=labels, live=live),
        "script": "\n".join(web.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
    }
    page = web.joinpath("page.html").read_text(encoding="utf-8")
    before, *pieces = page.split("{{")
    named = (piece.partition("}}") for piece in pieces)
    return before + "".join(parts[name] + rest for name, _, rest in named)


def page_json(*recordings: Recording, labels: Sequence[str] = (), live: int = 0) -> str:
    """Return what a page shows, as JSON that no tag or comment of HTML can begin in."""
    data = page_data(recordings, labels or [_label(recording) for recording in recordings], live=live)
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def page_data(recordings: Sequence[Recording], labels: Sequence[str], *, live: int = 0) -> dict[str, Any]:
    """Return what the page shows, JSON-able. Texts of steps are lists of numbers of lines, and of places, of which each
    is written down once: most lines are the same after most passes.
    """
    shared = _Shared()
    versions = [
        {"label": label, **_version(recording, shared)} for label, recording in zip(labels, recordings, strict=True)
    ]
    return {
        "versions": versions,
        "files": shared.sources.shown(),
        "lines": list(shared.texts.numbers),
        "places": [list(map(list, place)) for place in shared.places.numbers],
        "live": live,
    }


def _label(recording: Recording) -> str:
    return ", ".join(filter(None, (recording.kernel.name, recording.kernel.target, recording.kernel.options)))


class _Shared:
    """What versions have in common: lines of text, places, files."""

    def __init__(self) -> None:
        self.texts, self.places, self.sources = _Numbered(), _Numbered(), _Sources()

    def text_of(self, lines: Iterable[PrintedLine], recording: Recording) -> dict[str, list[int]]:
        """Lines as numbers, with the numbers of their places."""
        lines = list(lines)
        return {
            "text": [self.texts.number(line.text) for line in lines],
            "from": [
                self.places.number(tuple(self.sources.place(span, recording) for span in line.places)) for line in lines
            ],
        }


def _version(recording: Recording, shared: _Shared) -> dict[str, Any]:
    roofline = host_roofline() if recording.kernel.capability is None else gpu_roofline(recording.kernel.capability)
    return {
        "name": recording.kernel.name,
        "target": recording.kernel.target,
        "options": recording.kernel.options,
        "failure": recording.failure,
        "parameters": [[p.name, p.type, p.value] for p in recording.kernel.parameters],
        "grid": recording.kernel.grid,
        "emission": round(recording.emission.milliseconds, 2),
        "facts": [[fact.label, fact.value, fact.note, fact.number] for fact in recording.emission.facts],
        "work": None if recording.work is None else vars(recording.work),
        "roofline": None if roofline is None else vars(roofline),
        "banks": [
            [access.op, _line_of(access.place), access.instruction, access.conflicts, access.passes]
            for access in recording.banks
        ],
        "steps": [
            _step_data(step, recording.before(index), shared, recording) for index, step in enumerate(recording.steps)
        ],
        "machine": [
            {"name": name, **shared.text_of(lines, recording)} for name, lines in recording.emission.texts.items()
        ],
        "drawings": [
            {
                "title": drawing.title,
                "values": drawing.values,
                "encoding": drawing.encoding,
                "summary": drawing.summary,
                "cut": drawing.is_cut,
                "shared": drawing.is_shared,
                "svg": render_svg([drawing.picture]),
            }
            for drawing in recording.drawings
        ],
    }


def _line_of(place: Span | None) -> str:
    return "" if place is None else f"{Path(place.filename).name}:{place.line}"


def _step_data(step: Step, before: Sequence[PrintedLine], shared: _Shared, recording: Recording) -> dict[str, Any]:
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
    data |= shared.text_of(step.lines, recording)
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
    """The source files that lines come from: a file that was changed between two recordings is two."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, Sequence[str]]] = []
        self._lines: list[set[int]] = []
        self._known: dict[tuple[str, int], int] = {}

    def place(self, span: Span, recording: Recording) -> tuple[int, int]:
        """Number of the file, and line."""
        if (span.filename, id(recording)) not in self._known:
            self._enter(recording)
        number = self._known[span.filename, id(recording)]
        self._lines[number].add(span.line)
        return number, span.line

    def _enter(self, recording: Recording) -> None:
        """All files of a recording, in its order: the kernel's own comes first."""
        for name, lines in recording.sources.items():
            text = (name, lines)
            if text not in self._texts:
                self._texts.append(text)
                self._lines.append(set())
            self._known[name, id(recording)] = self._texts.index(text)

    def shown(self) -> list[dict[str, Any]]:
        """Of each file the lines around those that IR comes from, in segments."""
        return [
            {"name": shown_path(name), "segments": _segments(lines, numbers)}
            for (name, lines), numbers in zip(self._texts, self._lines, strict=True)
        ]


def shown_path(filename: str) -> str:
    """A path that says nothing about the machine that the page was made on: from the package, or from the folder that
    the command ran in, else the name alone."""
    path = Path(filename)
    for root, prefix in ((Path(tilewright.__file__).parent, Path("tilewright")), (Path.cwd(), Path())):
        if path.is_relative_to(root):
            return str(prefix / path.relative_to(root))
    return path.name


def _segments(lines: Sequence[str], numbers: Iterable[int]) -> list[dict[str, Any]]:
    shown = sorted({near for number in numbers for near in range(number - BEFORE, number + AFTER + 1)})
    shown = [number for number in shown if 1 <= number <= len(lines)]
    found: list[dict[str, Any]] = []
    for number in shown:
        if not found or number != found[-1]["first"] + len(found[-1]["lines"]):
            found.append({"first": number, "lines": []})
        found[-1]["lines"].append(lines[number - 1])
    return found
