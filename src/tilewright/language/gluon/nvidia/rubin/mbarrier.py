"""Barriers in shared memory: those of Hopper, and arrivals at the barriers of several CTAs, which only Rubin has."""

from __future__ import annotations

from typing import Any

from tilewright.language.gluon.nvidia.hopper.mbarrier import (
    MBarrierLayout,
    allocate_mbarrier,
    expect,
    init,
    invalidate,
    wait,
)
from tilewright.language.gluon.nvidia.hopper.mbarrier import arrive as arrive_at_one
from tilewright.language.registry import builtin, with_hint
from tilewright.language.values import unwrap


@builtin
def arrive(mbarrier: Any, *, count: Any = 1, pred: Any = True, from_cta: Any = None, multicast_cta: Any = 0) -> None:
    """Arrive as on Hopper. Raises ValueError for a `multicast_cta` other than 0."""
    if unwrap(multicast_cta):
        raise with_hint(
            ValueError("`multicast_cta` needs Rubin (compute capability 10.7), for which there is no target"),
            "`from_cta` lets one CTA arrive for others",
        )
    arrive_at_one(mbarrier, count=count, pred=pred, from_cta=from_cta)


__all__ = ["MBarrierLayout", "allocate_mbarrier", "arrive", "expect", "init", "invalidate", "wait"]
