"""What the reference says when a program does something that has no meaning."""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.ir.diagnostics import op_name, op_place
from tilewright.support.errors import BarrierError, LocatedOpError


class ReferenceError(LocatedOpError):
    """An op was executed outside of its meaning: an access out of bounds, a failed assertion, an op without a
    definition."""


class BarrierReferenceError(ReferenceError, BarrierError):
    """An mbarrier was used wrongly."""


class AssertionFailed(ReferenceError):
    """A ``cf.assert`` or ``tt.assert`` did not hold."""


def reference_error(op: Operation, reason: str, kind: type[ReferenceError] = ReferenceError) -> ReferenceError:
    """An error about an op, located in the user's source where that is known."""
    return kind(reason, op_name=op_name(op), location=op_place(op))
