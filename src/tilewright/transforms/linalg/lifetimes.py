"""When the memory of a tensor is read for the last time, by the positions of ops in the program."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects import func, scf
from tilewright.ir.values import block_of
from tilewright.ir.walking import ops_within
from tilewright.transforms.linalg.effects import ALIASES


class Lifetimes:
    """Positions of the ops of a function, taken once; ops that are made or moved later take that of another."""

    def __init__(self, function: func.FuncOp) -> None:
        self.order: dict[Operation, int] = {op: position for position, op in enumerate(ops_within(function))}

    def position(self, op: Operation) -> int:
        """Return where an op is in program order; 0 for one that has no position."""
        return self.order.get(op, 0)

    def take_position(self, new: Operation, old: Operation) -> None:
        """Let an op be where another was."""
        self.order[new] = self.position(old)

    def ends_within(self, value: SSAValue, op: Operation) -> bool:
        """Return whether nothing reads the memory of a value of `op`'s block once everything inside of `op` has run."""
        end = max(map(self.position, ops_within(op)), default=0)
        return block_of(value) is op.parent_block() and all(self.position(user) <= end for user in _readers(value))

    def is_last_reader(self, op: Operation, value: SSAValue) -> bool:
        """Return whether nothing reads the memory of a value once `op` has run: `op` runs at most once for each value,
        and other readers are before it or in branches that are not taken with its own.
        """
        branches = _branches_around(op, value)
        if branches is None:
            return False
        here = self.position(op)
        return all(self.position(user) <= here or _is_in_other_branch(user, branches) for user in _readers(value))


def aliased(value: SSAValue) -> SSAValue:
    """Return the value whose memory a value is read from."""
    while isinstance(value.owner, ALIASES):
        value = value.owner.operands[0]
    return value


def _readers(value: SSAValue) -> Iterator[Operation]:
    """The ops that read the memory of a value, also by another name."""
    for use in value.uses:
        user = use.operation
        yield user
        if isinstance(user, ALIASES):
            yield from _readers(user.results[0])


def _branches_around(op: Operation, value: SSAValue) -> dict[Operation, Region] | None:
    """The `scf.if` ops between an op and the block of a value, each with the region that the op is in; None where
    anything else lies between."""
    target, block = block_of(value), op.parent_block()
    found: dict[Operation, Region] = {}
    while block is not None and block is not target:
        parent, region = block.parent_op(), block.parent_region()
        if not isinstance(parent, scf.IfOp):
            return None
        assert region is not None
        found[parent] = region
        block = parent.parent_block()
    return found if block is not None else None


def _is_in_other_branch(op: Operation, branches: dict[Operation, Region]) -> bool:
    """Return whether an op is in the other region of one of these branches."""
    region = op.parent_region()
    while region is not None and (parent := region.parent_op()) is not None:
        if parent in branches:
            return branches[parent] is not region
        region = parent.parent_region()
    return False
