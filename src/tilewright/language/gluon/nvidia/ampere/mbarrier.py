"""Barriers in shared memory: threads and copies arrive, threads wait for a phase to end.

A barrier counts down the arrivals that its phase expects; when none is left, and all bytes have come, its next phase
begins. Waiting for phase 0 ends when the first phase has.
"""

from __future__ import annotations

import builtins
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.arithmetic import truth
from tilewright.language.callables import constexpr_function
from tilewright.language.casts import cast_to
from tilewright.language.context import current, emit_void
from tilewright.language.creation import as_tensor
from tilewright.language.gluon.buffers import allocate_shared_memory, as_buffer, shared_memory_descriptor
from tilewright.language.gluon.shared_layouts import SwizzledSharedLayout
from tilewright.language.ir_modules import ttng
from tilewright.language.registry import builtin, with_hint
from tilewright.language.values import describe, is_sequence, tensor, unwrap


class MBarrierLayout(SwizzledSharedLayout):
    """The layout of barriers: 64-bit integers one after the other."""

    def __init__(self, cga_layout: Any = None) -> None:
        super().__init__(1, 1, 1, [0], cga_layout or [])

    @staticmethod
    @constexpr_function
    def multicta(num_ctas: Any, two_cta: Any = False) -> MBarrierLayout:
        """The layout of one barrier for each CTA of a cluster, or for each pair of them."""
        count, is_shared = unwrap(num_ctas), builtins.bool(unwrap(two_cta))
        if count <= 0 or count & (count - 1) or (is_shared and count < 2):
            raise ValueError(f"the CTAs of a cluster must be a power of two, and even for pairs of them, got {count}")
        pairs = [[0]] if is_shared else []
        return MBarrierLayout(pairs + [[1 << bit] for bit in range((count >> is_shared).bit_length() - 1)])


@builtin
def allocate_mbarrier(batch: Any = None, two_ctas: Any = False) -> shared_memory_descriptor:
    """A barrier, or `batch` of them, to be indexed."""
    count = current().options.num_ctas >> builtins.bool(unwrap(two_ctas))
    number = unwrap(batch)
    shape = [count] if number is None else [number, count]
    layout = MBarrierLayout.multicta(current().options.num_ctas, unwrap(two_ctas))
    return allocate_shared_memory(dt.int64, shape, layout)


def as_barrier(value: Any, what: str = "mbarrier") -> shared_memory_descriptor:
    """A barrier among the arguments. Raises TypeError or ValueError for anything else."""
    barrier = as_buffer(value, what)
    if barrier.dtype.name not in ("int64", "uint64"):
        raise TypeError(f"`{what}` must be a buffer of int64, got one of {barrier.dtype}")
    if len(barrier.shape) != 1 or barrier.numel > current().options.num_ctas:
        raise with_hint(
            ValueError(f"`{what}` must be one barrier, got a buffer of shape {barrier.shape}"),
            "choose one: `barriers.index(i)`",
        )
    return barrier


def predicate(value: Any) -> tensor:
    """A condition as an int1 scalar."""
    condition = as_tensor(value, "pred")
    return condition if condition.dtype.is_bool() else truth(condition)


def arrivals(count: Any) -> int:
    """A number of arrivals; ValueError for anything but a positive constant."""
    number = unwrap(count)
    if not isinstance(number, int) or number < 1:
        raise ValueError(f"count must be a positive constant, got {describe(count)}")
    return number


@builtin
def init(mbarrier: Any, count: Any) -> None:
    """Make a barrier whose phases expect `count` arrivals each."""
    emit_void(ttng.InitBarrierOp(as_barrier(mbarrier).handle, arrivals(count)))


@builtin
def invalidate(mbarrier: Any) -> None:
    """End the life of a barrier: its memory may be used for something else."""
    emit_void(ttng.InvalBarrierOp(as_barrier(mbarrier).handle))


@builtin
def wait(mbarrier: Any, phase: Any, pred: Any = True, deps: Any = ()) -> None:
    """Wait until the phase of parity `phase` has ended, unless `pred` is false. `deps` are buffers that what is waited
    for uses: they live until here."""
    barrier = as_barrier(mbarrier)
    number = cast_to(as_tensor(phase, "phase"), dt.int32)
    handles = [as_buffer(buffer, "deps").handle for buffer in (deps if is_sequence(deps) else [deps])]
    emit_void(ttng.WaitBarrierOp(barrier.handle, number.handle, predicate(pred).handle, handles))


@builtin
def arrive(mbarrier: Any, *, count: Any = 1, pred: Any = True, from_cta: Any = None) -> None:
    """Arrive `count` times at a barrier, unless `pred` is false. In a cluster each CTA arrives at its own barrier, or
    with `from_cta`, a mask of bits of a CTA's number, CTAs whose other bits are 0 arrive for those that differ there:
    `from_cta=0` is CTA 0 for all."""
    barrier, number = as_barrier(mbarrier).handle, arrivals(count)
    emit_void(ttng.ArriveBarrierOp(barrier, number, predicate(pred).handle, from_cta=mask_of_ctas(from_cta)))


def mask_of_ctas(from_cta: Any) -> int | None:
    """A mask of bits of a CTA's number; None where it has all of them. Raises ValueError for others."""
    mask, count = unwrap(from_cta), current().options.num_ctas
    if mask is not None and not (isinstance(mask, int) and 0 <= mask < count):
        raise ValueError(f"from_cta must be a constant from 0 to {count - 1}, got {describe(from_cta)}")
    return None if mask == count - 1 else mask


__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "init", "invalidate", "wait"]
