"""What Triton calls `triton._C.libtriton.ir`, as far as `ASTSource.make_ir` goes: a module is a kernel's accesses (see
`compiler/access_summary.py`), from which PyTorch reads which arguments the kernel writes."""

from __future__ import annotations

from tilewright.compiler.access_summary import AccessSummary, Block, Operation, Value

module = AccessSummary
operation = Operation
block = Block
value = region = Value


class context:
    """Owns what is made in it."""


def load_dialects(context: context) -> None:
    """All dialects are there."""
