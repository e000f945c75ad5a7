"""Loops in which a program waits for others: what they are, and what they tell the runtime.

A loop waits if others can end it (it reads memory by atomics or volatile loads) and if it does nothing else that lasts:
it writes to memory by atomics only, its own temporaries aside. In each of its rounds the runtime is called (see
`targets/cpu/native/waiting.ll`), which lets programs begin that are waited for, and may say that the grid is stopped.
A program that goes around in a loop and works there (takes tiles from a counter, say) is not waiting.

```python
while tl.atomic_cas(lock, 0, 1) == 1:             # waits
    pass
while tl.load(flag, volatile=True) != program:    # waits
    pass
```
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects import func, memref, scf
from tilewright.dialects.attributes import OVER_LANES
from tilewright.ir.effects import may_write
from tilewright.ir.walking import ops_within
from tilewright.lowering.atomic_calls import END_ATOMICS, is_atomic_call
from tilewright.transforms.linalg.effects import root_of_memref

WAIT, END_WAIT = "tilewright_wait", "tilewright_end_wait"
STATE_BYTES = 24
"""What the runtime keeps on the stack for a loop that waits (`%Wait`); zeros when the loop begins."""


def find_waiting_loops(functions: Mapping[str, func.FuncOp]) -> set[Operation]:
    """The `scf.while` loops of a module at the loops stage that wait, given its functions with bodies."""
    finder = _Finder(functions)
    loops = [op for function in functions.values() for op in ops_within(function) if isinstance(op, scf.WhileOp)]
    return {loop for loop in loops if finder.waits(loop)}


class _Finder:
    def __init__(self, functions: Mapping[str, func.FuncOp]) -> None:
        self._functions = functions
        self._known: dict[str, tuple[bool, bool]] = {}

    def waits(self, loop: scf.WhileOp) -> bool:
        looks, works = self._look_at(loop)
        return looks and not works and OVER_LANES not in loop.attributes

    def _look_at(self, part: Operation | Region) -> tuple[bool, bool]:
        """Return whether ops look at memory that others change, and whether they do anything that lasts."""
        looks = works = False
        for op in ops_within(part):
            its_looks, its_works = self._look_at_op(op)
            looks, works = looks or its_looks, works or its_works
        return looks, works

    def _look_at_op(self, op: Operation) -> tuple[bool, bool]:
        if isinstance(op, memref.AtomicRMWOp | memref.GenericAtomicRMWOp) or is_atomic_call(op):
            return True, False
        if isinstance(op, memref.LoadOp):
            return memref.VOLATILE in op.attributes, False
        if isinstance(op, func.CallOp):
            return self._look_at_callee(op)
        if op.regions:
            return False, False  # what it holds is looked at by itself
        return False, may_write(op) and any(not _is_temporary(value) for value in op.operands if _is_memory(value))

    def _look_at_callee(self, call: func.CallOp) -> tuple[bool, bool]:
        name = call.callee.root_reference.data
        function = self._functions.get(name)
        if function is None:
            return False, name != END_ATOMICS and any(map(_is_memory, call.operands))
        if name not in self._known:
            self._known[name] = self._look_at(function.body)
        return self._known[name]


def _is_memory(value: SSAValue) -> bool:
    return isinstance(value.type, MemRefType | UnrankedMemRefType)


def _is_temporary(value: SSAValue) -> bool:
    return isinstance(root_of_memref(value).owner, memref.AllocaOp)
