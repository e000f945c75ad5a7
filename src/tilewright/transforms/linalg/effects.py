"""Which ops of the linalg stage touch memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import bufferization, cf, linalg, linalg_ext, memref, tensor
from tilewright.ir.effects import WRITES, fixed_effects, own_effects
from tilewright.ir.walking import ops_within

VIEWS = (
    memref.CastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.ReinterpretCastOp,
    memref.SubviewOp,
    memref.ViewOp,
)
"""Ops whose result is other bounds on the memory of their operand."""

ALIASES = (
    tensor.ExpandShapeOp,
    tensor.CollapseShapeOp,
    tensor.ExtractSliceOp,
    tensor.ReshapeOp,
    tensor.CastOp,
    tensor.PadOp,
    linalg.TransposeOp,
    linalg_ext.AsWordsOp,
)
"""Ops whose result is read from the memory of their operand."""


def may_write(op: Operation) -> bool:
    """Return whether running `op` can change memory that existed before."""
    return any(map(_writes_itself, ops_within(op))) if op.regions else _writes_itself(op)


class Writers:
    """`may_write` for all ops of a function, each looked at once: for a pass that moves and drops ops that write
    nothing, but none that write."""

    def __init__(self) -> None:
        self._kept: dict[Operation, bool] = {}
        self._roots: dict[Operation, Mapping[SSAValue, None] | None] = {}

    def written(self, op: Operation) -> Mapping[SSAValue, None] | None:
        """The pointer arguments and buffers whose memory an op may write; None if it may write anywhere."""
        if not op.regions:
            return self._written_itself(op)
        if op not in self._roots:
            found = self._written_itself(op)
            for inner in _ops_inside(op):
                part = self.written(inner) if found is not None else None
                found = None if found is None or part is None else {**found, **part} if part else found
            self._roots[op] = found
        return self._roots[op]

    @staticmethod
    def _written_itself(op: Operation) -> Mapping[SSAValue, None] | None:
        memory = _written_by(op) if _writes_itself(op) else ()
        return None if memory is None else dict.fromkeys(map(root_of_memref, memory))

    def may_write(self, op: Operation) -> bool:
        """Return whether running `op` can change memory that existed before."""
        if not op.regions:
            return _writes_itself(op)
        found = self._kept.get(op)
        if found is None:
            found = _writes_itself(op)
            for inner in _ops_inside(op):  # not by `any`: recursion through it would take the machine's stack
                found = found or self.may_write(inner)
            self._kept[op] = found
        return found


def _ops_inside(op: Operation) -> Iterator[Operation]:
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


def _writes_itself(op: Operation) -> bool:
    cls = type(op)
    known = _writing.get(cls)
    if known is not None:
        return known
    writes = not WRITES.isdisjoint(own_effects(op)) and cls is not cf.AssertOp  # which may stop the program
    if fixed_effects(cls) is not None:
        _writing[cls] = writes
    return writes


_writing: dict[type[Operation], bool] = {}
"""Whether the ops of a class write, where that is the same for all of them."""


def memory_operands(op: Operation) -> list[SSAValue]:
    """The memrefs that an op refers to."""
    return [value for value in op.operands if isinstance(value.type, MemRefType | UnrankedMemRefType)]


def written_memory(op: Operation, *, by_others: bool = True) -> list[SSAValue] | None:
    """The memrefs that `op` and what it contains may write to; None if it may be any memory.

    An atomic by itself, and a volatile load, may be how programs tell each other that memory is theirs now: what others
    write counts as written there, unless `by_others` is false. Atomics on the lanes of a tile are taken for sums and
    the like.
    """
    written: list[SSAValue] = []
    for inner in ops_within(op):
        if _writes_itself(inner):
            memory = _written_by(inner, by_others=by_others)
            if memory is None:
                return None
            written.extend(memory)
    return written


def _written_by(op: Operation, *, by_others: bool = True) -> Sequence[SSAValue] | None:
    """The same for an op that writes, without what it contains."""
    match op:
        case memref.StoreOp():
            return (op.memref,)
        case memref.CopyOp():
            return (op.target,)
        case memref.AtomicRMWOp() | memref.GenericAtomicRMWOp() if not by_others or _is_of_lanes(op):
            return (op.memref,)
        case memref.LoadOp() if not by_others:
            return ()
        case bufferization.MaterializeInDestinationOp():
            return (op.dest,)
        case linalg.StructuredOp():
            return [value for value in op.outputs if isinstance(value.type, MemRefType)]
        case linalg_ext.ViewMatmulOp(dest=dest) if dest is not None:
            return (dest,)
        case _:
            return None


def _is_of_lanes(op: Operation) -> bool:
    """Return whether an op is in the body of an op on tensors."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, linalg.StructuredOp):
        parent = parent.parent_op()
    return parent is not None


def root_of_memref(value: SSAValue) -> SSAValue:
    """The pointer argument or buffer that a chain of views starts from."""
    while isinstance(value.owner, VIEWS):
        value = value.owner.operands[0]
    return value
