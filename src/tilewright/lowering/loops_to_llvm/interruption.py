"""Loops that may run for long, and how they notice that they are to end.

Between programs the runtime looks whether the grid is stopped (Ctrl-C, an assertion that failed elsewhere), but one
program may never end. So a loop that no constant bounds counts its rounds down in a register; where the count is over
it calls the runtime, which lets Python handle signals, says whether to go on, and for how many rounds. The runtime
makes that a few milliseconds. Loops over lanes are bounded and count nothing. (Measured: 0.06 ns a round where
a round is one load and one sum of 16 lanes, nothing in other loops.)

```python
while i < n: ...            # counts
for k in range(0, K, BK):   # counts unless K is constant
```

Loops in which a program waits for others call the runtime in each round (`waiting.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, func, scf
from tilewright.dialects.attributes import OVER_LANES
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass

LOOK = "tilewright_look"
DECLARATION = f"declare i32 @{LOOK}(ptr, ptr) cold"
STATE_BYTES = 16
"""What the runtime keeps on the stack for a loop (`%Look`); zeros when the loop begins."""

FIRST_ROUNDS = 1024
"""Rounds before the first call: few loops have more."""

SHORT = 1 << 16
"""Rounds of a loop with constant bounds that need no counting."""


@dataclass
class RuntimeNotes:
    """Stack slots in which the runtime notes what a loop does, by loop."""

    waits: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """Of loops in which the program waits for others."""
    rounds: dict[Operation, tuple[str, str]] = field(default_factory=dict[Operation, tuple[str, str]])
    """Of loops that are long: how many rounds are left until the runtime looks, and its state."""


def find_long_loops(functions: Iterable[func.FuncOp], waiting: Iterable[Operation]) -> set[Operation]:
    """The loops of a module at the loops stage that count their rounds."""
    loops = {op for function in functions for op in ops_within(function) if _is_long(op)}
    return loops.difference(waiting)


def _is_long(op: Operation) -> bool:
    if isinstance(op, scf.WhileOp):
        return OVER_LANES not in op.attributes
    if not isinstance(op, scf.ForOp) or isinstance(op.lb.type, IndexType):
        return False
    lower, upper, step = (_constant(value) for value in (op.lb, op.ub, op.step))
    return lower is None or upper is None or not step or (upper - lower) // step > SHORT


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        return None
    return owner.value.value.data
