"""The pass `linalg-if-conversion`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import arith, linalg, scf, tensor
from tilewright.dialects.arithmetic import is_arithmetic, takes_many_instructions
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.support.cpu_costs import MOST_CONVERTED_OPS
from tilewright.transforms.linalg.structured import is_elementwise, shape_or_scalar

_INTEGER_DIVISIONS = (
    arith.DivSIOp | arith.DivUIOp | arith.RemSIOp | arith.RemUIOp | arith.CeilDivSIOp | arith.CeilDivUIOp
    | arith.FloorDivSIOp
)  # fmt: skip
"""What must not be computed where the program does not: the divisor may be zero."""


@register_pass
class LinalgIfConversionPass(Pass):
    """Turns branches that choose between cheap tiles into element-wise selects, which can be fused.

    ```mlir
    %w = scf.if %first -> (tensor<64xf32>) {
      scf.yield %ones : tensor<64xf32>
    } else {
      %next = linalg.generic ins(%count, %ones) { arith.addf } -> tensor<64xf32>
      scf.yield %next : tensor<64xf32>
    }
    // becomes
    %next = linalg.generic ins(%count, %ones) { arith.addf } -> tensor<64xf32>
    %w = linalg.generic ins(%ones, %next) { arith.select %first } -> tensor<64xf32>
    ```
    Applies only if each branch computes a tile: forwarding an existing tile costs nothing in a branch.
    """

    name = "linalg-if-conversion"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in reversed(find_ops(module, scf.IfOp)):  # inner ones first
            if is_convertible(op):
                convert(op)


def is_convertible(op: scf.IfOp) -> bool:
    """Return whether both branches may run, what they compute is little, and both make some tile."""
    if not any(is_tensor(result.type) for result in op.results) or not op.false_region.blocks:
        return False
    branches = [op.true_region.block, op.false_region.block]
    inside = [inner for block in branches for inner in block.ops if not isinstance(inner, scf.YieldOp)]
    if not all(_is_speculatable(inner) for inner in inside):
        return False
    bodies = [body for inner in inside if isinstance(inner, linalg.GenericOp) for body in inner.body.block.ops]
    if sum(not isinstance(body, linalg.YieldOp) for body in bodies) > MOST_CONVERTED_OPS:
        return False
    yielded = zip(_yielded(branches[0]), _yielded(branches[1]), strict=True)
    return any(is_tensor(pair[0].type) and all(_is_made(value, op) for value in pair) for pair in yielded)


def _is_speculatable(op: Operation) -> bool:
    """Return whether an op may be computed where the program does not, at little cost."""
    if isinstance(op, linalg.GenericOp):
        return bool(op.results) and is_elementwise(op) and all(map(_is_cheap, op.body.block.ops))
    if isinstance(op, linalg.FillOp):
        return bool(op.results)
    return isinstance(op, tensor.EmptyOp | tensor.ExpandShapeOp | tensor.CollapseShapeOp) or _is_cheap(op)


def _is_cheap(op: Operation) -> bool:
    if isinstance(op, linalg.YieldOp | linalg.IndexOp):
        return True
    return is_arithmetic(op) and not takes_many_instructions(op) and not isinstance(op, _INTEGER_DIVISIONS)


def _is_made(value: SSAValue, branch: scf.IfOp) -> bool:
    """Return whether a branch makes a tile that it yields, as constants are made wherever they are read."""
    owner = value.owner
    return isinstance(owner, linalg.FillOp) or (isinstance(owner, Operation) and owner.parent_op() is branch)


def _yielded(block: Block) -> Sequence[SSAValue]:
    assert block.last_op is not None
    return block.last_op.operands


def convert(op: scf.IfOp) -> None:
    """Compute both branches before the op, and select."""
    parent = op.parent_block()
    assert parent is not None
    pairs = list(zip(_yielded(op.true_region.block), _yielded(op.false_region.block), strict=True))
    for block in (op.true_region.block, op.false_region.block):
        for inner in list(block.ops):
            if not isinstance(inner, scf.YieldOp):
                inner.detach()
                parent.insert_op_before(inner, op)
    for result, (then, otherwise) in zip(op.results, pairs, strict=True):
        result.replace_all_uses_with(_select(op, then, otherwise))
    op.detach()
    op.erase()


def _select(branch: scf.IfOp, then: SSAValue, otherwise: SSAValue) -> SSAValue:
    """One of two values by the condition of a branch, before it."""
    if then is otherwise:
        return then
    parent, condition = branch.parent_block(), branch.cond
    assert parent is not None
    new: list[Operation]
    if is_tensor(then.type):
        element, rank = element_type(then.type), len(shape_or_scalar(then.type))
        empty = tensor.EmptyOp.create(result_types=[then.type])
        body = Block(arg_types=[element] * 3)
        select = arith.SelectOp(condition, body.args[0], body.args[1])
        body.add_ops([select, linalg.YieldOp.create(operands=list(select.results))])
        maps = [AffineMapAttr(AffineMap.identity(rank))] * 3
        new = [empty, linalg.GenericOp([then, otherwise], [empty.results[0]], body, maps, ["parallel"] * rank)]
    else:
        new = [arith.SelectOp(condition, then, otherwise)]
    for op in new:
        op.location = branch.location
        parent.insert_op_before(op, branch)
    return new[-1].results[0]
