"""Kernels for which our own plans take more shared memory than there is are compiled again, with smaller plans.

Passes that have a warp copy for the others, or make a loop over programs, choose how many blocks are in shared memory
at a time before layouts are known, and thus before it is known what conversions of layouts, reductions and blocks
outside of the loop take there. Where memory is full in the end, the kernel is compiled from its source again, and these
passes leave so many bytes more: there are fewer blocks at a time, or single buffers in place of two, or no loop over
programs, and in the end none of it, nor products of transposes. So a kernel is refused for its shared memory only where
it takes too much of it without us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.ir.walking import ops_within
from tilewright.transforms.tt.persist_programs import TILES
from tilewright.transforms.tt.tma.gain import SHARED_BYTES
from tilewright.transforms.tt.tma.recipe import has_recipes
from tilewright.transforms.ttg.allocate_shared_memory import needed_bytes

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

PLANNED = ttg.WarpSpecializeOp | ttng.WarpGroupDotOp
"""Ops of kernels for which there are plans."""
STEP = 16 << 10
"""What is reserved is a multiple of it: a block of 128x64 of 16 bits."""
MOST_RESERVED = SHARED_BYTES // 2
"""What is reserved at most, before all is."""


def find_reserve(module: ModuleOp, reserved: int, limit: int) -> int | None:
    """Return how many bytes plans are to leave, where those of a module at the ttg stage, which left `reserved`, take
    more shared memory than there is; None where it fits, or has no such plans.
    """
    if reserved >= SHARED_BYTES or not _has_plans(module):
        return None
    missing = needed_bytes(module, enough=limit) - limit
    if missing <= 0:
        return None
    more = -(-max(reserved + missing, 2 * reserved) // STEP) * STEP
    is_loop_over_programs = any(isinstance(op, scf.ForOp) and TILES in op.attributes for op in ops_within(module))
    return more if is_loop_over_programs and more <= MOST_RESERVED else SHARED_BYTES


def _has_plans(module: ModuleOp) -> bool:
    functions = [op for op in module.ops if isinstance(op, tt.FuncOp)]
    return any(map(has_recipes, functions)) or any(isinstance(op, PLANNED) for op in ops_within(module))
