"""The pass `linalg-sink-producers`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import bufferization, linalg, linalg_ext, scf, tensor
from tilewright.dialects.types import is_tensor
from tilewright.ir.effects import is_memory_free
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops, ops_within
from tilewright.transforms.linalg.effects import ALIASES, may_write
from tilewright.transforms.linalg.structured import is_elementwise

_COMPUTED = (
    linalg.StructuredOp, linalg.FillOp, linalg_ext.ScanOp, linalg_ext.ExchangeNetworkOp,
    scf.ForOp, tensor.EmptyOp, tensor.SplatOp, tensor.InsertOp, tensor.InsertSliceOp,
)  # fmt: skip
"""Ops whose results lie in buffers of the function's own, or nowhere."""


@register_pass
class LinalgSinkProducersPass(Pass):
    """Moves the computation of tiles that are only stored to just before the store, so that they need no buffer.

    ```mlir
    %c = linalg.matmul ins(%a, %b) outs(%z) -> tensor<64x64xf32>
    %e = linalg.generic ins(%c) { math.exp } -> tensor<64x64xf32>
    bufferization.materialize_in_destination %c in writable %q
    bufferization.materialize_in_destination %e in writable %p
    // becomes
    %c = linalg.matmul ins(%a, %b) outs(%z) -> tensor<64x64xf32>
    bufferization.materialize_in_destination %c in writable %q
    %e = linalg.generic ins(%c) { math.exp } -> tensor<64x64xf32>
    bufferization.materialize_in_destination %e in writable %p
    ```
    Only elementwise ops with one result that write nothing are moved. They move past ops that write memory, as here,
    only if everything they read has been computed, because a loaded tile may be read in place.
    """

    name = "linalg-sink-producers"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in list(find_ops(module, linalg.StructuredOp)):
            if not isinstance(op, linalg.FillOp | linalg.TransposeOp) and (store := find_sink(op)) is not None:
                sink(op, store)


def find_sink(op: linalg.StructuredOp) -> Operation | None:
    """The store that is the only reader of an op which may be computed there; None where it may not."""
    if len(op.results) != 1 or not is_elementwise(op) or any(may_write(inner) for inner in op.body.block.ops):
        return None
    store = find_store(op.results[0])
    if store is None or store.parent_block() is not op.parent_block():
        return None
    reads_computed = _reads_computed_tiles_only(op)
    between = op.next_op
    while between is not None and between is not store:
        if not reads_computed and may_write(between):
            return None
        between = between.next_op
    return store if between is store else None


def sink(op: Operation, store: Operation) -> None:
    """Move an op, and the slices of it that are stored, right before the store."""
    block = store.parent_block()
    assert block is not None
    current = op
    while current is not store:
        following = next(iter(current.results[0].uses)).operation
        current.detach()
        block.insert_op_before(current, store)
        current = following


def find_store(value: SSAValue) -> bufferization.MaterializeInDestinationOp | None:
    """The store that is the only reader of a value, directly or through a slice that keeps the dimensions."""
    uses = list(value.uses)
    if len(uses) != 1:
        return None
    user = uses[0].operation
    if isinstance(user, tensor.ExtractSliceOp):
        assert is_tensor(user.result.type)
        return find_store(user.result) if len(user.static_sizes) == user.result.type.get_num_dims() else None
    if isinstance(user, bufferization.MaterializeInDestinationOp) and uses[0].index == 0:
        return user
    return None


def is_stored_next(op: linalg.StructuredOp) -> bool:
    """Return whether an op makes its only result element by element, and nothing comes between it and the store that
    is the only reader."""
    if len(op.results) != 1 or not is_elementwise(op) or any(may_write(inner) for inner in op.body.block.ops):
        return False
    following = op.next_op
    while isinstance(following, tensor.ExtractSliceOp):
        following = following.next_op
    return following is not None and following is find_store(op.results[0])


def _reads_computed_tiles_only(op: linalg.StructuredOp) -> bool:
    """Return whether no input may lie in memory that the program can write."""
    if any(isinstance(inner, tensor.ExtractOp) or not is_memory_free(inner) for inner in ops_within(op.body)):
        return False
    return all(not is_tensor(value.type) or _is_computed(value) for value in op.inputs)


def _is_computed(value: SSAValue) -> bool:
    while isinstance(value.owner, ALIASES):
        value = value.owner.operands[0]
    if isinstance(value.owner, Block):
        return isinstance(value.owner.parent_op(), scf.ForOp)
    return isinstance(value.owner, _COMPUTED)
