"""The changes to xDSL's classes, made once: see `quick_access` and `sharing`.

Ops, values, blocks and uses get Python's own hash, so this comes before the first of them is made: `dialects` and what
else makes or reads IR ask for it. Sets that a program made of xDSL's own ops earlier have to be made again.
Compilation takes 1.13 times the CPU seconds without Python's hash (median of nine pairs, nine kernels).
"""

from __future__ import annotations

from tilewright.ir.quick_access import make_access_quick
from tilewright.ir.sharing import share_parts


def change_classes() -> None:
    """Change the classes of xDSL; calling it again does nothing."""
    share_parts()
    make_access_quick()
