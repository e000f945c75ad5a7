"""Compiling a file again whenever it is saved, with what was before kept to compare with."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Condition
from time import sleep

from tilewright.support.errors import TilewrightError
from tilewright.support.records import dataclass
from tilewright.tools.explore.recording import Recording

SECONDS = 0.3
"""Between two looks at a file."""


@dataclass(frozen=True)
class Shown:
    """What a page shows."""

    number: int
    """Counts compilations, from 1."""
    recordings: Sequence[Recording]
    labels: Sequence[str]


class Versions:
    """The versions of a kernel that a page shows now: the newest, the one before it was edited, those to compare with.
    `record` gives the newest and those to compare with, by what they are called."""

    def __init__(self, record: Callable[[], Mapping[str, Recording]]) -> None:
        self._record = record
        self._news = Condition()
        self.shown = Shown(0, (), ())

    def compile(self) -> Shown:
        """Compile for the first time. Raises what that raises."""
        recorded = self._record()
        return self._show(list(recorded.values()), list(recorded))

    def compile_again(self) -> Shown:
        """Compile what was edited. Where that is refused the last version stays, with the reason."""
        newest, old_label = self.shown.recordings[0], self.shown.labels[0]
        try:
            recorded = self._record()
        except TilewrightError as error:
            failed = replace(newest, failure=str(error))
            return self._show([failed, *self.shown.recordings[1:]], self.shown.labels)
        (label, recording), *others = recorded.items()
        before = replace(newest, failure="")
        labels = [label.removeprefix("before: "), f"before: {old_label}", *(name for name, _ in others)]
        return self._show([recording, before, *(other for _, other in others)], labels)

    def _show(self, recordings: Sequence[Recording], labels: Sequence[str]) -> Shown:
        with self._news:
            self.shown = Shown(self.shown.number + 1, recordings, labels)
            self._news.notify_all()
        return self.shown

    def wait_after(self, number: int, seconds: float) -> Shown | None:
        """Return what is shown once it is newer than `number`; None after some seconds."""
        with self._news:
            self._news.wait_for(lambda: self.shown.number > number, seconds)
            return self.shown if self.shown.number > number else None


def watch_file(versions: Versions, file: Path) -> Iterator[Shown]:
    """Compile now, and each time that a Python file in the folder of `file`, or `file` itself, is saved."""
    yield versions.compile() if not versions.shown.number else versions.shown
    seen = _times_of(file)
    while True:
        sleep(SECONDS)
        now = _times_of(file)
        if now != seen:
            seen = now
            _forget(file)
            yield versions.compile_again()


def _times_of(file: Path) -> dict[Path, int]:
    """Return when the file, and the loaded modules beside it, were saved."""
    times: dict[Path, int] = {}
    for path in (file.resolve(), *(path for _, path in _modules_beside(file))):
        try:
            times[path] = path.stat().st_mtime_ns
        except OSError:  # some editors write a new file and rename it
            times[path] = 0
    return times


def _modules_beside(file: Path) -> list[tuple[str, Path]]:
    folder = file.resolve().parent
    named = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    return [(name, Path(path)) for name, path in named if path and folder in Path(path).parents and name != "__main__"]


def _forget(file: Path) -> None:
    """Have modules beside the file imported anew, and sources read anew."""
    for name, _ in _modules_beside(file):
        sys.modules.pop(name, None)
    linecache.clearcache()
