"""The table of the lowering: each op of the loops stage and the function that lowers it."""

from __future__ import annotations

from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering
from tilewright.lowering.lowerings import Lowerings

RULES = Lowerings[FunctionLowering, None]()
lowers = RULES.lowers
