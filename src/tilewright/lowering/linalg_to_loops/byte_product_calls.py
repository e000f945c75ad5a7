"""The last step of `linalg-to-loops` for `linalg_ext.dot_bytes`, which is no op of the stage."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr

from tilewright.dialects import func, linalg_ext
from tilewright.dialects.byte_products import ByteProduct
from tilewright.ir.builder import OpBuilder
from tilewright.ir.walking import find_ops
from tilewright.lowering.linalg_to_loops.external_calls import declare


def call_byte_products(function: func.FuncOp) -> None:
    """Put calls of declared functions (`dialects.byte_products`) in place of products of bytes."""
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
