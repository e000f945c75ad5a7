"""Constants as operands: literals of numbers, and tables for tensors whose elements differ."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from tilewright.codegen.float_formats import BF16 as BF16_FORMAT
from tilewright.codegen.float_formats import F16 as F16_FORMAT
from tilewright.codegen.float_formats import encode
from tilewright.codegen.literals import f32_constant, float_constant, half_constant
from tilewright.dialects import arith
from tilewright.dialects.types import as_tensor
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.types import ElementType


def literal(value: object, element: ElementType) -> str:
    """The literal of a Python number."""
    if element.is_float:
        return float_literal(float(cast(float, value)), element)
    if element.text == "i1":
        return "true" if value else "false"
    return str(int(cast(int, value)))


def float_literal(value: float, element: ElementType) -> str:
    """The literal of a float, rounded to its type."""
    if element.format is not None:
        return str(encode(value, element.format))
    match element.text:
        case "float":
            return f32_constant(value)
        case "double":
            return float_constant(value)
        case "half":
            return half_constant(encode(value, F16_FORMAT))
        case _:
            return f"0xR{encode(value, BF16_FORMAT):04X}"


@lowers(arith.ConstantOp)
def lower_constant(op: arith.ConstantOp, fn: GpuFunctionLowering) -> None:
    """A constant needs no instruction: its uses spell it. A tensor of different elements is a table in memory."""
    element = fn.element(op.result)
    value: Attribute = op.value
    match value:
        case IntegerAttr() | FloatAttr():
            fn.set(op.result, literal(value.value.data, element))
        case DenseIntOrFPElementsAttr():
            literals = _literals(value, element)
            if len(literals) > 1:
                fn.set(op.result, _table(op, fn, literals, element))
            else:
                fn.set_like(op.result, literals * fn.num_registers(op.result.type))
        case _:
            raise TypeError(f"constant of {value}")


def _literals(value: DenseIntOrFPElementsAttr, element: ElementType) -> list[str]:
    """The literals of the elements; one where all are equal (NaNs too)."""
    if value.is_splat():
        return [literal(value.get_values()[0], element)]
    literals = [literal(number, element) for number in value.get_values()]
    return literals[:1] if len(set(literals)) == 1 else literals


def _table(op: arith.ConstantOp, fn: GpuFunctionLowering, literals: list[str], element: ElementType) -> tuple[str, ...]:
    """Each register's element, from an array in constant memory at the row-major index of its coordinates."""
    memory = element.memory
    if element.text == "i1":
        literals = [str(int(text == "true")) for text in literals]
    body = ", ".join(f"{memory} {text}" for text in literals)
    symbol = f"@.table.{len(fn.module.text.globals)}"
    array = f"[{len(literals)} x {memory}]"
    fn.module.text.add_global(f"{symbol} = private unnamed_addr addrspace(1) constant {array} [{body}]")
    shape = as_tensor(op.result.type).get_shape()
    layout = fn.layout(op.result)
    # The last dimension is contiguous: flattened with it first, coordinates are the row-major index.
    flat = layout.transpose_outs(reversed(layout.out_dims)).flatten_outs("index")
    assert flat.out_dims["index"] == len(literals), shape

    def fetch(index: str) -> str:
        wide = fn.text.cast("zext", "i32", index, "i64")
        address = fn.text.address(memory, symbol, wide, space=1)
        value = fn.text.load(memory, address, space=1)
        return fn.text.cast("trunc", "i8", value, "i1") if element.text == "i1" else value

    return fn.each([tuple(fn.threads.index.along(flat, "index"))], fetch)
