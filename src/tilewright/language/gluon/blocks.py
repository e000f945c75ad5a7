"""Functions on blocks that take a layout, or ask for one."""

from __future__ import annotations

from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.context import current, emit, emit_void
from tilewright.language.creation import filled, made, range_bounds, range_of
from tilewright.language.gluon.agreement import drawn, layout_of, placed, type_with_layout
from tilewright.language.gluon.cache_policies import hints_of
from tilewright.language.gluon.distributed_layouts import (
    AutoLayout,
    BlockedLayout,
    DistributedLinearLayout,
    DotOperandLayout,
    InferredLayout,
)
from tilewright.language.gluon.encoded_layouts import layout_of_encoding
from tilewright.language.gluon.shared_layouts import SharedLayout, SharedLinearLayout
from tilewright.language.gluon.types import (
    distributed_layout,
    distributed_type,
    placed_block,
)
from tilewright.language.ir_modules import gpu, ttg, ttng
from tilewright.language.matmul import dot
from tilewright.language.memory import load as load_lanes
from tilewright.language.memory import store as store_lanes
from tilewright.language.registry import builtin, unwrap_shape, wrong_layout
from tilewright.language.shape import histogram as counted
from tilewright.language.values import constexpr, tensor, unwrap


@builtin
def arange(start: Any, end: Any, layout: Any = None) -> tensor:
    """The int32 block `start, start + 1, ..., end - 1` in a layout of rank 1, AutoLayout by default.

    Raises ValueError for bounds that are not constants, a length that is not a power of two, and a layout that does not
    fit.
    """
    first, last = range_bounds(start, end)
    return range_of(first, placed_block(dt.int32, (last - first,), layout))


@builtin
def full(shape: Any, value: Any, dtype: Any, layout: Any = None) -> tensor:
    """A block with every element equal to `value`, a number or a scalar tensor; AutoLayout by default."""

    def new_block(element: dt.dtype, extents: tuple[int, ...]) -> distributed_type:
        return placed_block(element, extents, layout)

    return filled(unwrap_shape(shape), value, dtype, new_block)


@builtin
def zeros(shape: Any, dtype: Any, layout: Any = None) -> tensor:
    """A block of zeros; AutoLayout by default."""
    return full(shape, 0, dtype, layout)


@builtin
def full_like(input: Any, value: Any, shape: Any = None, dtype: Any = None, layout: Any = None) -> tensor:
    """A block of `value` in the shape, dtype and layout of `input`, but for what is given."""
    source = type_with_layout(input, "`input`")
    given = (unwrap(shape), unwrap(dtype), unwrap(layout))
    extents, element, place = (
        mine if mine is not None else theirs
        for mine, theirs in zip(given, (source.shape, source.element_ty, source.layout), strict=True)
    )
    return full(extents, value, element, place)


@builtin
def zeros_like(input: Any, shape: Any = None, dtype: Any = None, layout: Any = None) -> tensor:
    """A block of zeros in the shape, dtype and layout of `input`, but for what is given."""
    return full_like(input, 0, shape, dtype, layout)


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: Any = False,
    cache_policy: Any = None,
) -> tensor:
    """Read the elements that `pointer` points to, as `tl.load`; pointers, mask and other have one layout."""
    hints = hints_of(cache_policy, cache_modifier, eviction_policy)
    return load_lanes(pointer, mask, other, volatile=volatile, **hints)


@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    *,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    cache_policy: Any = None,
) -> None:
    """Write elements where `pointer` points, as `tl.store`; pointers, value and mask have one layout."""
    store_lanes(pointer, value, mask, **hints_of(cache_policy, cache_modifier, eviction_policy))


@builtin
def convert_layout(value: Any, layout: Any, assert_trivial: Any = False) -> tensor:
    """The same block in another layout, through shuffles or shared memory.

    With `assert_trivial=True` a TypeError where elements would change threads.
    """
    source, target = type_with_layout(value, "`value`"), distributed_layout(layout)
    ty = placed_block(source.element_ty, tuple(source.shape), target)
    if unwrap(assert_trivial) and not _is_trivial(source, ty):
        raise wrong_layout(
            TypeError(
                f"layout conversion from {source.layout} to {target} is not trivial"
                + drawn("before", source)
                + drawn("after", ty)
            )
        )
    return tensor(emit(ttg.ConvertLayoutOp(value.handle, ty.to_ir())), ty)


def _is_trivial(source: distributed_type, target: distributed_type) -> bool:
    from tilewright.layouts.reshaping import equivalent

    if isinstance(source.layout, InferredLayout) or isinstance(target.layout, InferredLayout):
        return source.layout == target.layout
    return equivalent(source.layout.plain(), target.layout.plain(), source.shape)


