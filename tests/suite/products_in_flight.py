"""Reads machine code of Hopper: does anything write registers that an asynchronous product still reads?

`HGMMA R24, R152, gdesc[UR12], R24, gsb0` reads A from R152 to R155 after it was issued; `WARPGROUP.DEPBAR.LE gsb0, 0x0`
waits until that has been done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

REGISTERS_OF_A = 4
WRITES_NOTHING = (
    *("ST", "RED", "LDGSTS", "LDGDEPBAR", "DEPBAR", "SYNCS", "UTMA", "BAR", "BRA", "EXIT"),
    *("ISETP", "FSETP", "R2UR", "R2P"),
)
PRODUCTS = ("HGMMA", "QGMMA", "IGMMA", "BGMMA")


@dataclass(frozen=True)
class _Instruction:
    text: str
    opcode: str
    operands: str


def _parse(sass: str) -> tuple[list[_Instruction], dict[str, int]]:
    instructions: list[_Instruction] = []
    labels: dict[str, int] = {}
    for line in map(str.strip, sass.splitlines()):
        if label := re.match(r"([.\w]+):$", line):
            labels[label.group(1)] = len(instructions)
        elif found := re.match(r"\S+\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*);", line):
            instructions.append(_Instruction(line, *found.groups()))
    return instructions, labels


def _loops(instructions: Sequence[_Instruction], labels: dict[str, int]) -> Iterator[Sequence[_Instruction]]:
    """The bodies of loops with products."""
    for end, instruction in enumerate(instructions):
        if not instruction.opcode.startswith("BRA"):
            continue
        target = re.search(r"[.\w]+$", instruction.operands)
        start = labels.get(target.group(), end) if target else end
        body = instructions[start : end + 1]
        if start < end and any(each.opcode.startswith(PRODUCTS) for each in body):
            yield body


def _written(instruction: _Instruction) -> range:
    first = re.match(r"R(\d+)", instruction.operands)
    if instruction.opcode.startswith(WRITES_NOTHING) or first is None:
        return range(0)
    wide = 4 if ".128" in instruction.opcode else 2 if re.search(r"\.64|WIDE", instruction.opcode) else 1
    return range(int(first.group(1)), int(first.group(1)) + wide)


def overwritten(sass: str) -> list[str]:
    """The instructions in two rounds of each loop that write registers of a product under way. Raises `ValueError`
    where no loop has a product that reads A from registers.
    """
    found: list[str] = []
    is_read = False
    for body in _loops(*_parse(sass)):
        groups: list[set[int]] = [set()]
        for instruction in (*body, *body):
            if instruction.opcode.startswith(PRODUCTS):
                if a := re.match(r"R\d+, R(\d+)", instruction.operands):
                    is_read = True
                    groups[-1] |= set(range(int(a.group(1)), int(a.group(1)) + REGISTERS_OF_A))
                if "gsb0" in instruction.operands:
                    groups.append(set())
            elif instruction.opcode.startswith("WARPGROUP.DEPBAR"):
                pending = int(instruction.operands.split(",")[1], 16)
                groups = groups[-1 - pending :]
            elif any(not group.isdisjoint(_written(instruction)) for group in groups):
                found.append(instruction.text)
    if not is_read:
        raise ValueError("no loop has a product that reads A from registers")
    return found
