"""memref to pointers and element offsets: views cost nothing, accesses one address and one instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, SymbolRefAttr
from xdsl.ir import SSAValue

from tilewright.dialects import memref
from tilewright.lowering.loops_to_llvm.addressing import (
    element_address,
    emit_element_load,
    emit_element_store,
    memory_type,
    nontemporal_suffix,
)
from tilewright.lowering.loops_to_llvm.arith_ops import constant_text
from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering, lowers
from tilewright.lowering.loops_to_llvm.memref_value import Index, MemrefValue, shape_of, with_static
from tilewright.lowering.loops_to_llvm.types import TypeTable

# ------------------------------------------------------------------------------------------------------------ views


def _mixed(low: CpuFunctionLowering, values: Sequence[int | SSAValue]) -> tuple[Index, ...]:
    return tuple(value if isinstance(value, int) else low.index(value) for value in values)


def _bind(low: CpuFunctionLowering, result: SSAValue, value: MemrefValue) -> None:
    low.memrefs[result] = with_static(result.type, value)


@lowers(memref.ReinterpretCastOp)
def lower_reinterpret_cast(op: memref.ReinterpretCastOp, low: CpuFunctionLowering) -> None:
    source = low.memref(op.operands[0])
    (offset,) = _mixed(low, op.mixed_offsets)
    sizes, strides = _mixed(low, op.mixed_sizes), _mixed(low, op.mixed_strides)
    _bind(low, op.results[0], MemrefValue(source.base, offset, sizes, strides))


@lowers(memref.CastOp)
def lower_cast(op: memref.CastOp, low: CpuFunctionLowering) -> None:
    source, target = op.operands[0].type, op.results[0].type
    value = low.memref(op.operands[0])
    if shape_of(source).is_unranked and not shape_of(target).is_unranked:
        shape = shape_of(target)
        if None in shape.sizes or None in shape.strides:
            low.fail(op, "of an unranked memref needs a static result type: use memref.reinterpret_cast")
        value = MemrefValue(
            value.base, 0, cast("tuple[Index, ...]", shape.sizes), cast("tuple[Index, ...]", shape.strides)
        )
    _bind(low, op.results[0], value)


@lowers(memref.SubviewOp)
def lower_subview(op: memref.SubviewOp, low: CpuFunctionLowering) -> None:
    source = low.memref(op.operands[0])
    offsets, sizes, steps = (_mixed(low, v) for v in (op.mixed_offsets, op.mixed_sizes, op.mixed_strides))
    offset = low.math.linear(source, offsets)
    strides = tuple(low.math.mul(stride, step) for stride, step in zip(source.strides, steps, strict=True))
    kept = op.kept_dims
    value = MemrefValue(source.base, offset, tuple(sizes[d] for d in kept), tuple(strides[d] for d in kept))
    _bind(low, op.results[0], value)


@lowers(memref.ViewOp)
def lower_view(op: memref.ViewOp, low: CpuFunctionLowering) -> None:
    """Another element type from a byte on: strides and offsets count elements, so the shift goes into the pointer."""
    shift, extents = low.index(op.operands[1]), iter(op.operands[2:])
    base = low.memref(op.operands[0]).base
    if shift != 0:
        base = low.fn.address("i8", base, shift)
    sizes: list[Index] = [low.index(next(extents)) if n is None else n for n in shape_of(op.results[0].type).sizes]
    strides: list[Index] = [1] * len(sizes)
    for dim in reversed(range(len(sizes) - 1)):
        strides[dim] = low.math.mul(strides[dim + 1], sizes[dim + 1])
    _bind(low, op.results[0], MemrefValue(base, 0, tuple(sizes), tuple(strides)))


@lowers(memref.CollapseShapeOp)
def lower_collapse_shape(op: memref.CollapseShapeOp, low: CpuFunctionLowering) -> None:
    """Sizes multiply; the stride of a group is that of its innermost dimension that is not of extent one."""
    source = low.memref(op.operands[0])
    sizes: list[Index] = []
    strides: list[Index] = []
    for group in op.groups:
        size: Index = 1
        for dim in group:
            size = low.math.mul(size, source.sizes[dim])
        inner = next((dim for dim in reversed(group) if source.sizes[dim] != 1), group[-1])
        sizes.append(size)
        strides.append(source.strides[inner])
    _bind(low, op.results[0], MemrefValue(source.base, source.offset, tuple(sizes), tuple(strides)))


@lowers(memref.ExpandShapeOp)
def lower_expand_shape(op: memref.ExpandShapeOp, low: CpuFunctionLowering) -> None:
    source = low.memref(op.operands[0])
    sizes = _mixed(low, op.mixed_output_shape)
    strides: list[Index] = [1] * len(sizes)
    for dim, group in enumerate(op.groups):
        stride = source.strides[dim]
        for inner in reversed(group):
            strides[inner] = stride
            stride = low.math.mul(stride, sizes[inner])
    _bind(low, op.results[0], MemrefValue(source.base, source.offset, sizes, tuple(strides)))


@lowers(memref.AssumeAlignmentOp)
def lower_assume_alignment(op: memref.AssumeAlignmentOp, low: CpuFunctionLowering) -> None:
    low.memrefs[op.results[0]] = low.memref(op.operands[0])


@lowers(memref.DimOp)
def lower_dim(op: memref.DimOp, low: CpuFunctionLowering) -> None:
    dim = low.index(op.operands[1])
    if not isinstance(dim, int):
        low.fail(op, "its dimension is not a constant")
        return
    low.set(op.results[0], str(low.memref(op.operands[0]).sizes[dim]))


@lowers(memref.RankOp)
def lower_rank(op: memref.RankOp, low: CpuFunctionLowering) -> None:
    """Unranked memory is what an argument of a kernel points to: a buffer without dimensions."""
    low.set(op.results[0], str(len(shape_of(op.operands[0].type).sizes)))


@lowers(memref.ExtractAlignedPointerAsIndexOp)
def lower_extract_pointer(op: memref.ExtractAlignedPointerAsIndexOp, low: CpuFunctionLowering) -> None:
    """The address of the buffer's start: offsets are not part of it."""
    low.set(op.results[0], low.fn.cast("ptrtoint", "ptr", low.memref(op.operands[0]).base, "i64"))


