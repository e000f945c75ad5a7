"""Atomic read-modify-writes, thread after thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.instructions.memory import address_of, elements_of, reached_space
from tilewright.reference.simt.layout import SHARED_WINDOW, WINDOW_SIZE
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.memory import CLUSTER, read_rows, write_rows
from tilewright.reference.simt.packed import lanes
from tilewright.reference.simt.program import Decoder, Step, decodes, unknown
from tilewright.reference.simt.shared_memory import misaligned
from tilewright.reference.simt.types import Values, choose
from tilewright.support.ptx.syntax import Instruction
from tilewright.support.ptx.types import Type, parse_type

Update = Callable[..., Values]


def _increment(old: Values, limit: Values) -> Values:
    return choose(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decrement(old: Values, limit: Values) -> Values:
    return choose((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _exchange(old: Values, value: Values) -> Values:
    return value


def _swap_if_equal(old: Values, expected: Values, value: Values) -> Values:
    return choose(old == expected, value, old)


UPDATES: dict[str, Update] = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": _exchange,
    "min": np.minimum,
    "max": np.maximum,
    "inc": _increment,
    "dec": _decrement,
    "cas": _swap_if_equal,
}


ORDERS = ("relaxed", "acquire", "release", "acq_rel")


@decodes("atom")
def atomic(instruction: Instruction, decoder: Decoder) -> Step:
    """`atom.global.gpu.acq_rel.add.f32 d, [p], v;` gives what was there before."""
    return _atomic(instruction, decoder, gives=True)


@decodes("red")
def reduction(instruction: Instruction, decoder: Decoder) -> Step:
    """`red.global.add.f32 [p], v;` gives nothing; `red.global.add.v2.f32 [p], {v, w};` is two of them."""
    return _atomic(instruction, decoder, gives=False)


def _atomic(instruction: Instruction, decoder: Decoder, *, gives: bool) -> Step:
    modifiers, type_ = instruction.modifiers, decoder.type_of(instruction)
    name = next((part for part in modifiers if part in UPDATES), None)
    if name is None:
        raise unknown(instruction)
    bits = parse_type(f"b{type_.total_bits}")
    assert bits is not None
    operands = list(instruction.operands)
    results = elements_of(operands.pop(0)) if gives else ()
    targets = [decoder.target(result, bits, instruction) for result in results]
    address, space = address_of(operands[0], decoder, instruction), reached_space(modifiers)
    if name == "cas":
        elements = [decoder.sources(operands[1:3], bits, instruction)]
    else:
        elements = [[source] for source in decoder.sources(elements_of(operands[1]), bits, instruction)]
    if len(elements) != vector_length(modifiers):
        raise unknown(instruction, f"{len(elements)} elements")
    update = _of_bits(name, type_)
    order = next((part for part in modifiers if part in ORDERS), "relaxed")
    if not gives and order == "acq_rel":
        order = "release"
    sums = name == "add" and not type_.is_float
    size = type_.total_bits // 8

    def run(machine: Machine) -> None:
        addresses = machine.spread(address(machine))
        check_aligned(addresses, size * len(elements))
        values = [[machine.spread(source(machine)) for source in sources] for sources in elements]
        for index, element in enumerate(values):
            locations = find_locations(machine, space, addresses + addresses.dtype.type(size * index), size, order)
            before = locations.sum_up(element[0], type_) if sums else locations.apply(update, element, bits.dtype)
            if targets:
                targets[index](machine, before)

    return run


def vector_length(modifiers: Sequence[str]) -> int:
    """Return how many neighbouring elements an instruction is about: 4 for `.v4`."""
    return next((int(part[1:]) for part in modifiers if part in ("v2", "v4", "v8")), 1)


def check_aligned(addresses: Array, size: int) -> None:
    """Fault if an access is not at a multiple of its size."""
    if np.any(addresses & addresses.dtype.type(size - 1)):
        raise misaligned(addresses, size)


def _of_bits(name: str, type_: Type) -> Update:
    """The update on registers' bits."""
    update = UPDATES[name]
    if type_.kind == "b" or type_.dtype.kind == "u":
        return update

    def run(*values: Values) -> Values:
        rows = [lanes(value, type_.dtype) for value in values]
        result = np.ascontiguousarray(np.asarray(update(*rows)).astype(type_.dtype))
        return result.view(values[0].dtype)[:, 0]

    return run


