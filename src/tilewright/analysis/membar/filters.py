"""Pairs of accesses that need no barrier between them, for reasons other than the bytes they touch.

A back end supplies one `MembarFilter`; the one for NVIDIA knows which ops on mbarrier objects run in one thread, and
which are ordered by the object itself. A back end of a third party registers its own, for modules whose `ttg.target`
is of its kind:

    register_filter("toy", lambda earlier, later: isinstance(later.op, ToyCopyOp))   # modules for "toy:1", "toy:2"
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from tilewright.analysis.membar.accesses import Access, is_ordered_copy
from tilewright.analysis.membar.warp_rows import needs_no_barrier
from tilewright.dialects import ttg, ttng

MembarFilter = Callable[[Access, Access], bool]
"""Whether an access needs no barrier after an earlier one with which it shares bytes."""


def no_filter(earlier: Access, later: Access) -> bool:
    """Every pair needs a barrier."""
    return False


TMA_LOADS = (ttng.AsyncTMACopyGlobalToLocalOp, ttng.AsyncTMAGatherOp)
ONE_THREAD = (ttng.InitBarrierOp, ttng.InvalBarrierOp, ttng.BarrierExpectOp)
"""Ops on mbarrier objects that the same thread of the CTA runs."""
SIGNALS = (ttng.BarrierExpectOp, ttng.ArriveBarrierOp, ttng.AsyncCopyMbarrierArriveOp)


def nvidia_filter(earlier: Access, later: Access) -> bool:
    """Return what is ordered without a barrier on NVIDIA hardware.

    - One thread initialises and invalidates an mbarrier and says how many bytes to expect.
    - Bytes that arrive before they are expected are counted all the same.
    - A thread may wait before the signal that it waits for; it may not be overtaken by the signal of the next phase.
    - A signal that every warp gives completes no phase before all are done with the one before.
    - Copies and products that mbarriers order: see `ORDERED`.
    - Rows that a warp writes, has copied, and writes again; a thread writes the same elements in each iteration.
    """
    first, second = earlier.op, later.op
    match first, second:
        case (ttg.LocalStoreOp() as store, ttng.AsyncTMACopyLocalToGlobalOp() as copy) | (
            ttng.AsyncTMACopyLocalToGlobalOp() as copy,
            ttg.LocalStoreOp() as store,
        ):
            return needs_no_barrier(store, copy)
        case (ttg.LocalStoreOp(dst=buffer), _) if first is second:
            return isinstance(buffer.owner, ttg.LocalAllocOp)
        case _:
            pass
    if is_ordered_copy(first) or is_ordered_copy(second):
        return all(is_ordered_copy(op) or isinstance(op, ttng.WarpGroupDotOp) for op in (first, second))
    if is_signal_of_all(second):
        return is_signal_of_all(first) or isinstance(first, ttng.WaitBarrierOp)
    if isinstance(first, ONE_THREAD) and isinstance(second, ONE_THREAD):
        return True
    if _are(first, second, TMA_LOADS, ttng.BarrierExpectOp) or _are(first, second, TMA_LOADS, ttng.WaitBarrierOp):
        return True
    if isinstance(first, TMA_LOADS) and isinstance(second, TMA_LOADS):
        return True
    return isinstance(first, SIGNALS) and isinstance(second, ttng.WaitBarrierOp)


def is_signal_of_all(op: Operation) -> bool:
    """Return whether every warp signals for itself, so that an mbarrier counts them."""
    return isinstance(op, ttng.AsyncCopyMbarrierArriveOp) or (
        isinstance(op, ttng.ArriveBarrierOp) and op.per_warp is not None
    )


def _are(first: Operation, second: Operation, kind: tuple[type, ...], other: type) -> bool:
    return (isinstance(first, kind) and isinstance(second, other)) or (
        isinstance(first, other) and isinstance(second, kind)
    )


_FILTERS: dict[str, MembarFilter] = {"cuda": nvidia_filter}
"""Per kind of target, the part of `ttg.target` before the colon."""


def register_filter(kind: str, filter: MembarFilter) -> None:
    """Use a filter for modules of a kind of target. Raises ValueError where the kind has another filter already."""
    if _FILTERS.setdefault(kind, filter) is not filter:
        raise ValueError(f"modules for '{kind}' have a barrier filter already")


def find_filter(kind: str) -> MembarFilter:
    """The filter for modules of a kind of target; `no_filter` where none is registered."""
    return _FILTERS.get(kind, no_filter)
