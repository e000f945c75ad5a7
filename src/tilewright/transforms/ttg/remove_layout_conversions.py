"""`tritongpu-remove-layout-conversions`: as few conversions between layouts as possible, where they cost least."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import tt, ttg
from tilewright.dialects.ttg.canonicalization import (
    CONVERT_LAYOUT_RULES,
    LocalAllocOfConvert,
    LocalStoreOfConvert,
    ReshapeOfConvert,
)
from tilewright.dialects.ttg.verification import program_shape
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.rules import RewriteRule, RuleTable, apply_rules, op_type_rewrite_pattern
from tilewright.transforms.common.dce import eliminate_dead_code
from tilewright.transforms.common.remove_dead_values import remove_dead_values
from tilewright.transforms.ttg.hoist_conversions import hoist_conversions
from tilewright.transforms.ttg.propagate_layouts import LayoutPropagation
from tilewright.transforms.ttg.rematerialize import Rematerializer

MAX_ROUNDS = 32
"""Rounds of rematerialisation. Each but the last removes a conversion."""


class DropSameLayout(RewriteRule):
    """convert(x) = x where the layouts are equal. Removes one conversion."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ttg.ConvertLayoutOp, rewriter: PatternRewriter, /) -> None:
        if op.src.type == op.result.type:
            rewriter.replace(op, (), (op.src,))


_CLEANUP = RuleTable(
    (DropSameLayout(), *CONVERT_LAYOUT_RULES, LocalAllocOfConvert(), LocalStoreOfConvert(), ReshapeOfConvert())
)


@register_pass
class RemoveLayoutConversionsPass(Pass):
    """Removes layout conversions by computing values in the other layout, or moves them to where they are cheap.

    ```mlir
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked>
    %a = tt.addptr %p, %r : tensor<64x!tt.ptr<f32>, #blocked>, tensor<64xi32, #blocked>
    %b = ttg.convert_layout %a : tensor<64x!tt.ptr<f32>, #blocked> -> tensor<64x!tt.ptr<f32>, #blocked1>
    %x = tt.load %b : tensor<64x!tt.ptr<f32>, #blocked1>
    // becomes
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked1>
    %a = tt.addptr %p, %r : tensor<64x!tt.ptr<f32>, #blocked1>, tensor<64xi32, #blocked1>
    %x = tt.load %a : tensor<64x!tt.ptr<f32>, #blocked1>
    ```
    1. Layouts of anchors (large accesses, matmuls, atomics) go forward to what computes with them, and where
       several meet one wins (`propagate_layouts`).
    2. Each conversion that is left is replaced by its operand computed anew in the other layout, back to ops that give
       any layout, through loops and conditionals, where that costs less than a round trip through shared memory
       (`rematerialize`, `conversion_cost`).
    3. The rest move above ops that make values larger, into branches, and next to loads (`hoist_conversions`).
    """

    name = "tritongpu-remove-layout-conversions"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        program = program_shape(module)
        if program is None:
            context.fail(module, "not TritonGPU IR: the module does not state ttg.num-warps")
        functions = [op for op in module.ops if isinstance(op, tt.FuncOp) and op.body.blocks]
        for function in functions:
            LayoutPropagation(function, program).run()
        _clean_up(module)
        for _ in range(MAX_ROUNDS):
            changed = [Rematerializer(function, program).remove_conversions() for function in functions]
            _clean_up(module)
            if not any(changed):
                break
        for function in functions:
            hoist_conversions(function, program)
        _clean_up(module)
        remove_dead_values(module)


def _clean_up(module: ModuleOp) -> None:
    apply_rules(module, _CLEANUP, name=RemoveLayoutConversionsPass.name)
    eliminate_dead_code(module)
