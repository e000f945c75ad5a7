"""A kernel on a real GPU: loaded on a device at its first launch there, launched on the current stream."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from tilewright.support.errors import (
    ArgumentValueError,
    DeviceError,
    GridTooLarge,
    TilewrightError,
)
from tilewright.targets.cuda.computed_maps import ComputedMapParameter
from tilewright.targets.cuda.driver import (
    CudaDriver,
    cuda_driver,
    encode_tensor_map,
)
from tilewright.targets.cuda.loaded_kernel import KernelFacts, LoadedKernel, Scratch
from tilewright.targets.cuda.made_parameters import MOST_MADE
from tilewright.targets.cuda.native_launch import native_launches
from tilewright.targets.cuda.parameters import (
    MAP_BYTES,
    MOST_PROGRAMS,
    SLOT_BYTES,
    Arguments,
    GridParameter,
    TensorMapParameter,
    packer,
    programs_of,
)
from tilewright.targets.cuda.placement import StreamReader, device_of
from tilewright.targets.launch_cache.calls import Launcher, Recogniser

_stream_of = StreamReader()

INVALID_VALUE, INVALID_CONTEXT, OUT_OF_RESOURCES, COOPERATIVE_GRID_TOO_LARGE = 1, 201, 701, 720
"""The driver's numbers of errors that a launch itself may cause."""

MAX_ROWS = 65535
"""Largest extent of a grid along y and z."""

MAPS_KEPT = 1024
"""Tensor maps that a kernel remembers; making one costs some microseconds."""


NO_OTHER_FORM = (
    "kernel '{}' was compiled from a text that reads through tensor maps, which these arguments do not allow: they "
    "begin at no multiple of 16 bytes, or blocks lie outside of them"
)


