"""Inline PTX: the call instructions that hold it, and the parts of its results.

```python
words = inline_asm(text, "ld.global.v2.b32 {$0, $1}, [$2];", "=r,=r,l", ["i32", "i32"], [("ptr addrspace(1)", p)])
```

A result of several parts comes apart here. Asm with a memory effect is `sideeffect`: LLVM then keeps its order among
others. Register classes in constraints: ``h`` 16 bits, ``r`` 32, ``l`` 64, ``f`` f32, ``d`` f64, ``b`` predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.codegen.instructions import result_struct
from tilewright.codegen.llvm_text import FunctionText


def inline_asm(
    text: FunctionText,
    asm: str,
    constraints: str,
    results: Sequence[str],
    operands: Iterable[tuple[str, str]],
    *,
    has_effect: bool = True,
    clobbers_memory: bool = False,
) -> list[str]:
    """Emit a call of inline PTX; returns a register per result type. `operands` are (type, operand) pairs."""
    if clobbers_memory:
        constraints = f"{constraints},~{{memory}}" if constraints else "~{memory}"
    effect = "sideeffect " if has_effect else ""
    suffix = "" if has_effect else " nounwind memory(none)"
    arguments = ", ".join(f"{type} {operand}" for type, operand in operands)
    result = result_struct(results)
    call = f'call {result} asm {effect}"{_escape(asm)}", "{constraints}"({arguments}){suffix}'
    if not results:
        text.emit(call)
        return []
    value = text.value(call)
    if len(results) == 1:
        return [value]
    return [text.value(f"extractvalue {result} {value}, {index}") for index in range(len(results))]


def _escape(asm: str) -> str:
    """PTX as an LLVM string."""
    return asm.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A").replace("\t", "\\09")
