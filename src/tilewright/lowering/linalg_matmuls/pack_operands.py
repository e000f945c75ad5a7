"""The pass `linalg-pack-operands`."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, ModuleOp, TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.codegen.microkernels import (
    MAX_PACK_CACHES,
    MatmulKernel,
    Packing,
    PanelPlan,
    fits_pack_cache,
)
from tilewright.dialects import bufferization, func, linalg, linalg_ext
from tilewright.dialects.construction import int_attr
from tilewright.dialects.types import bit_width, element_type, shape_of
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_matmuls.adjoining_dims import end_together, find_adjoining_dims, is_never_whole
from tilewright.lowering.linalg_matmuls.matmul_operands import is_zero_tile
from tilewright.lowering.linalg_matmuls.panel_plans import (
    find_constant_arguments,
    find_invariant_loop,
    plan_block_panels,
    plan_cached_panels,
)
from tilewright.lowering.linalg_to_loops.emitter import Cursor, LoopEmitter
from tilewright.lowering.linalg_to_loops.function_lowering import tensor_shape
from tilewright.lowering.microkernel_attributes import find_routine, microkernel_attributes
from tilewright.support.facts import DEFAULT_FACTS, TargetFacts
from tilewright.transforms.linalg.effects import ALIASES, root_of_memref


@register_pass
class LinalgPackOperandsPass(Pass):
    """Packs the right-hand operands of matmuls into panels once, for all matmuls that use them.

    Before a loop that does not change the operand:

    ```mlir
    scf.for ... { %d = linalg.matmul {microkernel.matmul = ...} ins(%a, %b : ...) outs(%c : tensor<32x64xf32>) }
    // becomes
    %p = linalg_ext.pack %b {microkernel.packing = ...} : tensor<64x64xf32> -> tensor<1x64x64xf32>
    scf.for ... { %d = linalg_ext.packed_matmul {...} ins(%a, %p : ...) outs(%c : tensor<32x64xf32>) }
    ```
    For all programs of a thread, if the operand is an argument that the kernel writes neither directly nor through
    another argument. Programs that share columns of C share B, and a matmul with few rows spends most of its time
    packing it. A block, such as the keys and values of attention, has a known size, for which a cache always has room:
    `linalg_ext.pack %b cached(0)`. All columns of a matrix may be too many:

    ```mlir
    %d = linalg_ext.view_matmul ins(%a, %b : ...) outs(%c : ...) shared(%s) -> tensor<64x64xf32>
    // becomes
    %p, %there = linalg_ext.pack %b cached(0) if %s {...} : memref<?x64xf32> -> tensor<1x?x64xf32>, i1
    %d = scf.if %there -> (tensor<64x64xf32>) {
      scf.yield (linalg_ext.view_matmul ins(%a, %b : ...) outs(%c : ...) panels(%p : tensor<1x?x64xf32>))
    } else { scf.yield (linalg_ext.view_matmul ins(%a, %b : ...) outs(%c : ...)) }
    ```
    The other matmul uses the micro-kernel of the loop over k that serves views which are not adjacent, starting from
    zeros, so that there is one micro-kernel fewer to compile. Operands of other matmuls are packed by each micro-kernel
    as it needs them, or read in place.
    """

    name = "linalg-pack-operands"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.ops:
            entry = function.body.blocks.first if isinstance(function, func.FuncOp) else None
            if entry is None:
                continue
            assert isinstance(function, func.FuncOp)
            packing = _Packing(LoopEmitter(entry), context.facts or DEFAULT_FACTS, find_constant_arguments(function))
            for op in find_ops(function, linalg.MatmulOp, linalg_ext.ViewMatmulOp):
                kernel = find_routine(op)
                if isinstance(kernel, MatmulKernel):
                    packing.pack(op, kernel)


class _Packing:
    """The matmuls of one function, in order."""

    def __init__(self, emitter: LoopEmitter, facts: TargetFacts, constants: frozenset[SSAValue]) -> None:
        self.emitter, self.facts, self.constants = emitter, facts, constants
        self.caches = 0

    def pack(self, op: linalg.MatmulOp | linalg_ext.ViewMatmulOp, kernel: MatmulKernel) -> None:
        """Pack the right operand of a matmul, if that is worth it."""
        self.emitter.cursor, self.emitter.location = Cursor.before(op), op.location
        if isinstance(op, linalg_ext.ViewMatmulOp):
            self._pack_view(op, kernel)
        else:
            self._pack_tile(op, kernel)

    def _may_cache(self, root: SSAValue) -> bool:
        return root in self.constants and self.caches < MAX_PACK_CACHES

    def _pack(
        self, source: SSAValue, accumulator: Attribute, plan: PanelPlan, condition: SSAValue | None = None
    ) -> linalg_ext.PackOp:
        """Pack a matrix at the cursor; unless it is packed for one program alone, into a cache of its own."""
        cache = None
        if plan.routine.packing is not Packing.PACK:
            cache, self.caches = int_attr(self.caches), self.caches + 1
        type, is_there = panels_type(source.type, accumulator, plan), None if condition is None else i1
        op = linalg_ext.PackOp(source, type, is_there, condition=condition, cache=cache)
        op.attributes.update(microkernel_attributes(plan.routine))
        return self.emitter.insert(op)

    # -- tiles ------------------------------------------------------------------------------------------------------

    def _pack_tile(self, op: linalg.MatmulOp, kernel: MatmulKernel) -> None:
        lhs, rhs = op.inputs
        plan = None if end_together(lhs, rhs) else plan_block_panels(kernel, tensor_shape(rhs), self.facts)
        if plan is None:
            return
        loop, accumulator = find_invariant_loop(op, rhs), element_type(op.results[0].type)
        if loop is not None:
            with self.emitter.at(Cursor.before(loop)):
                packed = self._pack(rhs, accumulator, plan)
        elif self._gains_by_cache(rhs, kernel) and fits_pack_cache(plan.bytes):
            packed = self._pack(rhs, accumulator, plan.by(Packing.CACHE))
        else:
            return
        new = self.emitter.insert(linalg_ext.PackedMatmulOp(lhs, packed.panels, op.outputs[0]))
        form = replace(kernel, panel_columns=plan.routine.columns, transposed_b=False)
        new.attributes.update({**op.attributes, **microkernel_attributes(form)})
        _replace(op, new)

    def _gains_by_cache(self, matrix: SSAValue, kernel: MatmulKernel) -> bool:
        """Return whether a matrix is part of an argument that does not change, and slower if read in place: its columns
        are not adjacent, or its elements need widening."""
        adjoining, value = find_adjoining_dims(matrix), matrix
        while isinstance(value.owner, ALIASES):
            value = value.owner.operands[0]
        if not isinstance(value.owner, bufferization.ToTensorOp) or not self._may_cache(
            root_of_memref(value.owner.memref)
        ):
            return False
        if is_never_whole(matrix):
            return False
        return kernel.element != kernel.accumulator if 1 in adjoining else 0 in adjoining

    # -- views ------------------------------------------------------------------------------------------------------

    def _pack_view(self, op: linalg_ext.ViewMatmulOp, kernel: MatmulKernel) -> None:
        depth = (shape_of(op.b.type) or (1,))[0]
        plan = plan_cached_panels(kernel, tensor_shape(op.result), self.facts, depth)
        if plan is None or not self._may_cache(root_of_memref(op.b)):
            return
        emitter = self.emitter
        condition = emitter.truth(True) if op.is_shared is None else op.is_shared
        plan = plan.by(Packing.RESERVE if plan.kernels_fill else Packing.CACHE)
        packed = self._pack(op.b, element_type(op.result.type), plan, condition)
        assert packed.is_there is not None
        form = replace(kernel, from_zero=is_zero_tile(op.init), panel_columns=plan.routine.columns)
        form = replace(form, fills_panels=True) if plan.kernels_fill else replace(form, transposed_b=False)
        branch, then_block, else_block = emitter.open_if(packed.is_there, [result.type for result in op.results])
        with emitter.at(then_block):
            stored = None if op.stored is None else i1
            new = linalg_ext.ViewMatmulOp(
                op.a, op.b, op.init, None, op.dest, op.may_store, stored, panels=packed.panels
            )
            emitter.yield_(_with_kernel(emitter.insert(new), form).results)
        with emitter.at(else_block):
            other = linalg_ext.ViewMatmulOp(op.a, op.b, op.init)
            values = _with_kernel(emitter.insert(other), replace(kernel, from_zero=False)).results
            emitter.yield_([*values, *(() if op.stored is None else (emitter.truth(False),))])
        _replace(op, branch)


def panels_type(matrix: Attribute, accumulator: Attribute, plan: PanelPlan) -> TensorType[Attribute]:
    """The type of the panels of a matrix whose sums have a type: as many as a plan says where its sizes are known."""
    rows, columns = shape_of(matrix) or (DYNAMIC_INDEX, DYNAMIC_INDEX)
    element, bits = element_type(matrix), 8 * plan.element_bytes
    if bit_width(element) != bits:
        element = accumulator if bit_width(accumulator) == bits else IntegerType(bits)
    shape = (
        DYNAMIC_INDEX if columns == DYNAMIC_INDEX else plan.panels,
        DYNAMIC_INDEX if rows == DYNAMIC_INDEX else plan.rows,
        plan.routine.columns,
    )
    return TensorType(element, shape)


def _with_kernel(op: Operation, kernel: MatmulKernel) -> Operation:
    op.attributes.update(microkernel_attributes(kernel))
    return op


def _replace(old: Operation, new: Operation) -> None:
    for before, after in zip(old.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    old.detach()
    old.erase()
