"""Matrix instructions of a warp: `mma.sync`, `ldmatrix`, `stmatrix`.

In registers of 32 bits with e elements each (64 bits with one for f64), lane ``4 g + t`` holds of A in register r the
elements (g + 8 (r mod 2), e t + 4 e (r div 2) + j), of B (e t + 4 e r + j, g), of C (g + 8 i, 2 t + j).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tilewright.dialects.arith.meaning import round_floats
from tilewright.dialects.numeric import Array
from tilewright.reference.simt.instructions.bits import B32
from tilewright.reference.simt.instructions.memory import address_of, elements_of
from tilewright.reference.simt.machine import WARP, Machine
from tilewright.reference.simt.program import Decoder, Source, Step, decodes, unknown
from tilewright.support.ptx.syntax import Instruction
from tilewright.support.ptx.types import Type, parse_type, types_in

SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
LANE = np.arange(WARP)
G, T = LANE // 4, LANE % 4


@cache
def coordinates_of_a(rows: int, registers: int, elements: int) -> tuple[Array, Array]:
    """Row and column of each element of A that a lane holds: arrays (lane, register, element)."""
    r, j = np.arange(registers)[:, np.newaxis], np.arange(elements)
    g, t = G[:, np.newaxis, np.newaxis], T[:, np.newaxis, np.newaxis]
    halves = rows // 8
    row = g + 8 * (r % halves) + 0 * j
    return row, elements * t + 4 * elements * (r // halves) + j


@cache
def coordinates_of_b(registers: int, elements: int) -> tuple[Array, Array]:
    """Row and column of each element of B that a lane holds."""
    r, j = np.arange(registers)[:, np.newaxis], np.arange(elements)
    g, t = G[:, np.newaxis, np.newaxis], T[:, np.newaxis, np.newaxis]
    return elements * t + 4 * elements * r + j, g + 0 * r + 0 * j


@cache
def coordinates_of_c(columns: int, count: int) -> tuple[Array, Array]:
    """Row and column of the n-th of a lane's elements of C, for tiles of 8 columns side by side."""
    n = np.arange(count)
    g, t = G[:, np.newaxis], T[:, np.newaxis]
    return g + 8 * (n // 2 % 2), 8 * (n // 4) + 2 * t + n % 2


def gathered(machine: Machine, sources: Sequence[Source], type_: Type) -> Array:
    """Registers as elements: (warp, lane, register, element)."""
    columns = [machine.by_warp(source(machine)) for source in sources]
    stacked = np.ascontiguousarray(np.stack(columns, axis=2))
    return stacked.view(type_.dtype).reshape(*stacked.shape, -1)


def exact(values: Array, type_: Type) -> Array:
    """Elements in a type in which products are exact; of tf32 the lower bits do not count."""
    if type_.kind == "tf":
        values = (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    if type_.is_float or type_.kind == "tf":
        return values.astype(np.float32).astype(np.float64) if type_.bits < 64 else values
    return values.astype(np.int64)


def finish(product: Array, type_: Type, *, saturates: bool) -> Array:
    """Sums as elements of the accumulator, rounded once."""
    if type_.is_float:
        return product if type_.bits == 64 else round_floats(product, type_.dtype)
    if saturates:
        limits = np.iinfo(np.int32)
        product = np.clip(product, limits.min, limits.max)
    return product.astype(np.int32)


@decodes("mma.sync")
def multiply(instruction: Instruction, decoder: Decoder) -> Step:
    """`mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c};`"""
    shape = next((SHAPE.fullmatch(part) for part in instruction.modifiers if SHAPE.fullmatch(part)), None)
    types = types_in(instruction.modifiers)
    if shape is None or len(types) != 4 or "row" not in instruction.modifiers or "sp" in instruction.modifiers:
        raise unknown(instruction)
    m, n, k = (int(number) for number in shape.groups())
    of_d, of_a, of_b, of_c = types
    register = parse_type("b64") if of_a.bits == 64 else B32
    assert register is not None
    d, a, b, c = (elements_of(operand) for operand in instruction.operands)
    elements = register.bits // of_a.bits
    if len(a) * elements * WARP != m * k or len(b) * elements * WARP != k * n or n != 8:
        raise unknown(instruction, "the operands do not fit the shape")
    targets = [decoder.target(item, register, instruction) for item in d]
    sources = [decoder.sources(items, register, instruction) for items in (a, b, c)]
    at_a, at_b = coordinates_of_a(m, len(a), elements), coordinates_of_b(len(b), elements)
    count = m * n // WARP
    at_c = coordinates_of_c(n, count)
    saturates = "satfinite" in instruction.modifiers

    def run(machine: Machine) -> None:
        left, right, start = (
            gathered(machine, source, type_) for source, type_ in zip(sources, (of_a, of_b, of_c), strict=True)
        )
        warps = left.shape[0]
        a_matrix = np.zeros((warps, m, k), np.float64 if of_a.is_float or of_a.kind == "tf" else np.int64)
        b_matrix = np.zeros((warps, k, n), a_matrix.dtype)
        a_matrix[:, at_a[0], at_a[1]] = exact(left, of_a)
        b_matrix[:, at_b[0], at_b[1]] = exact(right, of_b)
        product = (a_matrix @ b_matrix)[:, at_c[0], at_c[1]]
        total = finish(product + exact(start.reshape(warps, WARP, count), of_c), of_d, saturates=saturates)
        packed = np.ascontiguousarray(total).view(register.dtype)
        for position, target in enumerate(targets):
            target(machine, packed[:, :, position].reshape(-1))

    return run


def _matrix_shape(instruction: Instruction) -> tuple[int, bool]:
    """Return how many 8x8 matrices of 16-bit elements, and whether they are transposed."""
    modifiers = instruction.modifiers
    if "m8n8" not in modifiers or "b16" not in modifiers:
        raise unknown(instruction)
    return next((int(part[1:]) for part in modifiers if part in ("x1", "x2", "x4")), 1), "trans" in modifiers


def _locate_rows(machine: Machine, addresses: Any, count: int) -> tuple[Array, Array]:
    """Return where the rows of matrices lie, (warp, matrix, row), and the threads that name them."""
    rows = machine.by_warp(addresses)[:, : 8 * count]
    threads = machine.threads.reshape(-1, WARP)[:, : 8 * count]
    offsets = rows.astype(np.int64)
    machine.shared.check_inside(offsets, 16)
    machine.shared.check_aligned(offsets, 16)
    locations = machine.cta_of_thread[threads] * machine.shared.stride + offsets
    return locations, threads


@decodes("ldmatrix.sync")
def load_matrices(instruction: Instruction, decoder: Decoder) -> Step:
    """`ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a, b, c, d}, [p];`: lanes 8 i + r name row r of matrix i."""
    count, transposes = _matrix_shape(instruction)
    targets = [decoder.target(item, B32, instruction) for item in elements_of(instruction.operands[0])]
    address = address_of(instruction.operands[1], decoder, instruction)

    def run(machine: Machine) -> None:
        locations, threads = _locate_rows(machine, address(machine), count)
        shared = machine.shared
        if (order := shared.order) is not None:
            order.note_reads(order.granules(locations.reshape(-1), 16), threads.reshape(-1))
        rows = shared.view(np.dtype(np.uint16))[locations[..., np.newaxis] // 2 + np.arange(8)]
        matrices = rows.reshape(-1, count, 8, 8)
        if transposes:
            matrices = matrices.swapaxes(2, 3)
        packed = np.ascontiguousarray(matrices).view(np.uint32).reshape(-1, count, WARP)
        for position, target in enumerate(targets):
            target(machine, packed[:, position].reshape(-1))

    return run


@decodes("stmatrix.sync")
def store_matrices(instruction: Instruction, decoder: Decoder) -> Step:
    """`stmatrix.sync.aligned.m8n8.x4.shared.b16 [p], {a, b, c, d};`"""
    count, transposes = _matrix_shape(instruction)
    address = address_of(instruction.operands[0], decoder, instruction)
    sources = decoder.sources(elements_of(instruction.operands[1]), B32, instruction)

    def run(machine: Machine) -> None:
        locations, threads = _locate_rows(machine, address(machine), count)
        words = np.stack([machine.by_warp(source(machine)) for source in sources], axis=1)
        matrices = np.ascontiguousarray(words).view(np.uint16).reshape(-1, count, 8, 8)
        if transposes:
            matrices = matrices.swapaxes(2, 3)
        rows = np.ascontiguousarray(matrices).reshape(-1, 8)
        machine.shared.store_rows(locations.reshape(-1), rows, threads.reshape(-1))

    return run
