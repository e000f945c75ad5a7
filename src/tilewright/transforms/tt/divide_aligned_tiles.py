"""`triton-divide-aligned-tiles`: quotients and remainders of tiles that cross no multiple of the divisor."""

from __future__ import annotations

from math import gcd

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.analysis.signs import Signs
from tilewright.dialects import arith, tt
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.types import element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops

QUOTIENTS = (arith.DivSIOp, arith.DivUIOp)
REMAINDERS = (arith.RemSIOp, arith.RemUIOp)


@register_pass
class DivideAlignedTilesPass(Pass):
    """Divides only the first element of a tile instead of every element.

    Before, where %s is a multiple of 8 and not negative:
    ```mlir
    %range = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %tile = tt.splat %s : i32 -> tensor<8xi32>
    %x = arith.addi %tile, %range : tensor<8xi32>
    %q = arith.divsi %x, %dense64 : tensor<8xi32>
    %r = arith.remsi %x, %dense64 : tensor<8xi32>
    ```
    After:
    ```mlir
    %first = arith.divsi %s, %c64 : i32
    %q = tt.splat %first : i32 -> tensor<8xi32>
    %rest = arith.remsi %s, %c64 : i32
    %tile = tt.splat %rest : i32 -> tensor<8xi32>
    %r = arith.addi %tile, %range : tensor<8xi32>
    ```
    For with s a multiple of m, 0 <= i < m and d a multiple of m, (s + i) // d = s // d and (s + i) % d = s % d + i.
    Accesses at such indices are then known to be contiguous.
    """

    name = "triton-divide-aligned-tiles"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        info: ModuleAxisInfo | None = None
        signs = Signs()
        for op in [found for cls in (*QUOTIENTS, *REMAINDERS) for found in find_ops(module, cls)]:
            parts, divisor = _parts(op.operands[0]), splat_of(op.operands[1])
            if parts is None or not isinstance(divisor, int) or divisor <= 0:
                continue
            first, range_, extent = parts
            info = info or ModuleAxisInfo(module)
            if gcd(info.of(first).divisibility[0], divisor) >= extent and signs.is_value_nonnegative(first):
                _divide_first(op, first, range_, divisor)


def _parts(value: SSAValue) -> tuple[SSAValue, SSAValue, int] | None:
    """The scalar, the range and the range's end, where a tensor is the sum of a scalar in all lanes and a range that
    starts at 0."""
    if not isinstance(value, OpResult) or not isinstance(value.op, arith.AddiOp):
        return None
    for one, other in (value.op.operands, reversed(value.op.operands)):
        extent = _range_end(other)
        if isinstance(one.owner, tt.SplatOp) and extent is not None:
            return one.owner.src, other, extent
    return None


def _range_end(value: SSAValue) -> int | None:
    """Return how many numbers from 0 on the elements of a tensor are, in whichever of its dimensions."""
    owner = value.owner
    while isinstance(owner, tt.ExpandDimsOp | tt.BroadcastOp):
        owner = owner.operands[0].owner
    if not isinstance(owner, tt.MakeRangeOp) or owner.start.value.data != 0:
        return None
    return owner.end.value.data


def _divide_first(op: Operation, first: SSAValue, range_: SSAValue, divisor: int) -> None:
    """Replace the quotient or remainder of a tile, `first + range_` in every lane."""
    b, (result,) = OpBuilder.before(op), op.results
    constant = b.result(arith.constant_splat(divisor, element_type(result.type)))
    scalar = b.result(type(op).create(operands=[first, constant], result_types=[first.type]))
    value = b.result(tt.SplatOp(scalar, result.type))
    if isinstance(op, REMAINDERS):
        value = b.result(arith.AddiOp(value, range_))
    value.name_hint = result.name_hint
    result.replace_all_uses_with(value)
    op.detach()
    op.erase()
