"""Bulk copies of boxes (TMA): global to shared memory, back, with a reduction.

A buffer of `128x128xf16` with rows of 128 bytes is two boxes, of 64 columns each. Warp w starts copy w, w + num_warps,
..., in one lane:

```mlir
ttng.async_tma_copy_global_to_local %d[%i, %j] %A, %b, %pred : ...
```
```ptx
@%one cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%A + 16384*w], [%d, {...}], [%b];
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import ttg, ttng
from tilewright.dialects.tt.enums import DescriptorReduceKind, EvictionPolicy
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttng.pixels import MAX_PIXELS
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.distributed import LANE, REGISTER, WARP, dim_names
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import MAX_TMA_BOX, OFFSET, NvmmaSharedLayout, SharedLayout
from tilewright.lowering.ttg_to_llvm.buffers import first_element
from tilewright.lowering.ttg_to_llvm.carried_values import distinct_registers
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.index import map_bits
from tilewright.lowering.ttg_to_llvm.shared_access import step_pointer
from tilewright.lowering.ttg_to_llvm.types import element_of
from tilewright.support.records import dataclass

EVICTIONS = {EvictionPolicy.EVICT_FIRST: "evict_first", EvictionPolicy.EVICT_LAST: "evict_last"}
ROW_ALIGNMENT = 128
"""Bytes that a copy's address in shared memory must be a multiple of."""


