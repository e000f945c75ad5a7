"""Ops that move elements about: expand_dims, broadcast, trans, reshape, join, split, cat."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, i64
from xdsl.ir import SSAValue

from tilewright.dialects import linalg, tensor, tt
from tilewright.dialects.construction import static_values
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, lowers
from tilewright.lowering.tensor_builder import (
    TensorBuilder,
    element_of,
    identity_map,
    projection_map,
    shape_of,
    tensor_of,
)

Groups = tuple[tuple[int, ...], ...]
"""For each dimension of the smaller shape, the dimensions of the larger one that it stands for."""


def find_reassociation(small: Sequence[int], large: Sequence[int]) -> Groups | None:
    """Groups of neighbouring dimensions of `large` whose products are the extents of `small`, if there are such.

    >>> find_reassociation((8, 6), (2, 4, 6))
    ((0, 1), (2,))
    """
    if not small:
        return () if prod(large) == 1 else None
    groups: list[list[int]] = []
    position = 0
    for extent in small:
        group = [position]
        if position >= len(large):
            return None
        total = large[position]
        position += 1
        while total < extent and position < len(large):
            total *= large[position]
            group.append(position)
            position += 1
        if total != extent:
            return None
        groups.append(group)
    while position < len(large) and large[position] == 1:
        groups[-1].append(position)
        position += 1
    return tuple(map(tuple, groups)) if position == len(large) else None


def emit_reshape(b: TensorBuilder, source: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The same elements in row-major order in another static shape: expand, collapse, or collapse to one row and
    expand."""
    have, want = shape_of(source), tuple(shape)
    if have == want:
        return source
    kind = tensor_of(element_of(source), *want)
    if len(want) > len(have) and (groups := find_reassociation(have, want)) is not None:
        return b.result(tensor.ExpandShapeOp(source, groups, kind))
    if len(want) < len(have) and (groups := find_reassociation(want, have)) is not None:
        return b.result(tensor.CollapseShapeOp(source, groups, kind))
    row = tensor_of(element_of(source), prod(have))
    flat = (
        source
        if have == row.get_shape()
        else b.result(tensor.CollapseShapeOp(source, (tuple(range(len(have))),) if have else (), row))
    )
    return b.result(tensor.ExpandShapeOp(flat, (tuple(range(len(want))),) if want else (), kind))


@lowers(tt.ExpandDimsOp)
def lower_expand_dims(op: tt.ExpandDimsOp, f: LoweringContext) -> Sequence[SSAValue]:
    """``tensor.expand_shape``: the new dimension of extent 1 joins the group of its left neighbour, or of the right
    one at the front.

    ```mlir
    %y = tt.expand_dims %x {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    // becomes
    %y = tensor.expand_shape %x [[0, 1]] output_shape [16, 1] : tensor<16xi32> into tensor<16x1xi32>
    ```
    """
    axis, rank = op.axis.value.data, len(shape_of(op.src))
    owner = max(axis - 1, 0)
    groups: list[tuple[int, ...]] = []
    position = 0
    for dim in range(rank):
        width = 2 if dim == owner else 1
        groups.append(tuple(range(position, position + width)))
        position += width
    return f.b.insert(tensor.ExpandShapeOp(op.src, tuple(groups), op.result.type)).results


@lowers(tt.BroadcastOp)
def lower_broadcast(op: tt.BroadcastOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A `linalg.generic` whose input map is 0 in each broadcast dimension, named by the attribute ``broadcastDims``.

    ```mlir
    %y = tt.broadcast %x : tensor<16x1xf32> -> tensor<16x32xf32>
    // becomes
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>],
                         iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<16x1xf32>) outs(%e : tensor<16x32xf32>) attrs = {broadcastDims = array<i64: 1>} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<16x32xf32>
    ```
    """
    have, want = shape_of(op.src), shape_of(op.result)
    rank = len(want)
    dims = [dim for dim in range(rank) if have[dim] != want[dim]]
    source_map = projection_map(rank, tuple(None if dim in dims else dim for dim in range(rank)))
    return f.b.generic(
        (op.src,),
        (f.b.empty(op.result.type),),
        lambda lanes: lanes[:1],
        maps=ArrayAttr([source_map, identity_map(rank)]),
        iterators=("parallel",) * rank,
        attributes={"broadcastDims": DenseArrayBase.from_list(i64, dims)},
    )


@lowers(tt.TransOp)
def lower_trans(op: tt.TransOp, f: LoweringContext) -> Sequence[SSAValue]:
    """``linalg.transpose``: dimension i of the result is dimension ``order[i]`` of the source."""
    return (emit_transpose(f.b, op.src, static_values(op.order)),)


def emit_transpose(b: TensorBuilder, source: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """``linalg.transpose`` into a new tensor."""
    shape = shape_of(source)
    out = b.empty(tensor_of(element_of(source), *(shape[dim] for dim in permutation)))
    return b.result(linalg.TransposeOp(source, out, permutation))


@lowers(tt.ReshapeOp)
def lower_reshape(op: tt.ReshapeOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Row-major, also where ``allow_reorder`` would let the elements move."""
    return (emit_reshape(f.b, op.src, shape_of(op.result)),)


@lowers(tt.JoinOp)
def lower_join(op: tt.JoinOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Two ``tensor.insert_slice`` along a new last dimension of extent 2."""
    b, shape = f.b, shape_of(op.result)
    result = b.empty(op.result.type)
    for half, source in enumerate((op.lhs, op.rhs)):
        result = b.insert_slice(source, result, [*[0] * (len(shape) - 1), half], [*shape[:-1], 1])
    return (result,)


@lowers(tt.SplitOp)
def lower_split(op: tt.SplitOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Two ``tensor.extract_slice`` that drop the last dimension."""
    b, shape = f.b, shape_of(op.src)
    kind = tensor_of(element_of(op.src), *shape[:-1])
    return [
        b.extract_slice(op.src, [*[0] * (len(shape) - 1), half], [*shape[:-1], 1], result_type=kind) for half in (0, 1)
    ]


@lowers(tt.CatOp)
def lower_cat(op: tt.CatOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Two ``tensor.insert_slice``, left before right along dimension 0."""
    b, left, right, shape = f.b, shape_of(op.lhs), shape_of(op.rhs), shape_of(op.result)
    if shape != (left[0] + right[0], *left[1:]) or left[1:] != right[1:]:
        raise NotLowered(f"the result of {op.result.type} does not hold its operands one after the other")
    result = b.empty(op.result.type)
    for source, start in ((op.lhs, 0), (op.rhs, left[0])):
        result = b.insert_slice(source, result, [start, *[0] * (len(shape) - 1)], shape_of(source))
    return (result,)
