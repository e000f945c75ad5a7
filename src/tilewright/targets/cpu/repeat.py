"""Calls of kernels that native code recognises: the tables that `native/repeat.ll` reads.

A call that Python has seen through is written down as an `Item` for each argument, the kernel behind it, and what else
it depended on. `CallTable.launch` is then a native function `(grid, *arguments, **constants)` that launches calls like
those, and hands every other call to a function in Python.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from types import CellType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.support import knobs

if TYPE_CHECKING:
    from tilewright.targets.cpu.native_runtime import NativeRuntime

MOST_CALLS = 16
MOST_POINTERS = 16
MOST_SLOTS = 32
"""What the native side has room for."""

_ndarray: Any = np.ndarray


class Kind(IntEnum):
    """What an argument is compared with."""

    OBJECT = 0
    """One object."""
    CONSTANT = 1
    """An integer that is compiled in."""
    INTEGER = 2
    FLOAT = 3
    """A float that becomes a float32."""
    ARRAY = 4
    TENSOR = 5

    @property
    def is_memory(self) -> bool:
        return self >= Kind.ARRAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What one argument must be, field by field as `%Item` in `native/repeat.ll`."""

    kind: Kind
    type: type
    target: Any = None
    """The object itself, or the dtype of memory."""
    number: int = 0
    detail: int = 0
    slot: int = -1

    def words(self, name: str | None) -> list[int]:
        shown = 0 if name is None else id(name)
        return [self.kind, id(self.type), id(self.target), self.number, self.detail, self.slot, shown]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a kernel that was seen through."""

    by_position: Sequence[Item]
    by_keyword: Sequence[tuple[str, Item]]
    disjoint: bool
    """Whether no two pointers share memory."""
    slots: int
    variables: Sequence[tuple[Any, str | None, Any]]
    """What the kernel was compiled with from outside: dictionary, name and value, or cell of a closure, None, value."""
    kernel: tuple[int, int, int]
    """Addresses of the entry and of the time per program, and the arena's bytes between them."""
    result: Any
    fail: Callable[[Any], None]
    """Raises what a failure tuple of the launcher stands for."""

    @property
    def items(self) -> list[Item]:
        return [*self.by_position, *(item for _, item in self.by_keyword)]

    @property
    def fits(self) -> bool:
        """Whether the native side has room for it."""
        pointers = sum(item.kind.is_memory for item in self.items)
        return pointers <= MOST_POINTERS and self.slots <= MOST_SLOTS


class CallTable:
    """The known calls of one kernel. `hooks` is a list that must be empty for `launch` to recognise anything;
    `long_way` gets the calls that it does not."""

    def __init__(
        self, runtime: NativeRuntime, hooks: list[Any], long_way: Callable[..., Any], item_size_at: int
    ) -> None:
        self._hooks = hooks
        self._calls = array("Q", [0] * MOST_CALLS)
        self._kept: list[Any] = []
        """What the table points to."""
        self._table = array("Q", [knobs.generation_address(), id(hooks), 0, self._calls.buffer_info()[0]])
        self.launch: Callable[..., Any] = runtime.recognising(
            self._table.buffer_info()[0], long_way, _ndarray, item_size_at
        )

    @property
    def is_full(self) -> bool:
        return self._table[2] == MOST_CALLS

    def add(self, call: Call) -> None:
        """Recognise calls like this one from now on, as long as the switches stay as they are."""
        entry, arena_bytes, habits_address = call.kernel
        items = [item.words(None) for item in call.by_position]
        items += [item.words(name) for name, item in call.by_keyword]
        numbers = [word for words in items for word in words]
        item_words = array("q", numbers)
        variables = array("q")
        for scope, name, value in call.variables:
            variables.extend((id(scope), 0 if name is None else id(name), id(value)))
        words = [
            knobs.generation, len(call.by_position), len(call.by_keyword), item_words.buffer_info()[0],
            sum(item.kind.is_memory for item in call.items), int(call.disjoint), len(call.variables),
            variables.buffer_info()[0], entry, arena_bytes, call.slots, knobs.get("num_threads"), habits_address,
            id(call.result), id(call.fail),
        ]  # fmt: skip
        record = array("q", words)
        self._kept.append((record, item_words, variables, call))
        self._calls[self._table[2]] = record.buffer_info()[0]
        self._table[2] += 1

    def clear(self) -> None:
        """Forget all calls."""
        self._table[2] = 0
        self._kept.clear()


def is_plain_cell(cell: CellType, value: Any) -> bool:
    """Whether a cell of a closure has its content where `native/repeat.ll` reads it."""
    return ctypes.c_uint64.from_address(id(cell) + 16).value == id(value)


@lru_cache(maxsize=1)
def find_array_layout() -> int | None:
    """Where a NumPy dtype keeps the size of its elements; None where array objects are not laid out as
    `native/repeat.ll` reads them."""
    samples = (np.zeros(3, np.int8), np.zeros((2, 5), np.int32), np.arange(9.0)[4:], np.zeros((4, 3), np.int16).T)
    if object.__basicsize__ != 16 or not all(map(_is_laid_out, samples)):
        return None
    for offset in range(16, 64, 4):
        if all(ctypes.c_uint32.from_address(id(sample.dtype) + offset).value == sample.itemsize for sample in samples):
            return offset
    return None


def _is_laid_out(sample: np.ndarray[Any, Any]) -> bool:
    data, rank, shape, strides, base, dtype = (
        ctypes.c_uint64.from_address(id(sample) + offset).value for offset in range(16, 64, 8)
    )
    flags = ctypes.c_uint32.from_address(id(sample) + 64).value
    known = sample.flags
    order = known.c_contiguous + 2 * known.f_contiguous + 4 * known.owndata + 1024 * known.writeable
    return (
        data == sample.__array_interface__["data"][0]
        and rank & 0xFFFFFFFF == sample.ndim
        and _numbers(shape, sample.ndim) == sample.shape
        and _numbers(strides, sample.ndim) == sample.strides
        and base == (0 if sample.base is None else id(sample.base))
        and dtype == id(sample.dtype)
        and flags & (1 + 2 + 4 + 1024) == order
    )


def _numbers(address: int, count: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int64 * count).from_address(address))
