"""Buffers in shared memory: where their elements lie, and how a tensor of registers meets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from xdsl.ir import SSAValue

from tilewright.dialects.ttg import MemDescType, memdesc_type
from tilewright.dialects.ttg.constraints import may_begin_elsewhere
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.layouts.access import SharedAccess, plan_access
from tilewright.layouts.between_ctas import reaches_other_ctas
from tilewright.layouts.distributed import BLOCK, LANE, REGISTER, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import OFFSET, PaddedSharedLayout, SharedLayout
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.index import Partial, constant
from tilewright.lowering.ttg_to_llvm.shared_access import ALL_BITS, Pads, SharedAddresses, step_pointer, thread_part
from tilewright.lowering.ttg_to_llvm.types import element_of
from tilewright.lowering.ttg_to_llvm.values import OFFSET_BITS, RANK_SHIFT, SharedValue, is_literal
from tilewright.lowering.unsupported import UnsupportedError


def as_buffer(value: SSAValue) -> MemDescType:
    """The type of a buffer."""
    assert isinstance(value.type, MemDescType)
    return value.type


def buffer_layout(type: MemDescType) -> SharedLayout:
    """The layout of a buffer's last dimensions. UnsupportedError for other memories."""
    layout = find_shared_layout(type.encoding)
    if layout is None:
        raise UnsupportedError(f"{type} does not lie in shared memory")
    return layout


def element_bytes(type: MemDescType) -> int:
    """Bytes of one element."""
    return element_of(type.element_type).bytes


def slot_bytes(type: MemDescType) -> int:
    """Bytes of one buffer of several: of the dimensions that the layout knows."""
    layout = buffer_layout(type)
    return layout.num_elements(type.get_alloc_shape()[-layout.rank :]) * element_bytes(type)


def tile_of(type: MemDescType) -> MemDescType:
    """The type of one buffer of several."""
    rank, size = buffer_layout(type).rank, len(type.get_shape())
    shape, alloc = type.get_shape()[size - rank :], type.get_alloc_shape()[-rank:]
    return memdesc_type(
        shape,
        type.element_type,
        type.encoding,
        memory_space=type.memory_space,
        mutable=type.is_mutable,
        alloc_shape=alloc,
    )


def slots_before(type: MemDescType, coordinates: Sequence[int]) -> int:
    """Count the whole buffers before the one at the first of the coordinates: those that the layout leaves out."""
    extents = type.get_alloc_shape()[-len(coordinates) :]
    slots = 0
    for extent, coordinate in list(zip(extents, coordinates, strict=True))[: -buffer_layout(type).rank]:
        slots = slots * extent + coordinate
    return slots


@lru_cache(maxsize=1024)
def offsets_of(type: MemDescType) -> LinearLayout:
    """The map from the dims of a buffer to (offset, block) in elements, gaps not counted; leading dimensions number
    buffers that lie one after the other.
    """
    layout = buffer_layout(type)
    shape = type.get_alloc_shape()[-len(type.get_shape()) :]
    inner = layout.to_linear(shape[-layout.rank :])
    leading = len(shape) - layout.rank
    if leading:
        if isinstance(layout, PaddedSharedLayout):
            raise UnsupportedError("several padded buffers at once")
        inner = inner.rename_outs({f"dim{dim}": f"dim{dim + leading}" for dim in range(layout.rank)})
        for dim in reversed(range(leading)):
            inner *= LinearLayout.identity_1d(shape[dim], OFFSET, f"dim{dim}")
        inner = inner.transpose_outs([f"dim{dim}" for dim in range(len(shape))])
    return inner.pseudoinvert()


def pads_of(type: MemDescType) -> Pads:
    """The gaps of a buffer's layout, in bytes."""
    layout = buffer_layout(type)
    if not isinstance(layout, PaddedSharedLayout):
        return ()
    size = element_bytes(type)
    return tuple((interval * size, padding * size) for interval, padding in layout.pads)


