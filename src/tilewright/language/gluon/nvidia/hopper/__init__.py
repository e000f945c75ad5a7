"""Hopper: bulk copies of boxes (TMA), `wgmma`, clusters; and all of Ampere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tilewright.language.context import current, emit, emit_many, emit_void
from tilewright.language.dtypes import base_type
from tilewright.language.gluon.agreement import type_with_layout
from tilewright.language.gluon.buffers import as_buffer, shared_memory_descriptor
from tilewright.language.gluon.distributed_layouts import DotOperandLayout, NVMMADistributedLayout
from tilewright.language.gluon.nvidia.ampere import CachePolicy, FractionalEvictionPolicy, async_copy, mma_v2
from tilewright.language.gluon.nvidia.ampere.mbarrier import as_barrier, predicate
from tilewright.language.gluon.nvidia.hopper import cluster, mbarrier, tma
from tilewright.language.gluon.types import distributed_type
from tilewright.language.ir_modules import ttng
from tilewright.language.registry import builtin, with_hint
from tilewright.language.values import base_value, constexpr, describe, is_sequence, tensor, tuple, unwrap

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue


@builtin
def fence_async_shared(cluster: Any = False) -> None:
    """Make what threads wrote to shared memory visible to the asynchronous proxy (TMA copies, `wgmma`);
    with `cluster=True`, to that of all CTAs of the cluster.
    """
    emit_void(ttng.FenceAsyncSharedOp(b_cluster=bool(unwrap(cluster))))


@builtin
def async_store(dst: Any, value: Any, mbarrier: Any) -> None:
    """Start storing a tensor into a buffer of its shape and dtype: elements go to the CTAs of the cluster that have the
    parts of the buffer that they are in, where the barrier counts their bytes. Programs have at least two CTAs."""
    buffer, barrier = as_buffer(dst, "dst"), as_barrier(mbarrier)
    if not isinstance(value, tensor):
        raise TypeError(f"`value` must be a tensor, got {describe(value)}")
    if value.extents != buffer.shape or value.dtype != buffer.dtype:
        raise ValueError(
            f"`value` and `dst` must match, got {value.dtype} of shape {value.extents} and {buffer.dtype} of shape "
            f"{buffer.shape}"
        )
    if current().options.num_ctas == 1:
        raise with_hint(
            ValueError("async_store needs a cluster of at least two CTAs"),
            "launch with num_ctas=2, or `dst.store(value)`",
        )
    emit_void(ttng.AsyncSharedStoreOp(value.handle, buffer.handle, barrier.handle))


class warpgroup_mma_accumulator_type(base_type):
    """A result of `wgmma` that may not be there yet."""

    def __init__(self, tensor_type: distributed_type) -> None:
        self.tensor_type = tensor_type

    def mangle(self) -> str:
        return f"FT{self.tensor_type.mangle()}FT"

    def flatten_ir_types(self) -> list[Attribute]:
        return self.tensor_type.flatten_ir_types()

    def unflatten_ir(self, handles: Sequence[SSAValue], cursor: int) -> Any:
        return warpgroup_mma_accumulator(handles[cursor], self.tensor_type), cursor + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, warpgroup_mma_accumulator_type) and self.tensor_type == other.tensor_type

    def __hash__(self) -> int:
        return hash((warpgroup_mma_accumulator_type, self.tensor_type))

    def __str__(self) -> str:
        return f"warpgroup_mma_accumulator<{self.tensor_type}>"


class warpgroup_mma_accumulator(base_value):
    """What `warpgroup_mma(is_async=True)` gives: a tensor after `warpgroup_mma_wait`, and until then only the
    accumulator of further products."""

    def __init__(self, handle: SSAValue, tensor_type: distributed_type) -> None:
        self.handle = handle
        self.type = warpgroup_mma_accumulator_type(tensor_type)

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        handles.append(self.handle)


@builtin
def warpgroup_mma_init(value: Any) -> warpgroup_mma_accumulator:
    """A tensor as the accumulator that a chain of asynchronous products begins with."""
    return warpgroup_mma_accumulator(value.handle, type_with_layout(value, "`value`"))


@builtin
def warpgroup_mma(
    a: Any,
    b: Any,
    acc: Any,
    *,
    use_acc: Any = True,
    precision: Any = None,
    max_num_imprecise_acc: Any = None,
    is_async: Any = False,
) -> Any:
    """`a @ b`, plus `acc` unless `use_acc` is false, by `wgmma`.

    `b`, and `a` unless it is a tensor, are buffers in an NVMMASharedLayout; `acc` has an NVMMADistributedLayout of
    version [3, 0], and `a`, where it is a tensor, a dot-operand layout of it. With `is_async=True` the product is under
    way, and what is returned is for `warpgroup_mma_wait`.
    """
    result = acc.type.tensor_type if isinstance(acc, warpgroup_mma_accumulator) else type_with_layout(acc, "`acc`")
    layout = result.layout
    if not isinstance(layout, NVMMADistributedLayout) or layout.version[0] != 3:
        raise TypeError(f"acc must have an NVMMADistributedLayout of version [3, 0], got {layout}")
    right = as_buffer(b, "b")
    if isinstance(a, tensor):
        place = type_with_layout(a, "`a`").layout
        if not isinstance(place, DotOperandLayout) or place.parent != layout or place.operand_index != 0:
            raise TypeError(f"a must have DotOperandLayout(0, {layout}, ...), got {place}")
        left_shape = a.extents
    else:
        left_shape = as_buffer(a, "a").shape
    _check_shapes(left_shape, right.shape, result.shape)
    op = ttng.WarpGroupDotOp(
        a.handle,
        right.handle,
        acc.handle,
        predicate(use_acc).handle,
        input_precision=unwrap(precision) or current().options.default_dot_input_precision,
        max_num_imprecise_acc=_imprecise(a, right, max_num_imprecise_acc),
        is_async=bool(unwrap(is_async)),
    )
    handle = emit(op)
    return warpgroup_mma_accumulator(handle, result) if unwrap(is_async) else tensor(handle, result)


def _check_shapes(a: list[int], b: list[int], acc: list[int]) -> None:
    if len(a) != 2 or len(b) != 2 or len(acc) != 2:
        raise ValueError(f"warpgroup_mma multiplies matrices, got shapes {a}, {b} and {acc}")
    if a[1] != b[0] or [a[0], b[1]] != acc:
        raise with_hint(
            ValueError(f"shapes do not fit a matmul: {a} @ {b} -> {acc}"),
            "a buffer is transposed by `buffer.permute((1, 0))`",
        )
    if acc[0] % 64 or acc[1] % 8:
        raise ValueError(f"warpgroup_mma needs rows in multiples of 64 and columns in multiples of 8, got {acc}")


def _imprecise(a: Any, b: shared_memory_descriptor, given: Any) -> int:
    """Sums that may be kept in less precision, of float8 only."""
    number, is_float8 = unwrap(given), a.dtype.is_fp8() and b.dtype.is_fp8()
    if number is None:
        return current().options.max_num_imprecise_acc_default if is_float8 else 0
    depth = b.shape[0]
    if is_float8 and number > depth:
        raise ValueError(f"max_num_imprecise_acc ({number}) must be <= K ({depth})")
    return number


@builtin
def warpgroup_mma_wait(num_outstanding: Any = 0, deps: Any = None) -> Any:
    """Wait until at most `num_outstanding` products, a constant, are under way. Returns `deps` (accumulators, and what
    is to live until here) as what may now be read."""
    if unwrap(deps) is None:
        raise ValueError("warpgroup_mma_wait deps must be given")
    values: list[Any] = list(deps if is_sequence(deps) else unwrap(deps))
    count = unwrap(num_outstanding)
    if not isinstance(count, int) or count < 0:
        raise ValueError(f"num_outstanding must be a constant that is not negative, got {describe(num_outstanding)}")
    handles = list(emit_many(ttng.WarpGroupDotWaitOp([value.handle for value in values], count)))
    types = [v.type.tensor_type if isinstance(v, warpgroup_mma_accumulator) else v.type for v in values]
    results = [ty.unflatten_ir([handle], 0)[0] for ty, handle in zip(types, handles, strict=True)]
    return results[0] if len(results) == 1 else tuple(results) if results else constexpr(None)


__all__ = [
    "CachePolicy",
    "FractionalEvictionPolicy",
    "async_copy",
    "async_store",
    "cluster",
    "fence_async_shared",
    "mbarrier",
    "mma_v2",
    "tma",
    "warpgroup_mma",
    "warpgroup_mma_accumulator",
    "warpgroup_mma_init",
    "warpgroup_mma_wait",
]
