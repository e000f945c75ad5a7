"""Ops whose layouts follow from each other, or that need a particular one."""

from __future__ import annotations

from math import prod

from xdsl.ir import Attribute, Operation

from tilewright.dialects import tt, ttg, ttng
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.verification import layout_problem
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.distributed import BlockedLayout, DotOperandLayout, SliceLayout
from tilewright.lowering.tt_to_ttg.assign_layouts import LayoutAssignment, assigns, registers_of

MIN_GATHERED_ROWS_PER_THREAD = 4
"""Rows that one instruction of the tensor memory accelerator gathers or scatters."""


def _give_inferred(assignment: LayoutAssignment, op: Operation, inferred: Attribute, index: int = 0) -> None:
    assignment.give(op.results[index], as_tensor(inferred).encoding)


@assigns(tt.ExpandDimsOp)
def assign_expand_dims(op: tt.ExpandDimsOp, assignment: LayoutAssignment) -> None:
    """The source is a slice of the source's layout with a dimension of one element, thread and warp put in."""
    axis, source = op.axis.value.data, assignment.default_layout(op.src)
    rank = source.rank + 1
    parent = BlockedLayout(
        *(_with_one(sizes, axis) for sizes in (source.size_per_thread, source.threads_per_warp, source.warps_per_cta)),
        order=tuple(range(rank)),
        cga=tuple((*vector[:axis], 0, *vector[axis:]) for vector in source.cga),
    )
    assignment.want(op, 0, ttg.encoding_of(SliceLayout(axis, parent)))
    assignment.give(op.result, ttg.encoding_of(parent))


def _with_one(sizes: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*sizes[:axis], 1, *sizes[axis:])


@assigns(tt.BroadcastOp)
def assign_broadcast(op: tt.BroadcastOp, assignment: LayoutAssignment) -> None:
    """The result has the layout of the source."""
    assignment.give(op.result, as_tensor(op.src.type).encoding)


@assigns(tt.TransOp)
def assign_trans(op: tt.TransOp, assignment: LayoutAssignment) -> None:
    """The result has the permuted layout of the source."""
    _give_inferred(assignment, op, inference.trans(op.src.type, static_values(op.order)))


@assigns(tt.ReduceOp)
def assign_reduce(op: tt.ReduceOp, assignment: LayoutAssignment) -> None:
    """The results are slices of the layout of the sources."""
    for index, source in reversed(tuple(enumerate(op.srcs))):
        if len(as_tensor(source.type).get_shape()) > 1:
            _give_inferred(assignment, op, inference.reduce(source.type, op.axis.value.data), index)


@assigns(tt.JoinOp)
def assign_join(op: tt.JoinOp, assignment: LayoutAssignment) -> None:
    """A thread holds the pairs of the elements that it held."""
    _give_inferred(assignment, op, inference.join(op.lhs.type))


@assigns(tt.SplitOp)
def assign_split(op: tt.SplitOp, assignment: LayoutAssignment) -> None:
    """Each thread must hold whole pairs: the layout of a result with two more registers in a fastest dimension."""
    half = assignment.default_layout(op.outLHS)
    pairs = BlockedLayout(
        (*half.size_per_thread, 2),
        (*half.threads_per_warp, 1),
        (*half.warps_per_cta, 1),
        (half.rank, *half.order),
        tuple((*vector, 0) for vector in half.cga),
    )
    assignment.want(op, 0, ttg.encoding_of(pairs))
    for index in (1, 0):
        _give_inferred(assignment, op, inference.split(op.src.type), index)


@assigns(tt.CatOp)
def assign_cat(op: tt.CatOp, assignment: LayoutAssignment) -> None:
    """A thread of the result holds what it held of both sources, and so moves nothing."""
    default = assignment.default_layout(op.result)
    shape = as_tensor(op.result.type).get_shape()
    held = sum(
        registers_of(assignment.default_layout(source), as_tensor(source.type).get_shape())
        for source in (op.lhs, op.rhs)
    )
    sizes = list(default.size_per_thread)
    sizes[default.order[0]] *= max(1, held // registers_of(default, shape))
    layout = BlockedLayout(tuple(sizes), default.threads_per_warp, default.warps_per_cta, default.order, default.cga)
    assignment.give(op.result, ttg.encoding_of(layout))


@assigns(tt.DotOp)
def assign_dot(op: tt.DotOp, assignment: LayoutAssignment) -> None:
    """Squares of up to four by four elements per thread; the operands hold the whole of K."""
    shape = as_tensor(op.d.type).get_shape()
    rank, share = len(shape), prod(shape) // assignment.size.num_threads
    side = 4 if share >= 16 else 2 if share >= 4 else 1
    sizes = [*[1] * (rank - 2), side, side]
    layout = assignment.size.blocked(shape, sizes, list(reversed(range(rank))))
    for index in (DotOperandLayout.A, DotOperandLayout.B):
        assignment.want(op, index, ttg.encoding_of(DotOperandLayout(index, layout)))
    assignment.want(op, 2, ttg.encoding_of(layout))
    assignment.give(op.d, ttg.encoding_of(layout))


@assigns(ttg.Fp4ToFpOp)
def assign_unpacked(op: ttg.Fp4ToFpOp, assignment: LayoutAssignment) -> None:
    """A thread of the result holds what it held packed."""
    _give_inferred(assignment, op, op.unpacked_type())


@assigns(ttng.WarpGroupDotOp)
def assign_warp_group_dot(op: ttng.WarpGroupDotOp, assignment: LayoutAssignment) -> None:
    """The instruction has but the layout that was chosen with it, for the warps of then. Raises `PassError` where the
    program has another number now, and for products that are still under way when their layout would be converted."""
    if op.is_async.value.data:
        raise op_error(op, "is asynchronous: its result cannot change its layout before the wait")
    size, former = assignment.size, as_tensor(assignment.before[op.d])
    problem = layout_problem(former, size.num_lanes, size.num_warps, size.num_ctas)
    if problem is not None:
        raise op_error(op, f"was laid out for another program: {problem}")
    layout = layout_of(former.encoding)
    if is_tensor(op.a.type):
        k_width = 32 // bit_width(op.a.type.element_type)
        assignment.want(op, 0, ttg.encoding_of(DotOperandLayout(DotOperandLayout.A, layout, k_width)))
    assignment.want(op, 2, former.encoding)
    assignment.give(op.d, former.encoding)


@assigns(tt.DescriptorGatherOp, tt.DescriptorScatterOp)
def assign_rows(op: tt.DescriptorGatherOp | tt.DescriptorScatterOp, assignment: LayoutAssignment) -> None:
    """Every warp holds the row numbers, four neighbours per thread, as the tensor memory accelerator takes them."""
    size = assignment.size
    parent = BlockedLayout(
        (1, MIN_GATHERED_ROWS_PER_THREAD), (size.num_lanes, 1), (1, size.num_warps), (1, 0), _one_cta(size.num_ctas)
    )
    position = tuple(op.operands).index(op.x_offsets)
    assignment.want(op, position, ttg.encoding_of(SliceLayout(0, parent)))
    for result in tuple(op.results):
        assignment.give(result, ttg.encoding_of(assignment.default_layout(result)))


def _one_cta(num_ctas: int) -> tuple[tuple[int, ...], ...]:
    """Every CTA holds the same."""
    return ((0, 0),) * (num_ctas.bit_length() - 1)
