"""The table of the lowering: each op of the loops stage and the function that lowers it."""

from __future__ import annotations

from tilewright.ir.lowerings import Lowerings
from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering

RULES = Lowerings[[FunctionLowering], None]()
lowers = RULES.lowers
