"""Errors as mlir-opt prints them: the location, the source line, a caret, and the notes.

bad.mlir:2:8: error: 'arith.addi' op requires the same type for all operands and results
  %0 = arith.addi %a, %b : i32
       ^
bad.mlir:2:8: note: see current operation: %0 = "arith.addi"(%arg0, %arg1) : (i32, i1) -> i32
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.support.errors import LocatedError, Note, PipelineError, TilewrightError, VerifyError
from tilewright.support.records import dataclass
from tilewright.support.spans import Span
from tilewright.tools.command_line import PROGRAM


@dataclass(frozen=True)
class DiagnosticStyle:
    """How errors about one input are shown."""

    filename: str
    lines: list[str]
    """The text of the input, which `Span.source_line` knows only of files."""
    with_op: bool = True
    with_notes: bool = True

    def render(self, error: TilewrightError) -> str:
        """The error with what is known around it, without the end of the last line."""
        match error:
            case LocatedError(span=Span()):
                head = self._entry("error", error.message, error.span, error.source_line)
                place, notes = error.span, error.notes
            case VerifyError():
                span = error.location if isinstance(error.location, Span) else None
                head = self._entry("error", error.sentence(), span)
                current = [self._current(error, span)] if error.current and self.with_op else []
                return "\n".join((head, *current, *self._rendered(error.notes, span)))
            case PipelineError(said=said, refusal=refusal):
                first = f"{PROGRAM}: {refusal}\n" if refusal else ""
                return f"{first}<unknown>:0: error: {said if said or refusal else error}"
            case _:
                head, place, notes = str(error), None, ()
        return "\n".join((head, *self._rendered(notes, place), *_added(error)))

    def _rendered(self, notes: Sequence[Note], place: Span | None) -> list[str]:
        """The notes, and errors that follow; a note at the same place as what stands above it does not show the line
        again."""
        rendered: list[str] = []
        for note in notes if self.with_notes else ():
            entry = self._entry(note.severity, note.message, note.span, note.source_line)
            is_there = note.severity == "note" and _place(note.span) == _place(place)
            rendered.append(entry.partition("\n")[0] if is_there else entry)
            place = note.span
        return rendered

    def _current(self, error: VerifyError, span: Span | None) -> str:
        blank = "\n" if "\n" in error.current else ""
        return f"{_place(span)}: note: see current operation: {blank}{error.current}"

    def _entry(self, severity: str, message: str, span: Span | None, line: str | None = None) -> str:
        head = f"{_place(span)}: {severity}: {message}"
        text = line if line is not None else self._line(span)
        if span is None or text is None or not span.col:
            return head
        before = text[: span.col - 1].expandtabs(8)
        return f"{head}\n{text.expandtabs(8)}\n{' ' * len(before)}^"

    def _line(self, span: Span | None) -> str | None:
        if span is None:
            return None
        if span.filename == self.filename:
            return self.lines[span.line - 1] if 0 < span.line <= len(self.lines) else None
        return span.source_line()


def _place(span: Span | None) -> str:
    return "<unknown>:0" if span is None else str(span)


def _added(error: TilewrightError) -> Iterator[str]:
    """The notes that Python's errors carry."""
    return (f"note: {note}" for note in getattr(error, "__notes__", ()))
