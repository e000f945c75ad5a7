"""Passes that work at every stage; importing this package registers them."""

from __future__ import annotations

from tilewright.transforms.common.canonicalize import CanonicalizePass, canonicalize
from tilewright.transforms.common.cse import CsePass, eliminate_common_subexpressions
from tilewright.transforms.common.dce import (
    DeadCodeEliminationPass,
    eliminate_dead_code,
)
from tilewright.transforms.common.inline import InlinePass
from tilewright.transforms.common.lift_cf_to_scf import LiftCfToScfPass, structurize
from tilewright.transforms.common.loop_invariant_code_motion import LoopInvariantCodeMotionPass, hoist_loop_invariants
from tilewright.transforms.common.outline_equal_loops import OutlineEqualLoopsPass
from tilewright.transforms.common.remove_dead_values import RemoveDeadValuesPass, remove_dead_values
from tilewright.transforms.common.sink_scalars import SinkScalarsPass
from tilewright.transforms.common.symbol_dce import SymbolDcePass

__all__ = [
    "CanonicalizePass",
    "CsePass",
    "DeadCodeEliminationPass",
    "InlinePass",
    "LiftCfToScfPass",
    "LoopInvariantCodeMotionPass",
    "OutlineEqualLoopsPass",
    "RemoveDeadValuesPass",
    "SinkScalarsPass",
    "SymbolDcePass",
    "canonicalize",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
    "hoist_loop_invariants",
    "remove_dead_values",
    "structurize",
]
