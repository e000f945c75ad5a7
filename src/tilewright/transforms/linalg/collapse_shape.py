"""The pass `collapse-shape`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, ModuleOp, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.dialects import linalg, tensor
from tilewright.dialects.construction import index_array, static_values
from tilewright.dialects.types import element_type, has_static_shape, is_tensor, shape_of
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within

Groups = list[list[int]]
BROADCAST_DIMS = "broadcastDims"


@register_pass
class CollapseShapePass(Pass):
    """Merges adjacent dimensions of fills, broadcasts, transposes, and reductions of tensors.

    ```mlir
    %e = tensor.empty() : tensor<4x8xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    // becomes
    %e = tensor.empty() : tensor<4x8xf32>                    // unused now
    %e1 = tensor.empty() : tensor<32xf32>
    %f1 = linalg.fill ins(%c : f32) outs(%e1 : tensor<32xf32>) -> tensor<32xf32>
    %f = tensor.expand_shape %f1 [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
    ```
    A broadcast is known by its attribute ``broadcastDims``; transposes of up to three dimensions stay. Same name and
    meaning as triton-shared's pass: it makes loops of lower rank for targets that want them. Static shapes only.
    """

    name = "collapse-shape"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in ops_within(module):
            collapse = RULES.get(type(op))
            if collapse is not None and all(_is_static_tensor(result) for result in op.results) and op.results:
                collapse(op)


def runs(keys: Sequence[object]) -> Groups:
    """Neighbours with equal keys.

    >>> runs("aabba")
    [[0, 1], [2, 3], [4]]
    """
    groups: Groups = []
    for dim, key in enumerate(keys):
        if groups and keys[dim - 1] == key:
            groups[-1].append(dim)
        else:
            groups.append([dim])
    return groups


def _is_static_tensor(value: SSAValue) -> bool:
    return is_tensor(value.type) and has_static_shape(value.type)


def _extents(value: SSAValue) -> tuple[int, ...]:
    return shape_of(value.type) or ()


def _collapsed(value: SSAValue, groups: Groups, builder: OpBuilder) -> SSAValue:
    """A tensor with groups of dimensions joined; an empty one is made anew."""
    shape = _extents(value)
    if len(groups) == len(shape):
        return value
    if isinstance(value.owner, tensor.EmptyOp):
        extents = [prod(shape[dim] for dim in group) for group in groups]
        return builder.result(tensor.EmptyOp((), TensorType(element_type(value.type), extents)))
    return builder.result(tensor.CollapseShapeOp(value, groups))


def _replace(
    op: Operation,
    operands: Sequence[SSAValue],
    groups: Groups,
    properties: dict[str, Attribute],
    builder: OpBuilder,
    attributes: dict[str, Attribute] | None = None,
) -> None:
    """The op on collapsed operands, its results expanded again."""
    outs = operands[len(operands) - len(op.results) :]
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = type(op).create(
        operands=operands,
        result_types=[out.type for out in outs],
        properties={**op.properties, **properties},
        attributes=dict(op.attributes) if attributes is None else attributes,
        regions=regions,
    )
    builder.insert(new)
    for old, made in zip(op.results, new.results, strict=True):
        value = made
        if made.type != old.type:
            value = builder.result(tensor.ExpandShapeOp(made, groups, old.type))
        value.name_hint = old.name_hint
        old.replace_all_uses_with(value)
    op.detach()
    op.erase()


def collapse_fill(op: linalg.FillOp) -> None:
    """All dimensions become one."""
    (out,) = op.outputs
    rank = len(_extents(out))
    if rank < 2:
        return
    groups, builder = [list(range(rank))], OpBuilder.before(op)
    _replace(op, [*op.inputs, _collapsed(out, groups, builder)], groups, {}, builder)


def collapse_broadcast(op: linalg.GenericOp) -> None:
    """Neighbours that are both broadcast, or both not, become one."""
    dims = op.attributes.get(BROADCAST_DIMS)
    if not isinstance(dims, DenseArrayBase) or len(op.inputs) != 1 or len(op.outputs) != 1:
        return
    source, out = op.inputs[0], op.outputs[0]
    broadcast, rank = set(static_values(cast("DenseArrayBase", dims))), len(_extents(out))
    groups = runs([dim in broadcast for dim in range(rank)])
    if len(groups) == rank or not _is_static_tensor(source) or not _broadcasts(op, broadcast):
        return
    builder = OpBuilder.before(op)
    joined = [index for index, group in enumerate(groups) if group[0] in broadcast]
    results: list[AffineExpr] = [
        AffineConstantExpr(0) if index in joined else AffineDimExpr(index) for index in range(len(groups))
    ]
    maps = [AffineMap(len(groups), 0, tuple(results)), AffineMap.identity(len(groups))]
    properties: dict[str, Attribute] = {
        "indexing_maps": ArrayAttr([AffineMapAttr(map_) for map_ in maps]),
        "iterator_types": ArrayAttr(list(op.iterator_types.data)[: len(groups)]),
    }
    attributes = {**op.attributes, BROADCAST_DIMS: DenseArrayBase.from_list(i64, joined)}
    operands = [_collapsed(source, groups, builder), _collapsed(out, groups, builder)]
    _replace(op, operands, groups, properties, builder, attributes)


def _broadcasts(op: linalg.GenericOp, dims: set[int]) -> bool:
    """Return whether the maps say what the attribute does."""
    source, out = op.maps
    wanted = [AffineConstantExpr(0) if dim in dims else AffineDimExpr(dim) for dim in range(out.num_dims)]
    return list(source.results) == wanted and out == AffineMap.identity(out.num_dims)


def collapse_transpose(op: linalg.TransposeOp) -> None:
    """Dimensions that stay neighbours, in their order, become one."""
    permutation = op.dims
    rank = len(permutation)
    if rank <= 3 or not all(map(_is_static_tensor, op.operands)):
        return
    # Places of the result whose source dimensions follow each other have the same difference.
    out_groups = runs([permutation[dim] - dim for dim in range(rank)])
    if len(out_groups) == rank:
        return
    source_groups = sorted([permutation[dim] for dim in group] for group in out_groups)
    order = [source_groups.index([permutation[dim] for dim in group]) for group in out_groups]
    builder = OpBuilder.before(op)
    source, out = op.operands
    operands = [_collapsed(source, source_groups, builder), _collapsed(out, out_groups, builder)]
    _replace(op, operands, out_groups, {"permutation": index_array(tuple(order))}, builder)


def collapse_reduce(op: linalg.ReduceOp) -> None:
    """Neighbours that are both reduced, or both kept, become one; the order of the elements stays."""
    if not all(map(_is_static_tensor, op.operands)):
        return
    reduced = set(static_values(op.dimensions))
    rank = len(_extents(op.inputs[0]))
    groups = runs([dim in reduced for dim in range(rank)])
    if len(groups) == rank:
        return
    builder = OpBuilder.before(op)
    kept = [dim for dim in range(rank) if dim not in reduced]
    out_groups = [[kept.index(dim) for dim in group] for group in groups if group[0] not in reduced]
    dimensions = tuple(index for index, group in enumerate(groups) if group[0] in reduced)
    operands = [
        *(_collapsed(value, groups, builder) for value in op.inputs),
        *(_collapsed(value, out_groups, builder) for value in op.outputs),
    ]
    _replace(op, operands, out_groups, {"dimensions": index_array(dimensions)}, builder)


RULES: dict[type[Operation], Callable[..., None]] = {
    linalg.FillOp: collapse_fill,
    linalg.GenericOp: collapse_broadcast,
    linalg.ReduceOp: collapse_reduce,
    linalg.TransposeOp: collapse_transpose,
}
