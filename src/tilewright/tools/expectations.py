"""Expected diagnostics in test files: ``// expected-error {{text}}`` on the offending line, or one pointing at it.

%0 = tt.splat %x : i32 -> tensor<3xi32>   // expected-error {{power of two}}
// expected-remark@+1 {{not understood}}
%1 = tt.load %p : tensor<4x!tt.ptr<f32>>
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.ir.passes import Remark
from tilewright.support.errors import LocatedError, LocatedOpError, TilewrightError
from tilewright.support.spans import Span

_EXPECTED = re.compile(r"expected-(error|remark)\s*(?:@([+-]\d+|above|below|unknown))?\s*\{\{(.*?)\}\}")
_OFFSETS = {"above": -1, "below": 1}


@dataclass(frozen=True)
class Diagnostic:
    """An error or remark, as far as expectations look at it. Line 0 stands for an unknown place."""

    severity: str
    line: int
    text: str


def diagnostic_of_error(error: TilewrightError) -> Diagnostic:
    """The line of an error in the tested file, and its message."""
    match error:
        case LocatedError():
            return Diagnostic("error", error.line, error.message)
        case LocatedOpError(location=Span(line=line)):
            return Diagnostic("error", line, str(error))
        case _:
            return Diagnostic("error", 0, str(error))


def diagnostic_of_remark(remark: Remark) -> Diagnostic:
    """The line of a remark in the tested file, and its message."""
    line = remark.location.line if isinstance(remark.location, Span) else 0
    return Diagnostic("remark", line, str(remark))


def find_expectations(text: str) -> list[Diagnostic]:
    """The diagnostics that the comments of a text ask for."""
    found: list[Diagnostic] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for severity, place, message in _EXPECTED.findall(line):
            offset = _OFFSETS[place] if place in _OFFSETS else int(place or 0) if place != "unknown" else -number
            found.append(Diagnostic(severity, number + offset, message))
    return found


EXPECTATIONS = ("all", "only-expected")
"""What ``--verify-diagnostics`` can check."""


def check_expectations(
    expected: Iterable[Diagnostic], actual: Iterable[Diagnostic], *, only_expected: bool = False
) -> list[str]:
    """Complaints, each after its line as `mlir-opt` says it: what was expected and did not come, and, unless
    `only_expected`, errors that came unexpected.

    Remarks count only where at least one remark is expected.
    """
    missing = list(expected)
    wants_remarks = any(item.severity == "remark" for item in missing)
    complaints: list[str] = []
    for item in actual:
        match_ = next((wanted for wanted in missing if _matches(wanted, item)), None)
        if match_ is not None:
            missing.remove(match_)
        elif not only_expected and (item.severity == "error" or wants_remarks):
            complaints.append(f"{item.line}:1: error: unexpected {item.severity}: {_message(item)}")
    complaints.extend(
        f'{item.line}:1: error: expected {item.severity} "{item.text}" was not produced' for item in missing
    )
    return complaints


def _message(item: Diagnostic) -> str:
    """What a diagnostic says, without its place and the source below it."""
    first = item.text.partition("\n")[0]
    return first.partition(f"{item.severity}: ")[2] or first


def _matches(expected: Diagnostic, actual: Diagnostic) -> bool:
    return expected.severity == actual.severity and expected.line == actual.line and expected.text in actual.text