@dataclass(frozen=True)
class Boxes:
    """How a buffer is copied: the boxes along each dimension, and where an element lies.

    Box number n (its bits dealt to dimensions, first dimension lowest) begins at `coordinates(n)`, at byte `offset(n)`.
    """

    shape: tuple[int, ...]
    box: tuple[int, ...]
    inverse: LinearLayout
    element_bytes: int

    @property
    def count(self) -> int:
        """The number of copies."""
        return prod(extent // size for extent, size in zip(self.shape, self.box, strict=True))

    def coordinates(self, index: int) -> tuple[int, ...]:
        """The coordinates in the buffer of a box's first element."""
        coordinates: list[int] = []
        for extent, size in zip(self.shape, self.box, strict=True):
            boxes = extent // size
            coordinates.append(index % boxes * size)
            index //= boxes
        return tuple(coordinates)

    def offset_of(self, coordinates: Sequence[int]) -> int:
        """The byte in the buffer at which an element lies."""
        places = dict(zip(self.inverse.in_dims, coordinates, strict=True))
        return self.inverse.apply(places)[OFFSET] * self.element_bytes


def plan_boxes(op: Operation, buffer: SSAValue, rows: int = MAX_TMA_BOX) -> Boxes:
    """The boxes of a buffer, of so many rows at most; PassError where its layout is none that TMA writes."""
    type = buffer.type
    assert isinstance(type, ttg.MemDescType)
    layout = find_shared_layout(type.encoding)
    shape = type.get_shape() if layout is None else layout.part_of(type.get_shape())
    width = element_of(type.element_type).bytes
    swizzle = 0
    if isinstance(layout, NvmmaSharedLayout):
        if layout.swaps_dims:
            raise op_error(op, "bulk copies need a buffer that is not transposed", pass_name=PASS_NAME)
        swizzle = layout.swizzle_bytes
    if layout is None:
        raise op_error(op, "bulk copies need a buffer with a layout", pass_name=PASS_NAME)
    inner = min(shape[-1], swizzle // width) if swizzle else min(shape[-1], MAX_TMA_BOX)
    box = (*(min(extent, rows) for extent in shape[:-1]), inner)
    allocated = type.get_alloc_shape()[-len(shape) :]
    inverse = _inverse(layout, allocated)
    boxes = Boxes(shape, box, inverse, width)
    if allocated != type.get_shape():
        if shape != type.get_shape():
            raise op_error(op, "CTAs share out a part of a buffer that TMA copies", pass_name=PASS_NAME)
        _check_part(op, boxes, layout, allocated)
    return boxes


def _inverse(layout: SharedLayout, shape: Sequence[int]) -> LinearLayout:
    """Return where in a buffer of that shape an element lies."""
    return layout.to_linear(shape).pseudoinvert().transpose_ins(dim_names(len(shape)))


def _check_part(op: Operation, boxes: Boxes, layout: SharedLayout, allocated: Sequence[int]) -> None:
    """PassError unless the boxes of a part of a buffer lie in it as they would in a buffer of their own size, and begin
    where TMA can write."""
    alone = replace(boxes, inverse=_inverse(layout, boxes.box))
    for dim, (extent, part, whole) in enumerate(zip(boxes.box, boxes.shape, allocated, strict=True)):

        def along(index: int, dim: int = dim) -> list[int]:
            return [index if axis == dim else 0 for axis in range(len(allocated))]

        inside = [along(1 << bit) for bit in range(extent.bit_length() - 1)]
        starts = [along(part << bit) for bit in range((whole // part).bit_length() - 1)]
        if any(boxes.offset_of(at) != alone.offset_of(at) for at in inside):
            text = "x".join(map(str, boxes.box))
            raise op_error(op, f"boxes of {text} elements do not lie together in this buffer", pass_name=PASS_NAME)
        if any(boxes.offset_of(at) % ROW_ALIGNMENT for at in starts):
            message = f"a part that TMA writes must begin at a multiple of {ROW_ALIGNMENT} bytes of its buffer"
            raise op_error(op, message, pass_name=PASS_NAME)


@dataclass(frozen=True)
class Copy:
    """One copy that a lane starts: where it begins in the buffer, what to add to the op's coordinates (i32 operands),
    and an i1 that holds in one thread of all that emit it."""

    pointer: str
    steps: tuple[str, ...]
    predicate: str


def copies(
    fn: GpuFunctionLowering,
    op: Operation,
    buffer: SSAValue,
    predicate: SSAValue | None,
    rows: int = MAX_TMA_BOX,
    *,
    once: bool = False,
) -> Iterator[Copy]:
    """The copies of a buffer, so many rows at a time, dealt to warps; of the part of the CTA, and `once`, by one of the
    CTAs that have the same part."""
    boxes = plan_boxes(op, buffer, rows)
    parts, same = _part_of_cta(fn, buffer)
    leads = None
    if once and same:
        leads = fn.text.icmp("eq", "i32", fn.text.binary("and", "i32", fn.threads.block, same), 0)
    text, warps = fn.text, fn.threads.num_warps
    elected = fn.emitter.elect(text)
    for first in range(0, boxes.count, warps):
        count = min(warps, boxes.count - first)
        takes_part = None if count == warps else text.icmp("ult", "i32", fn.threads.uniform_warp, count)
        condition = fn.both(elected, takes_part, leads, None if predicate is None else fn.scalar(predicate))
        assert condition is not None
        bits = [1 << bit for bit in range(count.bit_length() - 1)]
        corners = [boxes.coordinates(bit) for bit in bits]
        begin = boxes.coordinates(first)
        offset = map_bits(
            text.value, fn.threads.uniform_warp, _padded(fn, [boxes.offset_of(corner) for corner in corners])
        )
        pointer = step_pointer(fn, first_element(fn, buffer), offset.operand)
        pointer = step_pointer(fn, pointer, str(boxes.offset_of(begin)))
        steps: list[str] = []
        for dim in range(len(boxes.shape)):
            step = map_bits(text.value, fn.threads.uniform_warp, _padded(fn, [corner[dim] for corner in corners]))
            steps.append(_sum(fn, fn.add(step.operand, begin[dim]), parts[dim]))
        yield Copy(pointer, tuple(steps), condition)


def _part_of_cta(fn: GpuFunctionLowering, buffer: SSAValue) -> tuple[list[str], int]:
    """Per dimension the first coordinate of the CTA's part of a buffer, and the bits of its number along which CTAs
    have the same part."""
    type = buffer.type
    assert isinstance(type, ttg.MemDescType)
    shape, layout = type.get_shape(), find_shared_layout(type.encoding)
    if fn.module.num_ctas == 1 or layout is None or not layout.cga:
        return ["0"] * len(shape), fn.module.num_ctas - 1
    vectors = [tuple(v * part for v, part in zip(cga, layout.part_of(shape), strict=True)) for cga in layout.cga]
    parts = [
        map_bits(fn.text.value, fn.threads.block, [vector[dim] for vector in vectors]).operand
        for dim in range(len(shape))
    ]
    return parts, sum(1 << bit for bit, vector in enumerate(vectors) if not any(vector))


def _mask_of_ctas(fn: GpuFunctionLowering, same: int) -> str:
    """An i16 with the bits of the CTAs whose numbers differ from this one's along some bits, in which it has zeros."""
    pattern = sum(1 << index for index in range(fn.module.num_ctas) if not index & ~same)
    first = fn.text.binary("and", "i32", fn.threads.block, fn.module.num_ctas - 1 & ~same)
    return fn.text.cast("trunc", "i32", fn.text.binary("shl", "i32", str(pattern), first), "i16")


def _padded(fn: GpuFunctionLowering, columns: list[int]) -> list[int]:
    """A column for every bit of the warp's number; the higher ones take no part."""
    return columns + [0] * (fn.threads.num_warps.bit_length() - 1 - len(columns))


def _coordinates(fn: GpuFunctionLowering, coordinates: Sequence[SSAValue], steps: Sequence[str]) -> list[str]:
    """The coordinates of a copy, innermost first; dimensions that the buffer lacks are outer ones of extent 1."""
    padded = ["0"] * (len(coordinates) - len(steps)) + list(steps)
    given = [fn.scalar(coordinate) for coordinate in coordinates]
    return [_sum(fn, a, b) for a, b in zip(given, padded, strict=True)][::-1]


def _sum(fn: GpuFunctionLowering, a: str, b: str) -> str:
    return fn.add(a, int(b)) if b.isdecimal() else fn.text.binary("add", "i32", a, b)


@lowers(ttng.AsyncTMACopyGlobalToLocalOp)
def lower_copy_to_local(op: ttng.AsyncTMACopyGlobalToLocalOp, fn: GpuFunctionLowering) -> None:
    is_multicast = op.multicast is not None and fn.module.num_ctas > 1
    mask = _mask_of_ctas(fn, _part_of_cta(fn, op.result)[1]) if is_multicast else None
    descriptor, barrier = fn.scalar(op.desc), fn.shared(op.barrier).base
    evict = EVICTIONS.get(EvictionPolicy.of(op.evict), "")
    offsets = [fn.scalar(offset) for offset in op.offsets][::-1]
    for copy in copies(fn, op, op.result, op.pred, _rows_of(op), once=is_multicast):
        coordinates = _coordinates(fn, op.coord, copy.steps)
        fn.emitter.load_box(
            fn.text,
            copy.pointer,
            descriptor,
            coordinates,
            barrier,
            predicate=copy.predicate,
            evict=evict,
            offsets=offsets,
            mask=mask,
        )


@lowers(ttng.AsyncTMAPrefetchOp)
def lower_prefetch(op: ttng.AsyncTMAPrefetchOp, fn: GpuFunctionLowering) -> None:
    for copy in copies(fn, op, op.buffer, None):
        coordinates = _coordinates(fn, op.coord, copy.steps)
        fn.emitter.prefetch_box(fn.text, fn.scalar(op.desc), coordinates, copy.predicate)


def _rows_of(op: ttng.AsyncTMACopyGlobalToLocalOp) -> int:
    """The rows that one instruction copies at most: of pixels all, as each begins where the one before ends."""
    if not isinstance(op.desc.type, ttng.TensorDescIm2ColType):
        return MAX_TMA_BOX
    pixels = op.desc.type.block_type.get_shape()[0]
    if pixels > MAX_PIXELS:
        raise op_error(op, f"{pixels} pixels are more than one copy moves, {MAX_PIXELS}", pass_name=PASS_NAME)
    return MAX_PIXELS


@lowers(ttng.AsyncTMACopyLocalToGlobalOp)
def lower_copy_to_global(op: ttng.AsyncTMACopyLocalToGlobalOp, fn: GpuFunctionLowering) -> None:
    if op.warp_rows is None:
        _store(op, op.desc, op.coord, op.src, fn, "")
    else:
        fn.emitter.warp_barrier(fn.text)
        _store(op, op.desc, op.coord, op.src, fn, "", op.warp_rows.value.data)


@lowers(ttng.AsyncTMAReduceOp)
def lower_reduce(op: ttng.AsyncTMAReduceOp, fn: GpuFunctionLowering) -> None:
    _store(op, op.desc, op.coord, op.src, fn, DescriptorReduceKind.of(op.kind).name.lower())


def _store(
    op: Operation,
    descriptor: SSAValue,
    coordinates: Sequence[SSAValue],
    source: SSAValue,
    fn: GpuFunctionLowering,
    reduction: str,
    rows: int = MAX_TMA_BOX,
) -> None:
    tensor_map = fn.scalar(descriptor)
    for copy in copies(fn, op, source, None, rows, once=True):
        places = _coordinates(fn, coordinates, copy.steps)
        fn.emitter.store_box(fn.text, copy.pointer, tensor_map, places, predicate=copy.predicate, reduction=reduction)
    fn.emitter.commit_stores(fn.text)


@lowers(ttng.TMAStoreWaitOp)
def lower_store_wait(op: ttng.TMAStoreWaitOp, fn: GpuFunctionLowering) -> None:
    fn.emitter.wait_stores(fn.text, op.pendings.value.data, read_only=op.read_only is not None)
    if op.per_warp is not None:
        fn.emitter.warp_barrier(fn.text)


@lowers(ttng.AsyncTMAGatherOp)
def lower_gather(op: ttng.AsyncTMAGatherOp, fn: GpuFunctionLowering) -> None:
    tensor_map, barrier = fn.scalar(op.desc), fn.shared(op.barrier).base
    for pointer, coordinates, predicate in _rows(op, fn, op.result, op.x_offsets, op.y_offset, op.pred):
        fn.emitter.load_box(fn.text, pointer, tensor_map, coordinates, barrier, predicate=predicate)


@lowers(ttng.AsyncTMAScatterOp)
def lower_scatter(op: ttng.AsyncTMAScatterOp, fn: GpuFunctionLowering) -> None:
    tensor_map = fn.scalar(op.desc)
    for pointer, coordinates, predicate in _rows(op, fn, op.src, op.x_offsets, op.y_offset, None):
        fn.emitter.store_box(fn.text, pointer, tensor_map, coordinates, predicate=predicate)
    fn.emitter.commit_stores(fn.text)


def _rows(
    op: Operation,
    fn: GpuFunctionLowering,
    buffer: SSAValue,
    rows: SSAValue,
    column: SSAValue,
    predicate: SSAValue | None,
) -> Iterator[tuple[str, list[str], str]]:
    """The copies of single rows (the descriptor's box is one row): pointer, coordinates, predicate. Each warp copies
    the rows whose numbers it holds, a block of columns at a time."""
    layout = fn.layout(rows)
    if not layout.is_zero([LANE], layout.out_dims):
        raise op_error(op, "row numbers must be equal in all lanes of a warp", pass_name=PASS_NAME)
    boxes = plan_boxes(op, buffer)
    if any(boxes.offset_of((row, 0)) % ROW_ALIGNMENT for row in range(boxes.shape[0])):
        raise op_error(op, f"rows must lie at multiples of {ROW_ALIGNMENT} bytes in the buffer", pass_name=PASS_NAME)
    text, name = fn.text, next(iter(layout.out_dims))
    owners = layout.free_variable_masks.get(WARP, 0)
    is_owner = None
    if owners:
        masked = text.binary("and", "i32", fn.threads.uniform_warp, owners)
        is_owner = text.icmp("eq", "i32", masked, 0)
    condition = fn.both(fn.emitter.elect(text), is_owner, None if predicate is None else fn.scalar(predicate))
    assert condition is not None
    warp_columns = [boxes.offset_of((basis[0], 0)) for basis in layout.bases_of(WARP)]
    part = map_bits(text.value, fn.threads.uniform_warp, warp_columns).operand
    operands = fn.registers(rows)
    width = boxes.box[-1]
    for register, first in product(distinct_registers(layout), range(0, boxes.shape[-1], width)):
        row = layout.apply({dim: register if dim == REGISTER else 0 for dim in layout.in_dims})[name]
        offset = boxes.offset_of((row, first))
        pointer = step_pointer(fn, first_element(fn, buffer), _flipped(fn, part, offset))
        yield pointer, [fn.add(fn.scalar(column), first), operands[register]], condition


def _flipped(fn: GpuFunctionLowering, part: str, offset: int) -> str:
    """The thread's part XOR a constant."""
    if not offset or part == "0":
        return part if not offset else str(offset)
    return fn.text.binary("xor", "i32", part, offset)
