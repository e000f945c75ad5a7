"""What remarks are about: `tilewright explain` has advice for each kind (`tools/explain/advice.py`)."""

from __future__ import annotations

from enum import Enum


class RemarkKind(Enum):
    """A decision that costs time and that the author of a kernel can change; the value names it in JSON."""

    OTHER = "other"
    """Of interest to those who work on the compiler."""
    ADDRESS_WITHOUT_FORMULA = "address-without-formula"
    """Pointer analysis gave up: why a `COMPUTED_INDEX` at the same place is one."""
    COMPUTED_INDEX = "computed-index"
    """Lanes go to places that are not known to lie at one distance from each other: gathers and scatters."""
    UNKNOWN_STRIDE = "unknown-stride"
    """Lanes lie at one distance from each other, which is known only at run time."""
    WIDE_STRIDE = "wide-stride"
    """Lanes lie too far apart for loads of whole vectors."""
    NOT_VECTORIZED = "not-vectorized"
    """A loop over elements, one at a time."""
    COPIED = "copied"
    """What is loaded is copied to a buffer first, as the memory may be written before its last use."""
    TILE_IN_MEMORY = "tile-in-memory"
    """A tile of more than half of the second-level cache is kept in memory between the loops that make and read it."""
    BASELINE = "baseline"
    """The kernel is compiled without optimising passes."""
    NARROW_ACCESS = "narrow-access"
    """A thread of a GPU moves one element at a time where it could move several."""
    NOT_PIPELINED = "not-pipelined"
    """A loop, or a load in it, does not run ahead of the products that need it."""
    NOT_TMA = "not-tma"
    """An access of a GPU that has TMA goes without it, or one by descriptor on a GPU that has none."""
    NO_TENSOR_CORE = "no-tensor-core"
    """A matmul runs on ordinary arithmetic."""
