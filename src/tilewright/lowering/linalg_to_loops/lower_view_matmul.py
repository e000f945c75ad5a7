"""Matmuls of views: calls of micro-kernels that read both operands in place, or B from its panels.

%d, %stored = linalg_ext.view_matmul ins(%a, %b) outs(%zero) panels(%p) into(%dest) if %whole
  ->
call @tw_mk_f32_f32_1024x1024_zero_panels_fills_out(..., %p, ..., select(%whole, %dest, %buffer), ...)
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import MatmulKernel
from tilewright.dialects import linalg_ext
from tilewright.lowering.linalg_to_loops.dot import MatmulCalls
from tilewright.lowering.linalg_to_loops.dot_operands import MatrixAddress, in_place
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lower_memory import memref_sizes
from tilewright.lowering.linalg_to_loops.region_tiles import carried_buffer
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.lowering.microkernel_attributes import find_routine


@lowers(linalg_ext.ViewMatmulOp)
def lower_view_matmul(op: linalg_ext.ViewMatmulOp, lowering: FunctionLowering) -> None:
    """See the module's docstring."""
    kernel, a_sizes, b_sizes = find_routine(op), memref_sizes(op.a), memref_sizes(op.b)
    if not isinstance(kernel, MatmulKernel) or a_sizes is None or b_sizes is None:
        lowering.fail(op, "a matmul of views without a micro-kernel, or of views whose sizes are not known")
        return
    counts, shape = (a_sizes[0], b_sizes[1]), tensor_shape(op.result)
    if counts != shape and (shape[0] > kernel.rows or shape[1] > kernel.columns):
        lowering.fail(op, "fewer rows or columns than those of a tile of several blocks")
    target = carried_buffer(lowering, op, op.init, op.result, [], is_filled=not kernel.from_zero)
    lowering.storage.contents[target.flat] = op.result
    a, b = (in_place(lowering.emitter, lowering.view_for(op, view)) for view in (op.a, op.b))
    if op.panels is not None:
        panels = lowering.values.panels[op.panels]
        b = MatrixAddress(panels, b.strides, 1, b.address) if kernel.fills_panels else MatrixAddress(panels, (0, 0), 1)
    calls = MatmulCalls(lowering.emitter, kernel, (a, b, in_place(lowering.emitter, target)), a_sizes[1])
    dest = None if op.dest is None else lowering.view_for(op, op.dest)
    is_stored = _multiply(op, calls, dest, counts)
    if op.stored is not None:
        op.stored.replace_all_uses_with(lowering.emitter.truth(is_stored))
    lowering.define(op, target)


def _multiply(
    op: linalg_ext.ViewMatmulOp, calls: MatmulCalls, dest: StridedView | None, counts: tuple[Index, Index]
) -> SSAValue | bool:
    """Emit the calls; return whether the result is where it is stored in the end, and not in the tile."""
    emitter, tile_counts, (*_, c) = calls.emitter, (1, *tensor_shape(op.result)), calls.operands
    if dest is None or op.may_store is None or op.panels is None:
        calls.emit(tile_counts, counts)
        return False
    element, stored = str(dest.element), in_place(emitter, dest)
    to_output = replace(calls, kernel=replace(calls.kernel, output=element), output=stored)
    if element == calls.kernel.accumulator:
        address = emitter.select(op.may_store, stored.address, c.address)
        row_stride = emitter.select_index(op.may_store, stored.strides[0], c.strides[0])
        output = MatrixAddress(address, (row_stride, 1), c.element_bytes)
        replace(to_output, output=output).emit(tile_counts, counts)
    else:
        emitter.choose(
            op.may_store,
            lambda: to_output.emit(tile_counts, counts),
            lambda: calls.emit(tile_counts, counts),
        )
    return op.may_store
