"""Computations: structured ops on buffers, and ops on whole tensors as structured ops.

%r = arith.addi %a, %b : tensor<4xi32>
  ->  linalg.generic ins(%a, %b : memref<4xi32>, memref<4xi32>) outs(%buffer : memref<4xi32>) { arith.addi : i32 }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import arith, linalg, memref, scf, tensor, ub
from tilewright.dialects.types import element_type, is_tensor, shape_of
from tilewright.transforms.linalg.one_shot_bufferize.rules import Bufferizer, lowers


def insert_generic(f: Bufferizer, inputs: Sequence[SSAValue], buffer: SSAValue, block: Block) -> None:
    """A `linalg.generic` that computes a buffer lane by lane, and what is inside of it."""
    rank = len(shape_of(buffer.type) or ())
    maps = [AffineMapAttr(AffineMap.identity(rank))] * (len(inputs) + 1)
    iterators = [linalg.IteratorType.PARALLEL] * rank
    f.builder.insert(linalg.GenericOp(inputs, [buffer], Region(block), maps, iterators))
    with f.builder.at(block):
        f.block(block)


def fill(f: Bufferizer, value: SSAValue, buffer: SSAValue) -> None:
    """``linalg.fill`` of a buffer."""
    f.builder.insert(linalg.FillOp((value,), (buffer,)))


@lowers(*linalg.STRUCTURED)
def bufferize_structured(op: linalg.StructuredOp, f: Bufferizer) -> None:
    """The same op, on the buffers of its operands."""
    for block in op.body.blocks:
        f.block(block)
    f.move_before(op)
    if not any(is_tensor(value.type) for value in op.operands):
        return
    inputs = [f.buffers.of(value) if is_tensor(value.type) else value for value in op.inputs]
    first, results = len(op.inputs), iter(op.results)
    outputs: list[SSAValue] = []
    for position, init in enumerate(op.outputs, first):
        if not is_tensor(init.type):
            outputs.append(init)
            continue
        outputs.append(f.buffers.destination(op, init, next(results), keeps=_keeps(op, position)))
    new = type(op).create(
        operands=[*inputs, *outputs],
        properties=dict(op.properties),
        regions=[op.detach_region(region) for region in list(op.regions)],
        attributes={name: value for name, value in op.attributes.items() if name != STARTS_AT_FIRST},
    )
    f.builder.insert(new)
    f.retire(op)


def _keeps(op: linalg.StructuredOp, position: int) -> bool:
    """Return whether anything of a destination is left or read: its elements in the body, or some are not written."""
    init, dims = op.operands[position], op.maps[position].results
    if isinstance(init.owner, tensor.EmptyOp | ub.PoisonOp):
        return False
    covers = len({dim.position for dim in dims if isinstance(dim, AffineDimExpr)}) == len(dims)
    return not covers or bool(op.body.block.args[position].uses.get_length())


@lowers(arith.SelectOp)
def bufferize_select(op: arith.SelectOp, f: Bufferizer) -> None:
    """A choice between two tensors by a scalar copies one of them; by a tensor it is elementwise."""
    if not is_tensor(op.results[0].type):
        return
    condition, then, otherwise = op.operands
    if is_tensor(condition.type):
        bufferize_elementwise(f, op)
        return
    target = f.buffers.of(op.results[0])
    sides = [Block([memref.CopyOp(f.buffers.of(value), target), scf.YieldOp()]) for value in (then, otherwise)]
    f.builder.insert(scf.IfOp(condition, (), Region(sides[0]), Region(sides[1])))
    f.retire(op)


def bufferize_elementwise(f: Bufferizer, op: Operation) -> None:
    """An op on tensors lane by lane is a `linalg.generic` of it on scalars."""
    (result,) = op.results
    on_tensors = [f.buffers.of(value) for value in op.operands if is_tensor(value.type)]
    block = Block(arg_types=[*(element_type(value.type) for value in on_tensors), element_type(result.type)])
    lanes = iter(block.args)
    operands = [next(lanes) if is_tensor(value.type) else value for value in op.operands]
    scalar = type(op).create(
        operands=operands,
        result_types=[element_type(result.type)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    block.add_ops([scalar, linalg.YieldOp(scalar.results[0])])
    insert_generic(f, on_tensors, f.buffers.of(result), block)
    f.retire(op)


@lowers(tensor.BitcastOp)
def bufferize_bitcast(op: tensor.BitcastOp, f: Bufferizer) -> None:
    """`arith.bitcast` lane by lane."""
    source, target = f.buffers.of(op.operands[0]), f.buffers.of(op.results[0])
    block = Block(arg_types=[element_type(source.type), element_type(target.type)])
    cast_op = arith.BitcastOp(block.args[0], element_type(target.type))
    block.add_ops([cast_op, linalg.YieldOp(cast_op.results[0])])
    insert_generic(f, [source], target, block)
    f.retire(op)
