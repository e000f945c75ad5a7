"""`LoopOptions`: how GPU pipelines are to compile loops."""

from __future__ import annotations

from tilewright.support.records import dataclass
from tilewright.transforms.common.modes import AUTO


@dataclass(frozen=True, kw_only=True)
class LoopOptions:
    """What a launch asks for, and the switches of the same names (`support.knobs`), which say what each field does."""

    num_warps: int = 4
    """Warps of a program."""
    num_stages: int = 3
    """Iterations of a loop that are under way unless the loop says otherwise."""

    join_loops: bool = True
    guard_masks: bool = True
    scale_after_max: bool = True
    tma_loads: str = AUTO
    persist_programs: str = AUTO
    copy_kept: bool = True
    longest_first: bool = True
    overlap_products: str = AUTO
    specialize_warps: str = AUTO
    take_turns: str = AUTO
    widen_in_registers: bool = True
    store_by_warps: bool = True
    store_parts: bool = True
    defer_row_sums: bool = True
    start_products_early: bool = True
    enter_roles_directly: bool = True
    reserved_bytes: int = 0
    """Shared memory that copies and results leave to what else a program needs: no switch, see `targets.cuda.room`."""


SWITCHES = (
    *("join_loops", "guard_masks", "scale_after_max", "tma_loads", "persist_programs", "copy_kept"),
    *("longest_first", "defer_row_sums"),
    *("overlap_products", "specialize_warps", "take_turns", "widen_in_registers", "store_by_warps"),
    *("start_products_early", "store_parts", "enter_roles_directly"),
)
"""The fields that are switches."""