class Locations:
    """Elements of memory, one for each active thread; several threads may have one."""

    def __init__(self, keys: Array, read: Callable[[Array, Any], Array], write: Callable[[Array, Array], None]) -> None:
        self.order = np.argsort(keys, kind="stable")
        ordered = keys[self.order]
        begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        self.firsts = np.flatnonzero(begins)
        self.group = np.cumsum(begins) - 1
        self.rank = np.arange(keys.size) - self.firsts[self.group]
        self.read = read
        self.write = write

    def apply(self, update: Update, values: list[Array], dtype: np.dtype[Any]) -> Array:
        """Update one element after another; gives the contents that each thread found."""
        before = np.empty(self.order.size, dtype)
        for rank in range(int(self.rank.max(initial=-1)) + 1):
            chosen = self.order[self.rank == rank]
            old = self.read(chosen, dtype)
            before[chosen] = old
            self.write(chosen, np.asarray(update(old, *(value[chosen] for value in values))))
        return before

    def sum_up(self, values: Array, type_: Type) -> Array:
        """As `apply` for integer sums, all at once."""
        unsigned = np.dtype(f"u{type_.bits // 8}")
        ordered = values[self.order].view(unsigned)
        running = np.cumsum(ordered, dtype=unsigned)
        excluded = running - ordered
        start = self.read(self.order[self.firsts], unsigned)
        found = start[self.group] + excluded - excluded[self.firsts][self.group]
        last = np.append(self.firsts[1:], self.order.size) - 1
        self.write(self.order[last], found[last] + ordered[last])
        before = np.empty(self.order.size, unsigned)
        before[self.order] = found
        return before


def find_locations(machine: Machine, space: str, addresses: Array, size: int, order: str = "relaxed") -> Locations:
    """The elements at aligned addresses of the active threads, which are accessed atomically. Raises Fault."""
    if not space and addresses.size and SHARED_WINDOW <= int(addresses[0]) < SHARED_WINDOW + WINDOW_SIZE:
        space, addresses = CLUSTER, (addresses - np.uint64(SHARED_WINDOW)).astype(np.uint32)
    if space in ("shared", CLUSTER):
        return _shared_locations(machine, addresses, size, may_reach=space == CLUSTER)
    return _global_locations(machine, addresses, size, order)


def _shared_locations(machine: Machine, addresses: Array, size: int, *, may_reach: bool) -> Locations:
    shared = machine.shared
    locations = shared.locate(addresses, size, may_reach=may_reach)
    if (order := shared.order) is not None:
        order.note_atomics(order.granules(locations, size), machine.threads)

    def read(chosen: Array, dtype: np.dtype[Any]) -> Array:
        return shared.view(dtype)[locations[chosen] // size]

    def write(chosen: Array, values: Array) -> None:
        shared.view(values.dtype)[locations[chosen] // size] = values

    return Locations(locations, read, write)


def _global_locations(machine: Machine, addresses: Array, size: int, order: str) -> Locations:
    memory = machine.memory
    for part in memory.locate(addresses, size, writes=True):
        if memory.races is not None:
            memory.races.note_atomics(machine, part, size, machine.threads, order)

    def read(chosen: Array, dtype: np.dtype[Any]) -> Array:
        result = np.empty(chosen.size, dtype)
        for part in memory.locate(addresses[chosen], size):
            result[part.chosen] = read_rows(part, dtype, 1)[:, 0]
        return result

    def write(chosen: Array, values: Array) -> None:
        for part in memory.locate(addresses[chosen], size):
            write_rows(part, values[part.chosen][:, np.newaxis])

    return Locations(addresses, read, write)
