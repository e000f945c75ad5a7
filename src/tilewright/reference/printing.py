"""What a kernel's prints look like: one line for each lane, in Triton's form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute

from tilewright.support.records import dataclass


@dataclass(frozen=True)
class PrintedOperand:
    """One operand of a print: its number among how many, and how its values are written."""

    prefix: str
    number: int
    count: int
    bits: int = 0
    is_signed: bool = True
    hexadecimal: bool = False


def format_lane(
    program: Sequence[int], place: Sequence[int], operand: PrintedOperand, value: Any = None, widths: Sequence[int] = ()
) -> str:
    """The line of one lane: ``pid (0, 0, 0) idx ( 5) x: 3.000000``; `widths` are the digits that its indices take."""
    line = f"pid ({', '.join(map(str, program))})"
    if operand.count == 0:
        return line + operand.prefix
    places = (f"{index:{width}}" for index, width in zip_longest(place, widths, fillvalue=0))
    line += f" idx ({', '.join(places)}){operand.prefix}"
    if operand.count != 1:
        line += f"(operand {operand.number}) "
    return line + format_value(operand, np.asarray(value))


def format_declared(meaning: DictionaryAttr, arguments: Sequence[Any]) -> str:
    """The line of a call of a declared print: program id, the lane's indices, and the value as i64 or f64."""
    facts = meaning.data
    count = _number(facts["operands"])
    program, place = [int(value) for value in arguments[:3]], [int(value) for value in arguments[3:]]
    prefix = facts["prefix"]
    assert isinstance(prefix, StringAttr)
    if count == 0:
        return format_lane(program, place, PrintedOperand(prefix.data, 0, 0))
    operand = PrintedOperand(
        prefix.data,
        _number(facts["operand"]),
        count,
        _number(facts["bits"]),
        bool(_number(facts["signed"])),
        bool(_number(facts["hex"])),
    )
    found: Any = facts.get("widths", ())
    widths = [_number(width) for width in found]
    return format_lane(program, place[:-1], operand, np.asarray(arguments[-1]), widths)


def _number(attr: Attribute) -> int:
    assert isinstance(attr, IntegerAttr)
    return attr.value.data


def format_value(operand: PrintedOperand, value: Any) -> str:
    """One value: floats with six digits, integers by their sign, either as the hexadecimal code if asked for."""
    if operand.hexadecimal:
        bits = int(value.reshape(1).view(f"u{value.dtype.itemsize}")[0]) & ((1 << operand.bits) - 1)
        return f"0x{bits:0{max(1, operand.bits // 4)}x}"
    if value.dtype == np.bool_:
        return str(int(value))
    if value.dtype.kind in "iu":
        number = int(value)
        return str(number if operand.is_signed else number & ((1 << operand.bits) - 1))
    return f"{float(value):f}"
