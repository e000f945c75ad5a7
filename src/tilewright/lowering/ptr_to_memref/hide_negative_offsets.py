"""The pass `hide-negative-offsets`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnrankedMemRefType
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects import arith, memref
from tilewright.dialects.arith import find_constant_int
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops


@register_pass
class HideNegativeOffsetsPass(Pass):
    """Adds the rank of the memory, which is zero but not known to be, to negative constant offsets.

    `memref.reinterpret_cast` accepts a negative offset only as an SSA value. The `canonicalize` of mlir-opt 22 turns
    constant values into static offsets and then rejects the result. It does not fold the rank of unranked memory, and
    launchers pass memory of rank 0.

    Before:
    ```mlir
    %o = arith.constant -24 : index
    %v = memref.reinterpret_cast %x to offset: [%o], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32, #view>
    ```
    After:
    ```mlir
    %o = arith.constant -24 : index
    %r = memref.rank %x : memref<*xf32>
    %h = arith.addi %r, %o : index
    %v = memref.reinterpret_cast %x to offset: [%h], sizes: [4], strides: [1] : memref<*xf32> to memref<4xf32, #view>
    ```
    """

    name = "hide-negative-offsets"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in list(find_ops(module, memref.ReinterpretCastOp)):
            source, (offset,) = op.source, op.mixed_offsets
            if isinstance(offset, int) or not isinstance(source.type, UnrankedMemRefType):
                continue
            number = find_constant_int(offset)
            if number is None or number >= 0:
                continue
            rank = memref.RankOp(source)
            hidden = arith.AddiOp(rank.result, offset)
            Rewriter.insert_op((rank, hidden), InsertPoint.before(op))
            op.operands[1] = hidden.result
