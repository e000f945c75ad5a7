"""Elements that the iterations of a generic read at their own index are operands of it.

%r = linalg.generic outs(%e) {                        %r = linalg.generic ins(%t) outs(%e) {
  %i = linalg.index 0                                 ^bb0(%x: i32, %out: f32):
  %x = tensor.extract %t[%i]                   ->       use of %x
  use of %x                                           }
}

So the producer of `%t` can move into the loop, where it had to be a tile in memory before.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.dialects import arith, linalg, tensor
from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.types import element_type
from tilewright.transforms.linalg.structured import shape_or_scalar


def read_own_elements(op: linalg.GenericOp) -> None:
    """Make operands of the tensor elements that the body of `op` extracts at the indices of its own loops."""
    found: dict[tuple[SSAValue, tuple[AffineExpr, ...]], list[tensor.ExtractOp]] = {}
    for inner in op.body.block.walk():
        if isinstance(inner, tensor.ExtractOp) and (access := _own_index(inner, op)) is not None:
            found.setdefault((inner.tensor, access), []).append(inner)
    for (value, access), reads in found.items():
        argument = _add_input(op, value, access)
        for read in reads:
            read.result.replace_all_uses_with(argument)
            read.detach()
            read.erase()


def _own_index(read: tensor.ExtractOp, op: linalg.GenericOp) -> tuple[AffineExpr, ...] | None:
    """The index expressions of an element, where these are loops of `op` that run as far as the tensor does."""
    owner = read.tensor.owner
    if isinstance(owner, Operation) and op.is_ancestor(owner):
        return None
    extents = op.static_loop_ranges()
    access: list[AffineExpr] = []
    for index, size in zip(read.indices, shape_or_scalar(read.tensor.type), strict=True):
        match index.owner:
            case linalg.IndexOp() as index if extents[index.dim.value.data] == size:
                access.append(AffineDimExpr(index.dim.value.data))
            case arith.ConstantOp(value=IntegerAttr() as number) if 0 <= number.value.data < size:
                access.append(AffineConstantExpr(number.value.data))
            case _:
                return None
    return tuple(access)


def _add_input(op: linalg.GenericOp, value: SSAValue, access: tuple[AffineExpr, ...]) -> SSAValue:
    """A further operand of a generic, in place; the body's argument for it."""
    position = len(op.inputs)
    outputs = len(op.outputs)
    maps = list(op.indexing_maps.data)
    maps.insert(position, AffineMapAttr(AffineMap(len(op.iterators), 0, access)))
    op.operands = [*op.inputs, value, *op.outputs]
    op.properties["operandSegmentSizes"] = segment_sizes(position + 1, outputs)
    op.properties["indexing_maps"] = ArrayAttr(maps)
    return op.body.block.insert_arg(element_type(value.type), position)
