"""From an op to an error about it: the bridge between `support.errors` (plain Python) and the IR."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

from tilewright.ir.locations import find_span
from tilewright.support.errors import Note, PassError, VerifyError
from tilewright.support.spans import Span


def op_name(op: Operation) -> str:
    """The name that the op is written with, also for unregistered ones."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def op_place(op: Operation) -> Span | str | None:
    """Return where an op came from: its own location, else that of the nearest op around it that has one."""
    current: Operation | None = op
    while current is not None:
        span = find_span(current.location)
        if span is not None:
            return span
        current = current.parent_op()
    return None


def note_at(op: Operation, message: str) -> Note:
    """A note of an error that is about another op, or about more of the same."""
    place = op_place(op)
    return Note(message, place if isinstance(place, Span) else None)


def op_error(
    op: Operation, reason: str, *, pass_name: str = "", internal: bool = False, kind: type[PassError] = PassError
) -> PassError:
    """A `PassError` about an op, located in the user's source where that is known."""
    return kind(reason, pass_name=pass_name, op_name=op_name(op), location=op_place(op), internal=internal)


def verify_error(op: Operation, reason: str, notes: Sequence[Note] = (), *, bare: bool = False) -> VerifyError:
    """A `VerifyError` about an op, located in the user's source where that is known."""
    from tilewright.ir.printing import print_inner_op

    error = VerifyError(reason, op_name=op_name(op), location=op_place(op))
    error.current, error.notes, error.bare = print_inner_op(op), tuple(notes), bare
    return error
