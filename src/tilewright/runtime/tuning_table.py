"""What the autotuner measures, as a table: while it measures, where that takes long and errors go to a terminal; at the
end, where the switch `print_autotuning` is on; as an HTML file in the folder that `autotuning_reports` names.
"""

from __future__ import annotations

import html
import re
import sys
import time
from collections.abc import Mapping, Sequence
from io import StringIO
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.support import knobs
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from rich.table import Table

PATIENCE = 0.5
"""Seconds of measuring after which a terminal shows the table."""


@dataclass(frozen=True)
class Row:
    """A configuration."""

    config: str
    times: Sequence[float]
    """Milliseconds: the median, and the 20th and the 80th percentile where they are known; infinite where it does not
    run."""
    note: str = ""
    """Why it does not run, or which one has the same code."""


class TuningTable:
    """The configurations of one kernel and key, in the order in which they are measured; to be used in a `with`."""

    def __init__(self, kernel: str, key: Sequence[Any], candidates: Sequence[Mapping[str, Any]]) -> None:
        self.title = f"{kernel}, key {', '.join(map(str, key))}" if key else kernel
        self.num_candidates = len(candidates)
        names = dict.fromkeys(name for candidate in candidates for name in candidate)
        self._names = [name for name in names if len({repr(c.get(name)) for c in candidates}) > 1]
        self.rows: list[Row] = []
        self._start = time.perf_counter()
        self._live: Any = None

    def __enter__(self) -> TuningTable:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def name(self, config: Mapping[str, Any]) -> str:
        """A configuration by the values in which the candidates differ."""
        return ", ".join(f"{name}: {config[name]}" for name in self._names if name in config)

    def add(self, config: Mapping[str, Any], times: Sequence[float], note: str = "") -> None:
        """Note what was measured; on a terminal, show it."""
        self.rows.append(Row(self.name(config), times, note))
        seconds = time.perf_counter() - self._start
        if self._live is None and seconds > PATIENCE and sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            # Without a thread that draws: a fork in between would inherit its lock.
            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
        if self._live is not None:
            left = seconds / len(self.rows) * (self.num_candidates - len(self.rows))
            caption = f"{len(self.rows)} of {self.num_candidates}, {seconds:.0f} s, about {left:.0f} s left"
            self._live.update(self.render(caption), refresh=True)

    def render(self, caption: str = "") -> Table:
        """The table, the fastest configuration first."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(title=self.title, caption=caption, title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("configuration", overflow="fold")
        for column in ("median", "20 % to 80 %", "ratio"):
            table.add_column(column, justify="right", no_wrap=True)
        table.add_column("note", overflow="fold")
        rows = sorted(self.rows, key=lambda row: row.times[0])
        for row in rows:
            fastest = rows[0].times[0]
            ratio = f"{row.times[0] / fastest:.2f}" if 0 < fastest < inf and row.times[0] < inf else ""
            style = "bold" if row is rows[0] and fastest < inf else "dim" if row.times[0] == inf else ""
            spread = " to ".join(map(_shown, row.times[1:3])) if len(row.times) >= 3 else ""
            cells = (_shown(row.times[0]), spread, ratio, row.note)
            table.add_row(row.config, *map(Text, cells), style=style)
        return table

    def report(self, summary: str) -> None:
        """Print and write what the switches ask for, once all is measured."""
        folder = knobs.get("autotuning_reports")
        if knobs.ask_again("print_autotuning"):
            from rich.console import Console

            console = Console(highlight=False)
            console.print(self.render())
            console.print(summary, markup=False, soft_wrap=True)
        if folder:
            self._write(Path(folder), summary)

    def _write(self, folder: Path, summary: str) -> None:
        from rich.console import Console

        console = Console(record=True, width=160, file=StringIO(), highlight=False)
        console.print(self.render())
        console.print(summary, markup=False, soft_wrap=True)
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", self.title)[:100]
        text = console.export_html(inline_styles=True)
        titled = text.replace("<head>", f"<head>\n<title>{html.escape(self.title)}</title>", 1)
        (folder / f"{name}.html").write_text(titled, encoding="utf-8")


def _shown(milliseconds: float) -> str:
    """A time in the unit that suits it."""
    if milliseconds == inf:
        return "-"
    return f"{milliseconds * 1e3:.1f} us" if milliseconds < 1 else f"{milliseconds:.2f} ms"
