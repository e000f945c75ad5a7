"""The records of the launch cache, which Python writes and `repeat.ll` reads, and the objects of others that it reads
(`object_layouts.py` checks these on samples)."""

from __future__ import annotations

from ctypes import Structure, c_int32, c_int64, c_void_p

MOST_CALLS = 16
MOST_POINTERS = 63
MOST_SLOTS = 63
MOST_ARGUMENTS = 63
MOST_WORDS = MOST_SLOTS + 3  # with the grid's extents
"""What the native side has room for."""


class Item(Structure):
    """What the argument of a call must be; `kind` is a `calls.Kind`."""

    _fields_ = (
        ("kind", c_int64),
        ("type", c_void_p),  # its class
        ("target", c_void_p),  # OBJECT: the object; ARRAY: the dtype
        ("number", c_int64),  # CONSTANT: the number; INTEGER: its class; memory: whether 16 divides the address
        ("detail", c_int64),  # INTEGER: 1 if 1 has a class of its own, plus 2 if multiples of 16 have; ARRAY: 1 if the
        # kernel stores to it; TENSOR: bytes of an element << 32 | dtype and device, as in the tensor
        ("slot", c_int64),  # -1 where it has none
        ("name", c_void_p),  # of the parameter, for arguments by keyword
        ("sharing", c_int64),  # memory: bit 0 if it may be shared with others that have it, further bits for those at
        # one address
    )


class Variable(Structure):
    """A global variable that the kernel was compiled with, or one of a closure."""

    _fields_ = (("scope", c_void_p), ("name", c_void_p), ("value", c_void_p))  # dictionary; or cell, null, value


class Repeat(Structure):
    """A call that is recognised.

    `run` is a target's function (its data, slots with the grid's extents after them, product of the extents) that runs
    a grid: 0 done, 1 not begun and for the slow path to run or to explain, -1 an exception is set. It reads nothing of
    its data once it has let go of the GIL.
    """

    _fields_ = (
        ("generation", c_int64),  # of the switches
        ("by_position", c_int64),  # arguments
        ("by_keyword", c_int64),
        ("items", c_void_p),  # of the arguments, in this order
        ("pointers", c_int64),  # among them
        ("disjoint", c_int64),  # 1 if no two pointers share memory, but as `sharing` has it
        ("variable_count", c_int64),
        ("variables", c_void_p),
        ("slots", c_int64),  # without the grid
        ("run", c_void_p),
        ("data", c_void_p),
        ("result", c_void_p),  # what the call returns
        ("owner", c_void_p),  # the object that has all of this, and what the target's data points to
        ("names", c_void_p),  # of the arguments, by position and by keyword
        ("meta", c_void_p),  # dictionary of all parameters and options, for grids that are functions: its copy gets
        # the arguments
    )


class Table(Structure):
    """The calls of one kernel."""

    _fields_ = (
        ("generation", c_void_p),  # of the switches now
        ("hooks", c_void_p),  # a list that must be empty: they are called before launches
        ("known", c_int64),  # calls
        ("calls", c_void_p),  # array of Repeat *
        ("clearings", c_int64),  # how many times all calls were forgotten
    )


class Site(Structure):
    """A place in a program that launches one kernel over one grid (`site.ll`)."""

    _fields_ = (
        ("table", c_void_p),  # the calls of the kernel; null: not known yet
        ("given", c_int64),  # how many arguments a call gives
        ("follows", c_int64),  # 1 where another site of its graph, before it, looks whether launches are watched
        ("last", c_void_p),  # the Repeat that the last call was like; null: none
        ("clearings", c_int64),  # of the table, up to then
        ("programs", c_int64),  # product of the extents
        ("words", c_int64),  # of its slots and extents
        ("slots", c_int64 * MOST_WORDS),  # those
        ("further", c_int64),  # how many follow those, always the same
        ("constants", c_void_p),  # those
        ("variable_count", c_int64),  # that must be as they are
        ("variables", c_void_p),
        ("hooks_before", c_void_p),  # lists that must be empty
        ("hooks_after", c_void_p),
        ("x", c_int64),  # extents of the grid
        ("y", c_int64),
        ("z", c_int64),
    )


class Array(Structure):
    """NumPy's array object, whose layout is part of its ABI."""

    _fields_ = (
        ("references", c_int64),
        ("type", c_void_p),
        ("data", c_void_p),
        ("rank", c_int32),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("base", c_void_p),
        ("dtype", c_void_p),
        ("flags", c_int32),
    )


class Storage(Structure):
    """PyTorch's StorageImpl, as far as it is read: an allocation of PyTorch's is freed by its own address, memory of
    others by something else."""

    _fields_ = (
        ("vtable", c_void_p),
        ("references", c_int64),
        ("data", c_int64),
        ("deleter", c_int64),
        ("context", c_int64),  # what the deleter is given
        ("kind", c_int64),
        ("bytes", c_int64),
    )


FACTS_AFTER_OFFSET = 16
"""In PyTorch's TensorImpl: from the offset into the storage, in elements, to dtype and device; the number of elements
is between them."""

CONSTANTS = {
    "FACTS_AFTER_OFFSET": FACTS_AFTER_OFFSET,
    "MOST_POINTERS": MOST_POINTERS,
    "MOST_WORDS": MOST_WORDS,
    "MOST_ARGUMENTS": MOST_ARGUMENTS,
}
RECORDS = (Item, Variable, Repeat, Table, Site, Array, Storage)
