"""Errors, notes and remarks of the commands in colours, where they go to a terminal.

What counts as one is rich's rule: a terminal that is not `dumb`, or FORCE_COLOR; NO_COLOR beats both.
"""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console
from rich.text import Text

_STYLES = {"error": "bold red", "warning": "bold magenta", "remark": "bold blue", "note": "bold cyan", "hint": "green"}
_HEAD = re.compile(rf"(?P<place>(?:\S.*?: )?)(?P<severity>{'|'.join(_STYLES)}): ")
_CARETS = re.compile(r"\s*\^+")


def write_diagnostic(text: str, stream: TextIO) -> None:
    """Write a rendered diagnostic (`support.spans.render_message`), or several, and the end of the line."""
    console = Console(file=stream, highlight=False)
    if console.no_color or not console.is_terminal or console.color_system is None:
        stream.write(f"{text}\n")
        return
    for line in text.split("\n"):
        console.print(styled(line), soft_wrap=True)


def styled(line: str) -> Text:
    """One line: its place in bold, its severity and its carets in colours."""
    shown = Text(line)
    if _CARETS.fullmatch(line):
        shown.stylize("bold green")
    elif (head := _HEAD.match(line)) is not None:
        shown.stylize("bold", *head.span("place"))
        shown.stylize(_STYLES[head["severity"]], *head.span("severity"))
    return shown
