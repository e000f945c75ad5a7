"""The pass relayout-tritongpu."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import tt, ttg
from tilewright.dialects.ttg.verification import NUM_WARPS, integer_attribute, program_shape
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.lowering.tt_to_ttg import special_ops
from tilewright.lowering.tt_to_ttg.assign_layouts import LayoutAssignment, ProgramSize

__all__ = ["RelayoutTritonGPUPass", "special_ops"]


@register_pass
class RelayoutTritonGPUPass(Pass):
    """Discards all layouts and assigns new ones for the number of warps that the module now states.

    ```mlir
    module attributes {"ttg.num-warps" = 8 : i32, ...} {
      %r = tt.make_range {...} : tensor<64xi32, #ttg.blocked<{..., warpsPerCTA = [4], ...}>>
      // becomes
      %r = tt.make_range {...} : tensor<64xi32, #ttg.blocked<{..., warpsPerCTA = [8], ...}>>
    ```
    """

    name = "relayout-tritongpu"
    takes = ("tt", "ttg")

    def run(self, module: ModuleOp, context: PassContext) -> None:
        shape = program_shape(module)
        if shape is None:
            context.fail(module, f"the module does not state {NUM_WARPS}")
        for op in tuple(module.ops):
            if isinstance(op, tt.FuncOp):
                _forget_conversions(op)
                warps = integer_attribute(op, NUM_WARPS) or shape.warps
                LayoutAssignment(ProgramSize(warps, shape.lanes, shape.blocks), replace=True).run_on_function(op)


def _forget_conversions(function: tt.FuncOp) -> None:
    """Conversions between old layouts mean nothing any more."""
    for op in ops_within(function):
        if isinstance(op, ttg.ConvertLayoutOp):
            op.result.replace_all_uses_with(op.src)
            op.detach()
            op.erase()
