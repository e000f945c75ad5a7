"""The pass `linalg-choose-vector-dims`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.analysis.combiners import combiner_of
from tilewright.dialects import arith, bufferization, linalg, memref, scf, tensor
from tilewright.dialects.arith.constant import is_dense
from tilewright.dialects.attributes import BY_COLUMNS, VECTOR_DIM
from tilewright.dialects.types import is_memref, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.transforms.linalg.effects import root_of_memref
from tilewright.transforms.linalg.structured import (
    access_of,
    joint_combination,
    loop_extents,
    reduced_results,
    shape_or_scalar,
)
from tilewright.transforms.linalg.vector_dims import Access, choose_vector_dim, strides_of_loops

_NESTS = (linalg.GenericOp, linalg.ReduceOp, linalg.MapOp)
_SAME_EVERYWHERE = (linalg.FillOp, tensor.EmptyOp, tensor.SplatOp, bufferization.AllocTensorOp)


@register_pass
class LinalgChooseVectorDimsPass(Pass):
    """Chooses along which dimension the vectors of a loop nest go, where the memory of its operands is known.

    ```mlir
    %t = bufferization.to_tensor %x : memref<8x64xf32, strided<[64, 1]>> to tensor<8x64xf32>
    %sum = linalg.generic ... iterator_types = ["parallel", "reduction"] ins(%t) { arith.addf } -> tensor<8xf32>
    // becomes
    %sum = linalg.generic ... ins(%t) attrs = {tilewright.vector_dim = 1 : index} { arith.addf } -> tensor<8xf32>
    ```
    Lanes go where most of the memory that the nest reads and writes is contiguous. The order of the loops follows:
    lanes are innermost, but outside of a reduction along another dimension. Nests of one loop need no choice.
    Gathers, and operands whose memory is assigned later, such as slices, leave the choice to `linalg-to-loops`. That
    carries out the attribute, also one that was written by hand, wherever the body has a form on vectors.
    """

    name = "linalg-choose-vector-dims"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        memory = TileMemory()
        for op in find_ops(module, *_NESTS):
            if op.results and VECTOR_DIM not in op.attributes and (dim := find_vector_dim(op, memory)) is not None:
                op.attributes[VECTOR_DIM] = IntegerAttr(dim, IndexType())


def find_vector_dim(op: linalg.StructuredOp, memory: TileMemory) -> int | None:
    """Return the best dimension of a nest of several loops; None where there is no choice, or not all is known."""
    extents = loop_extents(op)
    if sum(extent > 1 for extent in extents) < 2 or _computes_addresses(op):
        return None
    maps, accesses = [access_of(map_) for map_ in op.maps], list[Access]()
    for index, value in enumerate(op.inputs):
        if not op.body.block.args[index].uses.get_length() or is_same_everywhere(value):
            accesses.append(Access(0, (0,) * len(extents)))
            continue
        strides = memory.strides(value)
        if strides is None:
            return None
        dims = {dim for expr in maps[index] for dim in expr.used_dims()}
        accesses.append(Access(len(dims), strides_of_loops(maps[index], strides, len(extents))))
    for index, result in enumerate(op.results):
        access = maps[len(op.inputs) + index]
        used = {dim for expr in access for dim in expr.used_dims()}
        strides = memory.strides(result)
        if strides is None:
            return None
        accesses.append(Access(len(used), strides_of_loops(access, strides, len(extents)), is_write=True))
    reducing, is_reduced = reduced_results(op), [iterator == "reduction" for iterator in op.iterators]
    if reducing and joint_combination(op) is not None:
        may_reduce_lanes = sum(is_reduced) == 1
    else:
        may_reduce_lanes = all(combiner_of(op.body.block, position) is not None for position in reducing)
    reduced = [reduced and bool(reducing) for reduced in is_reduced]
    return choose_vector_dim(extents, reduced, accesses, may_reduce_lanes=may_reduce_lanes)


def _computes_addresses(op: linalg.StructuredOp) -> bool:
    """Return whether the body makes views at addresses of its own, whose steps from lane to lane count as well."""
    return any(isinstance(inner, memref.ReinterpretCastOp) for inner in op.body.block.ops)


def is_same_everywhere(value: SSAValue) -> bool:
    """Return whether all elements of an operand are one scalar."""
    if not is_tensor(value.type) or isinstance(value.owner, _SAME_EVERYWHERE):
        return True
    return isinstance(value.owner, arith.ConstantOp) and is_dense(value.owner.value) and value.owner.value.is_splat()


class TileMemory:
    """Strides of the memory that tensors are read from, or will be written to, each found once."""

    def __init__(self) -> None:
        self._found: dict[SSAValue, Sequence[int | None] | None] = {}

    def strides(self, value: SSAValue) -> Sequence[int | None] | None:
        """Return the strides along each dimension (None: not 1); None where others decide."""
        if value not in self._found:
            self._found[value] = self._find(value)
        return self._found[value]

    def _find(self, value: SSAValue) -> Sequence[int | None] | None:
        """Find the strides. Tiles that loops carry are kept by rows, unless they are marked; so is what nests compute,
        unless it is computed where it is stored, or from matrices by columns.
        """
        op = _memory_read(value)
        if isinstance(op, bufferization.ToTensorOp):
            return op.memref.type.get_strides() if is_memref(op.memref.type) else None
        if isinstance(value, BlockArgument):
            op = value.block.parent_op()
        is_carried = isinstance(op, scf.ForOp) and BY_COLUMNS not in op.attributes
        if not is_carried and not (isinstance(op, _NESTS) and self._reads_rows(op, value)):
            return None
        shape = shape_or_scalar(value.type)
        by_rows = (*(None for _ in shape[1:]), 1) if shape else ()
        return by_rows if all(_is_like_rows(store) for store in _stores_of(value)) else None

    def _reads_rows(self, op: linalg.StructuredOp, result: SSAValue) -> bool:
        """Return whether no tile by columns is among what an op reads element by element: its result would be one."""
        if len(shape_or_scalar(result.type)) != 2:
            return True
        maps = [access_of(map_) for map_ in op.maps]
        output = maps[len(op.inputs) + op.results.index(result)]
        return all(self._is_by_rows(value) for value, access in zip(op.inputs, maps, strict=False) if access == output)

    def _is_by_rows(self, value: SSAValue) -> bool:
        if is_same_everywhere(value):
            return True
        op = _memory_read(value)
        if isinstance(op, bufferization.ToTensorOp):
            return not _may_be_by_columns(op)
        return self.strides(value) is not None


def _may_be_by_columns(op: bufferization.ToTensorOp) -> bool:
    """Return whether memory that is contiguous along columns is a tile of ours, not the caller's."""
    strides = op.memref.type.get_strides() if is_memref(op.memref.type) else None
    return bool(strides) and strides[0] == 1 and isinstance(root_of_memref(op.memref).owner, Operation)


def _memory_read(value: SSAValue) -> Operation | Block:
    """The op that makes a tensor, or the middle of a padded one."""
    op = value.owner
    return op.source.owner if isinstance(op, tensor.PadOp) else op


def _stores_of(value: SSAValue) -> Iterator[bufferization.MaterializeInDestinationOp]:
    """The stores of a tensor or of slices of it."""
    for use in value.uses:
        if isinstance(use.operation, bufferization.MaterializeInDestinationOp):
            yield use.operation
        elif isinstance(use.operation, tensor.ExtractSliceOp):
            yield from _stores_of(use.operation.result)


def _is_like_rows(store: bufferization.MaterializeInDestinationOp) -> bool:
    """Return whether a tile is stored to memory that is contiguous along the same dimension as a tile kept by rows."""
    strides = store.dest.type.get_strides() if is_memref(store.dest.type) else None
    return strides is not None and (not strides or (strides[-1] == 1 and not any(s in (0, 1) for s in strides[:-1])))
