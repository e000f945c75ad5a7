"""Matmuls of views: calls of micro-kernels that read both operands in place, B from panels where these are shared.

%d, %stored = linalg_ext.view_matmul ins(%a, %b) outs(%zero) into(%dest) if %whole
  ->
%panels = call @tw_mk_reserve_f32_f32_64(%b, ...)
%stored = scf.if %panels != 0 {
  call @tw_mk_f32_f32_1024x1024_zero_panels_fills_out(..., select(%whole, %dest, %buffer), ...);  yield %whole
} else { call @tw_mk_f32_f32_1024x1024(%a, ..., %b, ..., %buffer, ...);  yield false }
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import MatmulKernel
from tilewright.dialects import linalg_ext
from tilewright.lowering.linalg_to_loops.cached_panels import may_cache, multiply_by_cached, plan_cached_panels
from tilewright.lowering.linalg_to_loops.dot import emit_calls, starts_from_zero
from tilewright.lowering.linalg_to_loops.dot_operands import Panel, in_place
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lower_memory import memref_sizes
from tilewright.lowering.linalg_to_loops.region_tiles import carried_buffer
from tilewright.lowering.linalg_to_loops.sources import Source, Window
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
    init = lowering.source(op.init)
    from_zero = starts_from_zero(init)
    target = carried_buffer(lowering, op, op.init, op.result, [], is_filled=not from_zero)
    lowering.storage.held[target.flat] = op.result
    dest = None if op.dest is None else lowering.window_for(op, op.dest)
    views = lowering.window_for(op, op.a), lowering.window_for(op, op.b)
    matmul = _ViewMatmul(lowering, op, kernel, views, (a_sizes[1], counts), target, init if from_zero else None, dest)
    is_stored = matmul.emit()
    if op.stored is not None:
        op.stored.replace_all_uses_with(lowering.emitter.truth(is_stored))
    lowering.define(op, target)


@dataclass(frozen=True, slots=True)
class _ViewMatmul:
    """The calls of one matmul, at the cursor."""

    lowering: FunctionLowering
    op: linalg_ext.ViewMatmulOp
    kernel: MatmulKernel
    views: tuple[Window, Window]
    extents: tuple[Index, tuple[Index, Index]]
    """Of k, and the rows and columns."""
    target: Window
    zeros: Source | None
    """What the sum starts from, if it is zero: that is not in the target yet."""
    dest: Window | None

    def emit(self) -> SSAValue | bool:
        """Return whether the result is where it is stored in the end, and not in the target."""
        lowering, b_view = self.lowering, self.views[1]
        a, b = (in_place(lowering.emitter, view) for view in self.views)
        c = in_place(lowering.emitter, self.target)
        from_zero = replace(self.kernel, from_zero=self.zeros is not None)
        plan = plan_cached_panels(from_zero, self.target.shape, lowering.facts) if may_cache(lowering, b_view) else None
        if plan is None:
            if self.kernel.for_few_rows:
                self._multiply_once(a, b, c)
            else:
                self._multiply(from_zero, a, b, c)
            return False
        depth, (_, columns) = self.extents
        shared = True if self.op.is_shared is None else self.op.is_shared
        return multiply_by_cached(
            lowering, from_zero, plan, b, (depth, columns), shared,
            lambda kernel, panels: self._multiply_by_panels(kernel, a, panels, c),
            lambda: self._multiply_once(a, b, c),
        )  # fmt: skip

    def _multiply(self, kernel: MatmulKernel, a: Panel, b: Panel, c: Panel, output: Panel | None = None) -> None:
        depth, counts = self.extents
        emit_calls(self.lowering.emitter, kernel, (a, b, c), (1, *self.target.shape), depth, counts, output)

    def _multiply_once(self, a: Panel, b: Panel, c: Panel) -> None:
        """By the kernel of the loop on the other side, which is there anyhow."""
        if self.zeros is not None:
            self.lowering.copy(self.zeros, self.target)
        self._multiply(self.kernel, a, b, c)

    def _multiply_by_panels(self, kernel: MatmulKernel, a: Panel, b: Panel, c: Panel) -> SSAValue | bool:
        emitter, dest, may_store = self.lowering.emitter, self.dest, self.op.may_store
        if dest is None or may_store is None:
            self._multiply(kernel, a, b, c)
            return False
        element, stored = str(dest.element), in_place(emitter, dest)
        to_output = replace(kernel, output=element)
        if element == kernel.accumulator:
            address = emitter.select(may_store, stored.address, c.address)
            row_stride = emitter.select_index(may_store, stored.strides[0], c.strides[0])
            self._multiply(to_output, a, b, c, Panel(address, (row_stride, 1), c.element_bytes))
        else:
            emitter.choose(
                may_store,
                lambda: self._multiply(to_output, a, b, c, stored),
                lambda: self._multiply(kernel, a, b, c),
            )
        return may_store
