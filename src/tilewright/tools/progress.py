"""Progress of a long command: on a terminal, a bar with a note and the time left; elsewhere nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Told = Callable[[float, str], None]
"""Takes how much of the total is done, and a note."""


@contextmanager
def progress(what: str, total: float | None) -> Generator[Told]:
    """For the length of a `with`, a bar below what is printed; it is gone after that. `total` is in any unit, None
    where nobody knows it."""
    if not sys.stderr.isatty():
        yield lambda done, note: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)
