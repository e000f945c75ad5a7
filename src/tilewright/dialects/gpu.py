"""The one op of the gpu dialect that Triton prints."""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation

from tilewright.dialects.construction import init_op
from tilewright.dialects.definition import op_definition


@op_definition
class BarrierOp(IRDLOperation):
    """``gpu.barrier``: every thread of the program waits here for the others (``tl.debug_barrier``)."""

    name = "gpu.barrier"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        init_op(self)


Gpu = Dialect("gpu", [BarrierOp], [])

__all__ = ["BarrierOp", "Gpu"]
