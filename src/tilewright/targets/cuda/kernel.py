"""A kernel on a real GPU: loaded on a device at its first launch there, launched on the current stream."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from tilewright.support.errors import (
    ArgumentValueError,
    GridTooLarge,
    OutOfRegisters,
    OutOfResources,
    OutOfThreads,
    TilewrightError,
)
from tilewright.targets.cuda.driver import (
    CudaDriver,
    Device,
    check_shared_memory,
    cuda_driver,
    encode_tensor_map,
)
from tilewright.targets.cuda.parameters import (
    MAP_BYTES,
    ArgumentPool,
    Arguments,
    Parameter,
    TensorMapParameter,
    from_json,
    to_json,
)
from tilewright.targets.cuda.placement import StreamReader, device_of

_stream_of = StreamReader()

INVALID_VALUE, INVALID_CONTEXT, OUT_OF_RESOURCES, COOPERATIVE_GRID_TOO_LARGE = 1, 201, 701, 720
"""The driver's numbers of errors that a launch itself may cause."""

MAX_ROWS = 65535
"""Largest extent of a grid along y and z."""

DEFAULT_SHARED_LIMIT = 48 * 1024
"""Shared memory that a kernel may have without asking for more."""

MAPS_KEPT = 1024
"""Tensor maps that a kernel remembers; making one costs some microseconds."""


