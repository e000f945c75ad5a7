"""Calls of kernels that native code recognises: the tables that `repeat.ll` reads.

A call that Python has seen through is written down as an `Item` for each argument, the launcher of its kernel, and what
else it depended on. `CallTable.launch` is then a native function `(grid, *arguments, **constants)` that launches calls
like those, on whichever target, and hands every other call to a function in Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import Structure, addressof, c_void_p
from dataclasses import field
from enum import IntEnum
from itertools import starmap
from types import CellType
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.support import knobs
from tilewright.support.records import dataclass
from tilewright.targets.launch_cache import records
from tilewright.targets.launch_cache.object_layouts import TensorLayout, find_array_layout
from tilewright.targets.launch_cache.records import MOST_CALLS, MOST_POINTERS, MOST_SLOTS

if TYPE_CHECKING:
    from tilewright.codegen.llvm_backend import LoadedObject

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
    """What one argument must be; `records.Item` says more."""

    kind: Kind
    type: type
    target: Any = None
    """The object itself, or the dtype of an array."""
    number: int = 0
    detail: int = 0
    slot: int = -1
    sharing: int = 0
    """Of memory: bit 0 where it may be shared with other memory that has it, a further bit where it must be at the
    address of other memory that has that bit."""

    def record(self, name: str | None) -> records.Item:
        shown = None if name is None else id(name)
        kept = self.number, self.detail, self.slot, shown, self.sharing
        return records.Item(self.kind, id(self.type), id(self.target), *kept)


@dataclass(frozen=True, slots=True)
class Launcher:
    """How native code runs grids of one kernel: a function of the target's, and the record that it reads."""

    function: int
    """Address of a function (data, slots, product of the extents); `records.Repeat` says what it returns."""
    data: Structure
    """What the function reads of the kernel."""
    kept: Any = None
    """What that points to."""
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

    EXPORTS = ("tilewright_repeat_method", "tilewright_repeat_init", "tilewright_site_method")

    def __init__(self, library: LoadedObject, item_size_at: int) -> None:
        self._method = library.address("tilewright_repeat_method")
        self._site_method = library.address("tilewright_site_method")
        kinds = (ctypes.c_void_p, *[ctypes.c_int64] * 5)
        self._initialise = ctypes.CFUNCTYPE(None, *kinds)(library.address("tilewright_repeat_init"))
        self._item_size_at = item_size_at
        self._initialise(id(_ndarray), item_size_at, 0, 0, 0, 0)

    def read_tensors(self, layout: TensorLayout) -> None:
        """Have tensors read from now on."""
        self._initialise(id(_ndarray), self._item_size_at, *layout)

    def function(self, table_address: int, slow_path: Callable[..., Any]) -> Callable[..., Any]:
        """The function `(grid, *arguments, **constants)` over a table of calls."""
        return python_function(self._method, (table_address, slow_path))

    def site(self, site: records.Site, slow_path: Callable[..., Any]) -> Callable[..., Any]:
        """The function `(*arguments)` of one place that launches a kernel, as `site.ll` has it; `slow_path` keeps the
        record alive."""
        return python_function(self._site_method, (addressof(site), slow_path))


def find_recogniser(library: LoadedObject) -> Recogniser | None:
    """Return what recognises calls in a native module; None where native code cannot read arguments."""
    layout = find_array_layout()
    return None if layout is None else Recogniser(library, layout)


class CallTable:
    """The known calls of one kernel. `hooks` is a list that must be empty for `launch` to recognise anything;
    `slow_path` gets the calls that it does not."""

    def __init__(self, recogniser: Recogniser, hooks: list[Any], slow_path: Callable[..., Any]) -> None:
        self._recogniser = recogniser
        self._hooks = hooks
        self._calls = (c_void_p * MOST_CALLS)()
        self._kept: list[Any] = []
        """What the table points to."""
        self._table = records.Table(knobs.generation_address(), id(hooks), 0, addressof(self._calls), 0)
        self.launch = recogniser.function(self.address, slow_path)

    @property
    def address(self) -> int:
        """The address where native code finds it."""
        return addressof(self._table)

    def is_of(self, recogniser: Recogniser) -> bool:
        """Return whether these calls are recognised by that native module."""
        return self._recogniser is recogniser

    @property
    def is_full(self) -> bool:
        return self._table.known == MOST_CALLS

    def add(self, call: Call) -> None:
        """Recognise calls like this one from now on, as long as the switches stay as they are."""
        if call.tensors is not None:
            self._recogniser.read_tensors(call.tensors)
        given = [item.record(None) for item in call.by_position]
        given += [item.record(name) for name, item in call.by_keyword]
        items = (records.Item * len(given))(*given)
        everything = [*call.variables, *call.launcher.variables]
        variables = variables_of(everything)
        names = (c_void_p * len(call.names))(*map(id, call.names))
        record = records.Repeat(
            generation=knobs.generation,
            by_position=len(call.by_position),
            by_keyword=len(call.by_keyword),
            items=addressof(items),
            pointers=sum(item.kind.is_memory for item in call.items),
            disjoint=call.disjoint,
            variable_count=len(everything),
            variables=addressof(variables),
            slots=call.slots,
            run=call.launcher.function,
            data=addressof(call.launcher.data),
            result=id(call.result),
            owner=id(call),
            names=addressof(names),
            meta=id(call.meta),
        )
        self._kept.append((record, call))
        call.memory.extend((items, variables, names, record))  # native code holds the call while it runs
        self._calls[self._table.known] = addressof(record)
        self._table.known += 1

    def clear(self) -> None:
        """Forget all calls."""
        self._table.known = 0
        self._table.clearings += 1
        self._kept.clear()


def variables_of(variables: Sequence[tuple[Any, str | None, Any]]) -> ctypes.Array[records.Variable]:
    """Variables as native code reads them, in the form of `Call.variables`."""
    return (records.Variable * len(variables))(*starmap(_variable, variables))


def _variable(scope: Any, name: str | None, value: Any) -> records.Variable:
    named, valued = (None if name is None else id(name)), (None if value is ABSENT else id(value))
    return records.Variable(id(scope), named, valued)


def is_plain_cell(cell: CellType, value: Any) -> bool:
    """Return whether a cell of a closure has its content where `repeat.ll` reads it."""
    return ctypes.c_uint64.from_address(id(cell) + 16).value == id(value)


def python_function(method_definition: int, bound: object = None) -> Callable[..., object]:
    """Wrap a static PyMethodDef into a Python callable, with what the function gets as `self`."""
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new(method_definition, bound, None)
