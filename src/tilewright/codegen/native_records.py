"""Records that Python, the code of kernels and our native code (LLVM IR in `.ll` files) all read, declared once each as
ctypes structures.

    class Habits(Structure): _fields_ = (("program_ns", c_int64), ("waits", c_int64), ("name", c_void_p))

    declare(Habits)          %Habits = type { i64, i64, ptr }
    names_of(Habits)         $Habits_name in a .ll file is 2, $sizeof_Habits 24
    Habits.name.offset       16, for code that is generated
"""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_int32, c_int64, c_void_p
from typing import Any

_TYPES: dict[object, str] = {c_int32: "i32", c_int64: "i64", c_void_p: "ptr"}


class ArenaHeader(Structure):
    """What precedes each arena: the arena's address less its size."""

    _fields_ = (
        ("launch", c_void_p),  # that uses the arena
        ("arena_bytes", c_int64),  # that can be used
        ("program_index", c_int64),  # of the program that runs, z over y over x
        ("grid_slot", c_int32),  # of the first of the grid's extents
        ("is_counted", c_int32),  # whether the thread is counted among those with atomics (see regions.ll)
        ("cached_launch", c_int64),  # number of the launch that the next field is of (see microkernels/pack_cache.py)
        ("caches_in_use", c_int64),  # pack caches, a bit each
        ("held_region", c_int64),  # of memory whose lock the thread holds (see regions.ll): its address / 4096; 0: none
        ("atomics_mode", c_int32),  # how it has passed the gate of atomics: 0 not, 1 among others, 2 alone
        ("atomics_alone", c_int32),  # how many nests of atomics it has ended alone
    )


class Launch(Structure):
    """What one launch is. Lives on the launching thread's stack until every program of it is done."""

    _fields_ = (
        ("stop", c_int32),  # nonzero ends the grid early
        ("failure", c_int32),  # 0 none, 1 assertion, 2 out of memory, 3 interrupted
        ("message", c_void_p),  # of the failed assertion
        ("failed_x", c_int32),  # its program
        ("failed_y", c_int32),
        ("failed_z", c_int32),
        ("threads", c_int32),  # how many run it
        ("thread_state", c_void_p),  # Python's, of the launching thread while the GIL is released
        ("polled_ns", c_int64),  # when signals were polled last
        ("slice_programs", c_int64),  # programs per slice, as learned so far
        ("entry", c_void_p),  # of the kernel: void (ptr args, i64 lo, i64 hi, ptr arena)
        ("slots", c_void_p),  # of arguments
        ("first_program", c_int64),  # of the current job
        ("job_programs", c_int64),
        ("arena_bytes", c_int64),  # per thread
        ("number", c_int64),  # of the launch, from 1
        ("parts", c_void_p),  # of the current job
        ("part_count", c_int64),
        ("generation", c_int64),  # of the current job
        ("finished", c_int64),  # programs of the current job
        ("may_wait", c_int32),  # whether programs may wait for others (see waiting.ll)
        ("waiting", c_int32),  # programs that have been waiting for some time
        ("stand_ins", c_int32),  # threads that stand in for them
        ("unused", c_int32),
        ("own_arena", c_void_p),  # of the launching thread
        ("name", c_void_p),  # of the kernel, for crashes.ll
    )


class Habits(Structure):
    """What is known of a kernel from one launch to the next."""

    _fields_ = (
        ("program_ns", c_int64),  # per program in the launch before; 0: unknown
        ("waits", c_int64),  # whether programs may wait for others: it has a loop that waits
        ("name", c_void_p),  # for Python's launchers alone
    )


def declare(*records: type[Structure]) -> str:
    """LLVM IR that declares records."""
    fields = {record.__name__: ", ".join(_text(kind) for _, kind, *_ in record._fields_) for record in records}
    return "\n".join(f"%{name} = type {{ {types} }}" for name, types in fields.items())


def _text(kind: Any) -> str:
    """The type of a field: an integer, a pointer, or an array of such."""
    return f"[{kind._length_} x {_text(kind._type_)}]" if issubclass(kind, ctypes.Array) else _TYPES[kind]


def names_of(*records: type[Structure]) -> dict[str, str]:
    """Return what stands for the fields of records, and for their sizes, in the templates of native code."""
    numbers = {
        f"{record.__name__}_{name}": str(index)
        for record in records
        for index, (name, *_) in enumerate(record._fields_)
    }
    return numbers | {f"sizeof_{record.__name__}": str(ctypes.sizeof(record)) for record in records}
