"""Tensor descriptors: blocks of a tensor in memory, padded where read and cut where written outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects import tt
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import DescriptorReduceKind, PaddingOption, PointerType, RMWOp, TensorDescType
from tilewright.dialects.tt.descriptor import block_type_of, signless
from tilewright.dialects.tt.types import shape_of
from tilewright.dialects.ttng import TensorDescIm2ColType
from tilewright.dialects.ttng.pixels import Pixels
from tilewright.dialects.types import is_float
from tilewright.reference.machine import Frame, Machine, Values, argument_value, as_int, meaning_of
from tilewright.reference.tt.access import read_lanes, write_lanes
from tilewright.reference.tt.atomics import Update, update_lanes
from tilewright.reference.tt.block_pointers import along, block_addresses
from tilewright.reference.tt.combine import combine_rmw
from tilewright.reference.tt.memory import padding_value
from tilewright.reference.tt.pointers import storage_type
from tilewright.support.records import dataclass


@dataclass(frozen=True, eq=False)
class Descriptor:
    """A tensor in memory; extents and strides count elements."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: Attribute
    padding: PaddingOption = PaddingOption.ZERO
    pixels: Pixels | None = None
    """The walk over pixels, of a descriptor of images."""

    def access(self, places: Sequence[Array], sizes: Sequence[int]) -> tuple[Array, Array]:
        """The address of every lane, and which lanes lie in the tensor; `places` are indices by dimension."""
        item_bytes = storage_type(self.element).itemsize
        addresses = block_addresses(self.base, places, self.strides, item_bytes, sizes)
        inside: Any = np.bool_(True)
        for place, extent in zip(places, self.shape, strict=True):
            inside = inside & (place >= 0) & (place < extent)
        return addresses, np.asarray(np.broadcast_to(inside, addresses.shape))


@meaning_of(tt.MakeTensorDescOp)
def make_descriptor(op: tt.MakeTensorDescOp, frame: Frame) -> Values:
    assert isinstance(op.base.type, PointerType) and isinstance(op.result.type, TensorDescType)
    shape = tuple(as_int(value) for value in frame.get_all(op.shape))
    strides = tuple(as_int(value) for value in frame.get_all(op.strides))
    element, padding = op.base.type.pointee_type, PaddingOption.of(op.padding)
    return (Descriptor(as_int(frame.get(op.base)), shape, strides, element, padding),)


def descriptor_argument(
    machine: Machine,
    parts: Sequence[Any],
    type_: TensorDescType | TensorDescIm2ColType,
    name: str,
    pixels: Pixels | None = None,
) -> Descriptor:
    """A descriptor that the host made: its array, extents, strides, and whether it pads with NaN."""
    element = signless(type_.block_type.element_type)
    rank = type_.block_type.get_num_dims() if pixels is None else pixels.rank
    base = argument_value(machine, parts[0], tt.pointer_type(element), name)
    shape, strides = (tuple(int(value) for value in parts[start : start + rank]) for start in (1, 1 + rank))
    padding = PaddingOption.NAN if parts[-1] else PaddingOption.ZERO
    return Descriptor(int(base), shape, strides, element, padding, pixels)


def _block(op: Any, frame: Frame) -> tuple[Descriptor, Array, Array]:
    """The lanes of the block at the indices of an op."""
    descriptor: Descriptor = frame.get(op.desc)
    return descriptor, *lanes_of_box(descriptor, frame.get_all(op.indices), block_type_of(op.desc).get_shape())


def lanes_of_box(descriptor: Descriptor, indices: Sequence[Any], sizes: Sequence[int]) -> tuple[Array, Array]:
    """The addresses of the elements of a box, and which of them lie in the tensor."""
    starts = [as_int(value) for value in indices]
    places = [
        np.arange(start, start + size, dtype=np.int64).reshape(along(dim, size, len(sizes)))
        for dim, (start, size) in enumerate(zip(starts, sizes, strict=True))
    ]
    return descriptor.access(places, sizes)


def lanes_of_pixels(
    descriptor: Descriptor, indices: Sequence[Any], offsets: Sequence[Any], sizes: Sequence[int]
) -> tuple[Array, Array]:
    """The addresses of pixels (rows of `sizes`) by channels (columns), from the pixel at `indices` on, each of them
    moved by `offsets`; and which of them lie in the tensor."""
    assert descriptor.pixels is not None
    *start, channel = (as_int(value) for value in indices)
    walk = np.array(list(descriptor.pixels.walk(start, descriptor.shape[1:-1], sizes[0])), np.int64)
    walk[:, 1:] += np.array([as_int(value) for value in offsets], np.int64)
    places = [column[:, np.newaxis] for column in walk.T]
    places.append(np.arange(channel, channel + sizes[1], dtype=np.int64)[np.newaxis])
    return descriptor.access(places, sizes)


