"""Asynchronous matmuls of warp groups: `wgmma`.

They are computed when they are issued; until the group that they belong to is waited for, shared memory that they
read may not be written.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.reference.simt.instructions.bits import B32, B64, PREDICATE
from tilewright.reference.simt.instructions.matrices import (
    SHAPE,
    coordinates_of_a,
    coordinates_of_c,
    exact,
    finish,
    gathered,
)
from tilewright.reference.simt.instructions.memory import elements_of
from tilewright.reference.simt.machine import WARP, Machine, NotConverged
from tilewright.reference.simt.product_registers import GROUP
from tilewright.reference.simt.program import Decoder, Source, Step, decodes, scalar_of, unknown
from tilewright.reference.simt.swizzle import swizzled
from tilewright.reference.simt.types import choose
from tilewright.support.ptx.syntax import Immediate, Instruction, Vector
from tilewright.support.ptx.types import Type, types_in

SWIZZLE_OF_FIELD = {0: 0, 1: 3, 2: 2, 3: 1}
"""The swizzle field of a matrix descriptor as the number that tensor maps use."""


def _groups(machine: Machine) -> Array:
    """The threads of each active warp group. NotConverged unless they are complete."""
    threads = machine.threads
    if threads.size % GROUP or np.any(threads[::GROUP] % GROUP) or np.any(np.diff(threads.reshape(-1, GROUP)) != 1):
        raise NotConverged
    return threads.reshape(-1, GROUP)


def _field(descriptor: Array, low: int) -> Array:
    """The 14 bits of descriptors from `low` on, one per warp group, to be broadcast over a matrix."""
    return (descriptor >> np.uint64(low) & np.uint64(0x3FFF)).astype(np.int64)[:, np.newaxis, np.newaxis]


def matrix_places(descriptor: Array, size: int, k: int, element_bytes: int, *, k_is_contiguous: bool) -> Array:
    """The shared memory addresses of a matrix's elements, (group, index in M or N, index in K).

    With k contiguous, 8 rows of one swizzle width are one tile; tiles follow each other by the stride offset along
    M or N. Otherwise 8 rows of k, by the leading offset along M or N and the stride offset along K. Without a
    swizzle, tiles are 8 rows of 16 bytes, and the two offsets change their roles where M or N is contiguous.
    """
    start, leading, stride = (_field(descriptor, low) << 4 for low in (0, 16, 32))
    mode = int(SWIZZLE_OF_FIELD[int(descriptor[0] >> np.uint64(62))])
    width = {0: 16, 1: 32, 2: 64, 3: 128}[mode]
    along, across = np.arange(size)[:, np.newaxis], np.arange(k)[np.newaxis]
    if k_is_contiguous:
        byte = across * element_bytes
        offset = along // 8 * stride + along % 8 * width + byte // width * leading + byte % width
    else:
        if mode == 0:
            leading, stride = stride, leading
        byte = along * element_bytes
        offset = across // 8 * stride + across % 8 * width + byte // width * leading + byte % width
    return swizzled(start + offset, mode)


@lru_cache(maxsize=256)
def _kept_places(descriptor: bytes, size: int, k: int, element_bytes: int, k_is_contiguous: bool) -> Array:
    """`matrix_places` of descriptors that loops use again and again: those of a ring of buffers."""
    return matrix_places(np.frombuffer(descriptor, np.uint64), size, k, element_bytes, k_is_contiguous=k_is_contiguous)


def _read(
    machine: Machine, descriptor: Array, groups: Array, size: int, k: int, type_: Type, contiguous: bool
) -> Array:
    """A matrix out of shared memory, (group, index, k); it is held until the group is waited for."""
    width = type_.bits // 8
    addresses = _kept_places(descriptor.tobytes(), size, k, width, contiguous)
    shared, state = machine.shared, machine.asynchronous
    shared.check_inside(addresses.reshape(-1), width)
    locations = addresses + (machine.cta_of_thread[groups[:, 0]] * shared.stride)[:, np.newaxis, np.newaxis]
    if shared.order is not None:
        for row, group in zip(locations, groups[:, 0].tolist(), strict=True):
            granules = state.read_by_unit(row, group)
            state.product_reads.append((group // GROUP, state.open_product_group.get(group // GROUP, 0), granules))
    return shared.view(type_.dtype)[locations // width]


def _of_groups(machine: Machine, source: Source) -> Array:
    """A value that all threads of a warp group share, one per group."""
    return np.ascontiguousarray(machine.spread(source(machine))[::GROUP])


@decodes("wgmma.mma_async")
def multiply(instruction: Instruction, decoder: Decoder) -> Step:
    """`wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {d}, a, b, p, 1, 1, 0, 0;`"""
    shape = next((SHAPE.fullmatch(part) for part in instruction.modifiers if SHAPE.fullmatch(part)), None)
    types = types_in(instruction.modifiers)
    if shape is None or len(types) != 3 or "sp" in instruction.modifiers:
        raise unknown(instruction)
    m, n, k = (int(number) for number in shape.groups())
    of_d, of_a, of_b = types
    accumulator, a, b, use, *flags = instruction.operands
    d = elements_of(accumulator)
    count = m * n // GROUP
    if m != 64 or len(d) * 32 != count * max(of_d.bits, 16):
        raise unknown(instruction, "the operands do not fit the shape")
    numbers = [flag.value for flag in flags if isinstance(flag, Immediate)]
    signs, transposes = (numbers[:2], numbers[2:]) if of_d.is_float else ([1, 1], [])
    in_registers = isinstance(a, Vector)
    transpose_a = not in_registers and len(transposes) == 2 and transposes[0] != 0
    transpose_b = bool(transposes) and transposes[-1] != 0
    targets = [decoder.target(item, B32, instruction) for item in d]
    start = decoder.sources(d, B32, instruction)
    a_registers = decoder.sources(a.items, B32, instruction) if isinstance(a, Vector) else []
    a_descriptor = None if in_registers else decoder.source(a, B64, instruction)
    b_descriptor, uses = decoder.source(b, B64, instruction), decoder.source(use, PREDICATE, instruction)
    sign = signs[0] * signs[1]

    def run(machine: Machine) -> None:
        groups = _groups(machine)
        if a_descriptor is None:
            left = _from_registers(gathered(machine, a_registers, of_a), k)
        else:
            left = _read(machine, _of_groups(machine, a_descriptor), groups, 64, k, of_a, not transpose_a)
        right = _read(machine, _of_groups(machine, b_descriptor), groups, n, k, of_b, not transpose_b)
        product = sign * (exact(left, of_a) @ exact(right, of_b).swapaxes(1, 2))
        row, column = coordinates_of_c(n, count)
        tiles = product.reshape(groups.shape[0] * 4, 16, n)[:, row, column]
        old = exact(gathered(machine, start, of_d).reshape(-1, WARP, count), of_d)
        keeps = machine.by_warp(uses(machine))[:, :1, np.newaxis]
        total = finish(tiles + choose(keeps, old, 0), of_d, saturates=False)
        packed = np.ascontiguousarray(total).view(np.uint32)
        for position, target in enumerate(targets):
            target(machine, packed[:, :, position].reshape(-1))

    return run


def _from_registers(values: Array, k: int) -> Array:
    """A in registers of four warps, (warp, lane, register, element), as (group, 64, k)."""
    row, column = coordinates_of_a(16, values.shape[2], values.shape[3])
    matrix = np.zeros((values.shape[0], 16, k), values.dtype)
    matrix[:, row, column] = values
    return matrix.reshape(-1, 64, k)


@decodes("wgmma.commit_group")
def commit(instruction: Instruction, decoder: Decoder) -> Step:
    """The products so far are a group."""

    def run(machine: Machine) -> None:
        counters = machine.asynchronous.open_product_group
        for group in (_groups(machine)[:, 0] // GROUP).tolist():
            counters[group] = counters.get(group, 0) + 1

    return run


@decodes("wgmma.wait_group")
def wait(instruction: Instruction, decoder: Decoder) -> Step:
    """`wgmma.wait_group.sync.aligned n;`: all groups but the last n are done."""
    pending = decoder.source(instruction.operands[0], B32, instruction)

    def run(machine: Machine) -> None:
        state = machine.asynchronous
        active = set((_groups(machine)[:, 0] // GROUP).tolist())
        left = int(scalar_of(pending(machine)))
        kept: list[tuple[int, int, Array]] = []
        for group, number, granules in state.product_reads:
            if group in active and number < state.open_product_group.get(group, 0) - left:
                warps = group * GROUP + np.arange(0, GROUP, WARP)
                if (order := machine.shared.order) is not None:
                    order.note_end_of_reads(granules, warps)
            else:
                kept.append((group, number, granules))
        state.product_reads = kept
        if machine.product_registers is not None:
            for group in active:
                machine.product_registers.finish(group, state.open_product_group.get(group, 0) - left)

    return run


@decodes("wgmma.fence")
def fence(instruction: Instruction, decoder: Decoder) -> Step:
    """`wgmma.fence.sync.aligned;`: what registers hold is there for the products that follow."""

    def run(machine: Machine) -> None:
        groups = _groups(machine)[:, 0] // GROUP
        if machine.product_registers is not None:
            machine.product_registers.fence(groups)

    return run
