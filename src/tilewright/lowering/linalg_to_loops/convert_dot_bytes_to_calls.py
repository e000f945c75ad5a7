"""The pass `convert-dot-bytes-to-calls`."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolRefAttr

from tilewright.dialects import func, linalg_ext
from tilewright.dialects.byte_products import ByteProduct
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_to_loops.external_calls import declare


@register_pass
class ConvertDotBytesToCallsPass(Pass):
    """Turns byte dot products into calls to declared functions, which every MLIR tool can read.

    ```mlir
    %r = linalg_ext.dot_bytes unsigned_lhs %a, %b : vector<8xi32>
    // becomes
    %r = func.call @tw_dot_bytes_u8_s8_8xi32(%a, %b) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    ```
    The names are those of `dialects.byte_products`; the next lowering defines the functions.
    """

    name = "convert-dot-bytes-to-calls"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in list(module.ops):
            for op in find_ops(function, linalg_ext.DotBytesOp):
                type = op.result.type
                symbol = ByteProduct.of(op).symbol(type)
                declare(function, symbol, FunctionType.from_lists([type, type], [type]))
                call = func.CallOp.create(
                    operands=[op.lhs, op.rhs], result_types=[type], properties={"callee": SymbolRefAttr(symbol)}
                )
                op.result.replace_all_uses_with(OpBuilder.before(op).result(call))
                op.detach()
                op.erase()


__all__ = ["ConvertDotBytesToCallsPass"]
