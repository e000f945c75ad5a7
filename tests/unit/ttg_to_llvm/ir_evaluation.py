"""Evaluates the integer instructions that index arithmetic is made of, for all threads at once."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[np.int64]

_BINARY = re.compile(r"\s*(%\S+) = (or disjoint|xor|or|and|shl|lshr|add|mul) i32 (\S+), (\S+)")
_OPERATIONS = {
    "xor": np.bitwise_xor,
    "or": np.bitwise_or,
    "and": np.bitwise_and,
    "shl": np.left_shift,
    "lshr": np.right_shift,
    "add": np.add,
    "mul": np.multiply,
}


def evaluate(lines: Iterable[object], inputs: dict[str, Lanes]) -> dict[str, Lanes]:
    """The value of every register that the instructions define, given those of the inputs.

    Raises AssertionError for an `or disjoint` whose operands share bits, and for an instruction of another kind.
    """
    values = dict(inputs)

    def operand(text: str) -> Lanes:
        return values[text] if text.startswith("%") else np.asarray(int(text), dtype=np.int64)

    for line in lines:
        match = _BINARY.fullmatch(str(line))
        if match is None:
            assert "@llvm.nvvm.read.ptx.sreg" in str(line), line
            continue
        name, opcode, left, right = match.groups()
        a, b = operand(left), operand(right)
        if opcode == "or disjoint":
            assert not np.any(a & b), line
            opcode = "or"
        values[name] = _OPERATIONS[opcode](a, b) & 0xFFFFFFFF
    return values


def lanes_of(values: dict[str, Lanes], operand: str, count: int) -> Lanes:
    """The value of an operand in each of `count` threads."""
    value = values[operand] if operand.startswith("%") else np.asarray(int(operand), dtype=np.int64)
    return np.broadcast_to(value, (count,))
