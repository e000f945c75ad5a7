"""Positions in source text, and the excerpt with a caret that every diagnostic shows.

kernel.py:12:9: error: expected a block of pointers, got a block of float32
    tl.load(x + offsets)
            ^^^^^^^^^^^
"""

from __future__ import annotations

import linecache
import sys

from tilewright.support.records import dataclass

TAB_WIDTH = 4
LONGEST = 200
"""Characters of a line that are shown."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range on one line of a file. Lines and columns count from 1, as compilers print them; `end_col` is exclusive.

    `col == 0` means that only the line is known.
    """

    filename: str
    line: int
    col: int = 0
    end_col: int = 0

    def __str__(self) -> str:
        if (cell := _cell_of(self.filename)) is not None:
            return f"{cell}, line {self.line}"
        return f"{self.filename}:{self.line}:{self.col}" if self.col else f"{self.filename}:{self.line}"

    def source_line(self) -> str | None:
        """The text of the line, read through `linecache` (which also knows the cells of a notebook), or None."""
        text = linecache.getline(self.filename, self.line)
        return text.rstrip("\n") if text else None


def _cell_of(filename: str) -> str | None:
    """Return what IPython calls the code of that file name, such as `Cell In[7]`; None for a file.

    From `format_code_name` of its compiler (IPython 8 and later), which tracebacks of IPython use, too.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    format_name = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if format_name is None else format_name(filename)
    return None if found is None else " ".join(found)


def render_caret(source_line: str, col: int, end_col: int = 0, *, indent: str = "    ") -> str:
    """The source line, and below it carets under columns `col` to `end_col - 1` (1-based; at least one caret).

    Tabs become spaces so that the carets stand where the reader sees the text. A column past the end of the line puts
    the caret just after the last character; `col == 0` gives the line alone. Of a long line the part around the carets
    is shown.
    """
    shown = source_line.expandtabs(TAB_WIDTH).rstrip()
    if col < 1:
        return indent + _cut(shown, 0)[0]
    start = len(source_line[: col - 1].expandtabs(TAB_WIDTH))
    end = len(source_line[: max(end_col - 1, col)].expandtabs(TAB_WIDTH))
    start = min(start, len(shown))
    width = max(1, min(end, len(shown)) - start)
    shown, start = _cut(shown, start)
    return f"{indent}{shown}\n{indent}{' ' * start}{'^' * min(width, len(shown) - start or 1)}"


def _cut(line: str, column: int) -> tuple[str, int]:
    """A line, or `LONGEST` characters of it around a column, and that column in what is left."""
    if len(line) <= LONGEST:
        return line, column
    first = max(0, min(column - LONGEST // 2, len(line) - LONGEST))
    before, after = "..." if first else "", "..." if first + LONGEST < len(line) else ""
    return before + line[first : first + LONGEST] + after, column - first + len(before)


def render_message(
    severity: str,
    message: str,
    span: Span | None,
    *,
    source_line: str | None = None,
    hint: str | None = None,
) -> str:
    """One diagnostic: `where: severity: message`, the excerpt with a caret, then `hint: ...` where there is one."""
    lines = [f"{span}: {severity}: {message}" if span is not None else f"{severity}: {message}"]
    if span is not None:
        text = source_line if source_line is not None else span.source_line()
        if text is not None and text.strip():
            lines.append(render_caret(text, span.col, span.end_col))
    if hint:
        lines.append(f"hint: {hint}")
    return "\n".join(lines)
