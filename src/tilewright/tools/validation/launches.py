"""One launch as data: what the compiler starts from, and what memory holds before it.

Arrays may share memory and may be views with strides; a copy of a launch keeps both.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import Source
from tilewright.runtime.binding import Bound
from tilewright.runtime.grid import normalize_grid
from tilewright.runtime.jit import JITFunction
from tilewright.runtime.request import kernel_source
from tilewright.runtime.specialization import Pointer, Scalar
from tilewright.runtime.storage import NUMPY_DTYPES
from tilewright.support import knobs
from tilewright.support.errors import ArgumentTypeError
from tilewright.support.records import dataclass

Array = np.ndarray[Any, Any]

_DTYPES = {name: numpy for numpy, name in NUMPY_DTYPES.items()}


@dataclass(frozen=True)
class Region:
    """A range of memory that arguments are in: its bytes before the launch."""

    low: int
    before: Array


@dataclass(frozen=True)
class Slot:
    """One run-time argument: the element type and place of a pointer, or the value of a scalar."""

    name: str
    dtype: np.dtype[Any] | None
    region: int = 0
    offset: int = 0
    """Bytes from the start of the region to where the argument points."""
    value: int | float = 0
    bits: int = 0
    """Of a scalar: its launch slot."""


@dataclass(frozen=True)
class Launch:
    """A kernel with everything that its result depends on."""

    name: str
    source: Source
    options: CompileOptions
    slots: tuple[Slot, ...]
    regions: tuple[Region, ...]
    grid: tuple[int, int, int]

    def with_grid(self, grid: tuple[int, int, int]) -> Launch:
        """The same launch over another grid."""
        return replace(self, grid=grid)

    def with_programs(self, limit: int) -> Launch:
        """The same launch over at most so many programs: rows, columns and layers of the grid are cut in that order."""
        x, y, z = self.grid
        x = min(x, limit)
        y = min(y, max(1, limit // max(1, x)))
        return self.with_grid((x, y, min(z, max(1, limit // max(1, x * y)))))

    def for_architecture(self, arch: str | None) -> Launch:
        """The same launch on a GPU architecture."""
        return replace(self, options=replace(self.options, arch=arch))

    def memory(self) -> list[Array]:
        """Fresh copies of all regions, aligned as the originals are."""
        return [_aligned_copy(region) for region in self.regions]

    def arguments(self, memory: Sequence[Array]) -> list[Any]:
        """Return what the reference takes: for each pointer the elements from its address on, and scalars."""
        result: list[Any] = []
        for slot in self.slots:
            if slot.dtype is None:
                result.append(slot.value)
                continue
            rest = memory[slot.region][slot.offset :]
            result.append(rest[: rest.size // slot.dtype.itemsize * slot.dtype.itemsize].view(slot.dtype))
        return result

    def launch_slots(self, memory: Sequence[Array]) -> list[int]:
        """Return what native code takes: addresses and the bits of scalars."""
        return self.slots_at([region.ctypes.data for region in memory])

    def slots_at(self, places: Sequence[int]) -> list[int]:
        """The same, with the regions at other addresses."""
        return [slot.bits if slot.dtype is None else places[slot.region] + slot.offset for slot in self.slots]

    def extents(self, memory: Sequence[Array]) -> dict[int, tuple[int, int]]:
        """The lowest and the end address of what each pointer may reach, by slot."""
        return {
            index: (memory[slot.region].ctypes.data, memory[slot.region].ctypes.data + memory[slot.region].size)
            for index, slot in enumerate(self.slots)
            if slot.dtype is not None
        }

    def views(self, memory: Sequence[Array]) -> dict[str, Array]:
        """The pointer arguments by name, for comparisons and reports."""
        pairs = zip(self.slots, self.arguments(memory), strict=True)
        return {slot.name: value for slot, value in pairs if slot.dtype is not None}


def record_launch(kernel: JITFunction, grid: Any, args: Sequence[Any], keywords: dict[str, Any]) -> Launch:
    """The launch that `kernel[grid](*args, **keywords)` would make, without making it.

    Raises what the launch would raise about its arguments.
    """
    binder = kernel.binder
    values, options = binder.match(tuple(args), keywords)
    bound = binder.bind(values, options)
    compile_options = CompileOptions.from_keywords(bound.options, debug=bool(knobs.get("debug") or kernel.debug))
    extents = normalize_grid(grid, lambda: binder.meta(values, options), kernel.fn.__name__)
    slots, regions = _slots_of(bound)
    return Launch(kernel.fn.__name__, kernel_source(kernel, bound), compile_options, slots, regions, extents)


def _slots_of(bound: Bound) -> tuple[tuple[Slot, ...], tuple[Region, ...]]:
    leaves = list(bound.leaves())
    storages = [leaf.storage for _, leaf in leaves if isinstance(leaf, Pointer)]
    merged: list[tuple[int, int, str]] = []
    for low, high, device in sorted({(storage.low, storage.high, storage.device) for storage in storages}):
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]), device)
        else:
            merged.append((low, high, device))
    regions = tuple(Region(low, _bytes_at(low, high, device)) for low, high, device in merged)
    names: dict[str, int] = {}
    slots: list[Slot] = []
    for name, leaf in leaves:
        count = names[name] = names.get(name, 0) + 1
        label = name if count == 1 else f"{name}[{count - 1}]"
        match leaf:
            case Pointer(kind, storage, _):
                number = next(n for n, (low, high, _) in enumerate(merged) if low <= storage.address <= high)
                dtype = _numpy_dtype(kind.lstrip("*").removeprefix("k"))
                slots.append(Slot(label, dtype, number, storage.address - merged[number][0]))
            case Scalar(kind, bits, _):
                slots.append(Slot(label, None, value=_scalar_value(kind, bits), bits=bits))
            case _:
                raise ArgumentTypeError(
                    label, "a host-made tensor descriptor", "an array or a number: its launches are not recorded"
                )
    return tuple(slots), regions


def _bytes_at(low: int, high: int, device: str) -> Array:
    if high <= low:
        return np.zeros(0, np.uint8)
    if device.startswith("cuda"):
        from tilewright.tools.validation.device import device_bytes

        return device_bytes(low, high, device)
    return np.frombuffer(ctypes.string_at(low, high - low), np.uint8).copy()


def _numpy_dtype(name: str) -> np.dtype[Any]:
    import ml_dtypes

    numpy = _DTYPES[name]
    return np.dtype(getattr(ml_dtypes, numpy) if hasattr(ml_dtypes, numpy) else numpy)


def _scalar_value(kind: str, bits: int) -> int | float:
    """A scalar from its slot."""
    match kind:
        case "fp64":
            return struct.unpack("<d", struct.pack("<Q", bits))[0]
        case "fp32" | "fp16" | "bf16":
            dtype = _numpy_dtype(kind)
            return float(np.frombuffer(bits.to_bytes(8, "little")[: dtype.itemsize], dtype)[0])
        case _:
            width = int(kind[1:])
            bits &= (1 << width) - 1
            return bits - (1 << width) if kind[0] == "i" and width > 1 and bits >> (width - 1) else bits


def _aligned_copy(region: Region) -> Array:
    """A copy of a region at an address that is equal to the original's modulo 4096: alignment is what it was."""
    page = 4096
    whole = np.zeros(region.before.size + 2 * page, np.uint8)
    start = (region.low - whole.ctypes.data) % page
    copy = whole[start : start + region.before.size]
    copy[:] = region.before
    return copy
