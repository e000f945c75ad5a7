"""The one op of the gpu dialect that Triton prints."""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.definition import Op


class BarrierOp(Op):
    """``gpu.barrier``: every thread of the program waits here for the others (``tl.debug_barrier``)."""

    name = "gpu.barrier"

    assembly_format = "attr-dict"


Gpu = Dialect("gpu", [BarrierOp], [])

__all__ = ["BarrierOp", "Gpu"]
