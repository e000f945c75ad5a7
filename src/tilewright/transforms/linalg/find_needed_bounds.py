"""The pass `linalg-find-needed-bounds`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import func, linalg, linalg_ext
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.linalg.needed_bounds import NeededBounds, make_available, needs_all
from tilewright.transforms.linalg.sink_producers import is_stored_next
from tilewright.transforms.linalg.structured import shape_or_scalar

_BY_RULES_OF_THEIR_OWN = (linalg.FillOp, linalg.TransposeOp, linalg.MatmulOp, linalg.BatchMatmulOp)


@register_pass
class LinalgFindNeededBoundsPass(Pass):
    """Says which part of a tile is read, where that is not all of it.

    ```mlir
    %e = linalg.generic ins(%x) { math.exp } -> tensor<1024xf32>
    %n = arith.minsi %count, %c1024 : index
    %f = linalg.generic ins(%e) { arith.addf } -> tensor<1024xf32>
    %part = tensor.extract_slice %f[0] [%n] [1] : tensor<1024xf32> to tensor<?xf32>
    bufferization.materialize_in_destination %part in writable %y
    // becomes
    %n = arith.minsi %count, %c1024 : index
    %e = linalg.generic ins(%x) { math.exp } -> tensor<1024xf32>
    linalg_ext.needed %e[%n] : tensor<1024xf32>
    %f = linalg.generic ins(%e) { arith.addf } -> tensor<1024xf32>
    %part = tensor.extract_slice %f[0] [%n] [1] : tensor<1024xf32> to tensor<?xf32>
    bufferization.materialize_in_destination %part in writable %y
    ```
    Bounds are those of slices that are stored, carried back through elementwise ops that all agree on them. The
    arithmetic that makes a bound moves before the op that makes the tile: its loops end there. Where that is not
    possible, and where an op writes memory for each of its elements, all elements are made. An op that is stored right
    after it (as %f) runs with its store, which has the bounds.
    """

    name = "linalg-find-needed-bounds"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks.first is not None:
                _find_in(function)


def _find_in(function: func.FuncOp) -> None:
    ops, needed = ops_within(function), NeededBounds()
    order = {op: position for position, op in enumerate(ops)}
    for op in ops:
        if not _may_end_early(op):
            continue
        block = op.parent_block()
        assert block is not None
        for result in op.results:
            shape = shape_or_scalar(result.type)
            bounds = [
                bound if make_available(bound, op, order) else extent
                for bound, extent in zip(needed.of(result), shape, strict=True)
            ]
            if bounds != list(shape):
                new = linalg_ext.NeededOp(result, bounds)
                new.location = op.location
                block.insert_op_after(new, op)


def _may_end_early(op: Operation) -> bool:
    """Return whether loops make the results of an op, and need not make all of them."""
    if isinstance(op.parent_op(), linalg_ext.ExchangeNetworkOp):
        return False
    if isinstance(op, linalg_ext.ScanOp):
        return True
    if not isinstance(op, linalg.StructuredOp) or isinstance(op, _BY_RULES_OF_THEIR_OWN):
        return False
    return not needs_all(op) and not is_stored_next(op)
