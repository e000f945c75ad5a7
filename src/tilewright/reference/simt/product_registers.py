"""Registers that `wgmma` works on, and what orders other instructions against it.

`wgmma.mma_async` reads and writes registers after it was issued. What a register held before has to be there by
`wgmma.fence`: one must come before the first product of a warp group, and between any other access to a register and
a product that uses it, unless that access is a product of the same shape that accumulates in it. Until
`wgmma.wait_group` says that a product is done, its accumulators may be neither read nor written, and registers that
hold its A may not be written.

Copies by `mov` are no accesses: LLVM makes them to tie operands together, and they vanish when registers are assigned.
The copy is as the original: in flight, and accessed since the last fence, or not. Constants are always there. What a
product reads as A may not be copied to before it is done either: the original would be written there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.errors import Fault, RaceError
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.support.ptx.syntax import Address, Instruction, Negated, Operand, Pair, Register, Vector
from tilewright.support.records import dataclass

Step = Callable[[Machine], None]

GROUP = 4 * WARP
"""Threads of a warp group."""
PRODUCT = "wgmma.mma_async"
WITHOUT_RESULT = ("st", "red", "stmatrix", "cp", "bar", "barrier", "mbarrier", "wgmma", "prefetch", "call", "ret")

IDLE = -1
"""In place of the number of a group of products: none."""


class ProductRegisters:
    """The state of the tracked registers: one row for each, one column for each warp group."""

    def __init__(self, num_rows: int, num_threads: int) -> None:
        shape = (num_rows, -(-num_threads // GROUP))
        self.accessed = np.zeros(shape, np.bool_)
        """Since the last fence, by anything but products."""
        self.accumulates = np.full(shape, IDLE, np.int64)
        """The group of products, not waited for yet, that accumulates there."""
        self.is_read = np.full(shape, IDLE, np.int64)
        """The same for groups that read it as A."""
        self.product_shape = np.zeros(shape, np.int64)
        """The hash of the shape of the last product that accumulated there since the last fence; 0 if none did."""
        self.fenced = np.zeros(shape[1], np.bool_)
        self.is_idle = True
        """Whether no product is under way."""
        self._threads = self._groups = np.zeros(0, np.int64)

    def groups_of(self, threads: Array) -> Array:
        """The warp groups of threads, each once. The instructions of a basic block have one array of threads."""
        if threads is not self._threads:
            self._threads, self._groups = threads, np.unique(threads // GROUP)
        return self._groups

    def fence(self, groups: Array) -> None:
        """Order all accesses of warp groups so far before the products that follow."""
        self.accessed[:, groups] = False
        self.product_shape[:, groups] = 0
        self.fenced[groups] = True

    def finish(self, group: int, before: int) -> None:
        """End the products of a warp group whose groups have smaller numbers than `before`."""
        for rows in (self.accumulates, self.is_read):
            column = rows[:, group]
            column[column < before] = IDLE
        self.is_idle = not any((rows != IDLE).any() for rows in (self.accumulates, self.is_read))

    def start(self, product: StartedProduct, groups: Array, tracked: Sequence[int]) -> None:
        """Issue a product in warp groups, each in its group of products. Raises Fault."""
        used, into, out_of = ((rows, groups) for rows in (product.used, product.accumulators, product.operands))
        if not np.all(self.fenced[groups]):
            raise _fault("the first wgmma of a warp group has no wgmma.fence before it")
        if self.accessed[used].any():
            raise _fault("wgmma uses a register that was accessed with no wgmma.fence in between")
        if (self.accumulates[out_of] != IDLE).any() or (self.is_read[into] != IDLE).any():
            raise _fault("wgmma uses a register of another wgmma that has not been waited for")
        earlier = self.product_shape[into]
        if ((earlier != 0) & (earlier != product.shape)).any():
            raise _fault("wgmma accumulates where one of another shape did, with no wgmma.fence in between")
        self.is_idle = False
        self.accumulates[into] = self.is_read[out_of] = np.asarray(tracked)
        self.product_shape[into] = product.shape

    def access(self, uses: Uses, groups: Array) -> None:
        """Read and write registers by an ordinary instruction. Raises Fault."""
        self.check_idle(uses, groups)
        self.accessed[uses.both, groups] = True
        self.product_shape[uses.written, groups] = 0

    def check_idle(self, uses: Uses, groups: Array) -> None:
        """Fault if a product is under way that these accesses are to wait for."""
        if self.is_idle:
            return
        if (self.accumulates[uses.both, groups] != IDLE).any():
            raise _fault("a register is used in which a wgmma accumulates that has not been waited for")
        if (self.is_read[uses.written, groups] != IDLE).any():
            raise _fault("a register is written that a wgmma reads, which has not been waited for")

    def copy(self, uses: Uses, groups: Array) -> None:
        """Let registers be as those that they are copied from: accessed, or in flight."""
        into, out_of = (uses.written, groups), (uses.read, groups)
        self.accessed[into] = self.accessed[out_of].any(axis=0)
        if self.is_idle:
            return
        if (self.is_read[into] != IDLE).any():
            raise _fault("a register is written that a wgmma reads, which has not been waited for")
        self.accumulates[into] = self.accumulates[out_of].max(axis=0, initial=IDLE)


def _column(rows: Iterable[int]) -> Array:
    """The index of some registers, to be combined with one of warp groups."""
    return np.array(sorted(rows), np.int64)[:, np.newaxis]


def _fault(reason: str) -> Fault:
    return Fault(RaceError, reason, 0)


@dataclass(frozen=True)
class Uses:
    """The rows of the registers that an instruction reads, that it writes, and both, as columns of indices."""

    read: Array
    written: Array
    both: Array


@dataclass(frozen=True)
class StartedProduct:
    """A product: the rows of its accumulators, of A, and both, as columns, and the hash of its shape, not 0."""

    accumulators: Array
    operands: Array
    used: Array
    shape: int


def find_tracked(instructions: Iterable[Instruction]) -> dict[int, int]:
    """The registers that products use, and what is copied from or to them: register to row."""
    found: set[int] = set()
    copies: list[tuple[set[int], set[int]]] = []
    for instruction in instructions:
        if instruction.opcode.startswith(PRODUCT):
            found.update(_registers(instruction.operands[0]), _registers_of_a(instruction))
        elif _is_copy(instruction):
            written, read = map(set, _uses(instruction))
            copies.append((written, read))
    remaining = copies if found else []
    while True:
        touching = [pair for pair in remaining if (pair[0] | pair[1]) & found]
        if not touching:
            return {register: row for row, register in enumerate(sorted(found))}
        remaining = [pair for pair in remaining if not (pair[0] | pair[1]) & found]
        for written, read in touching:
            found |= written | read


def watched(instruction: Instruction, step: Step, tracked: dict[int, int]) -> Step:
    """An instruction that tells of the tracked registers that it uses; itself where it uses none."""
    if not tracked:
        return step
    if instruction.opcode.startswith(PRODUCT):
        return _watched_product(instruction, step, tracked)
    written, read = ({tracked[n] for n in used if n in tracked} for used in _uses(instruction))
    if not written and not read:
        return step
    uses, is_copy = Uses(_column(read), _column(written), _column(read | written)), _is_copy(instruction)

    def run(machine: Machine) -> None:
        registers = machine.product_registers
        if registers is not None:
            groups = registers.groups_of(machine.threads)
            (registers.copy if is_copy else registers.access)(uses, groups)
        step(machine)

    return run


def _watched_product(instruction: Instruction, step: Step, tracked: dict[int, int]) -> Step:
    rows = {tracked[register] for register in _registers(instruction.operands[0])}
    of_a = {tracked[register] for register in _registers_of_a(instruction)}
    product = StartedProduct(_column(rows), _column(of_a), _column(rows | of_a), hash(instruction.opcode) or 1)

    def run(machine: Machine) -> None:
        registers = machine.product_registers
        step(machine)
        if registers is not None:
            groups = registers.groups_of(machine.threads)
            open_groups = machine.asynchronous.open_product_group
            registers.start(product, groups, [open_groups.get(group, 0) for group in groups.tolist()])

    return run


def _registers_of_a(instruction: Instruction) -> Iterator[int]:
    a = instruction.operands[1]
    return _registers(a) if isinstance(a, Vector) else iter(())


def _is_copy(instruction: Instruction) -> bool:
    return instruction.name == "mov" and isinstance(instruction.operands[0], Register | Vector)


def _uses(instruction: Instruction) -> tuple[list[int], list[int]]:
    """The registers that an instruction writes, and those that it reads."""
    first, *others = instruction.operands or (None,)
    if first is None:
        return [], []
    if instruction.name in WITHOUT_RESULT or isinstance(first, Address):
        return [], [register for operand in instruction.operands for register in _registers(operand)]
    return list(_registers(first)), [register for operand in others for register in _registers(operand)]


def _registers(operand: Operand) -> Iterator[int]:
    match operand:
        case Register(number=register):
            yield register
        case Vector(items=items):
            for item in items:
                yield from _registers(item)
        case Pair(first=first, second=second):
            yield from _registers(first)
            yield from _registers(second)
        case Negated(predicate=predicate):
            yield predicate.number
        case Address(base=base, further=further):
            yield from _registers(base)
            for item in further:
                yield from _registers(item)
        case _:
            return
