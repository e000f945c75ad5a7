"""`tritongpu-optimize-thread-locality`: less is exchanged between threads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from tilewright.dialects import tt, ttg
from tilewright.dialects.construction import UNIT
from tilewright.dialects.ttg.canonicalization import can_reorder
from tilewright.dialects.ttg.verification import ProgramShape, program_shape, warps_around
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import LANE, WARP, BlockedLayout, DistributedLayout
from tilewright.transforms.common.remove_dead_values import remove_dead_values
from tilewright.transforms.ttg.coalesce import relayout
from tilewright.transforms.ttg.layout_inference import with_encoding
from tilewright.transforms.ttg.reduce_after_loop import reduce_after_loops


@register_pass
class OptimizeThreadLocalityPass(Pass):
    """Puts elements that are combined into one thread, or at least into one warp, so that threads exchange less data.

    1. A reshape that may reorder, and whose result is reduced, gives every thread whole rows along the axis.
    2. A gather gets a layout in which one warp holds each row along the axis of both tensors, so that it needs no
       shared memory.
    3. A loop that adds up reductions of loads keeps a sum per thread and reduces once, after the loop:

    ```mlir
    %r = scf.for ... iter_args(%acc = %zero) -> (tensor<128xf32, #slice>) {
      %x = tt.load %p : tensor<128x64x!tt.ptr<f32>, #blocked>
      %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({ addf }) : (...) -> tensor<128xf32, #slice>
      %n = arith.addf %acc, %s
      scf.yield %n
    // becomes
    %q = scf.for ... iter_args(%acc = %zeros) -> (tensor<128x16xf32, #slice1>) {
      %y = tt.reshape %x allow_reorder efficient_layout : ... -> tensor<128x16x4xf32, #blocked1>
      %s = "tt.reduce"(%y) <{axis = 2 : i32}> ({ addf })          // inside a thread
      %n = arith.addf %acc, %s
      scf.yield %n
    %t = "tt.reduce"(%q) <{axis = 1 : i32}> ({ addf })
    %r = arith.addf ttg.convert_layout %t, %zero
    ```
    As in any reduction, floating-point sums may be added in a different order.
    """

    name = "tritongpu-optimize-thread-locality"

    gathers: bool = True
    """Lay out gathers for exchanges inside a warp."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        program = program_shape(module)
        if program is None:
            context.fail(module, "not TritonGPU IR: the module does not state ttg.num-warps")
        for op in ops_within(module):
            match op:
                case tt.ReshapeOp() if op.allow_reorder is not None:
                    _optimize_reshape(op, program)
                case tt.GatherOp() if self.gathers and op.efficient_layout is None:
                    _optimize_gather(op, program)
                case _:
                    continue
        if reduce_after_loops(module):
            remove_dead_values(module)


def _blocked_layout(type: Attribute) -> BlockedLayout | None:
    layout = ttg.layout_of(as_tensor(type).encoding)
    return layout if isinstance(layout, BlockedLayout) else None


def _optimize_reshape(op: tt.ReshapeOp, program: ProgramShape) -> None:
    """Make the axis that is reduced the slowest, which threads are dealt along last."""
    axes = {use.operation.axis.value.data for use in op.result.uses if isinstance(use.operation, tt.ReduceOp)}
    layout = _blocked_layout(op.result.type)
    if len(axes) != 1 or layout is None or layout.cga:
        return
    axis = axes.pop()
    if layout.threads_per_warp[axis] == layout.warps_per_cta[axis] == 1:
        return
    type = as_tensor(op.result.type)
    order = (*(dim for dim in layout.order if dim != axis), axis)
    warps = warps_around(op, program)
    wanted = BlockedLayout.make(type.get_shape(), [1] * layout.rank, order, warps, program.lanes)
    new_type = as_tensor(with_encoding(type, ttg.encoding_of(wanted)))
    if wanted == layout or not can_reorder(op.src.type, new_type):
        return
    op.properties["efficient_layout"] = UNIT
    value = Rewriter.replace_value_with_new_type(op.result, new_type)
    uses = tuple(value.uses)
    back = OpBuilder.after(op).result(ttg.ConvertLayoutOp(value, type))
    for use in uses:
        use.operation.operands[use.index] = back


def _optimize_gather(op: tt.GatherOp, program: ProgramShape) -> None:
    """Lanes along the axis first, warps never; the present layout stays where it does that already."""
    source, indices, axis = as_tensor(op.src.type), as_tensor(op.indices.type), op.axis.value.data
    rank = len(source.get_shape())
    if rank == 1 or ttg.layout_of(source.encoding).cga:
        return
    if not (source.encoding == indices.encoding and _keeps_rows_in_warps(source, indices, axis)):
        layout = _gather_layout(source, axis, warps_around(op, program), program.lanes)
        encoding = ttg.encoding_of(layout)
        moved = (with_encoding(source, encoding), with_encoding(indices, encoding))
        if not _keeps_rows_in_warps(as_tensor(moved[0]), as_tensor(moved[1]), axis):
            return
        relayout(op, (op.src, op.indices, op.result), encoding)
    op.properties["efficient_layout"] = UNIT


def _gather_layout(source: TensorType[Attribute], axis: int, warps: int, lanes: int) -> BlockedLayout:
    """A layout in which a warp holds whole rows along an axis."""
    shape = source.get_shape()
    others = [dim for dim in reversed(range(len(shape))) if dim != axis]
    along = min(shape[axis], lanes)
    sizes, threads, per_cta = [1] * len(shape), [1] * len(shape), [1] * len(shape)
    sizes[axis], threads[axis] = shape[axis] // along, along
    _deal(lanes // along, others, shape, threads, [1] * len(shape))
    threads[axis] *= lanes // prod(threads)
    _deal(warps, others, shape, per_cta, threads)
    per_cta[others[-1]] *= warps // prod(per_cta)
    return BlockedLayout(tuple(sizes), tuple(threads), tuple(per_cta), (axis, *others))


def _deal(count: int, dims: Sequence[int], shape: Sequence[int], dealt: list[int], taken: Sequence[int]) -> None:
    """Hand out `count` along dimensions as far as their extents go beyond what is taken."""
    for dim in dims:
        dealt[dim] = max(1, min(count, shape[dim] // taken[dim]))
        count //= dealt[dim]


def _keeps_rows_in_warps(source: TensorType[Attribute], indices: TensorType[Attribute], axis: int) -> bool:
    """Return whether warps hold the same rows of both tensors, and lanes the same but along the axis."""
    rows: list[list[tuple[tuple[int, ...], ...]]] = []
    for type in (source, indices):
        layout: DistributedLayout = ttg.layout_of(type.encoding)
        linear = layout.to_linear(type.get_shape())
        bases = [linear.bases_of(name) for name in (LANE, WARP)]
        if any(vector[axis] for vector in bases[1]):
            return False
        rows.append([tuple((*v[:axis], *v[axis + 1 :]) for v in vectors) for vectors in bases])
    return rows[0] == rows[1]
