"""The shared memory of one program, and the asynchronous work that it has started.

Work is done when it is started, on the values of that moment; its effects show when it is waited for. Until then it
is an error to touch what it writes, to overwrite what it reads, and to use its result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import field
from typing import Any, NoReturn

from tilewright.dialects.numeric import Array
from tilewright.dialects.ttg import MemDescType
from tilewright.reference.machine import Frame
from tilewright.reference.memory import AccessError, BarrierMisuse
from tilewright.reference.ttg.shared_memory import SharedStorage, SharedView, buffer_bytes, whole_view
from tilewright.support.records import dataclass


class Writing:
    """Elements on their way into shared memory."""

    def __init__(self, view: SharedView, values: Array, parts: int = 1) -> None:
        self.view = view
        self.values = values
        self.parts = parts
        self.places = view.check_writable()
        view.storage.writers[self.places] += 1

    @property
    def num_bytes(self) -> int:
        """The number of bytes that arrive, in each CTA that has one of the parts."""
        return self.places.size // self.parts

    def finish(self) -> None:
        """The elements have arrived."""
        self.view.storage.writers[self.places] -= 1
        self.view.put(self.places, self.values)


class Reading:
    """A part of shared memory that an asynchronous unit still reads."""

    def __init__(self, view: SharedView) -> None:
        self.view = view
        self.places = view.check_readable(must_be_written=False)
        view.storage.readers[self.places] += 1

    def finish(self) -> None:
        """It has been read."""
        self.view.storage.readers[self.places] -= 1


class Product:
    """The result of an asynchronous matmul: another product may add to it, nothing else may use it before it
    was waited for."""

    def __init__(self, value: Array, operands: Sequence[SharedView]) -> None:
        self.value = value
        self.readings = [Reading(view) for view in operands]
        self.is_done = False

    def finish(self) -> None:
        """The result is there, the operands have been read."""
        self.is_done = True
        for reading in self.readings:
            reading.finish()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise AccessError("the result of an asynchronous matmul is used before it was waited for")

    __array__ = __getitem__ = __iter__ = __len__ = _refuse

    def __getattr__(self, name: str) -> Any:
        self._refuse()


@dataclass
class Barrier:
    """An mbarrier: the phase completes when all arrivals and all expected bytes are there."""

    count: int
    missing: int
    phase: int = 0
    """The parity of the phase that has not completed."""
    missing_bytes: int = 0
    copies: deque[Writing] = field(default_factory=deque[Writing])
    """Copies that report here and nothing has waited for."""
    cp_async: deque[tuple[list[Writing], bool]] = field(default_factory=deque[tuple[list[Writing], bool]])
    """Copies after which a thread arrives, and whether that arrival is one of those that the barrier counts."""

    def arrive(self, count: int) -> None:
        """Some arrivals."""
        if count > self.missing:
            raise BarrierMisuse(f"{count} arrivals at a barrier that expects {self.missing} more")
        self.missing -= count
        self.settle()

    def settle(self) -> None:
        """Go on to the next phase if nothing is missing."""
        if self.missing == 0 and self.missing_bytes == 0:
            self.phase ^= 1
            self.missing = self.count


@dataclass
class CtaMemory:
    """The shared memory of one program, and the work under way on it."""

    allocated: SharedStorage = field(default_factory=lambda: SharedStorage(0, "shared memory"))
    """The bytes of all buffers that have an offset."""
    copies: list[Writing] = field(default_factory=list[Writing])
    """Copies that belong to no group yet."""
    groups: deque[list[Writing]] = field(default_factory=deque[list[Writing]])
    products: deque[Product] = field(default_factory=deque[Product])
    stores: deque[Reading] = field(default_factory=deque[Reading])
    barriers: dict[tuple[SharedStorage, int], Barrier] = field(default_factory=dict[tuple[SharedStorage, int], Barrier])
    descriptors: dict[int, Any] = field(default_factory=dict[int, Any])
    """Descriptors in global memory, by address."""

    def at_offset(self, type_: MemDescType, offset: int) -> SharedView:
        """A buffer at its place in shared memory. Its contents are undefined."""
        size = buffer_bytes(type_)
        self.allocated.grow(offset + size)
        self.allocated.written[offset : offset + size] = False
        return whole_view(self.allocated, type_, offset)

    def commit(self) -> None:
        """Copies started so far are a group."""
        self.groups.append(self.copies)
        self.copies = []

    def wait_for_groups(self, pending: int) -> None:
        """All groups but the last `pending` have arrived."""
        while len(self.groups) > pending:
            for copy in self.groups.popleft():
                copy.finish()

    def wait_for_products(self, pending: int) -> None:
        """All products but the last `pending` are there."""
        while len(self.products) > pending:
            self.products.popleft().finish()

    def wait_for_stores(self, pending: int) -> None:
        """All stores but the last `pending` have read their buffers."""
        while len(self.stores) > pending:
            self.stores.popleft().finish()

    def barrier(self, view: SharedView) -> Barrier:
        """The barrier object in a buffer."""
        found = self.barriers.get((view.storage, view.start))
        if found is None:
            raise BarrierMisuse("there is no barrier here: it was not initialised, or invalidated")
        return found


def memory_of_program(frame: Frame) -> CtaMemory:
    """The shared memory of the program that runs."""
    state = frame.machine.program_state
    found = state.get(CtaMemory)
    if found is None:
        found = state[CtaMemory] = CtaMemory()
    return found
