"""Pointers and numbers that many loops of a function read, as copies that LLVM takes for values of their own.

For each loop LLVM's strength reduction looks at all uses of what the loop's addresses and bounds depend on, wherever
they are, and scalar evolution keeps a list of all loops with each value: the square of the number of loops, when a
thousand tiles of one argument are copied.

```llvm
loop15: ... getelementptr float, ptr %a0, i64 %i
%again = call ptr asm "", "=r,0"(ptr %a0)              ; its uses are those of the next 16 loops
loop16: ... getelementptr float, ptr %again, i64 %j
```
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.ir import Block, SSAValue

from tilewright.dialects import func, scf
from tilewright.dialects.types import is_integer_or_index
from tilewright.lowering.loops_to_llvm.types import is_memref

if TYPE_CHECKING:
    from tilewright.lowering.loops_to_llvm.function_lowering import FunctionLowering

GROUP = 16
"""Loops that read one value before the next ones read a copy; functions of fewer than two groups are left alone. Of 400
masked copies of tiles (1,600 loops) strength reduction takes 2.6 CPU seconds without copies, 1.9 with groups of 32 or
64, 1.5 with groups of 16."""


class SharedValues:
    """The values of a function that its loops share; a block that is no function's only one has none."""

    def __init__(self, block: Block) -> None:
        parent = block.parent_op()
        is_whole = isinstance(parent, func.FuncOp) and len(parent.body.blocks) == 1
        loops = [op for op in block.ops if isinstance(op, scf.ForOp)] if is_whole else ()
        self._renewing = frozenset(loops[GROUP::GROUP] if len(loops) >= 2 * GROUP else ())
        self._values: list[SSAValue] = []
        if self._renewing:
            values = [*block.args, *(result for op in block.ops for result in op.results)]
            self._values = [value for value in values if value.uses.get_length() > GROUP]

    def renew_before(self, op: scf.ForOp, low: FunctionLowering) -> None:
        """Let a group of loops, and what follows, read copies made at its beginning."""
        if op not in self._renewing:
            return
        for value in self._values:
            if is_memref(value.type):
                memref = low.memrefs.get(value)
                if memref is not None and memref.base[0] == "%":
                    low.memrefs[value] = replace(memref, base=low.fn.opaque("ptr", memref.base))
            elif is_integer_or_index(value.type):
                number = low.values.get(value)
                if number is not None and number[0] == "%":
                    low.values[value] = low.fn.opaque(low.type_of(value).text, number)


__all__ = ["SharedValues"]
