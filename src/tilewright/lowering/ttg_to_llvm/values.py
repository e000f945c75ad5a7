"""How a value of the ttg stage is held while its function is lowered.

| value | held as |
|---|---|
| tensor | tuple of LLVM operands, one per register of the thread, in the order of the layout's register index |
| scalar, pointer, tensor descriptor | one LLVM operand |
| `!ttg.memdesc` | `SharedValue` |
| `!ttg.async.token` | None |

An operand is a register (``%v7``) or a literal (``0``, ``0x3FF0000000000000``); `is_literal` tells. Registers that hold
the same element, or elements known to be equal, hold the same operand: rules compute each distinct operand once.
"""

from __future__ import annotations

from typing import TypeAlias

from tilewright.support.records import dataclass

RANK_SHIFT = 24
OFFSET_BITS = (1 << RANK_SHIFT) - 1
"""How the beginning of a slice that may lie in another CTA is packed, see `SharedValue.flip`."""

Registers: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class SharedValue:
    """A buffer in shared memory, or a view of one.

    The element at logical coordinates x of the view lies at `base + (offset(x) ^ flip)`, where `offset` is what the
    encoding makes of coordinates in `alloc_shape` (see `MemDescType`), in bytes: layouts are linear over GF(2), so
    where a slice begins is one more summand of that sum.
    """

    base: str
    """ptr addrspace(3) to the start of the buffer (after `memdesc_index`, to that of the slot)."""
    flip: str = "0"
    """i32: the offset of the view's first element; `"0"` except after `memdesc_subslice`. Where the CTAs of a cluster
    share out a dimension that is sliced, the bits from RANK_SHIFT on are one more summand of the CTA's number."""


Held: TypeAlias = Registers | str | SharedValue | None


def is_literal(operand: str) -> bool:
    """Return whether an operand is spelled out, not the result of an instruction."""
    return operand[0] not in "%@"
