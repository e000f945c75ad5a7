"""What has to be computed in another layout for a value to come in that layout: the slice that feeds a conversion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.ttg.verification import ProgramShape
from tilewright.dialects.types import as_tensor
from tilewright.ir.walking import is_subclass
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.layout_inference import (
    can_be_recomputed,
    can_fold_conversion,
    infer_operand_encoding,
    is_free_conversion,
)

Stop = Callable[[Operation], bool]
"""Ops at which a slice ends: they are part of it, their operands are not."""

Existing = Callable[[SSAValue, Attribute, Operation], SSAValue | None]
"""A value that exists in a layout already and may be used at an op."""

_LOOPS = (scf.ForOp, scf.WhileOp)


@dataclass
class LayoutSlice:
    """Values and the layouts that they are wanted in, the last ones first."""

    layouts: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    existing: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Values of the slice that exist in the wanted layout already."""

    def ops(self) -> dict[Operation, None]:
        """The ops that make the values of the slice."""
        return {value.op: None for value in self.layouts if isinstance(value, OpResult)}

    def agrees_with(self, other: LayoutSlice) -> bool:
        """Return whether no value is wanted in two layouts."""
        return all(self.layouts.get(value, encoding) == encoding for value, encoding in other.layouts.items())

    def include(self, other: LayoutSlice) -> None:
        """Take in another slice that agrees with this one."""
        self.layouts.update(other.layouts)
        for value, found in other.existing.items():
            self.existing.setdefault(value, found)


def _no_existing(value: SSAValue, encoding: Attribute, user: Operation) -> SSAValue | None:
    return None


def _never(op: Operation) -> bool:
    return False


class _Finder:
    """Walks backwards from one operand."""

    def __init__(self, stop: Stop, existing: Existing) -> None:
        self._stop = stop
        self._existing = existing
        self._slice = LayoutSlice()
        self._pending: list[tuple[Operation, int, Attribute]] = []
        self._seen: set[tuple[Operation, int, Attribute]] = set()
        self._followed: set[SSAValue] = set()

    def find(self, user: Operation, index: int, encoding: Attribute) -> LayoutSlice | None:
        self._push(user, index, encoding)
        while self._pending:
            user, index, encoding = self._pending.pop()
            value = user.operands[index]
            if is_tensor(value.type) and not self._visit(value, encoding, user):
                return None
        return self._slice if self._slice.layouts else None

    def _push(self, user: Operation, index: int, encoding: Attribute) -> None:
        key = user, index, encoding
        if key not in self._seen:
            self._seen.add(key)
            self._pending.append(key)

    def _want(self, value: SSAValue, encoding: Attribute) -> bool:
        return self._slice.layouts.setdefault(value, encoding) == encoding

    def _visit(self, value: SSAValue, encoding: Attribute, user: Operation) -> bool:
        """Take a value into the slice; False where it cannot come in that layout."""
        if isinstance(value, OpResult) and is_subclass(type(value.op), _LOOPS):
            return False
        if not self._want(value, encoding):
            return False
        if value not in self._followed:
            found = self._existing(value, encoding, user)
            if found is not None:
                self._slice.existing[value] = found
                return True
        # From here on the value is made anew, for all its users in the slice.
        self._slice.existing.pop(value, None)
        if value in self._followed:
            return True
        self._followed.add(value)
        if isinstance(value, OpResult):
            return self._follow_op(value, encoding)
        assert isinstance(value, BlockArgument)
        return self._follow_argument(value, encoding)

    def _follow_argument(self, value: BlockArgument, encoding: Attribute) -> bool:
        loop, terminator = value.owner.parent_op(), value.owner.last_op
        if not isinstance(loop, scf.ForOp) or terminator is None:
            return False
        self._push(loop, value.index + 2, encoding)
        self._push(terminator, value.index - 1, encoding)
        return True

    def _follow_op(self, value: OpResult, encoding: Attribute) -> bool:
        op = value.op
        if isinstance(op, scf.IfOp):
            if not self._stop(op):
                for region in op.regions:
                    terminator = region.block.last_op
                    assert terminator is not None
                    self._push(terminator, value.index, encoding)
            return True
        for other in op.results:
            if other is not value and is_tensor(other.type) and not self._want(other, encoding):
                return False
        if is_free_conversion(op):
            self._push(op, 0, encoding)
            return True
        if can_fold_conversion(op, encoding) or self._stop(op):
            return True
        if isinstance(op, tt.CatOp):
            return False
        return self._follow_operands(op, encoding)

    def _follow_operands(self, op: Operation, encoding: Attribute) -> bool:
        if isinstance(op, tt.GatherOp):
            self._push(op, 1, encoding)
            return True
        tensors = [index for index, operand in enumerate(op.operands) if is_tensor(operand.type)]
        wanted = infer_operand_encoding(op, encoding)
        if wanted is None:
            return not op.operands
        for index in tensors:
            if as_tensor(op.operands[index].type).encoding != wanted:
                self._push(op, index, wanted)
        return True


def find_slice(
    user: Operation,
    index: int,
    encoding: Attribute,
    *,
    stop: Stop = _never,
    existing: Existing = _no_existing,
    program: ProgramShape | None = None,
) -> LayoutSlice | None:
    """Return what to compute anew for operand `index` of `user` to come in `encoding`; None where some value cannot be.

    With `program`, everything in the slice has to be worth computing twice.
    """
    found = _Finder(stop, existing).find(user, index, encoding)
    if found is None or program is None:
        return found
    return found if all(can_be_recomputed(op, program) for op in found.ops()) else None
