"""Places in the text that is parsed, and errors there in the words of upstream's parser."""

from __future__ import annotations

import re
from bisect import bisect_right

from xdsl.utils import exceptions

from tilewright.ir.wording import UNENDED_STRING, upstream_words
from tilewright.support.errors import Note, ParseError

AFTER_THE_LAST_TOKEN = (
    "expected '",
    "expected attribute name",
    "expected bare identifier",
    "expected block name",
    "expected constant integer",
    "expected integer number of results",
    "use of undeclared identifier",
    "expected non-function type",
    "expected attribute value",
    "expected list element",
    "expected SSA operand",
    "expected operation name",
)
"""What is said of a missing token points, as upstream's parser does, at the end of the one before it."""


WITHOUT_A_NAME = {
    "%": "invalid SSA name",
    "#": "invalid attribute name",
    "!": "invalid type identifier",
    "^": "invalid block name",
}
"""What is said of a character that begins a name, and no name after it."""


class TextPlaces:
    """A text with the name of its file: what is at an offset, and errors that point there."""

    def __init__(self, text: str, filename: str) -> None:
        self.text = text
        self.filename = filename
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def error_at(self, start: int, end: int, reason: str) -> ParseError:
        """A `ParseError` for a range of the text."""
        line, col = self.line_and_column(min(start, len(self.text)))
        line_start = self.line_starts[line - 1]
        source = self.text[line_start:].partition("\n")[0]
        return ParseError(
            reason,
            filename=self.filename,
            line=line,
            col=col,
            end_col=min(col + max(end - start, 1), len(source) + 1),
            source_line=source,
        )

    def end_of_token_before(self, position: int) -> int:
        """Return where the last token before a position ends, over blanks and comments."""
        while True:
            position = len(self.text[:position].rstrip())
            line = self.text.rfind("\n", 0, position) + 1
            comment = self.text.find("//", line, position)
            if comment < 0 or self.text.count('"', line, comment) % 2:
                return position
            position = comment

    def error_in_upstream_words(self, error: exceptions.ParseError) -> ParseError:
        """An error of xDSL's, in the words and at the place of upstream's parser; one that it comes from goes first."""
        if isinstance(error.__cause__, exceptions.ParseError):
            first, own = (
                self.error_in_upstream_words(error.__cause__),
                self.error_at(error.span.start, error.span.end, error.msg),
            )
            first.notes.append(Note(own.message, own.span, own.source_line, "error"))
            return first
        start, end, reason = error.span.start, error.span.end, upstream_words(error.msg)
        if reason.startswith("Expected suffix identifier"):
            reason = WITHOUT_A_NAME[self.text[start]]
        elif reason == UNENDED_STRING:
            start, end = start + len(self.line_from(start)), 0
        elif reason.startswith("duplicate key"):
            start, end = self._last_entry(reason.removeprefix("duplicate key '").partition("' in ")[0], start, end)
        elif reason.startswith("redefinition of attribute alias"):
            start = self.line_starts[self.line_and_column(start)[0] - 1]
        elif reason.startswith("@ identifier expected"):
            start += 1
        elif reason.startswith("expected '== affine-expr'"):
            pass
        elif reason.startswith(AFTER_THE_LAST_TOKEN) or start >= len(self.text.rstrip()):
            start, end = self.end_of_token_before(min(start, len(self.text) - 1)) or start, 0
        return self.error_at(start, end, reason)

    def _last_entry(self, key: str, start: int, end: int) -> tuple[int, int]:
        """Find where the last entry of a key before `start` begins and ends; `start` and `end` if it is not found."""
        entries = re.finditer(rf'[{{,]\s*"?({re.escape(key)})\b', self.text[:start])
        return [(start, end), *(entry.span(1) for entry in entries)][-1]

    def error_with_references(self, error: exceptions.MultipleSpansParseError) -> ParseError:
        """An error about several places: a block that is used but never defined, or defined twice."""
        if error.msg.startswith("region ends with missing block"):
            span, _ = error.refs[0]
            return self.error_at(span.start, span.end, "reference to an undefined block")
        result = self.error_at(error.span.start, error.span.end, error.msg)
        for span, message in error.refs:
            place = self.error_at(span.start, span.end, message or error.ref_text or "see also here")
            result.add_note_at(place.message, place.span, place.source_line)
        return result

    def line_and_column(self, position: int) -> tuple[int, int]:
        """Both count from 1."""
        line = bisect_right(self.line_starts, position)
        return line, position - self.line_starts[line - 1] + 1

    def with_place(self, error: ParseError, start: int, length: int, message: str) -> ParseError:
        """Add a note about another place to an error; returns the error."""
        place = self.error_at(start, start + length, message)
        error.add_note_at(place.message, place.span, place.source_line)
        return error

    def line_from(self, position: int) -> str:
        """The rest of the line."""
        end = self.text.find("\n", position)
        return self.text[position : end if end >= 0 else None]