@builtin
def set_auto_layout(value: Any, layout: Any) -> tensor:
    """A block of AutoLayout in a layout; blocks that it was made of, and that are made of it, follow."""
    target = distributed_layout(layout)
    if not isinstance(layout_of(value, "`value`"), AutoLayout):
        raise wrong_layout(ValueError(f"set_auto_layout input must have auto layout but got {value.type.layout}"))
    if not isinstance(target, InferredLayout) and target.rank != len(value.extents):
        raise wrong_layout(
            ValueError(f"a tensor of shape {value.extents} cannot have a layout of rank {target.rank}: {target}")
        )
    return placed(value, target)


@builtin
def histogram(input: Any, num_bins: Any, mask: Any = None, layout: Any = None) -> tensor:
    """Return how often each value of [0, num_bins) occurs in a block of rank 1 of 32-bit integers, in `layout`."""
    if unwrap(layout) is None:
        raise ValueError("histogram requires a destination layout")
    context, before = current(), current().new_block
    context.new_block = lambda element, shape: placed_block(element, shape, layout)
    try:
        return counted(input, num_bins, mask)
    finally:
        context.new_block = before


@builtin
def fp4_to_fp(src: Any, elem_type: Any, axis: Any) -> tensor:
    """Two 4-bit floats (e2m1) per byte of `src`, unpacked along `axis` to float16 or bfloat16."""
    type_with_layout(src, "`src`")
    element = unwrap(elem_type)
    return made(emit(ttg.Fp4ToFpOp(src.handle, element.to_ir(), unwrap(axis))), element)


@builtin
def dot_fma(a: Any, b: Any, acc: Any) -> tensor:
    """`a @ b + acc` by multiply-add instructions. `acc` has a BlockedLayout, `a` and `b` dot-operand layouts of it."""
    check_operands(a, b, acc, BlockedLayout)
    return dot(a, b, acc, input_precision="ieee", out_dtype=acc.dtype)


def check_operands(a: Any, b: Any, acc: Any, parent: Any) -> None:
    """Raises TypeError or ValueError unless the accumulator has a layout of class `parent`, and the operands have
    dot-operand layouts of it."""
    result = layout_of(acc, "`acc`")
    if not isinstance(result, parent):
        raise wrong_layout(TypeError(f"acc must have a {parent.__name__}, got {result}"))
    for index, (name, operand) in enumerate((("a", a), ("b", b))):
        layout = layout_of(operand, f"`{name}`")
        if not isinstance(layout, DotOperandLayout):
            raise wrong_layout(TypeError(f"{name} must have a DotOperandLayout, got {layout}"))
        if layout.parent != result:
            raise wrong_layout(
                ValueError(f"{name}'s parent layout must be the layout of acc, {result}; it is {layout.parent}")
            )
        if layout.operand_index != index:
            raise wrong_layout(ValueError(f"{name}'s operand index must be {index}, it is {layout.operand_index}"))


@builtin
def to_linear_layout(layout: Any, shape: Any) -> constexpr:
    """The bases of a layout for a tensor, or buffer, of `shape`."""
    from tilewright.layouts.distributed import LinearDistributedLayout
    from tilewright.layouts.shared import SharedLinearLayout as PlainShared

    plain, extents = unwrap(layout), unwrap_shape(shape)
    if isinstance(plain, InferredLayout | DistributedLinearLayout | SharedLinearLayout):
        return constexpr(plain)
    linear = plain.plain().to_linear(extents)
    if isinstance(plain, SharedLayout):
        shared = PlainShared.of(linear, plain.plain().alignment())
        from tilewright.language.gluon.encoded_layouts import shared_layout_of_encoding

        return constexpr(shared_layout_of_encoding(ttg.shared_encoding_of(shared), extents))
    return constexpr(layout_of_encoding(ttg.encoding_of(LinearDistributedLayout.of(linear)), extents))


@builtin
def num_warps() -> constexpr:
    """Warps that run this function: the kernel's, or those of a partition of `warp_specialize`."""
    return constexpr(current().num_warps)


@builtin
def num_ctas() -> constexpr:
    """CTAs of a cluster."""
    return constexpr(current().options.num_ctas)


@builtin
def barrier(*, cluster: Any = False) -> None:
    """All threads that run this function wait for each other and see each other's writes; with `cluster=True` those of
    all CTAs of the cluster."""
    if unwrap(cluster) and current().options.num_ctas > 1:
        emit_void(ttng.ClusterBarrierOp())
        return
    emit_void(gpu.BarrierOp())


@builtin
def thread_barrier() -> None:
    """`barrier()`, as it was called before Triton 3.7."""
    barrier()
