"""`tl.device_print` on the CPU: each lane that a kernel prints is one call back into Python, which writes the line.

A kernel calls ``@tilewright_print_<n>(i32 x, i32 y, i32 z, index..., value)``; the declaration's `tilewright.print`
attribute says how the value is to be written. The function that is defined for it here hands program id, lane indices,
the value's 64 bits and a description to the process-wide callback.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, Float64Type, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.dialects import func

PRINT_ATTRIBUTE = "tilewright.print"
CALLBACK = "tilewright_print_lane"


def define_prints(module: ModuleOp, text: ModuleText, called: frozenset[str]) -> bool:
    """Define the print functions that a kernel calls; returns whether there are any."""
    found = False
    for op in module.body.block.ops:
        if not isinstance(op, func.FuncOp) or op.sym_name.data not in called:
            continue
        meaning = op.attributes.get(PRINT_ATTRIBUTE)
        if isinstance(meaning, DictionaryAttr):
            types = tuple(op.function_type.inputs.data)
            name = op.sym_name.data
            text.define_once(name, lambda name=name, types=types, meaning=meaning: _define(name, text, types, meaning))
            found = True
    return found


def _define(name: str, module: ModuleText, types: Sequence[Attribute], meaning: DictionaryAttr) -> str:
    has_value = _plain(meaning.data["operands"]) != 0
    is_float = has_value and isinstance(types[-1], Float64Type)
    rank = len(types) - 3 - has_value
    llvm_types = ["i32"] * 3 + ["i64"] * rank + (["double" if is_float else "i64"] if has_value else [])
    parameters = [Parameter(type, f"%a{i}") for i, type in enumerate(llvm_types)]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline cold")
    description = {key: _plain(value) for key, value in meaning.data.items()} | {"float": is_float, "rank": rank}
    text = module.string(json.dumps(description).encode())
    places = fn.entry_value(f"alloca [{max(rank, 1)} x i64]")
    for axis in range(rank):
        at = fn.value(f"getelementptr i64, ptr {places}, i64 {axis}")
        fn.emit(f"store i64 %a{3 + axis}, ptr {at}")
    value = f"%a{3 + rank}" if has_value else "0"
    if is_float:
        value = fn.value(f"bitcast double {value} to i64")
    ids = [("i32", f"%a{axis}") for axis in range(3)]
    fn.call("void", CALLBACK, [("ptr", text), *ids, ("ptr", places), ("i64", value)])
    fn.terminate("ret void")
    return fn.text()


def _plain(attr: Attribute) -> object:
    match attr:
        case IntegerAttr():
            return attr.value.data
        case StringAttr():
            return attr.data
        case ArrayAttr():
            return [_plain(item) for item in attr.data]
        case _:
            return str(attr)


@lru_cache(maxsize=256)
def _description(text: bytes) -> dict[str, object]:
    return json.loads(text)


def format_lane(description: dict[str, object], program: Sequence[int], places: Sequence[int], bits: int) -> str:
    """The line of one lane, in Triton's form: ``pid (0, 0, 0) idx (5) x: 3.000000``."""
    line = f"pid ({', '.join(map(str, program))}) idx ({', '.join(map(str, places))}){description['prefix']}"
    if description["operands"] == 0:
        return line
    if description["operands"] != 1:
        line += f"(operand {description['operand']}) "
    return line + _format_value(description, bits)


def _format_value(description: dict[str, object], bits: int) -> str:
    if description["hex"]:
        width = int(str(description["bits"]))
        return f"0x{bits & ((1 << width) - 1):0{max(1, width // 4)}x}"
    if description["float"]:
        return f"{struct.unpack('<d', struct.pack('<Q', bits))[0]:f}"
    if description["signed"] and bits >> 63:
        bits -= 1 << 64
    return str(bits)


_CallbackType = ctypes.CFUNCTYPE(
    None,
    ctypes.c_char_p,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_uint64,
)


@_CallbackType
def _print_lane(text: bytes, x: int, y: int, z: int, places: Sequence[int], bits: int) -> None:
    description = _description(text)
    rank = int(str(description["rank"]))
    sys.stdout.write(format_lane(description, (x, y, z), [places[axis] for axis in range(rank)], bits) + "\n")


def print_symbols() -> dict[str, int]:
    """The address of the callback, for the loader."""
    address = ctypes.cast(_print_lane, ctypes.c_void_p).value
    assert address is not None
    return {CALLBACK: address}
