"""Assertions that fail in machine code: what it says, and how a user of Python sees that.

Machine code knows one text for each assertion, which is enough for programs in C:

    kernel.py:12:5: Assertion `too small` failed, called from kernel.py:20:5

What the text means is kept with the object, so that Python can show the lines of the source, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.support.errors import BarrierAssertionError, DeviceAssertionError, Note
from tilewright.support.spans import Span, render_message

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Place = Sequence[str | int]
"""File, line and column, as JSON keeps them."""

Meanings = Mapping[str, tuple[str, Sequence[Place], bool]]
"""The text of each assertion: its message, where it stands, innermost place first, and whether it is of an mbarrier."""


def find_assertions(module: ModuleOp) -> Meanings:
    """Return what the texts of a module's assertions mean."""
    from tilewright.dialects import cf
    from tilewright.dialects.attributes import OF_BARRIER
    from tilewright.ir.locations import find_call_sites, find_span
    from tilewright.ir.walking import find_ops
    from tilewright.lowering.loops_to_llvm.control_ops import assertion_text

    meanings: dict[str, tuple[str, Sequence[Place], bool]] = {}
    for op in find_ops(module, cf.AssertOp):
        spans = [span for span in (find_span(op.location), *find_call_sites(op.location)) if span is not None]
        places = [(span.filename, span.line, span.col) for span in spans]
        meanings[assertion_text(op)] = (op.msg.data, places, OF_BARRIER in op.attributes)
    return meanings


def assertion_error(text: str, meanings: Meanings, kernel: str, program: tuple[int, int, int]) -> DeviceAssertionError:
    """The error for a failed assertion, with the line of the kernel and the lines that called it."""
    message, places, is_of_barrier = meanings.get(text, (text, (), False))
    kind = BarrierAssertionError if is_of_barrier else DeviceAssertionError
    message += f" (kernel '{kernel}', program {', '.join(map(str, program))})"
    if not places:
        return kind(message)
    innermost, *callers = (_span(*place) for place in places)
    lines = [
        render_message("error", message, innermost),
        *(Note("called from here", span).render() for span in callers),
    ]
    return kind("\n".join(lines))


def _span(filename: str | int, line: str | int, col: str | int) -> Span:
    return Span(str(filename), int(line), int(col))
