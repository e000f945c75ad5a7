"""Scratch: the shared memory that lowering an op needs for itself, and the plans that say what for.

The allocation asks `scratch_bytes`; the lowering takes the same plans (`conversion_plan`, `reduction_plans`, ...), so
the sizes always agree. A scratch buffer starts at a multiple of 128 bytes.

Barriers: the lowering of an op with scratch puts barriers between its own writes and reads, none before the first
write and none after the last read; between ops they are membar's. `is_warp_synchronous` says which ops only order the
threads of a warp among themselves, so that other warps must not be thought to have passed a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import NoneAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects.tt import (
    AtomicCASOp,
    AtomicLoadOp,
    AtomicPollOp,
    AtomicRMWOp,
    FuncOp,
    GatherOp,
    HistogramOp,
    ReduceOp,
    ScanOp,
)
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.ttg import (
    ConvertLayoutOp,
    LocalAllocOp,
    LocalAtomicScatterRMWOp,
    MemDescType,
    WarpSpecializeOp,
)
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.verification import TARGET
from tilewright.dialects.ttng import TensormapCreateOp
from tilewright.dialects.types import as_tensor, bit_width, element_type, is_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.between_ctas import ClusterConversion, plan_between_ctas
from tilewright.layouts.convert import ConversionPlan, plan_conversion
from tilewright.layouts.distributed import BLOCK, LANE, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.reduction import ReductionPlan, plan_reduction, scalar_layout
from tilewright.layouts.scan import ScanPlan, plan_scan
from tilewright.layouts.swizzle import MATRIX_FREE, MatrixMoves, SharedMemoryConversion, plan_shared_memory

POINTER_BITS = 64
MIN_HISTOGRAM_BINS = 32
WIDEST_ACCESS = 16
"""Bytes that a thread moves by one access."""
TENSOR_MAP_BYTES = 128
CAPTURE_BYTES = 8
"""For each number or pointer that a partition gets."""


def storage_bits(type: Attribute) -> int:
    """Bits that one element takes in memory: at least a byte; pointers are numbers of 64 bits."""
    element = element_type(type)
    return POINTER_BITS if isinstance(element, PointerType) else max(8, bit_width(element))


def linear_layout(type: Attribute) -> LinearLayout:
    """The layout of a tensor type with an encoding."""
    tensor = as_tensor(type)
    return layout_of(tensor.encoding).to_linear(tensor.get_shape())


def matrix_moves(op: Operation) -> MatrixMoves:
    """The matrix loads and stores of the machine that the op's module is for."""
    top: Operation | None = op
    while top is not None:
        target = top.attributes.get(TARGET)
        if isinstance(target, StringAttr):
            return matrix_moves_of(target.data)
        top = top.parent_op()
    return MATRIX_FREE


def matrix_moves_of(target: str) -> MatrixMoves:
    """Those of a target such as `cuda:90`: loads from capability 75 on, stores from 90."""
    kind, _, capability = target.partition(":")
    if kind != "cuda" or not capability.isdigit():
        return MATRIX_FREE
    return MatrixMoves(load=int(capability) >= 75, store=int(capability) >= 90)


def conversion_plan(op: ConvertLayoutOp) -> ConversionPlan:
    """Return how a `ttg.convert_layout` moves its elements."""
    source, target = linear_layout(op.src.type), linear_layout(op.result.type)
    return plan_conversion(source, target, storage_bits(op.src.type), matrix_moves(op))


def reduction_plans(op: ReduceOp) -> tuple[ReductionPlan, ...]:
    """Return how a `tt.reduce` combines, per operand: the plans differ in widths only."""
    source = linear_layout(op.srcs[0].type)
    result_type = op.result[0].type
    result = linear_layout(result_type) if is_tensor(result_type) else scalar_layout(source)
    axis, moves = op.axis.value.data, matrix_moves(op)
    return tuple(plan_reduction(source, axis, result, storage_bits(src.type), moves) for src in op.srcs)


def scan_plans(op: ScanOp) -> tuple[ScanPlan, ...]:
    """Return how a `tt.scan` combines, per operand: the plans differ in widths only."""
    source = linear_layout(op.srcs[0].type)
    return tuple(plan_scan(source, op.axis.value.data, storage_bits(src.type), matrix_moves(op)) for src in op.srcs)


def sharing_plan(value: SSAValue) -> SharedMemoryConversion | None:
    """Return how a tensor that only one of the threads with equal elements has got reaches the others; None where there
    are no others.

    The threads that have it are those whose free lane and warp bits (`LinearLayout.free_variable_masks`) are zero.
    """
    layout = linear_layout(value.type)
    masks = layout.free_variable_masks
    if not masks[LANE] and not masks[WARP]:
        return None
    return plan_shared_memory(layout, layout, storage_bits(value.type), in_rounds=False)


