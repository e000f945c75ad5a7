"""`ld` and `st` in all state spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.reference.simt.instructions.moves import space_of
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.memory import CLUSTER, Access, rows_of
from tilewright.reference.simt.program import Decoder, Source, Step, decodes, unknown
from tilewright.reference.simt.types import Values
from tilewright.support.ptx.syntax import Address, Instruction, Operand, Register, Symbol, Vector
from tilewright.support.ptx.types import Type, parse_type

STRONG = frozenset(("volatile", "relaxed", "acquire", "release"))
"""Accesses that may meet others."""


def address_of(operand: Operand, decoder: Decoder, instruction: Instruction) -> Source:
    """The address in brackets, 32 or 64 bits wide."""
    if not isinstance(operand, Address):
        raise unknown(instruction, "expected an address")
    bits = operand.base.bits if isinstance(operand.base, Register) else 64
    type_ = parse_type(f"b{bits}")
    assert type_ is not None
    base, offset = decoder.source(operand.base, type_, instruction), operand.offset
    if not offset:
        return base
    addend: Any = type_.dtype.type(offset & ((1 << bits) - 1))
    return lambda machine: base(machine) + addend


def elements_of(operand: Operand) -> Sequence[Operand]:
    """A register, or those of a vector."""
    return operand.items if isinstance(operand, Vector) else (operand,)


def passed_parameter(address: Operand, decoder: Decoder) -> tuple[str, int] | None:
    """The name and offset of a parameter that a call passes, as opposed to one of the kernel."""
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        return None
    name = address.base.name
    if decoder.function.is_kernel and name in decoder.image.parameters:
        return None
    return name, address.offset


def reached_space(modifiers: tuple[str, ...]) -> str:
    """The state space of an access; that of a whole cluster under its own name."""
    return CLUSTER if CLUSTER in modifiers else space_of(modifiers)


@decodes("ld", "ldu")
def load(instruction: Instruction, decoder: Decoder) -> Step:
    """`ld.global.v4.b32 {a, b, c, d}, [p+16];`"""
    type_, space = decoder.type_of(instruction), reached_space(instruction.modifiers)
    items = elements_of(instruction.operands[0])
    if space == "param":
        passed = passed_parameter(instruction.operands[1], decoder)
        if passed is not None:
            return _load_passed(instruction, decoder, type_, items, passed)
        if not decoder.function.is_kernel:
            return _load_by_address(instruction, decoder, type_, items)
    targets = [decoder.target(item, type_, instruction) for item in items]
    address, count, dtype = address_of(instruction.operands[1], decoder, instruction), len(items), type_.dtype
    access = Access.PLAIN if STRONG.isdisjoint(instruction.modifiers) else Access.VOLATILE

    def run(machine: Machine) -> None:
        rows = machine.memory.load(machine, space, address(machine), dtype, count, access)
        uniform = rows.shape[0] == 1 and machine.count != 1
        for position, target in enumerate(targets):
            target(machine, rows[0, position] if uniform else np.ascontiguousarray(rows[:, position]))

    return run


@decodes("st")
def store(instruction: Instruction, decoder: Decoder) -> Step:
    """`st.shared.v2.b32 [p], {a, b};`"""
    type_, space = decoder.type_of(instruction), reached_space(instruction.modifiers)
    items = elements_of(instruction.operands[1])
    if space == "param":
        passed = passed_parameter(instruction.operands[0], decoder)
        if passed is None:
            raise unknown(instruction, "parameters of a kernel cannot be written")
        return _store_passed(instruction, decoder, type_, items, passed)
    sources = decoder.sources(items, type_, instruction)
    address = address_of(instruction.operands[0], decoder, instruction)
    access = Access.PLAIN if STRONG.isdisjoint(instruction.modifiers) else Access.VOLATILE

    def run(machine: Machine) -> None:
        rows = rows_of(machine, [source(machine) for source in sources])
        machine.memory.store(machine, space, address(machine), rows, access)

    return run


def _slots(
    decoder: Decoder, type_: Type, items: Sequence[Operand], passed: tuple[str, int]
) -> list[tuple[Operand, int]]:
    """The registers that stand for the parts of a parameter, one for each item."""
    name, offset = passed
    size = type_.bits // 8
    return [
        (item, decoder.parameter(decoder.function.name, name, offset + position * size))
        for position, item in enumerate(items)
    ]


def _load_passed(
    instruction: Instruction, decoder: Decoder, type_: Type, items: Sequence[Operand], passed: tuple[str, int]
) -> Step:
    pairs = [(decoder.target(item, type_, instruction), slot) for item, slot in _slots(decoder, type_, items, passed)]

    def run(machine: Machine) -> None:
        for target, slot in pairs:
            target(machine, _as(machine.get(slot), type_))

    return run


def _load_by_address(instruction: Instruction, decoder: Decoder, type_: Type, items: Sequence[Operand]) -> Step:
    """`ld.param.b32 d, [p];` in a function: p is the address of one of its parameters, or of one of several."""
    targets = [decoder.target(item, type_, instruction) for item in items]
    address, size = address_of(instruction.operands[1], decoder, instruction), type_.bits // 8

    def run(machine: Machine) -> None:
        addresses = machine.spread(address(machine)).astype(np.int64)
        for position, target in enumerate(targets):
            values = np.zeros(addresses.size, np.uint64)
            for where in np.unique(addresses).tolist():
                slot = machine.get(decoder.parameter_at(where + position * size))
                chosen = addresses == where
                values[chosen] = machine.spread(slot)[chosen]
            target(machine, _as(values, type_))

    return run


def _as(values: Values, type_: Type) -> Values:
    """A slot's bits as values of a type, a copy."""
    unsigned = np.dtype(f"u{type_.dtype.itemsize}")
    return values.astype(unsigned).view(type_.dtype)


def _store_passed(
    instruction: Instruction, decoder: Decoder, type_: Type, items: Sequence[Operand], passed: tuple[str, int]
) -> Step:
    pairs = [(decoder.source(item, type_, instruction), slot) for item, slot in _slots(decoder, type_, items, passed)]

    def run(machine: Machine) -> None:
        for source, slot in pairs:
            values = source(machine)
            machine.put(slot, values.view(np.dtype(f"u{values.dtype.itemsize}")).astype(np.uint64))

    return run
