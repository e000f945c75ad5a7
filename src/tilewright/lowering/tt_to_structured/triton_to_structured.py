"""The pass triton-to-structured."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.analysis.lanes import Unknown
from tilewright.analysis.mask import MaskAnalysis
from tilewright.analysis.pointer import PointerAnalysis
from tilewright.dialects import tt
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import find_ops, ops_within
from tilewright.lowering.dead_addresses import erase_dead_values
from tilewright.lowering.tt_to_structured.accesses import AccessPlan, AccessPlanner, AccessRewriter, is_tile_access
from tilewright.lowering.tt_to_structured.emission import IndexEmitter
from tilewright.lowering.tt_to_structured.masks import MaskEmitter
from tilewright.lowering.tt_to_structured.placement import Placement
from tilewright.lowering.tt_to_structured.pointers import PointerEmitter
from tilewright.lowering.tt_to_structured.prepass import remove_placeholders, run_prepass


@register_pass
class TritonToStructuredPass(Pass):
    """Pointer arithmetic of tile accesses becomes `tts.make_tptr`, masks become boxes and lane masks.

    ```mlir
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %start = tt.splat %pid64 : i32 -> tensor<64xi32>
    %offs = arith.addi %start, %range : tensor<64xi32>
    %ptr = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %ptrs = tt.addptr %ptr, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %ptrs : tensor<64x!tt.ptr<f32>>
    ```
    becomes
    ```mlir
    %o = arith.index_cast %pid64 : i32 to index
    %p = tts.make_tptr %x to sizes: [64], strides: [1], offsets: [%o], shape: [0], order: []
         : <f32> to tensor<64x!tt.ptr<f32>>
    %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
         : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
    ```
    Pointers carried by loops and conditionals become carried offsets. Address arithmetic that is no longer used is
    erased, even around loops. An access without structure is left alone, with a remark.
    """

    name = "triton-to-structured"

    enable_make_gather_scatter: bool = True
    """Make `tts.make_gather_scatter_tptr` where one dimension is indexed by a tensor."""
    run_prepass_only: bool = False
    """Only mark loop-carried pointers and index tensors with `tts.get_structured_state`."""
    skip_prepass: bool = False
    """Leave pointers and index tensors that loops carry alone."""
    use_unsafe_mask: bool = False
    """Take the bounds of masks never to lie below the first lane."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, tt.FuncOp):
            if op.body.blocks:
                if self.run_prepass_only:
                    run_prepass(op)
                else:
                    self.run_on_function(op, context)

    def run_on_function(self, function: tt.FuncOp, context: PassContext) -> None:
        """Plans all accesses of a function, then rewrites those that have a plan."""
        has_placeholders = remove_placeholders(function)
        accesses = [op for op in ops_within(function.body) if is_tile_access(op)]
        if not accesses and not has_placeholders:
            return
        analysis = PointerAnalysis(function, follow_loops=not self.skip_prepass)
        planner = AccessPlanner(analysis, MaskAnalysis(analysis), self.enable_make_gather_scatter)
        plans: list[AccessPlan] = []
        for op in accesses:
            assert isinstance(op, tt.LoadOp | tt.StoreOp)
            plan = planner.plan(op)
            if isinstance(plan, Unknown):
                context.remark(op, f"no structure: {plan.reason}", RemarkKind.ADDRESS_WITHOUT_FORMULA)
            else:
                plans.append(plan)
        placement = Placement(function.body.blocks[0], analysis.order)
        emitter = IndexEmitter(analysis, placement)
        pointers = PointerEmitter(analysis.algebra, emitter, placement)
        masks = MaskEmitter(analysis.algebra, emitter, placement, unsafe=self.use_unsafe_mask)
        rewriter = AccessRewriter(placement, emitter, pointers, masks)
        for plan in plans:
            rewriter.rewrite(plan)
        emitter.finish()
        if plans or has_placeholders:
            erase_dead_values(function)
