"""How far a run is and how long it will take, failures as they come, and reasons of skips by kind at the end."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

import pytest

EVERY = {True: 0.2, False: 10.0}
"""Seconds between lines: on a terminal, where one line is rewritten, and in a log."""

SECONDS = "tilewright/seconds"
"""Where pytest's cache keeps how long tests took, by file."""

WORDS = {"xfailed": "XFAIL", "xpassed": "XPASS"}
"""Outcomes that pytest does not call by their names."""

KINDS = 12
"""Reasons of skips that are shown; the others are counted together."""


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, `1:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Estimate:
    """The share of the work that is done, by how long the tests of a file took in the last run."""

    def __init__(self, known: dict[str, float]) -> None:
        self.known = known
        self.usual = sum(known.values()) / len(known) if known else 1.0
        self.total, self.done = 0.0, 0.0

    def weight(self, nodeid: str) -> float:
        return self.known.get(nodeid.partition("::")[0], self.usual)

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 0.0


class Progress:
    """A reporter beside pytest's own: it takes the place of the dots."""

    def __init__(self, config: pytest.Config, reporter: Any) -> None:
        self.config, self.reporter = config, reporter
        self.is_terminal = sys.stdout.isatty()
        self.estimate = Estimate(self._load())
        self.count, self.finished, self.failed = 0, 0, 0
        self.start = self.last = time.monotonic()
        self.seconds: dict[str, list[float]] = {}

    @property
    def cache(self) -> pytest.Cache | None:
        """Pytest's cache between runs; there is none under `-p no:cacheprovider`."""
        return getattr(self.config, "cache", None)

    def _load(self) -> dict[str, float]:
        return dict(self.cache.get(SECONDS, {})) if self.cache is not None else {}

    def begin(self, nodeids: list[str]) -> None:
        """Take the tests of the run; workers all name the same."""
        if not self.count:
            self.count, self.start = len(nodeids), time.monotonic()
            self.estimate.total = sum(map(self.estimate.weight, nodeids))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self.begin([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.begin(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str]:
        """No dots and letters."""
        if hasattr(report, "wasxfail"):
            kind = "xfailed" if report.skipped else "xpassed"
        elif report.passed:
            kind = "passed" if report.when == "call" else ""
        else:
            kind = "error" if report.failed and report.when in ("setup", "teardown") else report.outcome
        return kind, "", WORDS.get(kind, kind.upper())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self.seconds.setdefault(file, [0.0, 0.0])[0] += report.duration
        if report.failed:
            self.failed += 1
            self._clear()
            self.reporter.write_line(f"FAILED {report.nodeid} ({report.when})", red=True)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.finished += 1
        self.estimate.done += self.estimate.weight(nodeid)
        self.seconds.setdefault(nodeid.partition("::")[0], [0.0, 0.0])[1] += 1
        now = time.monotonic()
        if now - self.last >= EVERY[self.is_terminal]:
            self.last = now
            self._show(nodeid)

    def _show(self, nodeid: str) -> None:
        share, passed = self.estimate.share, time.monotonic() - self.start
        left = f", about {clock(passed / share - passed)} left" if share > 0.01 else ""
        failed = f", {self.failed} failed" if self.failed else ""
        line = f"{share:4.0%}  {self.finished} of {self.count}{failed}, {clock(passed)}{left}  {nodeid}"
        if self.is_terminal:
            self._clear()
            width = self.reporter._tw.fullwidth
            self.reporter._tw.write(line[: width - 1])
            self.reporter._tw.flush()
        else:
            self.reporter.write_line(line)

    def _clear(self) -> None:
        if self.is_terminal:
            self.reporter._tw.write("\r\x1b[2K")

    def pytest_sessionfinish(self) -> None:
        self._clear()
        if self.cache is not None and self.finished:
            means = {file: round(total / number, 4) for file, (total, number) in self.seconds.items() if number}
            self.cache.set(SECONDS, {**self.estimate.known, **means})


def skips_by_kind(reports: list[Any]) -> list[str]:
    """Lines of how many tests were skipped for what reason, the most frequent first."""
    reasons = Counter(_reason(report) for report in reports)
    shown = reasons.most_common(KINDS)
    others = sum(reasons.values()) - sum(count for _, count in shown)
    lines = [f"{count:6d}  {reason}" for reason, count in shown]
    return [*lines, f"{others:6d}  for {len(reasons) - KINDS} other reasons (pytest -rs)"] if others else lines


def _reason(report: Any) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ").splitlines()[0]
