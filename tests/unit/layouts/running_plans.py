"""Runs conversion plans on arrays of registers, the way the hardware would.

Registers are an array of shape (blocks, warps, lanes, registers). A shuffle lets each lane offer one value and read
the value that another lane of its warp offers; shared memory checks that no two threads write different values to one
place of a round, and that reads find a value.
"""

from __future__ import annotations

import numpy as np

from tilewright.layouts import gf2
from tilewright.layouts.access import AccessKind
from tilewright.layouts.between_ctas import RANK, ClusterConversion
from tilewright.layouts.convert import ConversionPlan, NoConversion, RegisterPermutation, WarpShuffle
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.draw import grid_of
from tilewright.layouts.linear import Indices, LinearLayout
from tilewright.layouts.swizzle import OFFSET, REPEAT, SharedMemoryConversion

NOTHING = -1


class PlanError(Exception):
    """A plan asks for something that the hardware does not do, or loses an element."""


def run_plan(plan: ConversionPlan, registers: Indices, source: LinearLayout, target: LinearLayout) -> Indices:
    """The registers after the conversion."""
    match plan:
        case NoConversion():
            return registers
        case RegisterPermutation():
            return registers[..., list(plan.sources)]
        case WarpShuffle():
            return _run_shuffle(plan, registers)
        case SharedMemoryConversion():
            return _run_shared(plan, registers, source, target)
        case ClusterConversion():
            return _run_between_ctas(plan, registers)


def shuffle(values: Indices, source_lanes: Indices) -> Indices:
    """`shfl.sync.idx`: every lane (last axis) reads what lane `source_lanes` offers."""
    return values[..., source_lanes]


def _run_shuffle(plan: WarpShuffle, registers: Indices) -> Indices:
    values = registers[..., list(plan.gather)]
    lane_count = 1 << len(plan.lane_permutation)
    lanes = np.arange(lane_count, dtype=np.int64)
    for register_bit, lane_bit in plan.swaps:
        values = _swap(values, register_bit, lane_bit, lanes)
    moves = list(enumerate(plan.lane_permutation))
    sources = np.array([sum((lane >> to & 1) << bit for bit, to in moves) for lane in range(lane_count)])
    values = np.stack([shuffle(values[..., index], sources) for index in range(values.shape[-1])], axis=-1)
    return values[..., list(plan.scatter)]


def _swap(values: Indices, register_bit: int, lane_bit: int, lanes: Indices) -> Indices:
    """Each lane keeps the register whose bit equals its lane bit and trades the other with its partner."""
    result = values.copy()
    upper = (lanes >> lane_bit & 1).astype(bool)
    for low in range(values.shape[-1]):
        if low >> register_bit & 1:
            continue
        high = low | 1 << register_bit
        offered = np.where(upper, values[..., low], values[..., high])
        received = shuffle(offered, lanes ^ (1 << lane_bit))
        result[..., low] = np.where(upper, received, values[..., low])
        result[..., high] = np.where(upper, values[..., high], received)
    return result


def _run_shared(
    plan: SharedMemoryConversion, registers: Indices, source: LinearLayout, target: LinearLayout
) -> Indices:
    kept = gf2.Echelon(source.packed_bases[REGISTER]).pivot_columns
    written = registers[
        ..., [sum((i >> bit & 1) << place for bit, place in enumerate(kept)) for i in range(1 << len(kept))]
    ]
    store, load = _addresses(plan, plan.store), _addresses(plan, plan.load)
    if not all(side.is_zero((LANE, WARP, BLOCK), (REPEAT,)) for side in (plan.store, plan.load)):
        raise PlanError("the registers of a round are not the same in all threads")
    own_blocks = _own_blocks(source)
    result = np.full((*registers.shape[:3], plan.load.in_dims[REGISTER]), NOTHING)
    for round_ in range(plan.repeats):
        memory = np.full((source.in_dims[BLOCK], plan.num_elements), NOTHING)
        _write(memory, written, store, round_, np.arange(source.in_dims[BLOCK])[:, None, None, None])
        blocks = _physical_blocks(load[BLOCK], own_blocks)
        active = load[REPEAT] == round_
        result = np.where(active, memory[blocks, load[OFFSET]], result)
    if (result == NOTHING).any():
        raise PlanError("a read finds nothing")
    back = gf2.solve_all(gf2.image(target.packed_bases[REGISTER]), target.packed_bases[REGISTER])
    assert back is not None
    return result[..., [gf2.multiply(back, index) for index in range(target.in_dims[REGISTER])]]


def _run_between_ctas(plan: ClusterConversion, registers: Indices) -> Indices:
    store, load = _outputs(plan.store), _outputs(plan.load)
    blocks = np.arange(registers.shape[0])[:, None, None, None]
    memory = np.full((registers.shape[0], plan.num_elements), NOTHING)
    memory[blocks, store[OFFSET]] = registers
    if (memory[blocks, store[OFFSET]] != registers).any():
        raise PlanError("two threads write different values to one place")
    return memory[load[RANK] ^ (blocks & plan.own), load[OFFSET]]


def _outputs(layout: LinearLayout) -> dict[str, Indices]:
    """What each output is, as arrays of shape (blocks, warps, lanes, registers)."""
    packed, outputs = layout.table, dict[str, Indices]()
    for name, size in layout.out_dims.items():
        outputs[name] = grid_of(layout, packed % size)
        packed = packed // size
    return outputs


def _addresses(plan: SharedMemoryConversion, access: LinearLayout) -> dict[str, Indices]:
    addresses = _outputs(access)
    instruction = plan.store_access if access is plan.store else plan.load_access
    vector = instruction.vector if instruction.kind is AccessKind.VECTOR else 1
    offsets = addresses[OFFSET]
    if any(np.unique(offsets[0, 0, 0] // vector, return_counts=True)[1] % vector):
        raise PlanError("a thread does not hold whole vectors")
    return addresses


def _own_blocks(source: LinearLayout) -> tuple[Indices, list[int]]:
    """The number of each block, and the bits of it that choose different elements."""
    return np.arange(source.in_dims[BLOCK])[:, None, None, None], gf2.Echelon(source.packed_bases[BLOCK]).pivot_columns


def _physical_blocks(chosen: Indices, own: tuple[Indices, list[int]]) -> Indices:
    """Return where the chosen part of the tensor is: bits that only repeat elements stay at home."""
    blocks, bits = own
    for position, bit in enumerate(bits):
        blocks = (blocks & ~(1 << bit)) | ((chosen >> position & 1) << bit)
    return np.broadcast_to(blocks, chosen.shape)


def _write(memory: Indices, values: Indices, store: dict[str, Indices], round_: int, blocks: Indices) -> None:
    active = store[REPEAT] == round_
    blocks = np.broadcast_to(blocks, active.shape)[active]
    memory[blocks, store[OFFSET][active]] = values[active]
    if (memory[blocks, store[OFFSET][active]] != values[active]).any():
        raise PlanError("two threads write different values to one place")
