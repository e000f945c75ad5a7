"""Passes that work at every stage; importing this package registers them."""

from __future__ import annotations

from tilewright.transforms.common.canonicalize import CanonicalizePass, canonicalize
from tilewright.transforms.common.eliminate_common_subexpressions import CsePass, eliminate_common_subexpressions
from tilewright.transforms.common.eliminate_dead_code import (
    DeadCodeEliminationPass,
    SymbolDcePass,
    eliminate_dead_code,
)
from tilewright.transforms.common.hoist_loop_invariants import LoopInvariantCodeMotionPass, hoist_loop_invariants
from tilewright.transforms.common.inline import InlinePass
from tilewright.transforms.common.remove_dead_values import RemoveDeadValuesPass, remove_dead_values
from tilewright.transforms.common.structurize import LiftCfToScfPass, structurize

__all__ = [
    "CanonicalizePass",
    "CsePass",
    "DeadCodeEliminationPass",
    "InlinePass",
    "LiftCfToScfPass",
    "LoopInvariantCodeMotionPass",
    "RemoveDeadValuesPass",
    "SymbolDcePass",
    "canonicalize",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
    "hoist_loop_invariants",
    "remove_dead_values",
    "structurize",
]
