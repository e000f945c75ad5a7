"""Copies of boxes by the tensor memory accelerator, plain bulk copies, and tensor maps made on the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.dialects.ttng.pixels import Pixels
from tilewright.reference.simt.async_state import Barrier
from tilewright.reference.simt.errors import Fault, MemoryAccessError, SimulationError
from tilewright.reference.simt.instructions.barriers import locate_barriers, note_uses
from tilewright.reference.simt.instructions.bits import B16, B32, B64
from tilewright.reference.simt.instructions.memory import address_of, elements_of
from tilewright.reference.simt.machine import Machine
from tilewright.reference.simt.program import Decoder, Source, Step, decodes, scalar_of, unknown
from tilewright.reference.simt.swizzle import swizzled
from tilewright.reference.simt.tensor_map import MAP_BYTES, TensorMap
from tilewright.reference.simt.types import choose
from tilewright.reference.tt.dot import round_to_tf32
from tilewright.support.ptx.syntax import Address, Immediate, Instruction, Vector
from tilewright.support.records import dataclass

BOX_ALIGNMENT, BULK_ALIGNMENT = 128, 16
"""Where boxes and plain pieces begin in shared memory: at multiples of these bytes."""
MULTICAST = "multicast::cluster"
PIECE = 16
"""Bytes that a store of a box, or a reduction, writes at once."""


@dataclass
class Box:
    """Elements of a tensor in global memory, in the order in which they lie in shared memory: their addresses, and
    which of them are inside of the tensor."""

    addresses: Array
    inside: Array
    dtype: np.dtype[Any]
    swizzle: int
    fills_nan: bool
    rounds_to_tf32: bool

    @property
    def num_bytes(self) -> int:
        """The bytes of all elements, inside or not."""
        return self.addresses.size * self.dtype.itemsize


def box_at(tensor: TensorMap, corner: Sequence[int], *, by_rows: bool, is_stored: bool = False) -> Box:
    """The box at a corner, whose coordinates are fastest first; `by_rows`, one column and the rows that the box takes
    together. Rows that are stored go on to the end of a piece, as an H100 writes them.
    """
    size = tensor.dtype.itemsize
    row = -(-tensor.extents[0] * size // PIECE) * PIECE // size if is_stored else tensor.extents[0]
    extents = (row, *tensor.extents[1:])
    strides = (size, *tensor.strides)
    if by_rows:
        column, *rows = corner
        coordinates = [np.array(rows)[:, np.newaxis], column + np.arange(tensor.box[0])[np.newaxis]]
        axes = [1, 0]
    else:
        rank = len(tensor.extents)
        axes = list(reversed(range(rank)))
        coordinates = [
            (corner[axis] + np.arange(tensor.box[axis])).reshape([-1 if n == at else 1 for n in range(rank)])
            for at, axis in enumerate(axes)
        ]
    addresses: Any = np.int64(np.uint64(tensor.address).astype(np.int64))
    inside: Any = np.bool_(True)
    for axis, coordinate in zip(axes, coordinates, strict=True):
        addresses = addresses + coordinate.astype(np.int64) * strides[axis]
        inside = inside & (coordinate >= 0) & (coordinate < extents[axis])
    return _box(tensor, addresses, inside)


def _box(tensor: TensorMap, addresses: Array, inside: Array) -> Box:
    return Box(
        addresses.reshape(-1),
        np.broadcast_to(inside, addresses.shape).reshape(-1),
        tensor.dtype,
        tensor.swizzle,
        tensor.fills_nan,
        tensor.rounds_to_tf32,
    )


def pixels_at(tensor: TensorMap, corner: Sequence[int], offsets: Sequence[int]) -> Box:
    """Pixels by channels: those of the walk from a corner on, each moved by offsets; all of them width first."""
    assert tensor.pixels is not None
    channels, count = tensor.box
    channel, *start = corner
    walk = Pixels(*(part[::-1] for part in tensor.pixels))
    coordinates = np.array(list(walk.walk(start[::-1], tensor.extents[1:-1][::-1], count)), np.int64)
    coordinates[:, 1:] += np.array(offsets[::-1], np.int64)
    columns = channel + np.arange(channels, dtype=np.int64)
    addresses: Any = np.int64(np.uint64(tensor.address).astype(np.int64)) + columns[np.newaxis] * tensor.dtype.itemsize
    inside: Any = ((columns >= 0) & (columns < tensor.extents[0]))[np.newaxis]
    for coordinate, extent, stride in zip(coordinates.T[::-1], tensor.extents[1:], tensor.strides, strict=True):
        addresses = addresses + coordinate[:, np.newaxis] * stride
        inside = inside & ((coordinate >= 0) & (coordinate < extent))[:, np.newaxis]
    return _box(tensor, addresses, inside)


def read_map(machine: Machine, address: int) -> TensorMap:
    """The tensor map at a generic address. Raises Fault."""
    raw = machine.memory.load_bytes(machine, np.array([address], np.uint64), MAP_BYTES)
    tensor = TensorMap.decode(raw.tobytes())
    if not tensor.extents or 0 in tensor.box:
        raise Fault(MemoryAccessError, f"there is no tensor map at {address:#x}", 0)
    return tensor


@dataclass
class BoxOperand:
    """`[map, {c0, c1}]`"""

    address: Source
    coordinates: list[Source]
    by_rows: bool
    offsets: list[Source]
    """Of pixels, from the coordinates."""

    @staticmethod
    def decode(operand: Any, instruction: Instruction, decoder: Decoder, offsets: Any = None) -> BoxOperand:
        if not isinstance(operand, Address) or not operand.further or not isinstance(operand.further[0], Vector):
            raise unknown(instruction, "expected a tensor map and coordinates")
        address = address_of(Address(operand.base, operand.offset), decoder, instruction)
        coordinates = decoder.sources(elements_of(operand.further[0]), B32, instruction)
        by_rows = any(part in instruction.modifiers for part in ("tile::gather4", "tile::scatter4"))
        moves = decoder.sources(elements_of(offsets), B16, instruction) if isinstance(offsets, Vector) else []
        return BoxOperand(address, coordinates, by_rows, moves)

    def of_threads(self, machine: Machine, *, is_stored: bool = False) -> list[Box]:
        """The box that each active thread names."""
        addresses = machine.spread(self.address(machine)).tolist()
        columns = [machine.spread(source(machine)).view(np.int32).tolist() for source in self.coordinates]
        if self.offsets:
            moves = [machine.spread(source(machine)).view(np.int16).tolist() for source in self.offsets]
            return [
                pixels_at(read_map(machine, address), corner, offsets)
                for address, corner, offsets in zip(
                    addresses, zip(*columns, strict=True), zip(*moves, strict=True), strict=True
                )
            ]
        return [
            box_at(read_map(machine, address), corner, by_rows=self.by_rows, is_stored=is_stored)
            for address, *corner in zip(addresses, *columns, strict=True)
        ]


def _one_by_one(machine: Machine, action: Callable[[int, int], None]) -> None:
    """For each active thread alone: its position among those that were active, and its number."""
    for position, thread in enumerate(machine.threads.tolist()):
        with machine.only(np.array([thread])):
            action(position, thread)


def _multicast(machine: Machine, start: Array, barrier: Array, mask: int) -> list[tuple[Array, Barrier]]:
    """The address and the barrier in every CTA of a mask, for the one active thread. Raises Fault."""
    if machine.clusters is None:
        raise Fault(MemoryAccessError, "a copy to several CTAs, with one CTA in a cluster", 0)
    if not mask:
        raise Fault(MemoryAccessError, "a copy to several CTAs, with none in its mask", 0)
    result: list[tuple[Array, Barrier]] = []
    for rank in range(mask.bit_length()):
        if mask >> rank & 1:
            into, counting = (machine.clusters.map(address, np.array([rank])) for address in (start, barrier))
            locations = locate_barriers(machine, counting, may_reach=True, by_unit=True)
            note_uses(machine, locations, by_unit=True)
            result.append((into, machine.asynchronous.barrier_at(int(locations[0]))))
    return result


@decodes("cp.async.bulk.tensor")
def copy_box(instruction: Instruction, decoder: Decoder) -> Step:
    """Into shared memory, `[d], [map, {x, y}], [barrier]`, with `.multicast::cluster` of the CTAs of a mask, `..., m`;
    or out of it, `[map, {x, y}], [s]`."""
    first = instruction.operands[0]
    if isinstance(first, Address) and first.further:
        return _store_box(instruction, decoder, None)
    target = address_of(first, decoder, instruction)
    offsets = instruction.operands[3] if "im2col" in instruction.modifiers else None
    box = BoxOperand.decode(instruction.operands[1], instruction, decoder, offsets)
    barrier = address_of(instruction.operands[2], decoder, instruction)
    is_multicast = MULTICAST in instruction.modifiers
    last = instruction.operands[3 if offsets is None else 4] if is_multicast else None
    mask = None if last is None else decoder.source(last, B16, instruction)

    def run(machine: Machine) -> None:
        boxes, state = box.of_threads(machine), machine.asynchronous
        starts, barriers = machine.spread(target(machine)), machine.spread(barrier(machine))
        masks = None if mask is None else machine.spread(mask(machine))
        locations = np.zeros(0, np.int64)
        if masks is None:
            locations = locate_barriers(machine, barriers, may_reach=True)
            note_uses(machine, locations)

        def each(position: int, thread: int) -> None:
            part = boxes[position]
            contents = np.zeros(part.addresses.size, part.dtype)
            if part.fills_nan and part.dtype.kind not in "iu":
                contents[:] = np.nan
            if np.any(part.inside):
                found = machine.memory.read_elements(part.addresses[part.inside], part.dtype)
                contents[part.inside] = round_to_tf32(found) if part.rounds_to_tf32 else found
            at = starts[position : position + 1]
            if masks is None:
                reached = [(at, state.barrier_at(int(locations[position])))]
            else:
                reached = _multicast(machine, at, barriers[position : position + 1], int(masks[position]))
            for start, counting in reached:
                bytes_of_box = machine.shared.locate_for_unit(thread, int(start[0]), part.num_bytes, BOX_ALIGNMENT)
                state.start_box(counting, thread, swizzled(bytes_of_box, part.swizzle), contents.view(np.uint8))

        _one_by_one(machine, each)

    return run


REDUCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda old, new: old + new,
    "min": np.minimum,
    "max": np.maximum,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
    "inc": lambda old, new: choose(old >= new, 0, old + 1).astype(old.dtype),
    "dec": lambda old, new: choose((old == 0) | (old > new), new, old - 1).astype(old.dtype),
}


@decodes("cp.reduce.async.bulk.tensor")
def reduce_box(instruction: Instruction, decoder: Decoder) -> Step:
    """`cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [map, {x, y}], [s];`"""
    name = next((part for part in instruction.modifiers if part in REDUCTIONS), None)
    if name is None:
        raise unknown(instruction)
    return _store_box(instruction, decoder, REDUCTIONS[name])


def _store_box(instruction: Instruction, decoder: Decoder, combine: Callable[[Array, Array], Array] | None) -> Step:
    box = BoxOperand.decode(instruction.operands[0], instruction, decoder)
    source = address_of(instruction.operands[1], decoder, instruction)

    def run(machine: Machine) -> None:
        boxes = box.of_threads(machine, is_stored=True)
        shared, state = machine.shared, machine.asynchronous
        starts = machine.spread(source(machine))

        def each(position: int, thread: int) -> None:
            part = boxes[position]
            held = shared.locate_for_unit(thread, int(starts[position]), part.num_bytes, BOX_ALIGNMENT)
            locations = swizzled(held, part.swizzle)
            granules = state.read_by_unit(locations, thread)
            state.hold_for_store(thread, granules)
            contents = np.ascontiguousarray(shared.data[locations]).view(part.dtype)[part.inside]
            addresses = part.addresses[part.inside]
            if not addresses.size:
                return
            if combine is not None:
                contents = combine(machine.memory.read_elements(addresses, part.dtype), contents)
            machine.memory.write_elements(addresses, contents.astype(part.dtype))

        _one_by_one(machine, each)

    return run


@decodes("cp.async.bulk.commit_group")
def commit(instruction: Instruction, decoder: Decoder) -> Step:
    """The stores of the thread so far are a group."""
    return lambda machine: machine.asynchronous.commit_stores()


@decodes("cp.async.bulk.wait_group")
def wait(instruction: Instruction, decoder: Decoder) -> Step:
    """`cp.async.bulk.wait_group.read n;`: all groups but the last n have read their shared memory. Here they are done
    then, as without `.read`."""
    pending = decoder.source(instruction.operands[0], B32, instruction)
    return lambda machine: machine.asynchronous.wait_for_stores(int(scalar_of(pending(machine))))


@decodes("cp.async.bulk.prefetch")
def prefetch(instruction: Instruction, decoder: Decoder) -> Step:
    return lambda machine: None


@decodes("cp.async.bulk.shared::cluster", "cp.async.bulk.shared::cta")
def copy_bytes(instruction: Instruction, decoder: Decoder) -> Step:
    """`cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [d], [s], size, [barrier];`"""
    if "global" not in instruction.modifiers or MULTICAST in instruction.modifiers:
        raise unknown(instruction)
    target, source = (address_of(operand, decoder, instruction) for operand in instruction.operands[:2])
    size = decoder.source(instruction.operands[2], B32, instruction)
    barrier = address_of(instruction.operands[3], decoder, instruction)

    def run(machine: Machine) -> None:
        starts, sources = machine.spread(target(machine)), machine.spread(source(machine))
        sizes = machine.spread(size(machine))
        barriers = locate_barriers(machine, barrier(machine), may_reach=True, by_unit=True)

        def each(position: int, thread: int) -> None:
            count, shared, state = int(sizes[position]), machine.shared, machine.asynchronous
            shared.check_aligned(np.array([count, int(sources[position]) % BULK_ALIGNMENT]), BULK_ALIGNMENT)
            locations = shared.locate_for_unit(thread, int(starts[position]), count, BULK_ALIGNMENT)
            contents = machine.memory.load_bytes(machine, sources[position : position + 1], count)[0]
            state.start_box(state.barrier_at(int(barriers[position])), thread, locations, contents)

        _one_by_one(machine, each)

    return run


@decodes("tensormap.replace")
def replace_field(instruction: Instruction, decoder: Decoder) -> Step:
    """`tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [p], 0, v;`: change a field of a tensor map."""
    field = instruction.modifiers[2] if instruction.modifiers[1:2] == ("tile",) else ""
    address = address_of(instruction.operands[0], decoder, instruction)
    index, *_ = [*instruction.operands[1:-1], Immediate(0)]
    if not isinstance(index, Immediate):
        raise unknown(instruction)
    value = decoder.source(instruction.operands[-1], B64 if "b64" in instruction.modifiers else B32, instruction)
    space = "shared" if any(part.startswith("shared") for part in instruction.modifiers) else ""

    def run(machine: Machine) -> None:
        addresses, values = machine.spread(address(machine)), machine.spread(value(machine))

        def each(position: int, thread: int) -> None:
            at = addresses[position : position + 1]
            if space == "shared":
                at = at.astype(np.uint32)
            raw = machine.memory.load_bytes(machine, at, MAP_BYTES, space)
            try:
                changed = TensorMap.decode(raw.tobytes()).replaced(field, index.value, int(values[position]))
            except KeyError:
                raise Fault(SimulationError, f"tensor maps have no field '{field}'", 0) from None
            encoded = np.frombuffer(changed.encode(), np.uint8)[np.newaxis]
            machine.memory.store_bytes(machine, at, encoded, space)

        _one_by_one(machine, each)

    return run


@decodes("tensormap.cp_fenceproxy")
def copy_map(instruction: Instruction, decoder: Decoder) -> Step:
    """`tensormap.cp_fenceproxy.global.shared::cta.... [d], [s], 128;`: each warp copies a tensor map to global
    memory."""
    target, source = (address_of(operand, decoder, instruction) for operand in instruction.operands[:2])

    def run(machine: Machine) -> None:
        machine.check_whole_warps()
        into, out_of = machine.spread(target(machine)), machine.spread(source(machine))
        leaders = np.arange(0, machine.count, 32)
        with machine.only(machine.threads[leaders]):
            raw = machine.memory.load_bytes(machine, out_of[leaders].astype(np.uint32), MAP_BYTES, "shared")
            machine.memory.store_bytes(machine, into[leaders], raw, "")

    return run
