"""Loads of tiles as the middle layer writes them, and which memory nothing writes while they read it."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects import bufferization, func, linalg, memref, scf
from tilewright.dialects.attributes import NOALIAS
from tilewright.dialects.construction import MixedIndex
from tilewright.dialects.types import is_memref, is_tensor
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import may_write, root_of_memref, written_memory
from tilewright.transforms.linalg.structured import shape_or_scalar


@dataclass(frozen=True, slots=True)
class Load:
    """A buffer that is filled by one copy and then only read, as a tensor."""

    buffer: memref.AllocOp
    fill: Operation | None
    fill_value: SSAValue | None
    copy: memref.CopyOp
    to_tensor: bufferization.ToTensorOp
    low: tuple[MixedIndex, ...]
    sizes: tuple[MixedIndex, ...]

    def ops(self) -> list[Operation]:
        """All of it, in the order in which it may stand."""
        target = self.copy.target.owner
        view = target if isinstance(target, memref.SubviewOp) else None
        return [op for op in (self.buffer, self.fill, view, self.copy, self.to_tensor) if op is not None]


def find_load(op: bufferization.ToTensorOp) -> Load | None:
    """The pattern that a load leaves: allocation, at most one fill, one copy into the buffer or a box of it."""
    buffer = op.memref.owner
    if not isinstance(buffer, memref.AllocOp) or not is_tensor(op.tensor.type):
        return None
    shape = shape_or_scalar(op.tensor.type)
    if DYNAMIC_INDEX in shape or op.parent_block() is not buffer.parent_block():
        return None
    fill: Operation | None = None
    fill_value: SSAValue | None = None
    copy: memref.CopyOp | None = None
    view: memref.SubviewOp | None = None
    for use in buffer.memref.uses:
        user = use.operation
        if user is op:
            continue
        if isinstance(user, linalg.FillOp) and fill is None:
            fill_value = user.inputs[0]
            fill = user if user.parent_block() is buffer.parent_block() else _only_fill_of(user)
            if fill is None:
                return None
        elif isinstance(user, memref.CopyOp) and use.index == 1 and copy is None:
            copy = user
        elif isinstance(user, memref.SubviewOp) and view is None:
            view = user
        else:
            return None
    if view is not None:
        uses = list(view.result.uses)
        if copy is not None or len(uses) != 1 or not isinstance(uses[0].operation, memref.CopyOp):
            return None
        copy = uses[0].operation
        if uses[0].index != 1 or any(step != 1 for step in view.mixed_strides):
            return None
    if copy is None or copy.parent_block() is not buffer.parent_block() or not copy.is_before_in_block(op):
        return None
    if fill is not None and not fill.is_before_in_block(copy):
        return None
    if len(shape_of_memref(copy.source)) != len(shape):
        return None
    low = tuple(view.mixed_offsets) if view is not None else (0,) * len(shape)
    sizes = tuple(view.mixed_sizes) if view is not None else shape
    return Load(buffer, fill, fill_value, copy, op, low, sizes)


def _only_fill_of(fill: linalg.FillOp) -> Operation | None:
    """The `scf.if` that does nothing but this fill."""
    branch = fill.parent_op()
    if not isinstance(branch, scf.IfOp) or branch.results:
        return None
    inner = [op for region in branch.regions for block in region.blocks for op in block.ops]
    if any(op is not fill and not isinstance(op, scf.YieldOp) for op in inner):
        return None
    return branch if branch.parent_block() is not None else None


def shape_of_memref(value: SSAValue) -> tuple[int, ...]:
    """The extents of a memref; none of any other value."""
    return tuple(shape_or_scalar(value.type)) if is_memref(value.type) else ()


def ancestor_in(block: Block | None, op: Operation) -> Operation | None:
    """The op of `block` that `op` is, or is inside of."""
    current: Operation | None = op
    while current is not None and current.parent_block() is not block:
        current = current.parent_op()
    return current


class Disjointness:
    """Which memory of a function lies apart.

    What different pointer arguments refer to does only in functions with the attribute `tilewright.noalias`.
    """

    def __init__(self, function: func.FuncOp | None):
        self.entry = function.body.blocks.first if function is not None else None
        self.noalias = function is not None and NOALIAS in function.attributes

    def may_disturb(self, op: Operation, root: SSAValue) -> bool:
        """Return whether an op may write to the memory of a pointer argument or buffer."""
        if not may_write(op):
            return False
        written = written_memory(op)
        if written is None:
            return True
        return any(not self.is_disjoint(root_of_memref(target), root) for target in written)

    def is_disjoint(self, left: SSAValue, right: SSAValue) -> bool:
        """Return whether two pointer arguments or buffers have no memory in common."""
        if left is right:
            return False
        if any(map(self.is_allocated, (left, right))):
            return True
        return self.noalias and self.is_argument(left) and self.is_argument(right)

    @staticmethod
    def is_allocated(root: SSAValue) -> bool:
        """Return whether memory is a buffer of the kernel's own."""
        return isinstance(root.owner, memref.AllocOp | memref.AllocaOp)

    def is_argument(self, value: SSAValue) -> bool:
        """Return whether memory is what the caller gave."""
        return isinstance(value, BlockArgument) and value.owner is self.entry