def _rows(op: tt.DescriptorGatherOp | tt.DescriptorScatterOp, frame: Frame) -> tuple[Descriptor, Array, Array]:
    descriptor: Descriptor = frame.get(op.desc)
    columns = block_type_of(op.desc).get_shape()[1]
    return descriptor, *lanes_of_rows(descriptor, frame.get(op.x_offsets), frame.get(op.y_offset), columns)


def lanes_of_rows(descriptor: Descriptor, x_offsets: Any, y_offset: Any, columns: int) -> tuple[Array, Array]:
    """The addresses of some columns of the rows named, and which of them lie in the tensor."""
    rows, start = np.asarray(x_offsets).astype(np.int64), as_int(y_offset)
    places = [rows[:, np.newaxis], np.arange(start, start + columns, dtype=np.int64)[np.newaxis]]
    return descriptor.access(places, (rows.size, columns))


def read_described(frame: Frame, descriptor: Descriptor, addresses: Array, inside: Array) -> Array:
    """Elements of a tensor; those outside of it are its padding."""
    return read_lanes(
        frame, addresses, descriptor.element, inside, padding_value(descriptor.padding, descriptor.element)
    )


@meaning_of(tt.DescriptorLoadOp)
def load(op: tt.DescriptorLoadOp, frame: Frame) -> Values:
    block = read_described(frame, *_block(op, frame))
    return (block.reshape(shape_of(op.result.type)),)


@meaning_of(tt.DescriptorStoreOp)
def store(op: tt.DescriptorStoreOp, frame: Frame) -> Values:
    descriptor, addresses, inside = _block(op, frame)
    write_lanes(frame, addresses, frame.get(op.src).reshape(addresses.shape), descriptor.element, inside)
    return ()


@meaning_of(tt.DescriptorGatherOp)
def gather(op: tt.DescriptorGatherOp, frame: Frame) -> Values:
    return (read_described(frame, *_rows(op, frame)),)


@meaning_of(tt.DescriptorScatterOp)
def scatter(op: tt.DescriptorScatterOp, frame: Frame) -> Values:
    descriptor, addresses, inside = _rows(op, frame)
    write_lanes(frame, addresses, frame.get(op.src), descriptor.element, inside)
    return ()


@meaning_of(tt.DescriptorReduceOp)
def reduce(op: tt.DescriptorReduceOp, frame: Frame) -> Values:
    _, addresses, inside = _block(op, frame)
    element = block_type_of(op.desc).element_type
    update = descriptor_reduction(DescriptorReduceKind.of(op.kind), element)
    update_lanes(frame, addresses, [frame.get(op.src).reshape(addresses.shape)], signless(element), update, inside)
    return ()


def descriptor_reduction(kind: DescriptorReduceKind, element: Attribute) -> Update:
    """Return how an element and a value combine; `inc` and `dec` count up to and down from the value, unsigned."""
    if kind is DescriptorReduceKind.INC:
        return _count_up
    if kind is DescriptorReduceKind.DEC:
        return _count_down
    is_unsigned = str(element).startswith("ui")
    rmw = {
        DescriptorReduceKind.ADD: RMWOp.FADD if is_float(element) else RMWOp.ADD,
        DescriptorReduceKind.MIN: RMWOp.UMIN if is_unsigned else RMWOp.MIN,
        DescriptorReduceKind.MAX: RMWOp.UMAX if is_unsigned else RMWOp.MAX,
        DescriptorReduceKind.AND: RMWOp.AND,
        DescriptorReduceKind.OR: RMWOp.OR,
        DescriptorReduceKind.XOR: RMWOp.XOR,
    }[kind]
    stored: Attribute = signless(element)

    def update(old: Array, value: Array) -> Array:
        return combine_rmw(rmw, old, value, stored)

    return update


def _count_up(old: Array, value: Array) -> Array:
    bits = f"u{old.dtype.name}"
    return np.where(old.view(bits) >= value.view(bits), 0, old + 1).astype(old.dtype)


def _count_down(old: Array, value: Array) -> Array:
    bits = f"u{old.dtype.name}"
    return np.where((old == 0) | (old.view(bits) > value.view(bits)), value, old - 1).astype(old.dtype)
