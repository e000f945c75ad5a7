"""The pass `linalg-generalize-named-ops`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import arith, linalg
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops


@register_pass
class LinalgGeneralizeNamedOpsPass(Pass):
    """Named ops become generic ones: their maps, loops and body are written out. Same name and meaning as upstream's.

    ```mlir
    %r = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %x = arith.addf %in, %in_0 : f32
      linalg.yield %x : f32
    } -> tensor<4xf32>
    ```
    Constants of a body (the 1 of a reciprocal) move to the start of the function.
    """

    name = "linalg-generalize-named-ops"
    title = "LinalgGeneralizeNamedOpsPass"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, linalg.StructuredOp):
            if not isinstance(op, linalg.GenericOp):
                generalize(op)


def generalize(op: linalg.StructuredOp) -> linalg.GenericOp:
    """Replace a named op by the generic one that it stands for."""
    block = op.parent_block()
    assert block is not None
    generic = linalg.GenericOp(
        op.inputs, op.outputs, op.detach_region(op.body), list(op.maps), list(op.iterators), op.result_types
    )
    generic.attributes.update(op.attributes)
    generic.location = op.location
    block.insert_op_before(generic, op)
    for position, argument in enumerate(generic.body.block.args):
        argument.name_hint = "in" if position < len(generic.inputs) else argument.name_hint
    for old, new in zip(op.results, generic.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()
    _hoist_constants(generic)
    return generic


def _hoist_constants(op: linalg.GenericOp) -> None:
    """Move the constants of a body to the start of the function around it."""
    top: Operation = op
    while (parent := top.parent_op()) is not None and not isinstance(parent, ModuleOp):
        if parent.parent_op() is None or isinstance(parent.parent_op(), ModuleOp):
            break
        top = parent
    block = top.parent_block()
    for constant in [inner for inner in op.body.block.ops if isinstance(inner, arith.ConstantOp)]:
        constant.detach()
        assert block is not None and block.first_op is not None
        block.insert_op_before(constant, block.first_op)
