"""Different code for different warps of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Region

from tilewright.dialects import ttg
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.ttg.scheduling import run_together


@meaning_of(ttg.WarpSpecializeOp)
def warp_specialize(op: ttg.WarpSpecializeOp, frame: Frame) -> Values:
    """The default region and the partitions at the same time; they wait for each other at barriers."""
    captures = frame.get_all(op.operands)
    partitions = [_partition(frame, region, captures) for region in op.partitions]
    return run_together(frame, lambda: frame.run_blocks(op.default_region, ()), partitions)


def _partition(frame: Frame, region: Region, captures: Sequence[Any]) -> Callable[[], Sequence[Any]]:
    own = Frame(frame.machine)
    return lambda: own.run_blocks(region, captures)
