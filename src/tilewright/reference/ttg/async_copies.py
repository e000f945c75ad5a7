"""`cp.async`: copies from global to shared memory that arrive when their group is waited for."""

from __future__ import annotations

from tilewright.dialects import ttg
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.tt.access import read_lanes
from tilewright.reference.ttg.buffers import view_of
from tilewright.reference.ttg.in_flight import Writing, memory_of_program

TOKEN = None
"""What the value of a token is: the order of ops says everything."""


@meaning_of(ttg.AsyncCopyGlobalToLocalOp)
def copy(op: ttg.AsyncCopyGlobalToLocalOp, frame: Frame) -> Values:
    """Lanes that are masked off write `other`, or 0."""
    mask = None if op.mask is None else frame.get(op.mask)
    other = None if op.other is None else frame.get(op.other)
    view = view_of(frame, op.result)
    values = read_lanes(frame, frame.get(op.src), as_memdesc(op.result.type).element_type, mask, other)
    memory_of_program(frame).copies.append(Writing(view, values))
    return (TOKEN,)


@meaning_of(ttg.AsyncCommitGroupOp)
def commit_group(op: ttg.AsyncCommitGroupOp, frame: Frame) -> Values:
    """All copies started so far, whatever the tokens."""
    memory_of_program(frame).commit()
    return (TOKEN,)


@meaning_of(ttg.AsyncWaitOp)
def wait(op: ttg.AsyncWaitOp, frame: Frame) -> Values:
    memory_of_program(frame).wait_for_groups(op.num.value.data)
    return (TOKEN,)
