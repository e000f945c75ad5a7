"""Axis info against what a program computes: every claim has to hold for every value, each time it is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from suite.arrays import Array
from tilewright.analysis.axis_info import AxisInfo, ModuleAxisInfo
from tilewright.analysis.axis_info.lattice import pointee_bytes
from tilewright.dialects import arith, tt
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.types import bit_width, element_type, is_integer_or_index
from tilewright.reference.machine import Frame, Machine

EXACT = {arith.AddiOp: np.add, arith.SubiOp: np.subtract, arith.MuliOp: np.multiply}


class Overflow(Exception):
    """The program adds beyond its width, where nothing is claimed."""


def false_claims(info: AxisInfo, unit: int, values: Array) -> list[str]:
    """What facts say of an array that is not so; neighbours in contiguous groups differ by `unit`."""
    array = np.atleast_1d(np.asarray(values)).astype(np.int64)
    wrong: list[str] = []
    if info.constant_value is not None and not np.all(array == info.constant_value):
        wrong.append(f"not all are {info.constant_value}")
    for dim in range(array.ndim):
        moved = np.moveaxis(array, dim, -1)
        extent = moved.shape[-1]
        steps = np.diff(moved, axis=-1)
        for what, group, step in (("contiguity", info.contiguity[dim], unit), ("constancy", info.constancy[dim], 0)):
            inside = np.arange(1, extent) % group != 0
            if not np.all(steps[..., inside] == step):
                wrong.append(f"{what} {group} along {dim}")
        first = moved[..., :: info.contiguity[dim]]
        if np.any(first % min(info.divisibility[dim], 1 << 62) != 0):
            wrong.append(f"divisibility {info.divisibility[dim]} along {dim}")
    return wrong


class CheckedValues(dict[SSAValue, Any]):
    """The values of a frame, each compared with its claims when it is set."""

    def __init__(self, infos: ModuleAxisInfo, complaints: list[str]) -> None:
        super().__init__()
        self._infos = infos
        self._complaints = complaints

    def __setitem__(self, value: SSAValue, number: Any) -> None:
        super().__setitem__(value, number)
        element = element_type(value.type)
        owner = value.owner
        if isinstance(owner, Operation) and type(owner) in EXACT:
            self._check_width(owner, number)
        if is_integer_or_index(element) or isinstance(element, PointerType):
            info = self._infos.of(value)
            wrong = false_claims(info, pointee_bytes(value.type), number)
            if wrong:
                name = owner.name if isinstance(owner, Operation) else "block argument"
                self._complaints.append(f"{name} : {value.type}: {'; '.join(wrong)} ({info})\n{owner}\n{number}")

    def _check_width(self, op: Operation, number: Any) -> None:
        if bit_width(element_type(op.results[0].type)) < 32:
            return
        left, right = (np.asarray(self[operand]).astype(object) for operand in op.operands)
        if np.any(EXACT[type(op)](left, right) != np.asarray(number).astype(object)):
            raise Overflow


class CheckingMachine(Machine):
    """Runs functions with frames whose values are checked."""

    infos: ModuleAxisInfo
    complaints: list[str]

    def call(self, name: str, arguments: Any, caller: Operation | None = None, active: Any = None) -> Any:
        frame = Frame(self)
        frame.active = active
        frame.values = CheckedValues(self.infos, self.complaints)
        return frame.run_blocks(self.functions[name].regions[0], arguments)


def complaints_about(module: ModuleOp, name: str, arguments: list[Any], program_id: int = 0) -> list[str]:
    """Claims about the values of a function that do not hold when it runs; raises Overflow where it overflows."""
    machine = CheckingMachine(module, program_id=(program_id, 0, 0), num_programs=(program_id + 1, 1, 1))
    machine.infos, machine.complaints = ModuleAxisInfo(module), []
    with np.errstate(all="ignore"):
        machine.call(name, arguments)
    return machine.complaints


def functions_of(module: ModuleOp) -> list[tt.FuncOp]:
    """The functions of a module."""
    return [op for op in module.ops if isinstance(op, tt.FuncOp)]
