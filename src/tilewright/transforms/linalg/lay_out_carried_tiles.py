"""The pass `linalg-lay-out-carried-tiles`."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp
from xdsl.ir import OpResult, SSAValue

from tilewright.dialects import bufferization, linalg, scf, tensor
from tilewright.dialects.attributes import BY_COLUMNS
from tilewright.dialects.construction import index_array
from tilewright.dialects.types import is_memref, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.support.cpu_costs import LEAST_ROWS
from tilewright.transforms.linalg.structured import access_of, is_elementwise, shape_or_scalar


@register_pass
class LinalgLayOutCarriedTilesPass(Pass):
    """Marks the tiles that a loop carries and that are better kept by columns.

    ```mlir
    %sum = scf.for ... iter_args(%acc = %zero) -> (tensor<8x64xf32>) {
      %tile = memref.reinterpret_cast %x to ... : memref<8x64xf32, strided<[1, 64], offset: ?>>
      %t = bufferization.to_tensor %tile
      %next = linalg.generic ins(%acc, %t) { arith.addf } -> tensor<8x64xf32>
      scf.yield %next
    }
    // becomes
    %sum = scf.for ... iter_args(%acc = %zero) -> (tensor<8x64xf32>) {
      ...
    } {tilewright.by_columns = array<i64: 0>}
    ```
    A step that combines the tile with memory that is contiguous along columns would gather or transpose that memory,
    if the tile were kept by rows. Lanes then go along columns, so tiles of few rows stay as they are. `linalg-to-loops`
    lays out the buffers.
    """

    name = "linalg-lay-out-carried-tiles"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for loop in find_ops(module, scf.ForOp):
            last = loop.body.block.last_op
            assert last is not None
            found = tuple(index for index, value in enumerate(last.operands) if _follows_columns(value))
            if found:
                loop.attributes[BY_COLUMNS] = index_array(found)


def take_by_columns(loop: scf.ForOp) -> tuple[int, ...]:
    """Return which of the tiles that a loop carries are kept by columns, and remove the mark."""
    mark = loop.attributes.pop(BY_COLUMNS, None)
    return tuple(int(number) for number in mark.get_values()) if isinstance(mark, DenseArrayBase) else ()


def _follows_columns(value: SSAValue) -> bool:
    """Return whether an element-wise op makes a tile of memory that follows its first dimension, and of none that
    follows its last.
    """
    op = value.owner
    if not is_tensor(value.type) or not isinstance(op, linalg.GenericOp) or not is_elementwise(op):
        return False
    shape = shape_or_scalar(value.type)
    if len(shape) != 2 or shape[0] < LEAST_ROWS or not isinstance(value, OpResult):
        return False
    output = access_of(op.maps[len(op.inputs) + value.index])
    inputs = zip(op.inputs, op.maps, strict=False)
    strides = [_strides_of(source) for source, map_ in inputs if access_of(map_) == output]
    return any(s[0] == 1 and s[-1] != 1 for s in strides if s) and not any(s[-1] == 1 for s in strides if s)


def _strides_of(value: SSAValue) -> tuple[int | None, ...]:
    """The strides of the memory that a tensor, or its middle, is read from; none where that is not known."""
    op = value.owner
    if isinstance(op, tensor.PadOp):
        op = op.source.owner
    if not isinstance(op, bufferization.ToTensorOp) or not is_memref(op.memref.type):
        return ()
    return tuple(op.memref.type.get_strides() or ())
