"""Copies from global to shared memory that run beside computing (`cp.async`)."""

from __future__ import annotations

from typing import Any

from tilewright.language.context import emit, emit_void
from tilewright.language.gluon.agreement import type_with_layout
from tilewright.language.gluon.buffers import as_buffer
from tilewright.language.gluon.cache_policies import hints_of
from tilewright.language.ir_modules import ttg, ttng
from tilewright.language.memory import EVICTION, LOAD_CACHE, keyword_of
from tilewright.language.registry import builtin, with_hint
from tilewright.language.shape import broadcast_pair
from tilewright.language.values import tensor, unwrap


@builtin
def async_load(
    smem: Any,
    pointer: Any,
    mask: Any = None,
    cache_modifier: Any = None,
    eviction_policy: Any = None,
    volatile: Any = False,
    cache_policy: Any = None,
) -> None:
    """Start copying what a block of pointers points to into a buffer of its shape; where `mask` is false, zeros.

    The copy is done once its group is: `commit_group`, then `wait_group`.
    """
    buffer, pointers = as_buffer(smem, "smem"), pointer
    type_with_layout(pointers, "`pointer`")
    switch = unwrap(mask)
    if isinstance(switch, tensor):
        pointers, switch = broadcast_pair(pointers, switch)
    if buffer.shape != pointers.extents:
        raise ValueError(
            f"expected smem shape to match pointer shape but got smem.shape = {buffer.shape}, pointer.shape = "
            f"{pointers.extents}"
        )
    hints = hints_of(cache_policy, cache_modifier, eviction_policy)
    op = ttg.AsyncCopyGlobalToLocalOp(
        pointers.handle,
        buffer.handle,
        None if switch is None else switch.handle,
        cache=keyword_of(LOAD_CACHE, hints["cache_modifier"], "Cache modifier"),
        evict=keyword_of(EVICTION, hints["eviction_policy"], "Eviction policy"),
        is_volatile=bool(unwrap(volatile)),
    )
    emit(op)


@builtin
def async_copy_global_to_shared(*args: Any, **kwargs: Any) -> None:
    """Removed in Triton 3.9: `async_load`."""
    raise with_hint(RuntimeError("async_copy_global_to_shared has been removed"), "call async_load instead")


@builtin
def mbarrier_arrive(mbarrier: Any, increment_count: Any = True) -> None:
    """Arrive at a barrier once all copies that this thread has started are done; with `increment_count` the barrier
    expects one arrival more."""
    barrier = as_buffer(mbarrier, "mbarrier")
    emit_void(ttng.AsyncCopyMbarrierArriveOp(barrier.handle, no_increment=not unwrap(increment_count)))


@builtin
def commit_group() -> None:
    """Make all copies that were started so far one group."""
    emit(ttg.AsyncCommitGroupOp())


@builtin
def wait_group(num_outstanding: Any = 0) -> None:
    """Wait until at most `num_outstanding` groups, a constant, are still under way."""
    count = unwrap(num_outstanding)
    if not isinstance(count, int) or count < 0:
        raise ValueError(f"num_outstanding must be a constant that is not negative, got {count}")
    emit(ttg.AsyncWaitOp(num=count))


__all__ = ["async_copy_global_to_shared", "async_load", "commit_group", "mbarrier_arrive", "wait_group"]
