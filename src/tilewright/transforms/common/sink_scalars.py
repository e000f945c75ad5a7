"""`sink-scalars`: scalars and buffers of long blocks are made where they are needed first."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import arith, memref
from tilewright.dialects.types import is_integer_or_index
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass


@register_pass
@dataclass
class SinkScalarsPass(Pass):
    """In long blocks scalars that depend on one other scalar, and buffers, are made just before the first op that reads
    them.

    ```mlir
    %a = arith.minsi %n, %c64 : index
    %b = arith.minsi %n, %c128 : index
    ...
    scf.for %i = %c0 to %a step %c8 { ... }
    scf.for %i = %c0 to %b step %c8 { ... }
    // becomes
    %a = arith.minsi %n, %c64 : index
    scf.for %i = %c0 to %a step %c8 { ... }
    %b = arith.minsi %n, %c128 : index
    scf.for %i = %c0 to %b step %c8 { ... }
    ```
    The bounds of a thousand masked tiles, all computed before the first one, live through all loops up to their own:
    what LLVM does for each value in each block that it lives through grows with the square of the kernel. As the moved
    ops have one operand that is no constant, no more values than before are live anywhere. The address of a buffer is
    such a scalar, too.
    """

    name = "sink-scalars"

    least: int = 256
    """Ops of a block from which on it is looked at: what lives through shorter ones does not matter."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for block in [block for op in ops_within(module) for region in op.regions for block in region.blocks]:
            ops = list(block.ops)
            if len(ops) >= self.least:
                sink(block, ops)


def sink(block: Block, ops: list[Operation]) -> None:
    """Move each scalar and buffer to the first of its readers, where these have moved to."""
    places = {op: place for place, op in enumerate(ops)}
    wanted = dict(places)
    for op in reversed(ops):
        if isinstance(op, memref.AllocaOp) or _is_scalar_of_one(op):
            readers = [_within(use.operation, block) for use in op.results[0].uses]
            wanted[op] = min((wanted[reader] for reader in readers if reader is not None), default=places[op])
    for op in ops:
        if wanted[op] != places[op]:
            op.detach()
            block.insert_op_before(op, ops[wanted[op]])


def _is_scalar_of_one(op: Operation) -> bool:
    """Return whether an op makes a number of one other number, and of constants."""
    if len(op.results) != 1 or not is_integer_or_index(op.results[0].type) or not is_pure(op):
        return False
    return len({operand for operand in op.operands if not _is_constant(operand)}) == 1


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.ConstantOp)


def _within(op: Operation, block: Block) -> Operation | None:
    """The op of a block that an op is, or is inside of; None where it is in a block that this one dominates."""
    reader: Operation | None = op
    while reader is not None and reader.parent is not block:
        reader = reader.parent_op()
    return reader
