"""Expected diagnostics in test files: ``// expected-error {{text}}`` on the offending line, or one pointing at it.

%0 = tt.splat %x : i32 -> tensor<3xi32>   // expected-error {{power of two}}
// expected-remark@+1 {{not understood}}
%1 = tt.load %p : tensor<4x!tt.ptr<f32>>
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilewright.ir.passes import Remark
from tilewright.support.errors import LocatedError, LocatedOpError, TilewrightError, VerifyError
from tilewright.support.records import dataclass
from tilewright.support.spans import Span

_EXPECTED = re.compile(
    r"expected-(error|note|remark|warning)(-re)?\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{((?:\{\{.*?\}\}|.)*?)\}\}(?!\})"
)
_OFFSETS = {"above": -1, "below": 1}
_PATTERN = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True)
class Diagnostic:
    """A diagnostic, as far as expectations look at it. Line 0 stands for an unknown place."""

    severity: str
    line: int
    text: str
    is_pattern: bool = False
    """Of one that is expected: parts in ``{{...}}`` are regular expressions."""
    col: int = 0
    at: int = 0
    """Of one that is expected: the line of the comment that asks for it."""


@dataclass(frozen=True)
class Complaint:
    """What `check_expectations` found wrong, at a place of the file."""

    line: int
    col: int
    message: str
    width: int = 1
    """Characters that the caret underlines."""

    def render(self, filename: str, lines: list[str]) -> str:
        """As mlir-opt prints it, the line below."""
        if not self.line:
            return f"<unknown>:0: error: {self.message}"
        head = f"{filename}:{self.line}:{max(self.col, 1)}: error: {self.message}"
        if not 0 < self.line <= len(lines) or not self.col:
            return head
        text = lines[self.line - 1]
        underline = "^" + "~" * (min(self.width, len(text) - self.col + 1) - 1)
        return f"{head}\n{text}\n{' ' * (self.col - 1)}{underline}"


def diagnostics_of_error(error: TilewrightError) -> list[Diagnostic]:
    """An error as it is shown: its place, its message, and its notes."""
    match error:
        case LocatedError():
            first = Diagnostic("error", error.line, error.message, col=error.col)
            notes = error.notes
        case LocatedOpError(location=Span(line=line, col=col)):
            first = Diagnostic("error", line, str(error), col=col)
            notes = error.notes if isinstance(error, VerifyError) else ()
        case _:
            first, notes = Diagnostic("error", 0, str(error)), ()
    return [first, *(Diagnostic(note.severity, note.span.line if note.span else 0, note.message) for note in notes)]


def diagnostic_of_remark(remark: Remark) -> Diagnostic:
    """The line of a remark in the tested file, and its message."""
    line = remark.location.line if isinstance(remark.location, Span) else 0
    return Diagnostic("remark", line, str(remark))


def find_expectations(text: str) -> list[Diagnostic]:
    """The diagnostics that the comments of a text ask for."""
    found: list[Diagnostic] = []
    for index, line in enumerate(text.split("\n"), start=1):
        for match in _EXPECTED.finditer(line):
            severity, pattern, place, message = match.groups()
            offset = _OFFSETS[place] if place in _OFFSETS else int(place or 0) if place != "unknown" else -index
            col = match.start() + 1
            found.append(Diagnostic(severity, index + offset, message, bool(pattern), col, index))
    return found


def check_expectations(
    expected: Iterable[Diagnostic], actual: Iterable[Diagnostic], *, only_expected: bool = False
) -> list[Complaint]:
    """Complaints: what came unexpected, unless `only_expected`, and what was expected and did not come.

    Notes and remarks count only where at least one of their kind is expected.
    """
    missing = list(expected)
    wanted_kinds = {"error", "warning", *(item.severity for item in missing)}
    complaints: list[Complaint] = []
    for item in actual:
        match_ = next((wanted for wanted in missing if _matches(wanted, item)), None)
        if match_ is not None:
            missing.remove(match_)
        elif not only_expected and item.severity in wanted_kinds:
            complaints.append(Complaint(item.line, item.col, f"unexpected {item.severity}: {_message(item)}"))
    for item in missing:
        message = f'expected {item.severity} "{item.text}" was not produced'
        line = item.at if item.line else 0
        complaints.append(Complaint(line, item.col, message, len(item.text)))
    return complaints


def _message(item: Diagnostic) -> str:
    """Return the text of a diagnostic, without its place and the source below it."""
    first = item.text.partition("\n")[0]
    return first.partition(f"{item.severity}: ")[2] or first


def _matches(expected: Diagnostic, actual: Diagnostic) -> bool:
    if expected.severity != actual.severity or expected.line != actual.line:
        return False
    if not expected.is_pattern:
        return expected.text in actual.text
    pieces = _PATTERN.split(expected.text)
    pattern = "".join(f"(?:{piece})" if index % 2 else re.escape(piece) for index, piece in enumerate(pieces))
    return re.search(pattern, actual.text) is not None
