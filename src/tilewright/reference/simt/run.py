"""Running a kernel of a PTX module over a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import lru_cache
from math import prod
from typing import Any, cast

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.address_space import AddressSpace
from tilewright.reference.memory import ByteRange
from tilewright.reference.simt.async_state import AsyncState
from tilewright.reference.simt.clusters import Clusters
from tilewright.reference.simt.code import Code, assemble
from tilewright.reference.simt.errors import SimulationError
from tilewright.reference.simt.global_memory import GlobalRaces
from tilewright.reference.simt.layout import Image
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.reference.simt.memory import Memory
from tilewright.reference.simt.product_registers import ProductRegisters
from tilewright.reference.simt.scheduler import Scheduler
from tilewright.reference.simt.shared_memory import SharedMemory
from tilewright.reference.simt.tensor_map import TensorMap
from tilewright.support.modules import import_modules
from tilewright.support.ptx.parser import parse_ptx
from tilewright.support.ptx.syntax import Parameter
from tilewright.support.records import dataclass

import_modules("tilewright.reference.simt.instructions")  # which registers the decoders of all

THREADS_AT_ONCE = 1 << 15
STEP_LIMIT = 1_000_000


@dataclass
class Run:
    """What a run leaves besides the memory it wrote."""

    output: list[str] = field(default_factory=list[str])
    """What threads printed, in order."""


@lru_cache(maxsize=64)
def load(ptx: str, kernel: str) -> Code:
    """A kernel, decoded once. Raises SimulationError."""
    return assemble(parse_ptx(ptx), kernel)


def run_ptx(
    program: str | Code,
    kernel: str,
    *,
    grid: Sequence[int],
    num_threads: int,
    shared_bytes: int = 0,
    cluster: int = 1,
    args: Sequence[Any],
    race_detection: bool = True,
    global_races: bool = True,
    memory: AddressSpace | None = None,
    reachable: Sequence[Array] = (),
    step_limit: int = STEP_LIMIT,
    threads_at_once: int = THREADS_AT_ONCE,
) -> Run:
    """Execute a kernel of a PTX text, or one that is decoded already, for every thread of a grid of CTAs.

    CTAs are executed many at a time, x fastest. With `cluster` above 1 the grid counts clusters of so many CTAs along
    x, which are executed together and reach into each other's shared memory.

    `args` are the values of the kernel's parameters in order: an array or a `ByteRange` for a pointer (changed in
    place), None for a null pointer, an int (its bits are cut to the parameter's width), a NumPy scalar, a float (by the
    width of the parameter), a `TensorMap`, or bytes.
    `memory` is where integers that are pointers point to; `reachable` are
    arrays that the kernel finds by their addresses. `step_limit` bounds the basic blocks that are executed for a group
    of CTAs. Without `global_races`, races are looked for in shared memory alone.

    Raises `SimulationError`: of the kernel's own mistakes `MemoryAccessError`, `RaceError`, `DeadlockError`,
    `DivergenceError`, `DeviceTrap`; of PTX that is not understood `PtxSyntaxError`, `UnknownInstruction`.
    """
    code = load(program, kernel) if isinstance(program, str) else program
    required = code.module.functions[kernel].required_threads
    if required not in (None, num_threads):
        raise SimulationError(f"kernel '{kernel}' has .reqntid for {required} threads, launched with {num_threads}")
    space = memory or AddressSpace()
    for array in reachable:
        space.add(array)
    parameters = _parameter_bytes(code.image, args, space)
    extents = (grid[0] * cluster, grid[1] if len(grid) > 1 else 1, grid[2] if len(grid) > 2 else 1)
    variables = code.image.initial.copy()
    result = Run()
    padded = -(-num_threads // WARP) * WARP
    at_once = max(1, threads_at_once // (padded * cluster)) * cluster
    follows = race_detection and global_races
    races = GlobalRaces(space.allocations, code.global_granule, padded * cluster) if follows else None
    for first in range(0, prod(extents), at_once):
        count = min(at_once, prod(extents) - first)
        machine = Machine(code.decoder.registers, padded, count)
        machine.memory = Memory(space, parameters, variables, code.image.local_size, machine.total, races)
        size = code.image.static_shared + shared_bytes
        if cluster > 1:
            machine.clusters = Clusters(machine, cluster)
        machine.shared = SharedMemory(machine, size, code.granule, detects_races=race_detection)
        machine.asynchronous = AsyncState(machine)
        if races is not None:
            races.begin(machine, first)
        if race_detection and (tracked := code.decoder.product_registers):
            machine.product_registers = ProductRegisters(len(tracked), machine.total)
        _fill_special_registers(code, machine, first, extents, num_threads, size)
        _fill_cluster_registers(code, machine, first, extents, cluster)
        machine.exited[machine.all_threads % padded >= num_threads] = True
        scheduler = Scheduler(code, machine, step_limit, first_cta=first, extents=extents)
        with np.errstate(all="ignore"):
            scheduler.run()
        result.output += machine.output
    return result


def _parameter_bytes(image: Image, args: Sequence[Any], space: AddressSpace) -> Array:
    if len(args) != len(image.parameters):
        raise SimulationError(f"kernel '{image.kernel}' has {len(image.parameters)} parameters, got {len(args)}")
    data = np.zeros(image.parameter_size, np.uint8)
    for value, (name, (start, parameter)) in zip(args, image.parameters.items(), strict=True):
        raw = _bytes_of(value, parameter, name, space)
        data[start : start + len(raw)] = np.frombuffer(raw, np.uint8)
    return data


def _bytes_of(value: Any, parameter: Parameter, name: str, space: AddressSpace) -> bytes:
    size = parameter.size
    match value:
        case None:
            raw = bytes(size)
        case TensorMap():
            raw = value.placed(space, name).encode()
        case np.ndarray() | ByteRange():
            raw = int(space.add(cast("Array | ByteRange", value), name)).to_bytes(8, "little")
        case bytes():
            raw = value
        case np.generic():
            raw = value.tobytes().ljust(size, b"\0")
        case bool() | int():
            raw = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        case float():
            raw = np.dtype(f"f{size}").type(value).tobytes()
        case _:
            raise SimulationError(f"parameter '{name}' cannot be {type(value).__name__}")
    if len(raw) != size:
        raise SimulationError(f"parameter '{name}' has {size} bytes, got {len(raw)}")
    return raw


def _fill_special_registers(
    code: Code, machine: Machine, first: int, extents: tuple[int, int, int], num_threads: int, size: int
) -> None:
    ctas = first + machine.cta_of_thread
    within = (machine.all_threads % machine.threads_per_cta).astype(np.uint32)
    lane = within % np.uint32(WARP)
    x, y, _ = extents
    program_id = (ctas % x, ctas // x % y, ctas // (x * y))
    one = np.uint32(1)
    values: dict[str, Any] = {
        "tid.x": within,
        "ntid.x": np.uint32(num_threads),
        "ntid.y": one,
        "ntid.z": one,
        "laneid": lane,
        "warpid": within // np.uint32(WARP),
        "nwarpid": np.uint32(machine.threads_per_cta // WARP),
        "smid": (ctas % 132).astype(np.uint32),
        "nsmid": np.uint32(132),
        "lanemask_eq": one << lane,
        "lanemask_lt": (one << lane) - one,
        "lanemask_le": (one << lane) * np.uint32(2) - one,
        "lanemask_ge": ~((one << lane) - one),
        "lanemask_gt": ~((one << lane) * np.uint32(2) - one),
        "dynamic_smem_size": np.uint32(size - code.image.static_shared),
        "total_smem_size": np.uint32(size),
    }
    for axis, name in enumerate("xyz"):
        values[f"ctaid.{name}"] = _uniform(program_id[axis].astype(np.uint32), machine)
        values[f"nctaid.{name}"] = np.uint32(extents[axis])
    for name, value in values.items():
        machine.registers[code.decoder.special[name]] = value


def _fill_cluster_registers(
    code: Code, machine: Machine, first: int, extents: tuple[int, int, int], cluster: int
) -> None:
    """Clusters of neighbours along x."""
    rank = _uniform(((first + machine.cta_of_thread) % cluster).astype(np.uint32), machine)
    values: dict[str, Any] = {
        "cluster_ctarank": rank,
        "cluster_nctarank": np.uint32(cluster),
        "is_explicit_cluster": np.uint32(cluster > 1),
    }
    for axis, name in enumerate("xyz"):
        along = cluster if axis == 0 else 1
        ctas: Any = machine.registers[code.decoder.special[f"ctaid.{name}"]]
        values[f"clusterid.{name}"] = ctas // np.uint32(along)
        values[f"nclusterid.{name}"] = np.uint32(extents[axis] // along)
        values[f"cluster_ctaid.{name}"] = rank if axis == 0 else np.uint32(0)
        values[f"cluster_nctaid.{name}"] = np.uint32(along)
    for name, value in values.items():
        machine.registers[code.decoder.special[name]] = value


def _uniform(values: Array, machine: Machine) -> Any:
    return values[0] if machine.num_ctas == 1 else values
