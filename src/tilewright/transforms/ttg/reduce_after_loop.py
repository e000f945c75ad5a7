"""Sums of reductions in loops: a partial result per thread in the loop, one reduction across threads after it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt, ttg
from tilewright.dialects.arith import constant_splat
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.types import as_tensor
from tilewright.ir.appending import append_argument, append_operands, append_result
from tilewright.ir.builder import OpBuilder
from tilewright.ir.values import find_only_user
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import LANE, REGISTER, WARP, BlockedLayout
from tilewright.support.records import dataclass

NEUTRAL: dict[type[Operation], float] = {
    arith.AddfOp: -0.0,
    arith.MulfOp: 1.0,
    arith.MaximumfOp: float("-inf"),
    arith.MaxnumfOp: float("nan"),
    arith.MinimumfOp: float("inf"),
    arith.MinnumfOp: float("nan"),
}
"""What an op combines with anything to that itself."""


@dataclass(frozen=True)
class Accumulation:
    """A reduction in a loop, and the op that combines it with what the loop carries."""

    loop: scf.ForOp
    index: int
    """Which of the carried values it is."""
    reduce: tt.ReduceOp
    update: Operation
    elements: int
    """Elements along the axis that a thread holds."""


def reduce_after_loops(module: ModuleOp) -> bool:
    """Reduce across threads after loops where a loop only adds up; return whether there was such a loop."""
    found = [find_accumulation(op) for op in ops_within(module) if isinstance(op, tt.ReduceOp)]
    for accumulation in found:
        if accumulation is not None:
            _move_out(accumulation)
    return any(found)


def find_accumulation(reduce: tt.ReduceOp) -> Accumulation | None:
    """The accumulation that a reduction of a load along the last axis is part of; None where it is used otherwise, or
    where a thread holds a single element along the axis.
    """
    kind = _combining_op(reduce)
    loop = reduce.parent_op()
    if kind is None or len(reduce.srcs) != 1 or not isinstance(loop, scf.ForOp):
        return None
    source = as_tensor(reduce.srcs[0].type)
    layout, axis = ttg.layout_of(source.encoding), reduce.axis.value.data
    if not isinstance(layout, BlockedLayout) or layout.cga or layout.rank < 2 or axis != layout.rank - 1:
        return None
    elements = elements_along(layout, source.get_shape(), axis)
    if elements == 1 or not isinstance(reduce.srcs[0].owner, tt.LoadOp) or not _keeps_rows(source, axis, elements):
        return None
    update = find_only_user(reduce.results[0])
    if update is None or type(update) is not kind or update.parent is not loop.body.block:
        return None
    yielded = find_only_user(update.results[0])
    if not isinstance(yielded, scf.YieldOp) or yielded is not loop.body.block.last_op:
        return None
    index = tuple(yielded.operands).index(update.results[0])
    carried = loop.region_iter_args[index]
    if carried not in update.operands or find_only_user(carried) is not update:
        return None
    return Accumulation(loop, index, reduce, update, elements)


def elements_along(layout: BlockedLayout, shape: tuple[int, ...], axis: int) -> int:
    """Return how many different elements along an axis a thread holds."""
    return 1 << sum(bool(vector[axis]) for vector in layout.to_linear(shape).bases_of(REGISTER))


def _keeps_rows(source: TensorType[Attribute], axis: int, elements: int) -> bool:
    """Return whether each register of the split tensor belongs to the row of the same register of the source, as a
    reshape that may reorder moves nothing.
    """
    split = _split_type(source, axis, elements)
    before, after = (ttg.layout_of(kind.encoding).to_linear(kind.get_shape()) for kind in (source, split))

    def rows(vectors: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        return [tuple(vector[:axis]) for vector in vectors]

    return all(rows(before.bases_of(name)) == rows(after.bases_of(name)) for name in (REGISTER, LANE, WARP))


def _combining_op(reduce: tt.ReduceOp) -> type[Operation] | None:
    """The op that the region consists of, if it is one that order does not matter to."""
    ops = tuple(reduce.combine_op.block.ops)
    if len(ops) != 2 or type(ops[0]) not in NEUTRAL or set(ops[0].operands) != set(reduce.combine_op.block.args):
        return None
    return type(ops[0])


def _move_out(found: Accumulation) -> None:
    """Carry a partial result per thread, and combine after the loop."""
    loop, reduce, update = found.loop, found.reduce, found.update
    source = as_tensor(reduce.srcs[0].type)
    axis = reduce.axis.value.data
    split = _split_type(source, axis, found.elements)
    inner = OpBuilder.before(update)
    view = inner.result(tt.ReshapeOp(reduce.srcs[0], split, allow_reorder=True, efficient_layout=True))
    partial = inner.result(tt.ReduceOp([view], axis + 1, reduce.combine_op.clone()))
    start = OpBuilder.before(loop).result(constant_splat(NEUTRAL[type(update)], partial.type))
    append_operands(loop, [start])
    carried = append_argument(loop.body.block, partial.type)
    total = append_result(loop, partial.type)
    combined = inner.result(_combine(update, carried, partial, partial.type))
    terminator = loop.body.block.last_op
    assert terminator is not None
    append_operands(terminator, [combined])
    _finish(found, total)


def _split_type(source: TensorType[Attribute], axis: int, elements: int) -> TensorType[Attribute]:
    """The type of a tensor with the elements of each thread along the axis in a dimension of their own."""
    layout = ttg.layout_of(source.encoding)
    assert isinstance(layout, BlockedLayout)
    shape = source.get_shape()
    sizes = (*(1 if dim == axis else size for dim, size in enumerate(layout.size_per_thread)), elements)
    split = BlockedLayout(
        sizes, (*layout.threads_per_warp, 1), (*layout.warps_per_cta, 1), (layout.rank, *layout.order)
    )
    new_shape = (*shape[:axis], shape[axis] // elements, *shape[axis + 1 :], elements)
    return tensor_type(source.element_type, new_shape, ttg.encoding_of(split))


def _combine(update: Operation, left: SSAValue, right: SSAValue, type_: Attribute) -> Operation:
    return type(update).create(
        operands=(left, right), result_types=(type_,), properties=update.properties, attributes=update.attributes
    )


def _finish(found: Accumulation, total: OpResult) -> None:
    """Reduce what the loop gives, and combine it with the value that the loop started from."""
    loop, update = found.loop, found.update
    result, initial = loop.results[found.index], loop.iter_args[found.index]
    uses = tuple(result.uses)
    after = OpBuilder.after(loop)
    after.location = found.reduce.location
    reduced = after.insert(tt.ReduceOp([total], found.reduce.axis.value.data, found.reduce.combine_op.clone()))
    value: SSAValue = reduced.results[0]
    if value.type != result.type:
        value = after.result(ttg.ConvertLayoutOp(value, result.type))
    final = after.result(_combine(update, initial, value, result.type))
    for use in uses:
        use.operation.operands[use.index] = final
