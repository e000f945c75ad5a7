"""Clusters of CTAs."""

from __future__ import annotations

from typing import Any

from tilewright.language.context import emit_void
from tilewright.language.ir_modules import ttng
from tilewright.language.registry import builtin
from tilewright.language.values import unwrap


@builtin
def barrier(relaxed: Any = False) -> None:
    """All threads of the cluster wait for each other; with `relaxed=True` they do not see each other's writes by
    that."""
    emit_void(ttng.ClusterBarrierOp(relaxed=bool(unwrap(relaxed))))


__all__ = ["barrier"]
