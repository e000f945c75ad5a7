"""tt.gather and tt.histogram: through shared memory."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.dialects import tt
from tilewright.dialects.types import as_tensor
from tilewright.layouts.access import plan_access
from tilewright.layouts.distributed import IN_DIMS, BlockedLayout, dim_names
from tilewright.layouts.linear import LinearLayout, identity_nd
from tilewright.layouts.shared import OFFSET
from tilewright.lowering.ttg_to_llvm.buffers import writer_predicate
from tilewright.lowering.ttg_to_llvm.carried_values import distinct_registers
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.packing import from_words
from tilewright.lowering.ttg_to_llvm.shared_access import (
    SHARED_SPACE,
    SharedAddresses,
    emit_loads,
    emit_stores,
    step_pointer,
    thread_part,
)
from tilewright.lowering.ttg_to_llvm.types import I32, ElementType
from tilewright.lowering.ttg_to_llvm.values import is_literal

BIN_BYTES = 4


@lowers(tt.GatherOp)
def lower_gather(op: tt.GatherOp, fn: GpuFunctionLowering) -> None:
    """The source row-major in scratch, then one load per element."""
    element = fn.element(op.src)
    shape = as_tensor(op.src.type).get_shape()
    base = fn.shared_pointer(op)
    _store_row_major(fn, op.src, base, element)
    fn.barrier()
    rows = _row_offsets(fn, op, shape)
    stride = _stride(shape, op.axis.value.data)
    made: dict[tuple[str, str], str] = {}
    results: list[str] = []
    for index, row in zip(fn.registers(op.indices), rows, strict=True):
        loaded = made.get((index, row))
        if loaded is None:
            offset = fn.text.binary("add", "i32", _scaled(fn, as_i32(fn, op.indices, index), stride), row)
            pointer = step_pointer(fn, base, _scaled(fn, offset, element.bytes))
            words = fn.emitter.load_words(fn.text, pointer, element.bits, 1, space=SHARED_SPACE)
            [loaded] = from_words(fn.text, element, words, element.bits)
            made[index, row] = loaded
        results.append(loaded)
    fn.set(op.result, results)


def _row_major(shape: tuple[int, ...]) -> LinearLayout:
    """Coordinates to offsets, the last dimension fastest."""
    names = dim_names(len(shape))
    layout = identity_nd(OFFSET, shape, tuple(reversed(range(len(shape)))), names).transpose_outs(names)
    return layout.invert()


def _store_row_major(fn: GpuFunctionLowering, value: SSAValue, base: str, element: ElementType) -> None:
    offsets = fn.layout(value).compose(_row_major(as_tensor(value.type).get_shape()))
    access = plan_access(offsets, element.bits, matrices=False)
    addresses = SharedAddresses(fn, base, thread_part(fn, access))
    predicate = writer_predicate(fn, offsets, whole_warps=False)
    emit_stores(fn, access, addresses, element, fn.registers(value), predicate=predicate)


def _row_offsets(fn: GpuFunctionLowering, op: tt.GatherOp, shape: tuple[int, ...]) -> list[str]:
    """Per register of the indices the offset of the element with 0 along the axis."""
    layout, axis = fn.layout(op.indices), op.axis.value.data
    names = dim_names(len(shape))
    others = [name for dim, name in enumerate(names) if dim != axis]
    if not others:
        return ["0"] * len(fn.registers(op.indices))
    sizes = tuple(size for dim, size in enumerate(shape) if dim != axis)
    strides = [_stride(shape, dim) for dim in range(len(shape)) if dim != axis]
    columns = [
        (name, [(1 << bit) * stride for bit in range(size.bit_length() - 1)])
        for name, size, stride in zip(others, sizes, strides, strict=True)
    ]
    total = sum(size.bit_length() - 1 for size in shape)
    placed = layout.sublayout(IN_DIMS, others).compose(LinearLayout(columns, [(OFFSET, total)]))
    return fn.threads.index.along(placed, OFFSET)


def _stride(shape: tuple[int, ...], dim: int) -> int:
    stride = 1
    for size in shape[dim + 1 :]:
        stride *= size
    return stride


def _scaled(fn: GpuFunctionLowering, operand: str, factor: int) -> str:
    if factor == 1:
        return operand
    if is_literal(operand):
        return str(int(operand) * factor)
    return fn.text.binary("shl", "i32", operand, factor.bit_length() - 1)


def as_i32(fn: GpuFunctionLowering, value: SSAValue, operand: str) -> str:
    """A number that is not negative as an i32."""
    element = fn.element(value)
    if element.text == "i32" or is_literal(operand):
        return operand
    conversion = "trunc" if element.bits > I32.bits else "zext"
    return fn.text.cast(conversion, element.text, operand, "i32")


@lowers(tt.HistogramOp)
def lower_histogram(op: tt.HistogramOp, fn: GpuFunctionLowering) -> None:
    """Counters in scratch: zeroed, incremented once per element that has a bin, read."""
    base = fn.shared_pointer(op)
    [bins] = as_tensor(op.result.type).get_shape()
    _zero_bins(fn, base, bins)
    fn.barrier()
    _count(fn, op, base, bins)
    fn.barrier()
    offsets = fn.layout(op.result).compose(_row_major((bins,)))
    access = plan_access(offsets, I32.bits, matrices=False)
    counts = [""] * len(access.copies)
    emit_loads(fn, access, SharedAddresses(fn, base, thread_part(fn, access)), I32, counts)
    element = fn.element(op.result)
    fn.set(op.result, [_count_as(fn, count, element) for count in counts])


def _zero_bins(fn: GpuFunctionLowering, base: str, bins: int) -> None:
    layout = BlockedLayout.default((bins,), fn.threads.num_warps).to_linear((bins,))
    offsets = layout.compose(_row_major((bins,)))
    access = plan_access(offsets, I32.bits, matrices=False)
    addresses = SharedAddresses(fn, base, thread_part(fn, access))
    predicate = writer_predicate(fn, offsets, whole_warps=False)
    emit_stores(fn, access, addresses, I32, ["0"] * len(access.copies), predicate=predicate)


def _count(fn: GpuFunctionLowering, op: tt.HistogramOp, base: str, bins: int) -> None:
    layout, registers = fn.layout(op.src), fn.registers(op.src)
    masks = fn.registers(op.mask) if op.mask is not None else ("true",) * len(registers)
    owner = fn.threads.owner_predicate(layout, in_each_cta=True)
    for register in distinct_registers(layout):
        number = as_i32(fn, op.src, registers[register])
        pointer = step_pointer(fn, base, _scaled(fn, number, BIN_BYTES))
        if masks[register] != "false":
            inside = _has_bin(fn, fn.element(op.src), registers[register], bins)
            fn.emitter.shared_increment(fn.text, pointer, fn.both(inside, masks[register], owner))


def _has_bin(fn: GpuFunctionLowering, element: ElementType, number: str, bins: int) -> str | None:
    """Return whether a number, read as unsigned, has a bin; None where its type has no other numbers."""
    if bins >= 1 << element.bits:
        return None
    return fn.text.icmp("ult", element.text, number, bins)


def _count_as(fn: GpuFunctionLowering, count: str, element: ElementType) -> str:
    if element.bits == I32.bits:
        return count
    conversion = "zext" if element.bits > I32.bits else "trunc"
    return fn.text.cast(conversion, "i32", count, element.text)
