"""Facts about functions of single elements of which nothing else is known: equal inputs give equal results."""

from __future__ import annotations

from tilewright.analysis.axis_info import arithmetic, bits, memory, shapes
from tilewright.analysis.axis_info.rules import RULES, elementwise_constancy
from tilewright.dialects import arith, math, tt
from tilewright.dialects.traits import ElementwiseMappable

OTHERS = (tt.ApproxDivFOp, tt.ClampFOp, tt.FpToFpOp, tt.MulhiUIOp, tt.PreciseDivFOp, tt.PreciseSqrtOp)
RULE_FILES = (arithmetic, bits, memory, shapes)
"""Imported before, for their rules go first."""

for _cls in (*arith.OPERATIONS, *math.OPERATIONS, *OTHERS):
    if _cls in OTHERS or any(isinstance(trait, ElementwiseMappable) for trait in getattr(_cls, "traits", ())):
        RULES.setdefault(_cls, elementwise_constancy)
