"""`triton-inline-ptx-to-arith`: inline PTX becomes ops, where its instructions treat every lane by itself."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import tt
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within


@register_pass
class InlinePtxToArithPass(Pass):
    """Replaces inline PTX by the ops of arith, math and tt that compute the same.

    Before:
    ```mlir
    %r = tt.elementwise_inline_asm "{ .reg .b32 t; shl.b32 t, $1, 4; lop3.b32 $0, t, $2, 0xff00ff00, 0xec; }"
         {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %a, %b : tensor<64xi32>, tensor<64xi32> -> ...
    ```
    After:
    ```mlir
    %0 = arith.shli %a, %c4 : tensor<64xi32>
    %1 = arith.andi %0, %c-16711936 : tensor<64xi32>
    %r = arith.ori %b, %1 : tensor<64xi32>
    ```
    Assembly that handles several elements at a time (`packed_element`) is applied to whole tensors if each result is
    the same function of the elements at its own position; otherwise the tensors are split into columns and joined
    again.

    Assembly with an instruction that involves other lanes, memory, or the machine is left alone, and so is one with a
    rounding mode that cannot be honoured exactly. A remark (or, with `insists`, an error) names the instruction.
    """

    name = "triton-inline-ptx-to-arith"

    insists: bool = False
    """Refuse inline assembly that cannot be replaced."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        ops = [op for op in ops_within(module) if isinstance(op, tt.ElementwiseInlineAsmOp)]
        if not ops:
            return
        # Behind this is the simulated GPU's reader of PTX, which few kernels need.
        from tilewright.transforms.inline_ptx.forms import NotLaneWise
        from tilewright.transforms.inline_ptx.replacement import plan_inline_ptx, replace_by_ops

        for op in ops:
            try:
                plan = plan_inline_ptx(op)
            except NotLaneWise as reason:
                if self.insists:
                    context.fail(
                        op, f"PTX has a meaning on this target only where it treats every lane by itself: {reason}"
                    )
                context.remark(op, str(reason))
            else:
                replace_by_ops(op, plan)
