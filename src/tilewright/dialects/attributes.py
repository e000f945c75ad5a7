"""Names of the attributes that carry facts from one stage to another.

All are discardable: IR of other tools lacks them, and is compiled all the same.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr

NOALIAS = "tilewright.noalias"
"""Unit attribute of functions that store to memory of no other pointer argument; what is only read may be shared."""

ADDRESS_ZERO = "tilewright.address_zero"
"""Unit attribute of a kernel's argument that no launch passes: it is address 0, which the addresses of a kernel without
pointer arguments are counted from."""

NO_FP_FUSION = "tilewright.no_fp_fusion"
"""Unit attribute of a module whose products and sums must be rounded one by one (`enable_fp_fusion=False`)."""

PRINT = "tilewright.print"
"""How a declared function prints its last argument, as a dictionary: see `triton-arith-to-linalg`."""

OVER_LANES = "tilewright.over_lanes"
"""On an `scf.while` that steps through the lanes of a tile: it is bounded, and never waits for another program."""

SCAN_AXIS = "tilewright.scan"
"""Of a loop: the axis that it scans. A hint for back ends that have something better than a loop."""

COMPUTES_ALL_LANES = "tilewright.computes_all_lanes"
"""On a selection of new values by a mask that is known: they are computed in the lanes that it leaves out, too. LLVM
would let these start from what a register happens to hold, and arithmetic on subnormal numbers takes 150 cycles."""

BY_COLUMNS = "tilewright.by_columns"
"""On a loop: the tiles that it carries, by their positions, that are kept by columns in memory."""

VECTOR_DIM = "tilewright.vector_dim"
"""On a structured op: the dimension of its loops that vectors go along, as an index. A choice, not a fact: where the
body has no form on vectors, or lanes cannot be reduced, it is left alone."""

UNROLL = "tilewright.unroll"
"""On a structured op that reduces: how many vectors its loop takes at a time, a power of two, as an index. A choice: a
loop with fewer vectors takes fewer."""

FLUSHES_SUBNORMALS = "tilewright.flushes_subnormals"
"""On an `arith.truncf` whose subnormal results may become zeros."""

NANOSECONDS = "tilewright_nanoseconds"
"""The function of the runtime's that a module declares for `tts.nanoseconds`: `() -> i64`."""

OF_BARRIER = "tilewright.of_barrier"
"""Unit attribute of an assertion about an mbarrier, whose message says all."""

HOST_PRINT = "host.print"
"""On a function that is declared at the tt stage, for kernels that run in Python: what Python's `print` shows."""

HOST_BREAKPOINT = "host.breakpoint"
"""On such a function: where Python's `breakpoint` stops, and the names that it sees."""


def find_address_zero(arg_attrs: ArrayAttr[DictionaryAttr] | None) -> int | None:
    """The position of the argument that no launch passes, from the attributes of a function's arguments."""
    given = () if arg_attrs is None else arg_attrs.data
    return next((index for index, attributes in enumerate(given) if ADDRESS_ZERO in attributes.data), None)
