"""The pass `convert-dot-bytes-to-calls`."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, ModuleOp, SymbolRefAttr
from xdsl.ir import Operation

from tilewright.dialects import func, linalg_ext
from tilewright.dialects.byte_products import DOT_PAIRS, SUM_PAIRS, ByteProduct, name_of_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
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
            for op in ops_within(function):
                if (symbol := _symbol(op)) is not None:
                    types = ([operand.type for operand in op.operands], [result.type for result in op.results])
                    declare(function, symbol, FunctionType.from_lists(*types))
                    call = func.CallOp.create(
                        operands=op.operands, result_types=types[1], properties={"callee": SymbolRefAttr(symbol)}
                    )
                    op.results[0].replace_all_uses_with(OpBuilder.before(op).result(call))
                    op.detach()
                    op.erase()


def _symbol(op: Operation) -> str | None:
    """The name of the function that does what an op does, if it multiplies or sums bytes."""
    match op:
        case linalg_ext.DotBytesOp():
            return ByteProduct.of(op).symbol(op.result.type)
        case linalg_ext.DotPairsOp():
            return DOT_PAIRS + name_of_type(op.lhs.type)
        case linalg_ext.SumPairsOp():
            return SUM_PAIRS + name_of_type(op.source.type)
        case _:
            return None
