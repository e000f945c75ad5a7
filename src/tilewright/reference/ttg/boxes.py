"""TMA: copies of boxes and rows of a tensor between global and shared memory."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tilewright.dialects import ttng
from tilewright.dialects.numeric import Array
from tilewright.dialects.tt import DescriptorReduceKind, PaddingOption, TensorDescType
from tilewright.dialects.tt.descriptor import signless
from tilewright.reference.machine import Frame, Values, as_int, meaning_of
from tilewright.reference.memory import AccessError
from tilewright.reference.tt.access import write_lanes
from tilewright.reference.tt.atomics import update_lanes
from tilewright.reference.tt.descriptors import (
    Descriptor,
    descriptor_reduction,
    lanes_of_box,
    lanes_of_pixels,
    lanes_of_rows,
    read_described,
)
from tilewright.reference.tt.dot import round_to_tf32
from tilewright.reference.tt.pointers import storage_type
from tilewright.reference.ttg.barriers import is_on
from tilewright.reference.ttg.buffers import view_of
from tilewright.reference.ttg.in_flight import Reading, Writing, memory_of_program
from tilewright.reference.ttg.shared_memory import SharedView

Lanes = tuple[Array, Array]


def _start_load(frame: Frame, op: Any, descriptor: Descriptor, lanes: Lanes, *, rounds: bool = False) -> None:
    """The elements arrive in the buffer, and are reported to the barrier, some time later."""
    view, barrier = view_of(frame, op.result), memory_of_program(frame).barrier(view_of(frame, op.barrier))
    values = read_described(frame, descriptor, *lanes).reshape(view.positions.shape)
    values = round_to_tf32(values) if rounds else values
    barrier.copies.append(Writing(view, values, ttng.num_parts(op.result.type)))


def _start_store(frame: Frame, source: SSAValue) -> SharedView:
    """The buffer, which is read until a later `async_tma_store_wait`."""
    view = view_of(frame, source)
    memory_of_program(frame).stores.append(Reading(view))
    return view


def _box(op: Any, frame: Frame, view: SharedView) -> tuple[Descriptor, Array, Array]:
    """The lanes of the box at the coordinates of an op; leading extents of one may be missing in the buffer."""
    descriptor: Descriptor = frame.get(op.desc)
    coordinates, shape = frame.get_all(op.coord), view.positions.shape
    sizes = (1,) * (len(coordinates) - len(shape)) + shape
    return descriptor, *lanes_of_box(descriptor, coordinates, sizes)


@meaning_of(ttng.AsyncTMACopyGlobalToLocalOp)
def load_box(op: ttng.AsyncTMACopyGlobalToLocalOp, frame: Frame) -> Values:
    if is_on(frame, op.pred):
        view = view_of(frame, op.result)
        descriptor: Descriptor = frame.get(op.desc)
        if descriptor.pixels is None:
            descriptor, *lanes = _box(op, frame, view)
        else:
            offsets = frame.get_all(op.offsets)
            lanes = lanes_of_pixels(descriptor, frame.get_all(op.coord), offsets, view.positions.shape)
        _start_load(frame, op, descriptor, (lanes[0], lanes[1]), rounds=op.round_to_tf32 is not None)
    return ()


@meaning_of(ttng.AsyncSharedStoreOp)
def store_and_report(op: ttng.AsyncSharedStoreOp, frame: Frame) -> Values:
    """The tensor arrives in the buffer, and is reported to the barrier, some time later."""
    view, barrier = view_of(frame, op.dst), memory_of_program(frame).barrier(view_of(frame, op.mbarrier))
    barrier.copies.append(Writing(view, frame.get(op.src), ttng.num_parts(op.dst.type)))
    return ()


@meaning_of(ttng.AsyncTMAGatherOp)
def gather_rows(op: ttng.AsyncTMAGatherOp, frame: Frame) -> Values:
    if is_on(frame, op.pred):
        descriptor: Descriptor = frame.get(op.desc)
        columns = view_of(frame, op.result).positions.shape[1]
        lanes = lanes_of_rows(descriptor, frame.get(op.x_offsets), frame.get(op.y_offset), columns)
        _start_load(frame, op, descriptor, lanes)
    return ()


@meaning_of(ttng.AsyncTMACopyLocalToGlobalOp)
def store_box(op: ttng.AsyncTMACopyLocalToGlobalOp, frame: Frame) -> Values:
    view = _start_store(frame, op.src)
    descriptor, addresses, inside = _box(op, frame, view)
    write_lanes(frame, addresses, view.load().reshape(addresses.shape), descriptor.element, inside)
    return ()


@meaning_of(ttng.AsyncTMAReduceOp)
def reduce_box(op: ttng.AsyncTMAReduceOp, frame: Frame) -> Values:
    view = _start_store(frame, op.src)
    _, addresses, inside = _box(op, frame, view)
    assert isinstance(op.desc.type, TensorDescType)
    element = op.desc.type.block_type.element_type
    update = descriptor_reduction(DescriptorReduceKind.of(op.kind), element)
    values = view.load().reshape(addresses.shape)
    update_lanes(frame, addresses, [values], signless(element), update, inside)
    return ()


@meaning_of(ttng.AsyncTMAScatterOp)
def scatter_rows(op: ttng.AsyncTMAScatterOp, frame: Frame) -> Values:
    view = _start_store(frame, op.src)
    descriptor: Descriptor = frame.get(op.desc)
    rows, start = frame.get(op.x_offsets), frame.get(op.y_offset)
    addresses, inside = lanes_of_rows(descriptor, rows, start, view.positions.shape[1])
    write_lanes(frame, addresses, view.load(), descriptor.element, inside)
    return ()


@meaning_of(ttng.TMAStoreWaitOp)
def wait_for_stores(op: ttng.TMAStoreWaitOp, frame: Frame) -> Values:
    memory_of_program(frame).wait_for_stores(op.pendings.value.data)
    return ()


@meaning_of(ttng.TensormapCreateOp)
def create_descriptor(op: ttng.TensormapCreateOp, frame: Frame) -> Values:
    """A descriptor at an address; dimensions are listed fastest first, strides (all but the fastest) in bytes."""
    extents = [as_int(value) for value in frame.get_all(op.global_dim)][::-1]
    strides = [as_int(value) for value in frame.get_all(op.global_stride)][::-1]
    memory_of_program(frame).descriptors[as_int(frame.get(op.desc_ptr))] = (
        as_int(frame.get(op.global_address)),
        tuple(extents),
        tuple(strides),
        _is_set(op.fill_mode),
    )
    return ()


def _is_set(flag: IntegerAttr[Any]) -> bool:
    return bool(flag.value.data)


@meaning_of(ttng.TensormapFenceproxyAcquireOp)
def acquire_descriptor(op: ttng.TensormapFenceproxyAcquireOp, frame: Frame) -> Values:
    return ()


@meaning_of(ttng.ReinterpretTensorDescOp)
def descriptor_at(op: ttng.ReinterpretTensorDescOp, frame: Frame) -> Values:
    """The descriptor that was made at an address."""
    found = memory_of_program(frame).descriptors.get(as_int(frame.get(op.raw_desc)))
    if found is None:
        raise AccessError("no descriptor was made at this address")
    assert isinstance(op.result.type, TensorDescType)
    base, shape, byte_strides, pads_with_nan = found
    element = signless(op.result.type.block_type.element_type)
    size = storage_type(element).itemsize
    strides = (*(stride // size for stride in byte_strides), 1)
    return (Descriptor(base, shape, strides, element, PaddingOption.NAN if pads_with_nan else PaddingOption.ZERO),)
