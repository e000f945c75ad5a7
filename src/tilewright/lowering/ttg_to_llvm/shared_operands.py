"""Operands that many registers of one op share, as copies that LLVM takes for values of their own.

LLVM's straight-line strength reduction (of NVPTX's code generation) asks of every sum and address whether it is a
constant away from one before it with the same operand, and compares with each of them until it finds one: with 128
offsets that the rows of a tile add to one column, and 128 addresses from one pointer, in vain, by symbolic differences
of 30 us. That took 2.6 of the 3.4 s to PTX of a matmul with strides that are known at run time only.

```llvm
%x3 = add i32 %row3, %column
%again = call i32 asm "", "=r,0"(i32 %column)      ; the pass looks no further back than this
%x4 = add i32 %row4, %again
```

Passes after it see that the copies are the same: registers and instructions of the machine code stay what they were.
"""

from __future__ import annotations

from dataclasses import field

from tilewright.codegen.llvm_text import FunctionText
from tilewright.lowering.ttg_to_llvm.values import is_literal
from tilewright.support.records import dataclass

GROUP = 4
"""Registers of an op that share an operand before the next ones get a copy. With 2, 4, 8 and 16 a matmul with run-time
strides takes 0.26, 0.27, 0.35 and 0.39 s in LLVM; ptxas makes 2832, 2664, 2624 and 2648 instructions of it."""
FEW_REGISTERS = 32
"""Ops of no more registers are left alone: all comparisons of one take some 10 ms, and give better code where they
find something (a sampler of 32 registers: 4 % fewer instructions)."""

_CONSTRAINTS = {"i32": "r", "i64": "l", "ptr": "l", "ptr addrspace(1)": "l"}
"""Types of operands, and where inline assembly holds them."""


@dataclass
class SharedOperands:
    """The operands of one type of an op of some registers, asked for in the order of their uses."""

    text: FunctionText
    type: str
    registers: int
    _uses: dict[str, int] = field(default_factory=dict[str, int])
    _copies: dict[str, str] = field(default_factory=dict[str, str])

    def next_use(self, operand: str) -> str:
        """Return the operand, or the copy of it that its next use reads."""
        constraint = _CONSTRAINTS.get(self.type)
        if self.registers <= FEW_REGISTERS or constraint is None or is_literal(operand):
            return operand
        uses = self._uses[operand] = self._uses.get(operand, 0) + 1
        if uses > 1 and uses % GROUP == 1:
            copy = f'call {self.type} asm "", "={constraint},0"({self.type} {operand})'
            self._copies[operand] = self.text.value(copy)
        return self._copies.get(operand, operand)
