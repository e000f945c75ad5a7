"""Pointers and numbers that many loops and calls of a function read, as copies that LLVM takes for values of their own.

For each loop LLVM's strength reduction looks at all uses of what the loop's addresses and bounds depend on, wherever
they are, and scalar evolution keeps a list of all loops with each value; register allocation works on a value as long
as it lives: the square of the number of loops, when a thousand tiles of one argument are copied. So each is kept in
memory of the function, from which a group of loops reads a copy.

```llvm
store volatile ptr %a0, ptr %slot
%again = load volatile ptr, ptr %slot                  ; its uses are those of the next 16 loops
loop16: ... getelementptr float, ptr %again, i64 %j
```
Calls are grouped as loops are, and as nothing else ends a block of a thousand calls, a branch that is never taken does:
LLVM's two-address form and its register allocation take the square of the calls of a block.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.ir import Block, SSAValue

from tilewright.dialects import func, scf
from tilewright.dialects.coroutines import COROUTINE
from tilewright.dialects.types import is_integer_or_index
from tilewright.lowering.loops_to_llvm.types import is_memref

if TYPE_CHECKING:
    from tilewright.lowering.loops_to_llvm.function_lowering import CpuFunctionLowering

GROUP = 16
"""Loops or calls that read one value before the next ones read a copy; functions of fewer than two groups are left
alone. Of 400 masked copies of tiles (1,600 loops) strength reduction takes 2.6 CPU seconds without copies, 1.9 with
groups of 32 or 64, 1.5 with groups of 16."""


class SharedValues:
    """The values of a function that its loops and calls share; a block of a coroutine, or one of several, has none."""

    def __init__(self, block: Block) -> None:
        parent = block.parent_op()
        is_whole = (
            isinstance(parent, func.FuncOp) and len(parent.body.blocks) == 1 and COROUTINE not in parent.attributes
        )
        loops = [op for op in block.ops if isinstance(op, (scf.ForOp, func.CallOp))] if is_whole else ()
        self._renewing = frozenset(loops[GROUP::GROUP] if len(loops) >= 2 * GROUP else ())
        self._values: list[SSAValue] = []
        self._slots: dict[SSAValue | None, str] = {}
        if self._renewing:
            values = [*block.args, *(result for op in block.ops for result in op.results)]
            self._values = [value for value in values if value.uses.get_length() > GROUP]

    def renew_before(self, op: scf.ForOp | func.CallOp, low: CpuFunctionLowering) -> None:
        """Let a group of loops, and what follows, read copies made at its beginning."""
        if op not in self._renewing:
            return
        if isinstance(op, func.CallOp):
            low.split_block(self._read_again(low, None, "ptr", low.frame_address))
        for value in self._values:
            if is_memref(value.type):
                memref = low.memrefs.get(value)
                if memref is not None and memref.base[0] == "%":
                    base = self._read_again(low, value, "ptr", memref.base)
                    low.memrefs[value] = replace(memref, base=base)
            elif is_integer_or_index(value.type):
                number = low.values.get(value)
                if number is not None and number[0] == "%":
                    low.values[value] = self._read_again(low, value, low.type_of(value).text, number)

    def _read_again(self, low: CpuFunctionLowering, value: SSAValue | None, type: str, register: str) -> str:
        """A copy of a value, or of the frame's address: from memory, or LLVM makes one long value of all copies."""
        slot = self._slots.get(value)
        if slot is None:
            slot = self._slots[value] = low.fn.alloca(type)
            low.fn.store(type, register, slot, flags="volatile ")
        return low.fn.load(type, slot, flags="volatile ")