def cluster_sharing_plan(value: SSAValue) -> ClusterConversion | None:
    """Return how a tensor that only one of the CTAs with equal elements has got, in the threads of `sharing_plan`,
    reaches all threads of all of them; None where each CTA has elements of its own."""
    layout = linear_layout(value.type)
    if not layout.free_variable_masks.get(BLOCK, 0):
        return None
    return plan_between_ctas(layout, layout, storage_bits(value.type), from_first=True)


def operand_offsets(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return where the scratch of each of several operands starts, and last where it ends. A start is aligned for the
    widest access that fits into the operand's bytes.
    """
    offsets: list[int] = []
    end = 0
    for size in sizes:
        alignment = min(WIDEST_ACCESS, 1 << max(size.bit_length() - 1, 0))
        start = -(-end // alignment) * alignment
        offsets.append(start)
        end = start + size
    return (*offsets, end)


def _convert_bytes(op: ConvertLayoutOp) -> int:
    plan = conversion_plan(op)
    return plan.num_bytes if isinstance(plan, SharedMemoryConversion | ClusterConversion) else 0


def _reduce_bytes(op: ReduceOp) -> int:
    return operand_offsets([plan.num_bytes for plan in reduction_plans(op)])[-1]


def _scan_bytes(op: ScanOp) -> int:
    return operand_offsets([plan.num_bytes for plan in scan_plans(op)])[-1]


def _gather_bytes(op: GatherOp) -> int:
    source = as_tensor(op.src.type)
    return source.element_count() * storage_bits(source) // 8


def _histogram_bytes(op: HistogramOp) -> int:
    return max(as_tensor(op.result.type).element_count(), MIN_HISTOGRAM_BINS) * 4


def _atomic_bytes(op: AtomicRMWOp | AtomicCASOp | AtomicLoadOp | AtomicPollOp | LocalAtomicScatterRMWOp) -> int:
    """Results that more threads want than ran the atomic."""
    if not op.result.uses:
        return 0
    if not is_tensor(op.result.type):
        return storage_bits(op.result.type) // 8
    plan = cluster_sharing_plan(op.result) or sharing_plan(op.result)
    return 0 if plan is None else plan.num_bytes


def captured_in_memory(op: WarpSpecializeOp) -> list[SSAValue]:
    """The captures that partitions read from scratch, in order: those that are no arguments of the kernel, nor buffers
    at a place that is known."""
    return [value for value in op.operands if not _is_known_everywhere(value)]


def _is_known_everywhere(value: SSAValue) -> bool:
    owner = value.owner
    return isinstance(owner, LocalAllocOp) or (isinstance(owner, Block) and isinstance(owner.parent_op(), FuncOp))


def _capture_bytes(op: WarpSpecializeOp) -> int:
    for value in op.operands:
        if is_tensor(value.type):
            reason = "partitions run on other warps and cannot take a tensor: hand it over in shared memory"
            raise op_error(op, reason)
    return sum(CAPTURE_BYTES * (2 if isinstance(v.type, MemDescType) else 1) for v in captured_in_memory(op))


def _tensor_map_bytes(op: TensormapCreateOp) -> int:
    return TENSOR_MAP_BYTES


_BYTES: dict[type[Operation], Callable[..., int]] = {
    ConvertLayoutOp: _convert_bytes,
    ReduceOp: _reduce_bytes,
    ScanOp: _scan_bytes,
    GatherOp: _gather_bytes,
    HistogramOp: _histogram_bytes,
    AtomicRMWOp: _atomic_bytes,
    AtomicCASOp: _atomic_bytes,
    AtomicLoadOp: _atomic_bytes,
    AtomicPollOp: _atomic_bytes,
    LocalAtomicScatterRMWOp: _atomic_bytes,
    TensormapCreateOp: _tensor_map_bytes,
    WarpSpecializeOp: _capture_bytes,
}


def scratch_bytes(op: Operation) -> int:
    """Bytes of shared memory that lowering the op needs while it runs; 0 for most ops. Raises PassError for an op whose
    tensors have no layouts, or layouts that it has no lowering for."""
    count = _BYTES.get(type(op))
    if count is None:
        return 0
    for value in (*op.operands, *op.results):
        if is_tensor(value.type) and isinstance(as_tensor(value.type).encoding, NoneAttr):
            reason = f"its tensors need layouts, {value.type} has none: run convert-triton-to-tritongpu first"
            raise op_error(op, reason)
    try:
        return count(op)
    except ValueError as error:
        raise op_error(op, str(error)) from None


def is_warp_synchronous(op: Operation) -> bool:
    """Return whether the op's scratch needs no barrier of the CTA: each warp reads only what it wrote itself."""
    if not isinstance(op, ConvertLayoutOp):
        return False
    plan = conversion_plan(op)
    return isinstance(plan, SharedMemoryConversion) and plan.stays_in_warp
