"""The pass `triton-print-addresses`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import SSAValue

from tilewright.dialects import tt
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.types import element_type, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops


@register_pass
class PrintAddressesPass(Pass):
    """Prints pointers as hexadecimal integers, for targets whose pointers become offsets.

    Before:
    ```mlir
    tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %p, %n : !tt.ptr<f32>, i32
    ```
    After:
    ```mlir
    %address = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
    tt.print " x: (operand 0) " {hex = true, isSigned = array<i32: 0>} : %address : i64
    tt.print " x: (operand 1) " {hex = false, isSigned = array<i32: 1>} : %n : i32
    ```
    A print of several values prints one line per lane of each value in any case, and each line says which operand it
    shows.
    """

    name = "triton-print-addresses"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in find_ops(module, tt.PrintOp):
            if any(_is_pointer(value) for value in op.args):
                _print_each(op)


def _is_pointer(value: SSAValue) -> bool:
    return isinstance(element_type(value.type), PointerType)


def _print_each(op: tt.PrintOp) -> None:
    b = OpBuilder.before(op)
    for index, (value, signed) in enumerate(zip(op.args, static_values(op.is_signed), strict=False)):
        is_pointer = _is_pointer(value)
        prefix = op.prefix.data if len(op.args) == 1 else f"{op.prefix.data}(operand {index}) "
        if is_pointer:
            value = b.result(tt.PtrToIntOp(value, with_element_type(value.type, i64)))
        b.insert(tt.PrintOp([value], prefix=prefix, hex=is_pointer or bool(op.hex.value.data), is_signed=[signed]))
    op.detach()
    op.erase()
