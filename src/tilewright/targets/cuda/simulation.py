"""One launch on the simulated GPU: slots become parameters, memory stays the host's own."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.support.errors import DeviceAssertionError
from tilewright.support.records import dataclass
from tilewright.targets.cuda.computed_maps import ComputedMapParameter
from tilewright.targets.cuda.parameters import (
    GridParameter,
    Parameter,
    TensorMapParameter,
    programs_of,
)

if TYPE_CHECKING:
    from tilewright.reference.address_space import AddressSpace
    from tilewright.reference.simt import TensorMap
    from tilewright.reference.simt.code import Code
    from tilewright.targets.cuda.loaded_kernel import KernelFacts

RESIDENT = 3
"""Programs that the simulated GPU starts of a kernel each of which does the work of several."""

Extents = Mapping[int, tuple[int, int]]
"""The lowest address of the allocation that a slot points into, and the one past its highest."""


def simulate(
    program: str | Code,
    facts: KernelFacts,
    slots: Sequence[int],
    extents: Extents,
    grid: Sequence[int],
    names: Sequence[str] = (),
    *,
    race_detection: bool = True,
    global_races: bool = True,
) -> None:
    """Run a grid. Accesses are checked against the extents, and reports say which of the `names` of the slots it was;
    addresses that the kernel finds in memory are the host's own, and reach all that this process has. Prints go to the
    standard output.

    Raises SimulationError classes (races, accesses out of bounds, ...) and DeviceAssertionError.
    """
    from tilewright.reference.address_space import AddressSpace
    from tilewright.reference.simt import run_ptx
    from tilewright.reference.simt.errors import DeviceAssertionFailed

    memory = AddressSpace()
    data = HostData(slots, extents, names, memory)
    started = facts.programs_to_start(grid, RESIDENT)
    arguments = [_argument(parameter, data, grid, started) for parameter in facts.parameters]
    if facts.is_persistent:
        grid = (started, 1, 1)
    if facts.takes_scratch:
        programs = programs_of(grid)
        arguments.append(np.zeros(max(programs * facts.scratch_bytes, 1), np.uint8))
    memory.add_process()
    try:
        run = run_ptx(
            program,
            facts.entry,
            grid=grid,
            num_threads=facts.num_threads,
            shared_bytes=facts.shared,
            cluster=facts.num_ctas,
            args=arguments,
            memory=memory,
            race_detection=race_detection,
            global_races=global_races,
        )
    except DeviceAssertionFailed as error:
        raise DeviceAssertionError(str(error)) from None
    sys.stdout.writelines(run.output)


@dataclass(frozen=True)
class HostData:
    """The slots of a launch, with the memory of those that are addresses and the parameters that they belong to."""

    slots: Sequence[int]
    extents: Extents
    names: Sequence[str]
    memory: AddressSpace

    def address(self, slot: int) -> int:
        """The simulated address of the host memory that a pointer points to."""
        from tilewright.reference import ByteRange

        low, high = self.extents[slot]
        if low == high:
            return self.slots[slot]
        data = (ctypes.c_uint8 * (high - low)).from_address(low)
        name = self.names[slot] if slot < len(self.names) else str(slot)
        return int(self.memory.add(ByteRange(np.ctypeslib.as_array(data), self.slots[slot] - low), name))


def _argument(parameter: Parameter, data: HostData, grid: Sequence[int], started: int) -> Any:
    """Return what a parameter is: an address, the bits of a number, or a tensor map."""
    if isinstance(parameter, ComputedMapParameter):
        return _computed_map(parameter, data, grid)
    if isinstance(parameter, GridParameter):
        return int.from_bytes(parameter.bytes_of(grid, started), "little")
    if isinstance(parameter, TensorMapParameter):
        return _tensor_map(parameter, data)
    return data.address(parameter) if parameter in data.extents else data.slots[parameter]


def _computed_map(parameter: ComputedMapParameter, data: HostData, grid: Sequence[int]) -> TensorMap:
    """The tensor map that a launch computes."""
    from tilewright.reference.simt import TensorMap

    resolved = parameter.resolve(data.slots, grid)
    assert resolved is not None, "a launch that has no tensor maps"
    return TensorMap(
        base=data.address(parameter.base),
        extents=resolved.extents,
        strides=resolved.strides,
        box=parameter.box,
        element=parameter.element,
        swizzle=parameter.swizzle,
        fills_nan=False,
    )


def _tensor_map(parameter: TensorMapParameter, data: HostData) -> TensorMap:
    """The tensor map of a descriptor's slots; dimensions innermost first."""
    from tilewright.reference.simt import TensorMap

    first, rank, slots = parameter.first_slot, parameter.rank, data.slots
    sizes = slots[first + 1 : first + 1 + rank]
    strides = slots[first + 1 + rank : first + 1 + 2 * rank]
    return TensorMap(
        base=data.address(first),
        extents=tuple(sizes[::-1]),
        strides=tuple(stride * parameter.element_bytes for stride in strides[-2::-1]),
        box=parameter.box,
        element=parameter.element,
        swizzle=parameter.swizzle,
        fills_nan=bool(slots[first + 1 + 2 * rank] & 1),
        pixels=parameter.pixels,
    )
