"""What became of each access that lanes make: remarks about those that never went by whole vectors.

A nest is emitted in several versions (whole vectors, the last ones under a mask, a segment at a time), and an access
that is a vector in the first may be a gather in the last. It is worth a word only where no version does better.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, UnknownLoc
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import bufferization, linalg
from tilewright.dialects.types import is_tensor
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.strided_lanes import is_narrow

Report = Callable[[LocationAttr, str, RemarkKind], None]
"""Makes a remark about a location in the source."""


class AccessLog:
    """How far apart in memory the lanes of each access were found to be."""

    def __init__(self) -> None:
        self._strides: dict[LocationAttr, dict[str, list[Index | None]]] = {}

    def note(self, location: LocationAttr | None, stride: Index | None, verb: str) -> None:
        """Lanes were `stride` elements apart: an integer, a value that is known at run time, or None where they are not
        at one distance. `verb` is what was done to each of them."""
        if location is not None and not isinstance(location, UnknownLoc):
            self._strides.setdefault(location, {}).setdefault(verb, []).append(stride)

    def copy(self) -> AccessLog:
        """One that knows the same, and will not learn what this one does."""
        log = AccessLog()
        log._strides = {
            location: {verb: [*of] for verb, of in verbs.items()} for location, verbs in self._strides.items()
        }
        return log

    def report(self, remark: Report) -> None:
        """Remark on each access that no version of its loop made in whole vectors."""
        for location, by_verb in self._strides.items():
            for verb, strides in by_verb.items():
                if not any(stride in (0, 1) or is_narrow(stride) for stride in strides):
                    remark(location, *_described(strides[0], verb))


def _described(stride: Index | None, verb: str) -> tuple[str, RemarkKind]:
    what = f"{verb} lane by lane"
    if stride is None:
        return f"{what}: the lanes are not known to be at one distance from each other", RemarkKind.COMPUTED_INDEX
    if isinstance(stride, int):
        return f"{what}: the lanes lie {abs(stride)} elements apart in memory", RemarkKind.WIDE_STRIDE
    return f"{what}: the stride between the lanes is known only at run time", RemarkKind.UNKNOWN_STRIDE


def location_of_load(value: SSAValue) -> LocationAttr:
    """Return where the elements of a tensor are loaded; unknown where they are computed or carried by a loop."""
    op = value.owner
    while isinstance(op, Operation) and not isinstance(op, bufferization.ToTensorOp):
        if isinstance(op, linalg.StructuredOp) or not op.operands or not is_tensor(op.operands[0].type):
            return UNKNOWN_LOC
        op = op.operands[0].owner
    return op.location if isinstance(op, Operation) else UNKNOWN_LOC
