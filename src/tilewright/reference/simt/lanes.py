"""Inline assembly run for many lanes at once.

Only instructions that treat every lane by itself have a meaning here: arithmetic, logic, conversions, moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.errors import SimulationError, UnknownInstruction
from tilewright.reference.simt.instructions import arithmetic, bits, conversions, floats, moves
from tilewright.reference.simt.layout import lay_out
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.program import Decoder, decode, find_decoder
from tilewright.reference.simt.types import storage_of
from tilewright.support.ptx.errors import PTX_FILE
from tilewright.support.ptx.inline_assembly import InlineAssembly, is_idle
from tilewright.support.ptx.syntax import Instruction, Operand, Symbol, Vector
from tilewright.support.spans import Span

LANE_WISE = frozenset(family.__name__ for family in (arithmetic, bits, conversions, floats, moves))
"""Modules of instructions that treat every lane by itself."""


def run_lanes(assembly: InlineAssembly, arguments: Sequence[Array], lanes: int) -> list[Array]:
    """The registers of results as unsigned integers, from those of arguments; an element for each lane. Raises
    UnknownInstruction where an instruction does not treat every lane by itself."""
    function = assembly.function
    if len(arguments) + assembly.num_results != len(assembly.bits):
        expected = len(assembly.bits) - assembly.num_results
        raise SimulationError(f"it has {len(arguments)} registers of arguments, of {expected}")
    decoder = Decoder(assembly.module, lay_out(assembly.module, function))
    decoder.function = function
    body = [instruction for instruction in function.body if not is_idle(instruction)]
    steps = [decode(_checked(instruction), decoder) for instruction in body]
    machine = Machine(decoder.registers, lanes, 1)
    for index, argument in enumerate(arguments):
        register = assembly.register_of(index)
        machine.registers[register] = argument.astype(storage_of(assembly.bits[register]))
    with np.errstate(all="ignore"):
        for step in steps:
            step(machine)
    return [np.array(np.broadcast_to(machine.registers[index], (lanes,))) for index in range(assembly.num_results)]


def _checked(instruction: Instruction) -> Instruction:
    found = find_decoder(instruction.opcode)
    if found is None or found.__module__ not in LANE_WISE or any(map(_is_special, instruction.operands)):
        reason = f"'{instruction.opcode}' is not an instruction that treats every lane by itself"
        raise UnknownInstruction(reason, span=Span(PTX_FILE, instruction.line))
    return instruction


def _is_special(operand: Operand) -> bool:
    """Return whether an operand is a special register, or an address."""
    if isinstance(operand, Vector):
        return any(map(_is_special, operand.items))
    return isinstance(operand, Symbol) and operand.name != "_"


def words_of(values: Array, count: int, share: int) -> list[Array]:
    """The registers that hold rows of `count` elements, `share` of them in each, the first in the lowest bits. The last
    row is filled with the last element."""
    flat = np.ascontiguousarray(values).reshape(-1)
    flat = flat.view(f"u{flat.dtype.itemsize}")
    missing = -flat.size % count
    rows = np.concatenate([flat, np.repeat(flat[-1:], missing)]).reshape(-1, count)
    storage = np.dtype(f"u{share * rows.dtype.itemsize}")
    return [np.ascontiguousarray(rows[:, n : n + share]).view(storage)[:, 0] for n in range(0, count, share)]


def elements_of(words: Sequence[Array], dtype: np.dtype[Any], share: int, size: int) -> Array:
    """The first `size` elements of rows of registers: the inverse of `words_of`."""
    storage = np.dtype(f"u{share * dtype.itemsize}")
    rows = [np.ascontiguousarray(word.astype(storage)).reshape(-1, 1).view(f"u{dtype.itemsize}") for word in words]
    joined = np.ascontiguousarray(np.concatenate(rows, axis=1)).reshape(-1)[:size]
    return (joined & joined.dtype.type(1)).astype(np.bool_) if dtype == np.bool_ else joined.view(dtype)
