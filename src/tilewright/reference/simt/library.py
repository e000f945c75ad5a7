"""Functions that every device has: printing and failing."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.reference.simt.errors import DeviceAssertionFailed, Fault
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.program import Decoder

if TYPE_CHECKING:
    from tilewright.reference.simt.scheduler import Scheduler

BYTE = np.dtype(np.uint8)
CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d+)?)(hh|h|ll|l|j|z|t|L)?([diouxXcsfFeEgGaAp%])")
RETURN_VALUE = "retval0"


def _read(machine: Machine, address: int, size: int, thread: int) -> bytes:
    """Bytes at a generic address, as one thread sees them."""
    with machine.only(np.array([thread])):
        at = np.uint64(address) + np.arange(size, dtype=np.uint64)
        rows = [machine.memory.load(machine, "", at[n : n + 1], BYTE, 1) for n in range(size)]
    return bytes(int(row[0, 0]) for row in rows)


def read_string(machine: Machine, address: int, thread: int) -> str:
    """Text up to a zero."""
    found = bytearray()
    while not found.endswith(b"\0"):
        found += _read(machine, address + len(found), 1, thread)
    return found[:-1].decode("utf-8", "replace")


class Arguments:
    """The arguments of a printing function, one after the other in memory."""

    def __init__(self, machine: Machine, address: int, thread: int) -> None:
        self.machine = machine
        self.address = address
        self.thread = thread
        self.offset = 0

    def take(self, kind: str, size: int) -> Any:
        """The next argument; `kind` as in the struct module."""
        self.offset = -(-self.offset // size) * size
        raw = _read(self.machine, self.address + self.offset, size, self.thread)
        self.offset += size
        return struct.unpack("<" + kind, raw)[0]


def format_text(template: str, arguments: Arguments) -> str:
    """Return what C's printf makes of a format."""

    def convert(match: re.Match[str]) -> str:
        flags, length, kind = match.groups()
        if kind == "%":
            return "%"
        if kind == "s":
            address = arguments.take("Q", 8)
            return f"%{flags}s" % read_string(arguments.machine, address, arguments.thread)
        if kind == "p":
            return f"0x{arguments.take('Q', 8):x}"
        if kind in "fFeEgGaA":
            return f"%{flags}{kind}" % arguments.take("d", 8)
        wide = length in ("l", "ll", "j", "z", "t")
        signed = kind in "di"
        value = arguments.take(
            {(True, True): "q", (True, False): "Q", (False, True): "i"}.get((wide, signed), "I"), 8 if wide else 4
        )
        return f"%{flags}{'d' if kind in 'diu' else kind}" % (chr(value) if kind == "c" else value)

    return CONVERSION.sub(convert, template)


def _vprintf(decoder: Decoder, names: list[str], pc: int) -> Any:
    template, pointer = (decoder.parameter(decoder.function.name, name, 0) for name in names)
    result = decoder.parameter(decoder.function.name, RETURN_VALUE, 0)

    def run(scheduler: Scheduler, machine: Machine) -> None:
        threads = machine.threads
        templates, pointers = machine.spread(machine.get(template)), machine.spread(machine.get(pointer))
        for position, thread in enumerate(threads.tolist()):
            text = read_string(machine, int(templates[position]), thread)
            machine.output.append(format_text(text, Arguments(machine, int(pointers[position]), thread)))
        machine.put(result, np.uint64(0))
        scheduler.add(pc + 1, threads)

    return run


def _assertfail(decoder: Decoder, names: list[str], pc: int) -> Any:
    registers = [decoder.parameter(decoder.function.name, name, 0) for name in names]
    line = decoder.parameter(decoder.function.name, names[2], 0)

    def run(scheduler: Scheduler, machine: Machine) -> None:
        thread = int(machine.threads[0])
        message, file, function = (
            read_string(machine, int(np.atleast_1d(machine.get(registers[index]))[0]), thread) for index in (0, 1, 3)
        )
        line_number = int(np.atleast_1d(machine.get(line))[0])
        raise Fault(DeviceAssertionFailed, f"{file}:{line_number}: {function}: assertion failed: {message}", 0)

    return run


LIBRARY: dict[str, Callable[[Decoder, list[str], int], Any]] = {"vprintf": _vprintf, "__assertfail": _assertfail}
"""By name: from the names of the parameters of a call to what it does."""
