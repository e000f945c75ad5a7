"""`triton-narrow-comparisons`: lanes are compared with a wider number at their own width."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith import CmpIPredicate
from tilewright.dialects.types import bit_width, element_type, is_tensor, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops

WIDE = 64
"""Bits of a number from which on what is compared with it would be the widest of most loops."""
UNSIGNED = {
    CmpIPredicate.SLT: CmpIPredicate.ULT,
    CmpIPredicate.SLE: CmpIPredicate.ULE,
    CmpIPredicate.SGT: CmpIPredicate.UGT,
    CmpIPredicate.SGE: CmpIPredicate.UGE,
}
"""What the predicates of numbers that were extended by zeros are before that."""


@register_pass
class NarrowComparisonsPass(Pass):
    """Compares a tensor that was extended for it with one number, or with few that are broadcast, at the width that the
    tensor had, and asks of the numbers, once, whether they fit into that. Which of two is less is asked at that width
    of constants alone, which fit or are compared already.

    Before:
    ```mlir
    %wide = arith.extsi %x : tensor<256xi32> to tensor<256xi64>
    %y = tt.splat %n : i64 -> tensor<256xi64>
    %hit = arith.cmpi eq, %wide, %y : tensor<256xi64>
    ```
    After:
    ```mlir
    %m = arith.trunci %n : i64 to i32
    %back = arith.extsi %m : i32 to i64
    %fits = arith.cmpi eq, %back, %n : i64
    %all = tt.splat %fits : i1 -> tensor<256xi1>
    %y = tt.splat %m : i32 -> tensor<256xi32>
    %same = arith.cmpi eq, %x, %y : tensor<256xi32>
    %hit = arith.andi %same, %all : tensor<256xi1>
    ```
    Labels are 64 bits wide, columns 32: without it all that is computed beside `columns == label`, such as the gradient
    of a cross entropy, is computed in half as many lanes.
    """

    name = "triton-narrow-comparisons"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in list(find_ops(module, arith.CmpiOp)):
            if not is_tensor(op.lhs.type) or bit_width(element_type(op.lhs.type)) != WIDE:
                continue
            if not _narrow_to_constant(op) and op.kind in (CmpIPredicate.EQ, CmpIPredicate.NE):
                _narrow(op)


def _narrow_to_constant(op: arith.CmpiOp) -> bool:
    """Compare with a constant at the width of what is compared with it, if the constant fits into that."""
    extensions, constants = [value.owner for value in op.operands], list(map(arith.find_constant_int, op.operands))
    at = 0 if constants[1] is not None else 1
    extension, constant = extensions[at], constants[1 - at]
    if constant is None or not isinstance(extension, arith.ExtSIOp | arith.ExtUIOp):
        return False
    tile, is_signed = extension.input.type, isinstance(extension, arith.ExtSIOp)
    bits = bit_width(element_type(tile))
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    if bits == 1 or not low <= constant <= high:
        return False
    b = OpBuilder.before(op)
    number = b.result(arith.constant_splat(constant - (1 << bits) if constant >> (bits - 1) > 0 else constant, tile))
    kind = op.kind if is_signed else UNSIGNED.get(op.kind, op.kind)
    sides = (extension.input, number) if at == 0 else (number, extension.input)
    _replace(op, b.result(arith.CmpiOp(*sides, int(kind))))
    return True


def _narrow(op: arith.CmpiOp) -> None:
    for wide, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        extension, spread = _before_broadcast(wide).owner, other.owner
        if isinstance(extension, arith.ExtSIOp | arith.ExtUIOp) and isinstance(spread, tt.SplatOp | tt.BroadcastOp):
            break
    else:
        return
    b, kind, mask = OpBuilder.before(op), op.kind, op.results[0].type

    def like(value: SSAValue, original: SSAValue, type: Attribute) -> SSAValue:
        """A value in place of what was splat or broadcast."""
        maker = original.owner
        return b.result(maker.__class__(value, type)) if isinstance(maker, tt.SplatOp | tt.BroadcastOp) else value

    numbers, width = spread.src, element_type(extension.input.type)
    narrow = b.result(arith.TruncIOp(numbers, with_element_type(numbers.type, width)))
    fits = b.result(arith.CmpiOp(b.result(extension.__class__(narrow, numbers.type)), numbers, int(kind)))
    tile = with_element_type(wide.type, width)
    compared = b.result(arith.CmpiOp(like(extension.input, wide, tile), like(narrow, other, tile), int(kind)))
    join = arith.AndIOp if kind is CmpIPredicate.EQ else arith.OrIOp
    _replace(op, b.result(join(compared, like(fits, other, mask))))


def _replace(op: arith.CmpiOp, result: SSAValue) -> None:
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    op.detach()
    op.erase()


def _before_broadcast(value: SSAValue) -> SSAValue:
    return value.owner.src if isinstance(value.owner, tt.BroadcastOp) else value
