"""Micro-kernels in the IR: attributes of the functions that a module declares say what they compute.

```mlir
func.func private @tw_mk_f32_f32_1024x1024_zero(index, ...) attributes {microkernel.matmul = {
  accumulator = "f32", columns = 1024 : i64, element = "f32", from_zero = true, rows = 1024 : i64}}
func.func private @tw_mk_cache_f32_f32_64(index, ...) attributes {microkernel.packing = {..., packing = "cache"}}
```
The entries are the fields of `MatmulKernel` and `PanelRoutine` that differ from their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DictionaryAttr, IntAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation

from tilewright.codegen.microkernels import MatmulKernel, Packing, PanelRoutine, Routine
from tilewright.dialects import func
from tilewright.ir.diagnostics import op_error

_KINDS: dict[str, type[Routine]] = {"microkernel.matmul": MatmulKernel, "microkernel.packing": PanelRoutine}


def microkernel_attributes(routine: Routine) -> dict[str, Attribute]:
    """The attribute that stands for a routine, by its name."""
    given = ((field.name, getattr(routine, field.name), field.default) for field in fields(routine))
    entries = {name: _attribute_of(value) for name, value, default in given if value != default}
    return {next(name for name, kind in _KINDS.items() if isinstance(routine, kind)): DictionaryAttr(entries)}


def find_routine(op: Operation) -> Routine | None:
    """The routine that an op's attributes describe. Raises PassError for one that does not exist."""
    for name, kind in _KINDS.items():
        if (attribute := op.attributes.get(name)) is not None:
            try:
                if not isinstance(attribute, DictionaryAttr):
                    raise TypeError(f"{attribute} is not a dictionary")
                entries = {key: _value_of(value) for key, value in attribute.data.items()}
                if "packing" in entries:
                    entries["packing"] = Packing(entries["packing"])
                routine = kind(**entries)
                _ = routine.kind
            except (TypeError, ValueError) as error:
                raise op_error(op, f"'{name}' describes no micro-kernel: {error}") from error
            return routine
    return None


def declared_routines(functions: list[func.FuncOp]) -> Mapping[str, Routine]:
    """The routines that functions declare, by their names."""
    found = {op.sym_name.data: find_routine(op) for op in functions if not op.body.blocks}
    return {name: routine for name, routine in found.items() if routine is not None}


def _attribute_of(value: Any) -> Attribute:
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case tuple():
            return ArrayAttr([IntegerAttr(number, i64) for number in cast("tuple[int, ...]", value)])
        case _:
            return StringAttr(str(value))


def _value_of(attribute: Attribute) -> Any:
    match attribute:
        case StringAttr(data=text):
            return text
        case ArrayAttr(data=numbers):
            return tuple(map(_value_of, numbers))
        case IntegerAttr(value=IntAttr(data=number), type=type):
            return bool(number) if type == BoolAttr.from_bool(True).type else number
        case _:
            raise ValueError(f"{attribute} is not a field of one")
