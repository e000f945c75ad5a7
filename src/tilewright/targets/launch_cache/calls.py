"""Calls of kernels that native code recognises: the tables that `repeat.ll` reads.

A call that Python has seen through is written down as an `Item` for each argument, the launcher of its kernel, and what
else it depended on. `CallTable.launch` is then a native function `(grid, *arguments, **constants)` that launches calls
like those, on whichever target, and hands every other call to a function in Python.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import CellType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.support import knobs
from tilewright.targets.launch_cache.object_layouts import TensorLayout, find_array_layout

if TYPE_CHECKING:
    from tilewright.codegen.llvm_backend import LoadedObject

MOST_CALLS = 16
MOST_POINTERS = 16
MOST_SLOTS = 32
"""What the native side has room for."""

ABSENT = object()
"""The value of a variable that must not be there."""

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
    """Of PyTorch, on one device."""

    @property
    def is_memory(self) -> bool:
        return self >= Kind.ARRAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What one argument must be, field by field as `%Item` in `repeat.ll`."""

    kind: Kind
    type: type
    target: Any = None
    """The object itself, or the dtype of an array."""
    number: int = 0
    detail: int = 0
    slot: int = -1
    only_read: bool = False
    """Of memory: whether it may be shared with other memory of that kind."""

    def words(self, name: str | None) -> list[int]:
        shown = 0 if name is None else id(name)
        return [
            self.kind,
            id(self.type),
            id(self.target),
            self.number,
            self.detail,
            self.slot,
            shown,
            int(self.only_read),
        ]


@dataclass(frozen=True, slots=True)
class Launcher:
    """How native code runs grids of one kernel: a function of the target's, and the words that it reads."""

    function: int
    """Address of a function (data, slots, product of the extents); `repeat.ll` says what it returns."""
    data: array[int]
    kept: Any = None
    """What the words point to."""
    variables: Sequence[tuple[Any, str | None, Any]] = ()
    """What else must be as it is, as in `Call`."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a kernel that was seen through."""

    by_position: Sequence[Item]
    by_keyword: Sequence[tuple[str, Item]]
    disjoint: bool
    """Whether no two pointers share memory, of which the kernel may write to one."""
    slots: int
    variables: Sequence[tuple[Any, str | None, Any]]
    """What the kernel was compiled with from outside: dictionary, name and value, or cell of a closure, None, value."""
    launcher: Launcher
    result: Any
    meta: dict[str, Any]
    """All parameters and options by name, in order, with the values of those that the call does not give."""
    names: Sequence[str]
    """Of the arguments, by position and by keyword."""
    tensors: TensorLayout | None = None
    """Where tensors, if there are any, have what is read of them."""
    memory: list[Any] = field(default_factory=list[Any])
    """What the table's entry points to."""

    @property
    def items(self) -> list[Item]:
        return [*self.by_position, *(item for _, item in self.by_keyword)]

    @property
    def fits(self) -> bool:
        """True if the native side has room for it."""
        pointers = sum(item.kind.is_memory for item in self.items)
        return pointers <= MOST_POINTERS and self.slots <= MOST_SLOTS


class Recogniser:
    """The functions of `repeat.ll` in a native module. Use `find_recogniser`."""

    EXPORTS = ("tilewright_repeat_method", "tilewright_repeat_init")

    def __init__(self, library: LoadedObject, item_size_at: int) -> None:
        self._method = library.address("tilewright_repeat_method")
        kinds = (ctypes.c_void_p, *[ctypes.c_int64] * 5)
        self._initialise = ctypes.CFUNCTYPE(None, *kinds)(library.address("tilewright_repeat_init"))
        self._item_size_at = item_size_at
        self._initialise(id(_ndarray), item_size_at, 0, 0, 0, 0)

    def read_tensors(self, layout: TensorLayout) -> None:
        """Have tensors read from now on."""
        self._initialise(id(_ndarray), self._item_size_at, *layout)

    def function(self, table_address: int, long_way: Callable[..., Any]) -> Callable[..., Any]:
        """The function `(grid, *arguments, **constants)` over a table of calls."""
        return python_function(self._method, (table_address, long_way))


def find_recogniser(library: LoadedObject) -> Recogniser | None:
    """Return what recognises calls in a native module; None where native code cannot read arguments."""
    layout = find_array_layout()
    return None if layout is None else Recogniser(library, layout)


class CallTable:
    """The known calls of one kernel. `hooks` is a list that must be empty for `launch` to recognise anything;
    `long_way` gets the calls that it does not."""

    def __init__(self, recogniser: Recogniser, hooks: list[Any], long_way: Callable[..., Any]) -> None:
        self._recogniser = recogniser
        self._hooks = hooks
        self._calls = array("Q", [0] * MOST_CALLS)
        self._kept: list[Any] = []
        """What the table points to."""
        self._table = array("Q", [knobs.generation_address(), id(hooks), 0, self._calls.buffer_info()[0]])
        self.launch = recogniser.function(self._table.buffer_info()[0], long_way)

    @property
    def is_full(self) -> bool:
        return self._table[2] == MOST_CALLS

    def add(self, call: Call) -> None:
        """Recognise calls like this one from now on, as long as the switches stay as they are."""
        if call.tensors is not None:
            self._recogniser.read_tensors(call.tensors)
        items = [item.words(None) for item in call.by_position]
        items += [item.words(name) for name, item in call.by_keyword]
        numbers = [word for words in items for word in words]
        item_words = array("q", numbers)
        variables = array("q")
        everything = [*call.variables, *call.launcher.variables]
        for scope, name, value in everything:
            variables.extend((id(scope), 0 if name is None else id(name), 0 if value is ABSENT else id(value)))
        names = array("q", map(id, call.names))
        words = [
            knobs.generation, len(call.by_position), len(call.by_keyword), item_words.buffer_info()[0],
            sum(item.kind.is_memory for item in call.items), int(call.disjoint), len(everything),
            variables.buffer_info()[0], call.slots, call.launcher.function, call.launcher.data.buffer_info()[0],
            id(call.result), id(call), names.buffer_info()[0], id(call.meta),
        ]  # fmt: skip
        record = array("q", words)
        self._kept.append((record, call))
        call.memory.extend((item_words, variables, names))
        self._calls[self._table[2]] = record.buffer_info()[0]
        self._table[2] += 1

    def clear(self) -> None:
        """Forget all calls."""
        self._table[2] = 0
        self._kept.clear()


def is_plain_cell(cell: CellType, value: Any) -> bool:
    """Return whether a cell of a closure has its content where `repeat.ll` reads it."""
    return ctypes.c_uint64.from_address(id(cell) + 16).value == id(value)


def python_function(method_definition: int, bound: object = None) -> Callable[..., object]:
    """Wrap a static PyMethodDef into a Python callable, with what the function gets as `self`."""
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(method_definition, bound, None)
