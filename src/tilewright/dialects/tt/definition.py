"""What every `tt` and `tts` op definition is made with: its decorator, and attributes that are made once."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, i1, i32

from tilewright.dialects.definition import op_definition_with

op_definition = op_definition_with("tilewright.dialects.tt.assembly")
"""The formats of these ops may use every directive of `assembly.DIRECTIVES`."""


@cache
def i32_attr(value: int) -> IntegerAttr[IntegerType]:
    """`value : i32`, made once per value."""
    return IntegerAttr(int(value), i32)


@cache
def bool_attr(value: bool) -> IntegerAttr[IntegerType]:
    """`true` or `false`."""
    return IntegerAttr(-1 if value else 0, i1)


@cache
def i32_array(values: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """`array<i32: ...>`, made once per list of values."""
    return DenseArrayBase.from_list(i32, values)


@cache
def string_attr(value: str) -> StringAttr:
    """`"value"`, made once per string."""
    return StringAttr(value)
