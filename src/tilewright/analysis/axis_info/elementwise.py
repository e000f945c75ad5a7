"""Facts about functions of single elements of which nothing else is known: equal inputs give equal results."""

from __future__ import annotations

from tilewright.analysis.axis_info import arithmetic, bits, memory, shapes
from tilewright.analysis.axis_info.rules import RULES, elementwise_constancy
from tilewright.dialects import arith, math, tt
from tilewright.dialects.traits import is_elementwise_class

RULE_FILES = (arithmetic, bits, memory, shapes)
"""Imported before, for their rules go first."""

for _cls in (*arith.OPERATIONS, *math.OPERATIONS, *tt.OPS):
    if is_elementwise_class(_cls):
        RULES.setdefault(_cls, elementwise_constancy)
