"""`tritongpu-combine-tensor-select-and-if`: selects of tensors become results of conditionals."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.ir import Block, Operation

from tilewright.dialects import arith, scf
from tilewright.dialects.tt.types import is_tensor
from tilewright.ir.appending import append_operands, append_result
from tilewright.ir.dominance import properly_dominates
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within


@register_pass
class CombineTensorSelectAndIfPass(Pass):
    """Turns a select of tensors, by the scalar condition of an `scf.if` in the same block, into a result of the
    `scf.if`. The branch is taken anyway and costs less than a select per element, and an accumulator stays in its
    registers.

    ```mlir
    %acc = arith.select %last, %zero, %sum : tensor<64x64xf32, #mma>
    scf.if %last { ... }
    // becomes
    %acc = scf.if %last -> (tensor<64x64xf32, #mma>) { ... scf.yield %zero } else { scf.yield %sum }
    ```
    The select must come before the conditional, and all its uses after or inside it.
    """

    name = "tritongpu-combine-tensor-select-and-if"
    takes: ClassVar[tuple[str, ...]] = ("tt", "ttg")

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in ops_within(module):
            if isinstance(op, arith.SelectOp) and op.cond.type == i1 and is_tensor(op.result.type):
                conditional = _find_conditional(op)
                if conditional is not None:
                    _merge(op, conditional)


def _find_conditional(select: arith.SelectOp) -> scf.IfOp | None:
    """The first conditional of the block on the same condition that the select can become a result of."""
    users = {use.operation for use in select.cond.uses}
    op = select.next_op
    while op is not None:
        if isinstance(op, scf.IfOp) and op in users and op.cond is select.cond and _can_merge(select, op):
            return op
        op = op.next_op
    return None


def _can_merge(select: arith.SelectOp, conditional: scf.IfOp) -> bool:
    uses = (use.operation for use in select.result.uses)
    return all(conditional.is_ancestor(user) or properly_dominates(conditional, user) for user in uses)


def _merge(select: arith.SelectOp, conditional: scf.IfOp) -> None:
    if not conditional.false_region.blocks:
        conditional.false_region.add_block(Block([scf.YieldOp()]))
    values = (select.lhs, select.rhs)
    result = append_result(conditional, select.result.type)
    for region, value in zip(conditional.regions, values, strict=True):
        terminator = region.block.last_op
        assert isinstance(terminator, scf.YieldOp)
        append_operands(terminator, [value])
        for use in tuple(select.result.uses):
            if region.is_ancestor(use.operation):
                use.operation.operands[use.index] = value
    select.result.replace_all_uses_with(result)
    _erase(select)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