def padded(offset: int, pads: Pads) -> int:
    """Return where the byte at an offset that does not count gaps really lies."""
    return offset + sum(offset // interval * padding for interval, padding in pads)


@lru_cache(maxsize=1024)
def _access(
    registers: LinearLayout, buffer: LinearLayout, bits: int, max_vector: int, *, matrices: bool
) -> tuple[SharedAccess, LinearLayout]:
    layout = registers.compose(buffer)
    inside = layout.sublayout([REGISTER, LANE, WARP], [OFFSET])
    access = plan_access(inside, bits, matrices=matrices, max_vector=max_vector)
    blocks = layout.packed_bases.get(BLOCK, ())
    return (replace(access, blocks=layout.sublayout([BLOCK], [OFFSET]).columns) if any(blocks) else access), inside


def reaches_elsewhere(registers: LinearLayout, buffer: MemDescType, *, writes: bool) -> bool:
    """Return whether an access of a tensor goes to the memory of other CTAs."""
    return may_begin_elsewhere(buffer) or reaches_other_ctas(
        registers, offsets_of(buffer), buffer_layout(buffer).cga, writes=writes
    )


def beginning(fn: GpuFunctionLowering, view: SSAValue) -> tuple[Partial, Partial]:
    """Return where a view begins: what is added by XOR to the byte offsets of its elements, and to the CTA's rank."""
    flip = fn.shared(view).flip
    if not may_begin_elsewhere(as_buffer(view)):
        return Partial(flip, int(flip) if is_literal(flip) else ALL_BITS), constant(0)
    if is_literal(flip):
        return constant(int(flip) & OFFSET_BITS), constant(int(flip) >> RANK_SHIFT)
    offset, rank = fn.text.binary("and", "i32", flip, OFFSET_BITS), fn.text.binary("lshr", "i32", flip, RANK_SHIFT)
    return Partial(offset, OFFSET_BITS), Partial(rank, ALL_BITS >> RANK_SHIFT)


def plan_buffer_access(
    fn: GpuFunctionLowering,
    tensor: SSAValue,
    buffer: MemDescType,
    *,
    writes: bool,
    matrices: bool,
    max_vector: int = 128,
) -> tuple[SharedAccess, LinearLayout]:
    """Return how a tensor is read from or written to a buffer, and the map from (register, lane, warp) to offsets."""
    return plan_layout_access(fn.layout(tensor), buffer, writes=writes, matrices=matrices, max_vector=max_vector)


def plan_layout_access(
    registers: LinearLayout, buffer: MemDescType, *, writes: bool, matrices: bool, max_vector: int = 128
) -> tuple[SharedAccess, LinearLayout]:
    """The same for the layout of a tensor."""
    if reaches_elsewhere(registers, buffer, writes=writes):
        raise UnsupportedError("an access to the shared memory of another CTA")
    bits = element_bytes(buffer) * 8
    for interval, padding in pads_of(buffer):
        max_vector = min(max_vector, interval * 8 // bits, padding * 8 // bits)
    return _access(registers, offsets_of(buffer), bits, max_vector, matrices=matrices and not pads_of(buffer))


def buffer_addresses(
    fn: GpuFunctionLowering, view: SharedValue, access: SharedAccess, buffer: MemDescType
) -> SharedAddresses:
    """The addresses of an access to a buffer or a slice of one."""
    return SharedAddresses(fn, view.base, thread_part(fn, access), pads_of(buffer), view.flip)


def first_element(fn: GpuFunctionLowering, view: SSAValue) -> str:
    """The address of a view's first element, for engines that permute by address bits themselves (TMA, `wgmma`).
    UnsupportedError where it may lie in another CTA."""
    if may_begin_elsewhere(as_buffer(view)):
        raise UnsupportedError("a slice that may begin in another CTA, as a box or a matrix operand")
    held = fn.shared(view)
    return step_pointer(fn, held.base, held.flip)


def writer_predicate(
    fn: GpuFunctionLowering, offsets: LinearLayout, *, whole_warps: bool, last_lanes: int = 0
) -> str | None:
    """An i1 that holds in one thread of those that hold equal elements; None where no two do. With `whole_warps`, lanes
    are not told apart. Of lanes that differ in `last_lanes` it is the one with ones there.
    """
    masks = offsets.free_variable_masks
    mask = (0 if whole_warps else masks[LANE]) | masks[WARP] << len(offsets.packed_bases[LANE])
    if not mask:
        return None
    bits = fn.text.binary("and", "i32", fn.threads.id, mask)
    return fn.text.icmp("eq", "i32", bits, last_lanes & mask)


def static_image(type: MemDescType, coordinates: Sequence[int]) -> tuple[int, int]:
    """The byte offset of an element, gaps included, and the CTA that has it."""
    columns = offsets_of(type)
    place = columns.apply(dict(zip(columns.in_dims, coordinates, strict=True)))
    return padded(place[OFFSET] * element_bytes(type), pads_of(type)), place.get(BLOCK, 0)
