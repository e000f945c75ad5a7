"""`tl.device_print` on the CPU: each lane that a kernel prints is one call of a function that writes the line.

A kernel calls ``@tilewright_print_<n>(i32 x, i32 y, i32 z, index..., value)``; the declaration's `tilewright.print`
attribute says how the value is to be written. The function that is defined for it here calls

    tilewright_print_lane(ptr text, i32 form, i32 x, i32 y, i32 z, i32 rank, ptr places, i64 value)

with what follows the indices, how the value's 64 bits are written (a `Form`), program id and lane: its indices, and
then the digits that each of them takes. Python is that
function, or C in programs without Python (`tools/aot`).
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, Float64Type, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.dialects import func
from tilewright.dialects.attributes import PRINT

CALLBACK = "tilewright_print_lane"

FORM_MASK = 0xFF
DIGITS_SHIFT = 8


class Form(IntEnum):
    """How a value is written: the low byte of a form. The digits of codes stand above it."""

    NOTHING = 0
    SIGNED = 1
    UNSIGNED = 2
    FLOAT = 3
    CODE = 4
    """Hexadecimal."""


def define_prints(module: ModuleOp, text: ModuleText, called: frozenset[str]) -> bool:
    """Define the print functions that a kernel calls; returns whether there are any."""
    found = False
    for op in module.body.block.ops:
        if not isinstance(op, func.FuncOp) or op.sym_name.data not in called:
            continue
        meaning = op.attributes.get(PRINT)
        if isinstance(meaning, DictionaryAttr):
            types = tuple(op.function_type.inputs.data)
            name = op.sym_name.data
            text.define_once(name, lambda name=name, types=types, meaning=meaning: _define(name, text, types, meaning))
            found = True
    return found


def _define(name: str, module: ModuleText, types: Sequence[Attribute], meaning: DictionaryAttr) -> str:
    has_value = _number(meaning, "operands") != 0
    is_float = has_value and isinstance(types[-1], Float64Type)
    rank = len(types) - 3 - has_value
    llvm_types = ["i32"] * 3 + ["i64"] * rank + (["double" if is_float else "i64"] if has_value else [])
    parameters = [Parameter(type, f"%a{i}") for i, type in enumerate(llvm_types)]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline cold")
    text = module.string(_text(meaning).encode())
    places = fn.alloca(f"[{max(2 * rank, 1)} x i64]")
    indices = [f"%a{3 + axis}" for axis in range(rank)]
    for slot, operand in enumerate([*indices, *map(str, _widths(meaning, rank))]):
        fn.store("i64", operand, fn.address("i64", places, slot))
    value = f"%a{3 + rank}" if has_value else "0"
    if is_float:
        value = fn.cast("bitcast", "double", value, "i64")
    ids = [("i32", f"%a{axis}") for axis in range(3)]
    form = _form(meaning, has_value=has_value, is_float=is_float)
    arguments = [("ptr", text), ("i32", str(form)), *ids, ("i32", str(rank)), ("ptr", places), ("i64", value)]
    fn.call("void", CALLBACK, arguments)
    fn.ret()
    return fn.text()


def _text(meaning: DictionaryAttr) -> str:
    """Return what stands between the indices and the value."""
    prefix = meaning.data["prefix"]
    assert isinstance(prefix, StringAttr)
    several = _number(meaning, "operands") > 1
    return f"{prefix.data}(operand {_number(meaning, 'operand')}) " if several else prefix.data


def _form(meaning: DictionaryAttr, *, has_value: bool, is_float: bool) -> int:
    """A `Form`, the digits of codes beside it."""
    if not has_value:
        return Form.NOTHING
    if _number(meaning, "hex"):
        return Form.CODE | max(1, _number(meaning, "bits") // 4) << DIGITS_SHIFT
    return Form.FLOAT if is_float else Form.SIGNED if _number(meaning, "signed") else Form.UNSIGNED


def _widths(meaning: DictionaryAttr, rank: int) -> list[int]:
    """Return how many digits the index along each dimension takes."""
    found: Any = meaning.data.get("widths")
    return [0] * rank if found is None else [width.value.data for width in found]


def _number(meaning: DictionaryAttr, name: str) -> int:
    attr = meaning.data[name]
    assert isinstance(attr, IntegerAttr)
    return attr.value.data


def format_lane(
    text: str, form: int, program: Sequence[int], places: Sequence[int], widths: Sequence[int], bits: int
) -> str:
    """The line of one lane, in Triton's form: ``pid (0, 0, 0) idx ( 5) x: 3.000000``."""
    line = f"pid ({', '.join(map(str, program))})"
    if form == Form.NOTHING:
        return f"{line}{text}"
    line += f" idx ({', '.join(f'{place:{width}}' for place, width in zip(places, widths, strict=True))}){text}"
    digits = form >> DIGITS_SHIFT
    match Form(form & FORM_MASK):
        case Form.NOTHING:
            return line
        case Form.CODE:
            return f"{line}0x{bits & ((1 << 4 * digits) - 1):0{digits}x}"
        case Form.FLOAT:
            return f"{line}{struct.unpack('<d', struct.pack('<Q', bits))[0]:f}"
        case Form.SIGNED:
            return f"{line}{bits - (1 << 64) if bits >> 63 else bits}"
        case Form.UNSIGNED:
            return f"{line}{bits}"


_CallbackType = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_uint64,
)


@_CallbackType
def _print_lane(text: bytes, form: int, x: int, y: int, z: int, rank: int, places: Sequence[int], bits: int) -> None:
    indices, widths = ([places[slot] for slot in range(start, start + rank)] for start in (0, rank))
    line = format_lane(text.decode(), form, (x, y, z), indices, widths, bits)
    sys.stdout.write(line + "\n")


def print_symbols() -> dict[str, int]:
    """The address of the callback, for the loader."""
    address = ctypes.cast(_print_lane, ctypes.c_void_p).value
    assert address is not None
    return {CALLBACK: address}
