"""A recording as text in the terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tilewright.ir.line_places import PrintedLine
from tilewright.support.spans import Span
from tilewright.tools.explore.recording import Recording, Step
from tilewright.tools.explore.sources import ExploreError
from tilewright.tools.suggestions import did_you_mean

CONTEXT = 3
"""Unchanged lines around a change."""


def print_overview(recording: Recording, console: Console) -> None:
    """A table of passes: the time of each, how many ops there are after it, how many lines it changed."""
    options = f", {recording.kernel.options}" if recording.kernel.options else ""
    table = Table(
        title=f"{recording.kernel.name} for {recording.kernel.target}{options}", title_justify="left", box=None
    )
    table.add_column("stage")
    table.add_column("pass", overflow="fold")
    for column in ("ms", "ops", "lines", "+", "-"):
        table.add_column(column, justify="right")
    stage = ""
    for index, step in enumerate(recording.steps):
        added, removed = change_of(recording.before(index), step)
        style = None if step.is_changed else "dim"
        shown = step.stage if step.stage != stage else ""
        numbers = (f"{step.milliseconds:.1f}", str(step.num_ops), str(len(step.lines)), *map(_count, (added, removed)))
        table.add_row(shown, Text(step.name), *numbers, style=style)
        stage = step.stage
    console.print(table)
    for name, lines in recording.emission.texts.items():
        console.print(f"{name}: {len(lines)} lines", highlight=False)
    for fact in recording.emission.facts:
        note = f" ({fact.note})" if fact.note else ""
        console.print(f"{fact.label}: {fact.value}{note}", highlight=False, markup=False)
    for step in recording.steps:
        for remark in step.remarks:
            console.print(remark, style="yellow", markup=False, highlight=False)
    console.print("--stage NAME, --pass NAME and --line N show more; --output PAGE.html all of it", style="dim")


def _count(number: int) -> str:
    return str(number) if number else ""


def change_of(before: Sequence[PrintedLine], step: Step) -> tuple[int, int]:
    """Return how many lines a pass added and removed."""
    if not step.is_changed or not before:
        return 0, 0
    old, new = ([line.text for line in lines] for lines in (before, step.lines))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(new) - same, len(old) - same


def print_stage(recording: Recording, name: str, console: Console) -> None:
    """One stage with the source line of each line in the margin, or one of the machine's texts. Raises ExploreError."""
    texts = {**{stage: step.lines for stage, step in recording.stages.items()}, **recording.emission.texts}
    lines = texts.get(name)
    if lines is None:
        raise ExploreError(f"no stage {name!r}{did_you_mean(name, texts)}; this kernel has {', '.join(texts)}")
    files = _files(recording)
    margins = [_short(line.places[0], files) if line.places else "" for line in lines]
    width = max(map(len, margins), default=0)
    for before, margin, line in zip(("", *margins), margins, lines, strict=False):
        shown = "" if margin == before else margin
        console.print(Text.assemble((f"{shown:>{width}} ", "cyan"), line.text), highlight=False, soft_wrap=True)


def print_passes(recording: Recording, name: str, console: Console) -> None:
    """Print what a pass changed, as a diff, each time that it ran. Raises ExploreError."""
    found = [(n, step) for n, step in enumerate(recording.steps) if step.name.partition("{")[0] == name]
    if not found:
        known = dict.fromkeys(step.name.partition("{")[0] for step in recording.steps[1:])
        raise ExploreError(f"no pass {name!r} ran{did_you_mean(name, known)}; these did: {', '.join(known)}")
    for index, step in found:
        console.print(f"{step.stage}: {step.name}", style="bold", highlight=False, markup=False)
        if not step.is_changed:
            console.print("  no change", style="dim")
        for line in diff(recording.before(index), step.lines):
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[0])
            console.print(Text(line, style=style or ""), highlight=False, soft_wrap=True)


def diff(before: Sequence[PrintedLine], after: Sequence[PrintedLine]) -> Iterator[str]:
    """The lines of a unified diff, without the names of files."""
    old, new = ([line.text for line in lines] for lines in (before, after))
    yield from list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]


def print_line(recording: Recording, line: int, console: Console) -> None:
    """Print what becomes of a line of the kernel's file in each stage. Raises ExploreError."""
    file = next(iter(_files(recording)), "")
    source = Span(file, line).source_line()
    if source is None:
        raise ExploreError(f"{file or 'the kernel'} has no line {line}")
    console.print(f"{file}:{line}", style="bold", highlight=False, markup=False)
    console.print(source, markup=False, highlight=False)
    texts = {**{stage: step.lines for stage, step in recording.stages.items()}, **recording.emission.texts}
    for stage, lines in texts.items():
        console.print(f"--- {stage}", style="cyan", highlight=False)
        found = [one.text for one in lines if any((p.filename, p.line) == (file, line) for p in one.places)]
        for text in found or ["(nothing)"]:
            console.print(text, markup=False, highlight=False, soft_wrap=True, style="" if found else "dim")


def _files(recording: Recording) -> list[str]:
    """The source files that places are in, the kernel's own first."""
    first = recording.steps[0].lines
    steps = (line for step in recording.steps for line in step.lines)
    places = (place.filename for lines in (first, steps) for line in lines for place in line.places[-1:])
    return list(dict.fromkeys(places))


def _short(place: Span, files: Sequence[str]) -> str:
    """The line alone in the kernel's own file, else also the beginning of the file's name."""
    if files and place.filename == files[0]:
        return str(place.line)
    return f"{place.filename.rpartition('/')[2].partition('.')[0][:8]}:{place.line}"
