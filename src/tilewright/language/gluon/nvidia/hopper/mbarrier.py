"""Barriers in shared memory, which on Hopper count bytes, too."""

from __future__ import annotations

from typing import Any

from tilewright.language.context import emit_void
from tilewright.language.gluon.nvidia.ampere.mbarrier import (
    MBarrierLayout,
    allocate_mbarrier,
    arrive,
    as_barrier,
    init,
    invalidate,
    mask_of_ctas,
    predicate,
    wait,
)
from tilewright.language.ir_modules import ttng
from tilewright.language.registry import builtin
from tilewright.language.values import describe, unwrap


@builtin
def expect(mbarrier: Any, bytes_per_cta: Any = None, pred: Any = True, *, from_cta: Any = None) -> None:
    """Arrive once, and have the phase end only when `bytes_per_cta` more bytes have been copied, unless `pred` is
    false. Who arrives for whom in a cluster `from_cta` says, as in `arrive`."""
    size = unwrap(bytes_per_cta)
    if not isinstance(size, int) or size < 0:
        raise ValueError(f"bytes_per_cta must be a constant that is not negative, got {describe(bytes_per_cta)}")
    barrier, mask = as_barrier(mbarrier).handle, mask_of_ctas(from_cta)
    emit_void(ttng.BarrierExpectOp(barrier, size, predicate(pred).handle, from_cta=mask))


__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait"]
