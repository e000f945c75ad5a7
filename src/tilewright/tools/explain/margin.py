"""A report as text, advice below the lines that it is about; and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from tilewright.support.spans import Span
from tilewright.tools.explain.advice import Advice
from tilewright.tools.explain.report import Finding, Report

WIDTH = 100
"""Columns of advice."""


def print_report(report: Report, console: Console) -> None:
    """The kernel's source, each finding under its line; findings elsewhere after it, each with its own line."""
    _Printer(report, console).print()


class _Printer:
    def __init__(self, report: Report, console: Console) -> None:
        self._report = report
        self._console = console
        self._lines = report.text.splitlines()
        self._end = report.first_line + len(self._lines)
        places = [one.place.line for one in report.findings if one.place is not None]
        self._digits = len(str(max((self._end, *places))))
        self._said: dict[Advice, int] = {}
        """Lines at which an advice was given: it is long, and often the same."""

    def print(self) -> None:
        report = self._report
        self._say(f"{report.file}: {report.kernel} for {report.target}", "bold")
        inside = [one for one in report.findings if self._is_inside(one.place)]
        for index, line in enumerate(self._lines, start=report.first_line):
            self._line(index, line, [one for one in inside if one.place is not None and one.place.line == index])
        elsewhere = [one for one in report.findings if one not in inside]
        for place in dict.fromkeys(one.place for one in elsewhere):
            if place is not None:
                self._say(str(place), "bold")
                self._line(place.line, place.source_line() or "", [one for one in elsewhere if one.place == place])
        for one in elsewhere:
            if one.place is None:
                self._advice(one, "")
        for fact in report.machine:
            self._say(f"{fact.label}: {fact.value}{f' ({fact.note})' if fact.note else ''}", "dim")
        self._say(_summary(report.findings), "dim")

    def _say(self, text: str, style: str) -> None:
        self._console.print(Text(text, style), soft_wrap=True)

    def _is_inside(self, place: Span | None) -> bool:
        report = self._report
        return place is not None and place.filename == report.file and report.first_line <= place.line < self._end

    def _line(self, line_number: int, line: str, here: Sequence[Finding]) -> None:
        mark, style = (">", "yellow") if here else (" ", "dim")
        start = (f"{line_number:>{self._digits}} {mark} ", style)
        self._console.print(Text.assemble(start, line), soft_wrap=True)
        margin = " " * (self._digits + 3 + len(line) - len(line.lstrip()))
        for one in here:
            self._advice(one, margin)

    def _advice(self, one: Finding, margin: str) -> None:
        line = one.place.line if one.place is not None else 0
        before = self._said.setdefault(one.advice, line)
        change = one.advice.change if before == line else f"as said of line {before}"
        self._paragraph(f"{margin}^ ", f"{one.advice.title}: ", one.reason, "bold yellow")
        self._paragraph(f"{margin}  ", "change: ", change, "green")

    def _paragraph(self, margin: str, title: str, text: str, style: str) -> None:
        first, *others = textwrap.wrap(title + text, max(40, WIDTH - len(margin)), break_long_words=False)
        self._console.print(Text.assemble(margin, (title, style), first.removeprefix(title)), soft_wrap=True)
        for part in others:
            self._console.print(Text(" " * len(margin) + part), soft_wrap=True)


def _summary(findings: Sequence[Finding]) -> str:
    if not findings:
        return "nothing to remark on"
    titles = [one.advice.title for one in findings]
    return ", ".join(f"{titles.count(title)} x {title}" for title in dict.fromkeys(titles))


def as_json(report: Report) -> str:
    """An object with the kernel, the target and lists of findings and of facts of
    its machine code; line and column count from 1, null if unknown."""
    found = {"kernel": report.kernel, "target": report.target, "file": report.file}
    machine = [{"label": fact.label, "value": fact.value, "note": fact.note} for fact in report.machine]
    return json.dumps({**found, "findings": list(_plain(report.findings)), "machine": machine}, indent=2)


def _plain(findings: Iterable[Finding]) -> Iterator[dict[str, object]]:
    for one in findings:
        place = one.place or Span("", 0)
        yield {
            "kind": one.kind.value,
            "file": place.filename or None,
            "line": place.line or None,
            "column": place.col or None,
            "pass": one.pass_name,
            "title": one.advice.title,
            "reason": one.reason,
            "change": one.advice.change,
        }
