"""Facts that hold for every lane of a value, in every iteration of the loops that carry it.

What a buffer of the function's own holds has a fact that everything stored there has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue, Use

from tilewright.dialects import arith, memref, scf, vector


class LaneFact(ABC):
    """Answers for the values of one function, remembered.

    Values that loops carry are proved by induction over the iterations: while a value's own update is looked at, it is
    assumed to have the property. So are the elements of a buffer, over the stores to it.
    """

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool] = {}
        self._supposed: list[SSAValue] = []
        """The values that are taken to have the property, in the order in which that was first supposed."""

    @abstractmethod
    def proves(self, op: Operation) -> bool:
        """Return whether the results of an op have the property, for ops that do not just hand values on."""

    def holds(self, value: SSAValue) -> bool:
        """Return whether all lanes of a value have the property."""
        found = self._known.get(value)
        if found is None:
            mark = len(self._supposed)
            self._supposed.append(value)
            self._known[value] = True
            found = self._prove(value)
            if not found:
                self._withdraw(mark)
                self._known[value] = False
        return found

    def _withdraw(self, mark: int) -> None:
        """Forget what was supposed since a moment: it may rest on what turned out to be wrong."""
        for value in self._supposed[mark:]:
            del self._known[value]
        del self._supposed[mark:]

    def _prove(self, value: SSAValue) -> bool:
        if isinstance(value, BlockArgument):
            return self._prove_carried(value)
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case arith.SelectOp():
                return self.holds(op.operands[1]) and self.holds(op.operands[2])
            case vector.BroadcastOp():
                return self.holds(op.operands[0])
            case vector.ShuffleOp():
                return all(map(self.holds, op.operands))
            case arith.SIToFPOp() | arith.UIToFPOp():
                return True
            case memref.LoadOp() | vector.LoadOp():
                return self._holds_for_elements(op.operands[0])
            case memref.AllocaOp():
                return all(self._keeps_fact(use) for use in value.uses)
            case scf.ForOp():
                return self.holds(op.regions[0].block.args[1 + value.index])
            case scf.IfOp() if op.regions[1].blocks:
                return all(self.holds(_yielded(region.block.last_op, value.index)) for region in op.regions)
            case _:
                return self.proves(op)

    def _holds_for_elements(self, buffer: SSAValue) -> bool:
        """Return whether a buffer is of the function's own, and no element of it is ever without the property."""
        return isinstance(buffer.owner, memref.AllocaOp) and self.holds(buffer)

    def _keeps_fact(self, use: Use) -> bool:
        """Return whether a use of a buffer reads it, or stores something that has the property."""
        match use.operation:
            case memref.LoadOp() | vector.LoadOp() | vector.MaskedLoadOp():
                return True
            case memref.StoreOp() | vector.StoreOp() as store:
                return self.holds(store.operands[0])
            case vector.MaskedStoreOp() as store:
                return self.holds(store.value_to_store)
            case _:
                return False

    def _prove_carried(self, value: BlockArgument) -> bool:
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index == 0:
            return False
        position = value.index - 1
        return self.holds(loop.operands[3 + position]) and self.holds(_yielded(value.block.last_op, position))


def _yielded(terminator: Operation | None, position: int) -> SSAValue:
    assert terminator is not None
    return terminator.operands[position]
