"""`tilewright knobs`: every switch with its value now, as a table that fits the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tilewright.support import knobs


def render_switches() -> str:
    """The table, as wide as the terminal; values that differ from the default are bold there."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("variable", "value", "meaning"):
        table.add_column(title, no_wrap=title == "variable", overflow="fold")
    for knob in knobs.KNOBS:
        value = knobs.get(knob.name)
        meaning = Text(knob.doc)
        if knob.choices:
            meaning.append(f" One of {', '.join(knob.choices)}.", style="dim")
        if knob.triton_env:
            meaning.append(f" Triton's {knob.triton_env}.", style="dim")
        table.add_row(Text(knob.env), Text(_shown(value), style="bold" if value != knob.default else ""), meaning)
    console = Console()
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def _shown(value: object) -> str:
    match value:
        case bool():
            return "1" if value else "0"
        case tuple():
            return ",".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case _:
            return str(value)