@dataclass(frozen=True, kw_only=True)
class KernelFacts:
    """What a launch needs to know of a compiled kernel; JSON-able through `to_json`."""

    entry: str
    num_threads: int
    num_ctas: int = 1
    shared: int = 0
    parameters: list[Parameter] = field(default_factory=list[Parameter])
    takes_scratch: bool = False
    scratch_bytes: int = 0
    """Global scratch memory of one program."""
    scratch_alignment: int = 1
    is_text: bool = False
    """Whether the image is PTX that the driver is to compile."""
    may_assert: bool = False
    is_cooperative: bool = False
    max_registers: int | None = None

    def to_json(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "entry"}
        return {**values, "parameters": to_json(self.parameters)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> KernelFacts:
        """From a kernel's metadata, which may hold more."""
        values: dict[str, Any] = {f.name: data[f.name] for f in fields(KernelFacts)}
        values["parameters"] = from_json(values["parameters"])
        return KernelFacts(**values)


class Scratch:
    """Global scratch memory of one stream: grown when a launch needs more, used again by the next."""

    def __init__(self, driver: CudaDriver, stream: int) -> None:
        self._driver = driver
        self._stream = stream
        self._address = 0
        self._size = 0

    def at_least(self, size: int) -> int:
        """The address of `size` bytes that earlier launches on the stream are done with when the next one runs."""
        if size > self._size:
            if self._size:
                self._driver.synchronize(self._stream)
                self._driver.call("cuMemFree", self._address)
            self._address = int(self._driver.call("cuMemAlloc", size))
            self._size = size
        return self._address


class LoadedKernel:
    """A kernel in the primary context of one device."""

    def __init__(self, device: Device, facts: KernelFacts, image: bytes) -> None:
        driver = device.driver
        self.device = device
        check_shared_memory(facts.shared, device.shared_limit)
        with driver.entered(device):
            self.module = driver.load_module(image, is_text=facts.is_text, max_registers=facts.max_registers)
            self.function = driver.function(self.module, facts.entry)
            if facts.shared > DEFAULT_SHARED_LIMIT:
                driver.set_function_attribute(self.function, "MAX_DYNAMIC_SHARED_SIZE_BYTES", facts.shared)
            self.registers = driver.function_attribute(self.function, "NUM_REGS")
            self.spill_bytes = driver.function_attribute(self.function, "LOCAL_SIZE_BYTES")
            self.thread_limit = driver.function_attribute(self.function, "MAX_THREADS_PER_BLOCK")
        self.facts = facts
        self.scratch: dict[int, Scratch] = {}
        if reason := self.lacking():
            raise reason

    def lacking(self) -> OutOfResources | None:
        """What a CTA needs more of than the device has, found by the numbers of the loaded code."""
        threads, device = self.facts.num_threads, self.device
        if threads > device.thread_limit:
            return OutOfThreads(threads, device.thread_limit, "threads of a CTA")
        needed, limit = self.registers * threads, device.attribute("MAX_REGISTERS_PER_BLOCK")
        if threads > self.thread_limit and needed > limit:
            return OutOfRegisters(needed, limit, "registers of a multiprocessor")
        return None

    def resident_ctas(self) -> int:
        """CTAs that the device runs at the same time."""
        driver, facts = self.device.driver, self.facts
        with driver.entered(self.device):
            each = driver.call(
                "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                driver.api.CUfunction(self.function),
                facts.num_threads,
                facts.shared,
            )
        return int(each) * self.device.multiprocessors


class CudaKernel:
    """Machine code of one kernel. It may be launched from several threads at a time."""

    def __init__(self, facts: KernelFacts, image: bytes) -> None:
        self.name = facts.entry
        self.facts = facts
        self.image = image
        self._pool = ArgumentPool(facts.parameters)
        self._loaded: dict[int, LoadedKernel] = {}
        self._maps: dict[tuple[int, ...], bytes] = {}
        self._lock = threading.Lock()
        self._is_plain = not (
            facts.takes_scratch or facts.may_assert or any(not isinstance(p, int) for p in facts.parameters)
        )

    def launch(self, slots_address: int, num_programs: int, num_threads: int = 0) -> None:
        """Refuses: a GPU's grid has three axes and a stream."""
        raise TilewrightError(f"kernel '{self.name}' runs on a GPU: it is launched with a grid and the data's device")

    @cached_property
    def _driver(self) -> CudaDriver:
        return cuda_driver()

    @cached_property
    def _launch(self) -> Any:
        """The driver's launch function."""
        return self._driver.cooperative_launch if self.facts.is_cooperative else self._driver.launch

    def launch_on(self, slots: Sequence[int], arrays: Mapping[int, Any], grid: tuple[int, int, int]) -> None:
        """Start a grid where the data lies, on the current stream; returns before it is done.

        Raises OutOfResources and the driver's errors, those of kernels that failed before among them; a kernel with
        assertions is waited for.
        """
        ordinal = device_of(arrays)
        loaded = self._loaded.get(ordinal) or self._load(ordinal)
        stream = _stream_of(ordinal)
        arguments = self._pool.take(slots)
        if not self._is_plain:
            self._complete(arguments, slots, loaded, stream, grid)
        facts = self.facts
        x, y, z = grid
        place = (loaded.function, x * facts.num_ctas, y, z, facts.num_threads, 1, 1, facts.shared, stream)
        if self._driver.has_several or (status := self._launch(*place, arguments.address, None)) == INVALID_CONTEXT:
            with self._driver.entered(loaded.device):
                status = self._launch(*place, arguments.address, None)
        self._pool.give_back(arguments)
        if status:
            raise self._failure(status, grid, loaded)
        if facts.may_assert and not self._driver.is_capturing(stream):
            self._driver.synchronize(stream)

    def resources(self, ordinal: int = 0) -> tuple[int, int]:
        """Registers and bytes of local memory per thread, as loaded on a device."""
        loaded = self._loaded.get(ordinal) or self._load(ordinal)
        return loaded.registers, loaded.spill_bytes

    def _load(self, ordinal: int) -> LoadedKernel:
        with self._lock:
            if ordinal not in self._loaded:
                self._loaded[ordinal] = LoadedKernel(self._driver.device(ordinal), self.facts, self.image)
            return self._loaded[ordinal]

    def _complete(
        self,
        arguments: Arguments,
        slots: Sequence[int],
        loaded: LoadedKernel,
        stream: int,
        grid: tuple[int, int, int],
    ) -> None:
        """Write tensor maps and the address of scratch memory."""
        for parameter, address in arguments.maps:
            ctypes.memmove(address, self._tensor_map(parameter, slots), MAP_BYTES)
        if self.facts.takes_scratch:
            programs = grid[0] * grid[1] * grid[2]
            if stream not in loaded.scratch:
                loaded.scratch[stream] = Scratch(self._driver, stream)
            with self._driver.entered(loaded.device):
                address = loaded.scratch[stream].at_least(max(programs * self.facts.scratch_bytes, 1))
            arguments.slots[arguments.scratch] = address

    def _tensor_map(self, parameter: TensorMapParameter, slots: Sequence[int]) -> bytes:
        """The tensor map for a descriptor's slots, made once for each tensor."""
        rank, first = parameter.rank, parameter.first_slot
        key = (first, *slots[first : first + 2 + 2 * rank])
        made = self._maps.get(key)
        if made is None:
            made = self._encode(parameter, key[1:])
            if len(self._maps) >= MAPS_KEPT:
                self._maps.clear()
            self._maps[key] = made
        return made

    def _encode(self, parameter: TensorMapParameter, slots: Sequence[int]) -> bytes:
        rank = parameter.rank
        address, extents, strides = slots[0], slots[1 : 1 + rank], slots[1 + rank : 1 + 2 * rank]
        return encode_tensor_map(
            self._driver,
            element=parameter.element,
            address=address,
            extents=extents[::-1],
            strides=[stride * parameter.element_bytes for stride in strides[-2::-1]],
            box=parameter.box,
            swizzle=parameter.swizzle,
            fills_nan=bool(slots[1 + 2 * rank] & 1),
        )

    def _failure(self, status: int, grid: tuple[int, int, int], loaded: LoadedKernel) -> TilewrightError:
        """Why a launch did not start: what of the launch itself can be the reason comes first."""
        if status == INVALID_VALUE and max(grid[1:]) > MAX_ROWS:
            return ArgumentValueError(
                "grid", f"{grid}", f"at most {MAX_ROWS} along the second and third axis", kernel=self.name
            )
        if status == OUT_OF_RESOURCES and (reason := loaded.lacking()) is not None:
            return reason
        if status == COOPERATIVE_GRID_TOO_LARGE:
            programs = grid[0] * grid[1] * grid[2] * self.facts.num_ctas
            return GridTooLarge(programs, loaded.resident_ctas(), "programs of a cooperative grid")
        return self._driver.error(status, f"the launch of kernel '{self.name}' failed, or a kernel before it")
