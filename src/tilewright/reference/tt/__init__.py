"""What the ops of the tt dialect mean.

Where Triton leaves a value open, the same value is given at every stage, so that stages can be compared: lanes that a
load masks off without `other` are 0, as are the results of atomics that are masked off; a value outside of the bins of
a histogram is not counted; `tt.cat` puts its operands one after the other; reductions and scans go along their axis
in order (see :mod:`~tilewright.reference.tt.regions`).
"""

from __future__ import annotations

from tilewright.reference.tt import (
    atomics,
    block_pointers,
    debug,
    descriptors,
    dot,
    dot_scaled,
    elementwise,
    extern,
    functions,
    indexing,
    memory,
    pointers,
    regions,
    shape,
)

OP_FAMILIES = (
    atomics,
    block_pointers,
    debug,
    descriptors,
    dot,
    dot_scaled,
    elementwise,
    extern,
    functions,
    indexing,
    memory,
    pointers,
    regions,
    shape,
)
"""The modules that fill the table of meanings."""