class CudaKernel:
    """Machine code of one kernel. It may be launched from several threads at a time."""

    def __init__(self, facts: KernelFacts, image: bytes) -> None:
        self.name = facts.entry
        self.facts = facts
        self.image = image
        self._loaded: dict[int, LoadedKernel] = {}
        self._maps: dict[tuple[int, ...], bytes] = {}
        self._lock = threading.Lock()
        self._has_given_maps = any(isinstance(parameter, TensorMapParameter) for parameter in facts.parameters)
        self._computed = [p for p in facts.parameters if isinstance(p, ComputedMapParameter | GridParameter)]
        self._is_persistent = facts.is_persistent
        self._computed_maps: dict[tuple[Any, ...], list[bytes] | None] = {}
        self._other_form: Callable[[], CudaKernel] | None = None

    def take_other_form(self, give: Callable[[], CudaKernel]) -> None:
        """Be told what gives the form of the kernel for launches that have no tensor maps."""
        self._other_form = give

    @cached_property
    def _driver(self) -> CudaDriver:
        return cuda_driver()

    def launch_on(self, slots: Sequence[int], arrays: Mapping[int, Any], grid: tuple[int, int, int]) -> None:
        """Start a grid where the data lies, on the current stream; returns before it is done.

        Raises OutOfResources and the driver's errors, those of kernels that failed before among them; a kernel with
        assertions is waited for.
        """
        ordinal = device_of(arrays)
        loaded = self._loaded.get(ordinal) or self._load(ordinal)
        self._start(loaded, packer(("Q",) * len(slots)), slots, grid)

    def starter(self, formats: Sequence[str], device: int) -> Callable[[Sequence[Any], int, int, int], None]:
        """A function that packs slot values of these forms and starts a grid (x, y, z) on a device."""
        loaded = self._loaded.get(device) or self._load(device)
        pack = packer(tuple(formats))
        return lambda values, x, y, z: self._start(loaded, pack, values, (x, y, z))

    def find_recogniser(self) -> Recogniser | None:
        """Return the native recogniser of repeated calls; None where it can't read arguments or start grids."""
        native = native_launches() if self._is_plain else None
        return None if native is None else native.recogniser

    def find_launcher(self, device: int) -> Launcher | None:
        """Return how native code starts grids on a device; None for kernels and programs that need more than it
        does.
        """
        native = native_launches() if self._is_plain else None
        return None if native is None else native.launcher(self._loaded.get(device) or self._load(device))

    @property
    def _is_plain(self) -> bool:
        """True if a launch needs nothing but its slots, and what is made of them."""
        if self._has_given_maps or len(self._computed) > MOST_MADE:
            return False
        return not (self.facts.takes_scratch or self.facts.may_assert)

    def _start(
        self, loaded: LoadedKernel, pack: Callable[..., None], values: Sequence[Any], grid: tuple[int, int, int]
    ) -> None:
        """Start a grid of a kernel of any kind."""
        facts, driver = self.facts, self._driver
        started = facts.programs_to_start(grid, loaded.resident_ctas) if self._is_persistent else 0
        computed = self._maps_of(values, grid, started) if self._computed else ()
        if computed is None:
            self._start_otherwise(loaded, pack, values, grid)
            return
        stream = _stream_of(loaded.device.ordinal)
        try:
            arguments = loaded.pool.free.pop()
        except IndexError:
            arguments = loaded.pool.make(len(values))
        x, y, z = (started, 1, 1) if self._is_persistent else grid
        scratch = self._scratch(loaded, stream, x * y * z) if facts.takes_scratch else 0
        extents = (x * facts.num_ctas, y, z, facts.num_threads, 1, 1, facts.shared)
        pack(arguments.memory, 0, *values, scratch, *extents, stream)
        if computed and self._is_plain:
            slots = bytes(arguments.memory[: SLOT_BYTES * loaded.made.slots])
            loaded.made.keep(slots, grid, (x, y, z), computed)
        made = iter(computed)
        for parameter, address in arguments.maps:
            is_given = isinstance(parameter, TensorMapParameter)
            ctypes.memmove(address, self._tensor_map(parameter, values) if is_given else next(made), MAP_BYTES)
        if driver.has_several:
            with driver.entered(loaded.device):
                status = driver.launch(*arguments.call)
        else:
            status = driver.launch(*arguments.call)
        if status:
            self._finish(status, arguments, loaded, grid)
        loaded.pool.free.append(arguments)
        if facts.may_assert and not driver.is_capturing(stream):
            driver.synchronize(stream)

    def _finish(self, status: int, arguments: Arguments, loaded: LoadedKernel, grid: tuple[int, int, int]) -> None:
        """A launch that did not start: once more in the right context, else its error."""
        if status == INVALID_CONTEXT:
            with self._driver.entered(loaded.device):
                status = self._driver.launch(*arguments.call)
        if status:
            raise self._failure(status, grid, loaded)

    def loaded_resources(self) -> tuple[int, int]:
        """Registers and bytes of local memory per thread on a device that it was launched on; (0, 0) before."""
        return next(((loaded.registers, loaded.spill_bytes) for loaded in self._loaded.values()), (0, 0))

    def resources(self, ordinal: int = 0) -> tuple[int, int]:
        """Registers and bytes of local memory per thread, as loaded on a device."""
        loaded = self._loaded.get(ordinal) or self._load(ordinal)
        return loaded.registers, loaded.spill_bytes

    def _load(self, ordinal: int) -> LoadedKernel:
        with self._lock:
            if ordinal not in self._loaded:
                self._loaded[ordinal] = LoadedKernel(self._driver.device(ordinal), self.facts, self.image)
            return self._loaded[ordinal]

    def _scratch(self, loaded: LoadedKernel, stream: int, programs: int) -> int:
        """The address of scratch memory for a grid on a stream."""
        if stream not in loaded.scratch:
            loaded.scratch[stream] = Scratch(self._driver, stream)
        with self._driver.entered(loaded.device):
            return loaded.scratch[stream].at_least(max(programs * self.facts.scratch_bytes, 1))

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
            pixels=parameter.pixels,
            element=parameter.element,
            address=address,
            extents=extents[::-1],
            strides=[stride * parameter.element_bytes for stride in strides[-2::-1]],
            box=parameter.box,
            swizzle=parameter.swizzle,
            fills_nan=bool(slots[1 + 2 * rank] & 1),
        )

    def _maps_of(self, values: Sequence[Any], grid: tuple[int, int, int], started: int) -> list[bytes] | None:
        """The tensor maps that a launch computes, made once for each launch like it; None where it has none."""
        key = (*values, *grid, started)
        try:
            return self._computed_maps[key]
        except KeyError:
            made = self._compute_maps(values, grid, started)
        if len(self._computed_maps) >= MAPS_KEPT:
            self._computed_maps.clear()
        self._computed_maps[key] = made
        return made

    def _compute_maps(self, values: Sequence[Any], grid: tuple[int, int, int], started: int) -> list[bytes] | None:
        made: list[bytes] = []
        if programs_of(grid) > MOST_PROGRAMS:
            return None
        for parameter in self._computed:
            if isinstance(parameter, GridParameter):
                made.append(parameter.bytes_of(grid, started))
                continue
            resolved = parameter.resolve(values, grid)
            if resolved is None:
                return None
            try:
                encoded = encode_tensor_map(
                    self._driver,
                    element=parameter.element,
                    address=resolved.address,
                    extents=resolved.extents,
                    strides=resolved.strides,
                    box=parameter.box,
                    swizzle=parameter.swizzle,
                    fills_nan=False,
                )
            except DeviceError:
                return None
            made.append(encoded)
        return made

    def _start_otherwise(
        self, loaded: LoadedKernel, pack: Callable[..., None], values: Sequence[Any], grid: tuple[int, int, int]
    ) -> None:
        """Start a grid of the form without tensor maps, which takes the same slots."""
        assert self._other_form is not None, "a kernel with computed tensor maps, loaded without its other form"
        other, ordinal = self._other_form(), loaded.device.ordinal
        if other._computed:
            raise TilewrightError(NO_OTHER_FORM.format(self.name))
        other._start(other._loaded.get(ordinal) or other._load(ordinal), pack, values, grid)

    def _failure(self, status: int, grid: tuple[int, int, int], loaded: LoadedKernel) -> TilewrightError:
        """Return why a launch did not start: what of the launch itself can be the reason comes first."""
        if status == INVALID_VALUE and max(grid[1:]) > MAX_ROWS:
            return ArgumentValueError(
                "grid", f"{grid}", f"at most {MAX_ROWS} along the second and third axis", kernel=self.name
            )
        if status == OUT_OF_RESOURCES and (reason := loaded.lacking()) is not None:
            return reason
        if status == COOPERATIVE_GRID_TOO_LARGE:
            programs = grid[0] * grid[1] * grid[2] * self.facts.num_ctas
            return GridTooLarge(programs, loaded.resident_ctas, "programs of a cooperative grid")
        return self._driver.error(status, f"the launch of kernel '{self.name}' failed, or a kernel before it")
