"""An AArch64 processor in software (the Unicorn emulator), which works on the memory of this process.

    machine = AArch64Machine(image)                              # a relocatable ELF object
    machine.call("kernel", array.ctypes.data, 4)                 # integers, up to eight in registers

Pages are seen by the machine at their own addresses, from the first access on; what is no memory of ours, or only to be
read, ends the program with an error as it does natively. The object's code lies in memory of the machine alone.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

CODE, CODE_SIZE = 0x10_0000, 4 << 20
STACK, STACK_SIZE = 0x1000_0000, 8 << 20
RETURN = CODE + CODE_SIZE - 0x10000
LIBRARY = RETURN + 16
"""Where functions that the object imports are called; each takes 16 bytes."""

GRANULE = 1 << 16
"""Bytes that become visible at a time."""

SECTION_RELA, SECTION_NOBITS, SECTION_SYMBOLS, ALLOCATED = 4, 8, 2, 2
ABSOLUTE, RELATIVE, PAGE, ADD, CALL26, JUMP26 = 257, 261, 275, 277, 283, 282
OFFSETS = {278: 0, 284: 1, 285: 2, 286: 3, 299: 4}
"""Relocations of the offsets in loads and stores, and the power of two that these count in."""

AMONG_OTHERS = tuple(f"tilewright_{name}" for name in ("share_atomics", "leave_alone", "hold_region", "release_region"))
"""What keeps threads apart: there is one."""
FUNCTIONS = ("memset", "memcpy", "memmove", "fmodf", "tilewright_look", *AMONG_OTHERS)
"""The imported functions that there are."""


@dataclass(frozen=True)
class Section:
    """What a section header of an ELF file says."""

    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


class AArch64Machine:
    """One processor with one object. Raises ImportError without Unicorn, unicorn.UcError where a program fails."""

    def __init__(self, image: bytes) -> None:
        unicorn: Any = import_module("unicorn")
        self.names: Any = import_module("unicorn.arm64_const")
        self.uc: Any = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.uc.ctl_set_cpu_model(self.names.UC_CPU_ARM64_MAX)
        self.uc.mem_map(CODE, CODE_SIZE)
        self.uc.mem_map(STACK, STACK_SIZE)
        self.uc.reg_write(self.names.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        self.imports: dict[int, str] = {}
        self.symbols: dict[str, int] = {}
        self._seen: set[int] = set()
        self._load(image)
        self.uc.hook_add(unicorn.UC_HOOK_CODE, self._call_import, begin=LIBRARY, end=CODE + CODE_SIZE - 1)
        self.uc.hook_add(unicorn.UC_HOOK_MEM_UNMAPPED, self._show)

    def call(self, name: str, *arguments: int) -> None:
        """Run a function to its end."""
        top = STACK + STACK_SIZE - 4096
        for number, value in enumerate(arguments):
            if number < 8:
                self.uc.reg_write(self.names.UC_ARM64_REG_X0 + number, value)
            else:
                self.uc.mem_write(top + 8 * (number - 8), struct.pack("<q", value))
        self.uc.reg_write(self.names.UC_ARM64_REG_SP, top)
        self.uc.reg_write(self.names.UC_ARM64_REG_LR, RETURN)
        self.uc.emu_start(self.symbols[name], RETURN)

    def _show(self, uc: Any, access: int, address: int, size: int, value: int, user: object) -> bool:
        """Make the pages around an address visible; False where there are none."""
        shown = False
        for place in {address // GRANULE, (address + size - 1) // GRANULE} - self._seen:
            first, last = place * GRANULE, (place + 1) * GRANULE
            for start, end, flags in _memory_of_process():
                low, high = max(first, start), min(last, end)
                if low < high and "r" in flags:
                    uc.mem_map_ptr(low, high - low, 3 if "w" in flags else 1, ctypes.c_void_p(low))
                    shown = shown or low <= address < high
            self._seen.add(place)
        return shown

    # --------------------------------------------------------------------------------------------- imported functions

    def _call_import(self, uc: Any, address: int, size: int, user: object) -> None:
        name, names = self.imports[address], self.names
        if name == "tilewright_look":
            # No signal is waiting, and no other program.
            uc.reg_write(names.UC_ARM64_REG_X0, 0)
        elif name in AMONG_OTHERS:
            pass
        elif name == "fmodf":
            x, y = (uc.reg_read(register) for register in (names.UC_ARM64_REG_S0, names.UC_ARM64_REG_S1))
            quotient, divisor = struct.unpack("<2f", struct.pack("<2I", x, y))
            is_number = math.isfinite(quotient) and divisor != 0 and not math.isnan(divisor)
            result = math.fmod(quotient, divisor) if is_number else math.nan
            uc.reg_write(names.UC_ARM64_REG_S0, struct.unpack("<I", struct.pack("<f", result))[0])
        else:
            to, second, count = (uc.reg_read(names.UC_ARM64_REG_X0 + number) for number in range(3))
            uc.mem_write(to, bytes([second & 255]) * count if name == "memset" else bytes(uc.mem_read(second, count)))
        uc.reg_write(names.UC_ARM64_REG_PC, uc.reg_read(names.UC_ARM64_REG_LR))

    # -------------------------------------------------------------------------------------------------------- loading

    def _load(self, image: bytes) -> None:
        table, count = struct.unpack_from("<Q", image, 40)[0], struct.unpack_from("<H", image, 60)[0]
        headers = [struct.unpack_from("<IIQQQQIIQQ", image, table + 64 * number) for number in range(count)]
        sections = [Section(header[1], header[2], *header[4:9]) for header in headers]
        places: dict[int, int] = {}
        at = CODE
        for number, section in enumerate(sections):
            if section.flags & ALLOCATED:
                at = -(-at // max(section.align, 1)) * max(section.align, 1)
                places[number] = at
                if section.type != SECTION_NOBITS:
                    self.uc.mem_write(at, image[section.offset : section.offset + section.size])
                at += section.size
        symbols = self._read_symbols(image, sections, places)
        for section in sections:
            if section.type == SECTION_RELA and section.info in places:
                for offset in range(section.offset, section.offset + section.size, 24):
                    place, info, addend = struct.unpack_from("<QQq", image, offset)
                    self._relocate(places[section.info] + place, info & 0xFFFFFFFF, symbols[info >> 32] + addend)

    def _read_symbols(self, image: bytes, sections: list[Section], places: dict[int, int]) -> list[int]:
        table = next(section for section in sections if section.type == SECTION_SYMBOLS)
        names = sections[table.link].offset
        found: list[int] = []
        for offset in range(table.offset, table.offset + table.size, 24):
            name_at, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", image, offset)
            name = image[names + name_at : image.index(b"\0", names + name_at)].decode()
            if section == 0 and name:
                if name not in FUNCTIONS:
                    raise NotImplementedError(f"the machine has no {name}")
                found.append(LIBRARY + 16 * len(self.imports))
                self.imports[found[-1]] = name
            else:
                found.append(places.get(section, 0) + value)
                self.symbols[name] = found[-1]
        return found

    def _relocate(self, place: int, kind: int, target: int) -> None:
        if kind == ABSOLUTE:
            self.uc.mem_write(place, struct.pack("<Q", target))
            return
        if kind == RELATIVE:
            self.uc.mem_write(place, struct.pack("<i", target - place))
            return
        word = struct.unpack("<I", self.uc.mem_read(place, 4))[0]
        if kind in (CALL26, JUMP26):
            word |= (target - place) >> 2 & 0x3FFFFFF
        elif kind == PAGE:
            pages = (target >> 12) - (place >> 12)
            word |= (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
        elif kind == ADD:
            word |= (target & 0xFFF) << 10
        elif kind in OFFSETS:
            word |= (target & 0xFFF) >> OFFSETS[kind] << 10
        else:
            raise NotImplementedError(f"relocation {kind} is not one that code for kernels has had")
        self.uc.mem_write(place, struct.pack("<I", word))


def _memory_of_process() -> Iterator[tuple[int, int, str]]:
    """First and last address (that exclusive) and permissions of what is mapped."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, flags, *_ = line.split()
        start, end = (int(part, 16) for part in span.split("-"))
        yield start, end, flags