# ---------------------------------------------------------------------------------------------------------- buffers


@lowers(memref.AllocaOp)
def lower_alloca(op: memref.AllocaOp, low: CpuFunctionLowering) -> None:
    result = op.results[0]
    sizes = shape_of(result.type).sizes
    base = low.slot_address(low.frame.slots[op])
    strides = cast("tuple[Index, ...]", shape_of(result.type).strides)
    _bind(low, result, MemrefValue(base, 0, cast("tuple[Index, ...]", sizes), strides))


@lowers(memref.GetGlobalOp)
def lower_get_global(op: memref.GetGlobalOp, low: CpuFunctionLowering) -> None:
    shape = shape_of(op.results[0].type)
    sizes, strides = cast("tuple[Index, ...]", shape.sizes), cast("tuple[Index, ...]", shape.strides)
    symbol = cast(SymbolRefAttr, op.properties["name"])
    _bind(low, op.results[0], MemrefValue(f"@{symbol.root_reference.data}", 0, sizes, strides))


def global_text(types: TypeTable, op: memref.GlobalOp) -> str:
    """The LLVM line of a constant table."""
    initial = op.initial_value
    assert isinstance(initial, DenseIntOrFPElementsAttr)
    scalar = types.scalar(op.type.element_type)
    literals = [f"{scalar.memory} {constant_text(v, scalar)}" for v in initial.get_values()]
    count = 1
    for size in op.type.get_shape():
        count *= size
    values = literals * count if len(literals) == 1 and count > 1 else literals
    return f"@{op.sym_name.data} = internal constant [{count} x {scalar.memory}] [{', '.join(values)}], align 64"


# ----------------------------------------------------------------------------------------------------------- access


@lowers(memref.LoadOp)
def lower_load(op: memref.LoadOp, low: CpuFunctionLowering) -> None:
    source = low.memref(op.operands[0])
    address = element_address(low, op.operands[0], source, op.operands[1:])
    suffix, is_volatile = nontemporal_suffix(low, op), memref.VOLATILE in op.attributes
    low.set(op.results[0], emit_element_load(low, op.results[0].type, address, suffix, is_volatile=is_volatile))


@lowers(memref.StoreOp)
def lower_store(op: memref.StoreOp, low: CpuFunctionLowering) -> None:
    target = low.memref(op.operands[1])
    address = element_address(low, op.operands[1], target, op.operands[2:])
    emit_element_store(low, op.operands[0].type, low.get(op.operands[0]), address, nontemporal_suffix(low, op))


@lowers(memref.CopyOp)
def lower_copy(op: memref.CopyOp, low: CpuFunctionLowering) -> None:
    """Loops over the outer dimensions; rows whose elements are adjacent on both sides are one memcpy."""
    source, target = low.memref(op.operands[0]), low.memref(op.operands[1])
    element = memory_type(low, op.operands[0].type)
    inner = source.rank
    run: Index = 1
    while inner and source.strides[inner - 1] == run and target.strides[inner - 1] == run:
        run = low.math.mul(run, source.sizes[inner - 1])
        inner -= 1
    _copy_dims(low, source, target, 0, inner, source.offset, target.offset, run, element)


def _copy_dims(
    low: CpuFunctionLowering,
    source: MemrefValue,
    target: MemrefValue,
    dim: int,
    inner: int,
    from_offset: Index,
    to_offset: Index,
    run: Index,
    element: tuple[str, int],
) -> None:
    if dim == inner:
        _copy_run(low, source.base, target.base, from_offset, to_offset, run, element)
        return

    def body(index: str) -> None:
        source_at = low.math.add(from_offset, low.math.mul(index, source.strides[dim]))
        target_at = low.math.add(to_offset, low.math.mul(index, target.strides[dim]))
        _copy_dims(low, source, target, dim + 1, inner, source_at, target_at, run, element)

    low.fn.loop("0", str(source.sizes[dim]), 1, body)


def _copy_run(
    low: CpuFunctionLowering,
    source: str,
    target: str,
    from_offset: Index,
    to_offset: Index,
    run: Index,
    element: tuple[str, int],
) -> None:
    text, size = element
    fn = low.fn
    from_address = fn.address(text, source, from_offset)
    to_address = fn.address(text, target, to_offset)
    if run == 1:
        fn.store(text, fn.load(text, from_address, align=size), to_address, align=size)
        return
    length = low.math.mul(run, size)
    arguments = [("ptr", to_address), ("ptr", from_address), ("i64", str(length)), ("i1", "false")]
    fn.call("void", "llvm.memcpy.p0.p0.i64", arguments)


@lowers(memref.PrefetchOp)
def lower_prefetch(op: memref.PrefetchOp, low: CpuFunctionLowering) -> None:
    base = op.operands[0]
    address = element_address(low, base, low.memref(base), op.operands[1:])
    flags = (op.is_write.value.data & 1, op.locality_hint.value.data, op.is_data_cache.value.data & 1)
    low.fn.call("void", "llvm.prefetch.p0", [("ptr", address), *(("i32", str(flag)) for flag in flags)])
