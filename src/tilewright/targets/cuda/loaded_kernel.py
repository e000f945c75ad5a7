"""What a launch needs to know of a compiled kernel, and the kernel as loaded on a device."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from typing import Any

from tilewright.support.errors import OutOfRegisters, OutOfResources, OutOfThreads
from tilewright.support.records import dataclass
from tilewright.targets.cuda.driver import CudaDriver, Device, check_shared_memory
from tilewright.targets.cuda.made_parameters import MadeParameters
from tilewright.targets.cuda.parameters import (
    COOPERATIVE,
    PROGRAMMATIC_STREAM_SERIALIZATION,
    ArgumentPool,
    GridParameter,
    Parameter,
    from_json,
    launch_attribute,
    persistent_programs,
    programs_of,
    to_json,
)

DEFAULT_SHARED_LIMIT = 48 * 1024
"""Shared memory that a kernel may have without asking for more."""

PORTABLE_CLUSTER = 8
"""CTAs that a cluster may have on every GPU that has clusters; more must be asked for."""


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
    is_text: bool = False
    """Whether the image is PTX that the driver is to compile."""
    may_assert: bool = False
    is_cooperative: bool = False
    """Whether all programs of a grid run at the same time."""
    is_dependent: bool = False
    """Whether a grid may start before the one before it has ended, which it waits for (`gdc_wait`)."""
    max_registers: int | None = None

    def to_json(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "entry"}
        return {**values, "parameters": to_json(self.parameters)}

    @property
    def launch_attributes(self) -> bytes:
        """The attributes of a launch, packed as the driver reads them."""
        flags = {COOPERATIVE: self.is_cooperative, PROGRAMMATIC_STREAM_SERIALIZATION: self.is_dependent}
        return b"".join(launch_attribute(identifier) for identifier, is_set in flags.items() if is_set)

    @property
    def is_persistent(self) -> bool:
        """Return whether each program does the work of several of those that are launched."""
        return any(isinstance(parameter, GridParameter) for parameter in self.parameters)

    def programs_to_start(self, grid: Sequence[int], resident: int) -> int:
        """The programs to start of a kernel each of which does the work of several, where so many run at a time."""
        if any(isinstance(parameter, GridParameter) and parameter.grid == "sorted" for parameter in self.parameters):
            return min(programs_of(grid), resident)
        return persistent_programs(grid, resident)

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
            if facts.num_ctas > PORTABLE_CLUSTER:
                driver.set_function_attribute(self.function, "NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
            self.registers = driver.function_attribute(self.function, "NUM_REGS")
            self.spill_bytes = driver.function_attribute(self.function, "LOCAL_SIZE_BYTES")
            self.thread_limit = driver.function_attribute(self.function, "MAX_THREADS_PER_BLOCK")
        self.facts = facts
        self.attributes = ctypes.create_string_buffer(facts.launch_attributes, len(facts.launch_attributes))
        self.made = MadeParameters(facts.parameters)
        self.scratch: dict[int, Scratch] = {}
        self.pool = ArgumentPool(facts.parameters, self.function, facts.launch_attributes)
        if reason := self.lacking():
            raise reason

    def lacking(self) -> OutOfResources | None:
        """Return what a CTA needs more of than the device has, found by the numbers of the loaded code."""
        threads, device = self.facts.num_threads, self.device
        if threads > device.thread_limit:
            return OutOfThreads(threads, device.thread_limit, "threads of a CTA")
        needed, limit = self.registers * threads, device.attribute("MAX_REGISTERS_PER_BLOCK")
        if threads > self.thread_limit and needed > limit:
            return OutOfRegisters(needed, limit, "registers of a multiprocessor")
        return None

    @cached_property
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
