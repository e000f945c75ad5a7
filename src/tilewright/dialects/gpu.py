"""The one op of the gpu dialect that Triton prints."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Dialect

from tilewright.dialects import tt
from tilewright.dialects.barrier_text import VersionedBarrier


class BarrierOp(VersionedBarrier):
    """`gpu.barrier`, since Triton 3.7 `ttg.barrier all`: every thread of the program waits here for the others
    (`tl.debug_barrier`). After the CPU's lowering to linalg, whose text upstream MLIR reads, it keeps its own name.
    """

    name = "gpu.barrier"

    SPACE: ClassVar[str] = "all"

    def has_one_name(self) -> bool:
        op = self.parent_op()
        while op is not None and not isinstance(op, tt.FuncOp):
            op = op.parent_op()
        return op is not None and super().has_one_name()


Gpu = Dialect("gpu", [BarrierOp], [])
