"""`tt.map_elementwise`: a scalar function of any shape applied to lanes, or to packs of neighbouring lanes.

With ``pack = p`` the function takes p neighbouring lanes of each operand, counted in row-major order. Operands are
then seen as ``[count / p, p]``, cut into p columns, and the results put together again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import cf, scf, tt
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, lowers
from tilewright.lowering.arith_to_linalg.shapes import emit_reshape
from tilewright.lowering.tensor_builder import TensorBuilder, element_of, identity_maps, shape_of, tensor_of


@lowers(tt.MapElementwiseOp)
def lower_map_elementwise(op: tt.MapElementwiseOp, f: LoweringContext) -> Sequence[SSAValue]:
    """
    ```mlir
    %m = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
    ^bb0(%a: f32):
      tt.map_elementwise.return %a : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    // becomes a linalg.generic with the function as its body (inside scf.execute_region where it has several blocks)
    ```
    """
    b, pack, shape = f.b, op.pack.value.data, shape_of(op.srcs[0])
    lanes_count = prod(shape)
    if lanes_count % pack:
        raise NotLowered(f"{lanes_count} elements in packs of {pack}")
    inputs = [part for source in op.srcs for part in _columns(b, source, pack)]
    width = shape if pack == 1 else (lanes_count // pack,)
    kinds = [tensor_of(element_of(result), *width) for result in op.results for _ in range(pack)]
    count, rank = len(inputs), len(width)
    outs = [b.empty(kind) for kind in kinds]
    parts = b.generic(
        inputs,
        outs,
        lambda lanes: _inline(b, op.scalar_op, lanes[:count]),
        maps=identity_maps(count + len(outs), rank),
        iterators=("parallel",) * rank,
    )
    return [_from_columns(b, parts[index * pack : (index + 1) * pack], shape) for index in range(len(op.results))]


def _columns(b: TensorBuilder, source: SSAValue, pack: int) -> Sequence[SSAValue]:
    """The lanes that are first, second, ... in their packs."""
    if pack == 1:
        return (source,)
    count = prod(shape_of(source)) // pack
    flat = emit_reshape(b, source, (count * pack,))
    return [b.extract_slice(flat, [part_index], [count], [pack]) for part_index in range(pack)]


def _from_columns(b: TensorBuilder, parts: Sequence[SSAValue], shape: Sequence[int]) -> SSAValue:
    """The inverse of `_columns`."""
    if len(parts) == 1:
        return parts[0]
    pack, count = len(parts), prod(shape) // len(parts)
    flat = b.empty(tensor_of(element_of(parts[0]), count * pack))
    for part_index, part in enumerate(parts):
        flat = b.insert_slice(part, flat, [part_index], [count], [pack])
    return emit_reshape(b, flat, shape)


def _inline(b: TensorBuilder, region: Region, lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The function on scalars: its ops in place, or an `scf.execute_region` around its blocks."""
    entry = region.first_block
    assert entry is not None
    if len(region.blocks) == 1:
        mapping: dict[SSAValue, SSAValue] = dict(zip(entry.args, lanes, strict=True))
        for op in entry.ops:
            if op is entry.last_op:
                return [mapping.get(value, value) for value in op.operands]
            b.insert(op.clone(mapping))
        raise AssertionError("a map region ends with its return")
    return _inline_blocks(b, region, lanes)


def _inline_blocks(b: TensorBuilder, region: Region, lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """An `scf.execute_region` with a copy of the blocks; every return branches to one block that yields."""
    copy = region.clone()
    first = copy.first_block
    assert first is not None
    for argument, lane in zip(list(first.args), lanes, strict=True):
        argument.replace_all_uses_with(lane)
        first.erase_arg(argument)
    returns = [end for block in copy.blocks if isinstance(end := block.last_op, tt.MapElementwiseReturnOp)]
    types = [value.type for value in returns[0].operands]
    join = Block(arg_types=types)
    join.add_op(scf.YieldOp(*join.args))
    for end in returns:
        block = end.parent
        assert block is not None
        block.insert_op_before(cf.BranchOp(join, *end.operands), end)
        end.detach()
        end.erase()
    copy.add_block(join)
    return b.insert(scf.ExecuteRegionOp(types, copy)).results
