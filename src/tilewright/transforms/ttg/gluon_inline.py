"""`gluon-inline`: calls become the bodies of the functions that they call, layouts and buffers as they are."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import ttg, ttng
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.support.records import dataclass
from tilewright.transforms.common.inline import Inliner
from tilewright.transforms.ttg.gluon_canonicalize import canonicalize_around_layouts


@register_pass
@dataclass
class GluonInlinePass(Pass):
    """As `inline`; functions are simplified on the way as `gluon-canonicalize` does it.

    ```mlir
    tt.func private @load(%b: !ttg.memdesc<64xf32, ...>) -> tensor<64xf32, #blocked> { ... ttg.local_load %b ... }
    %0 = tt.call @load(%buffer) : ...
    // becomes
    %0 = ttg.local_load %buffer : ...
    ```
    """

    name = "gluon-inline"
    takes: ClassVar[tuple[str, ...]] = ("gluon",)

    insists_on_waits: bool = False
    """Inline functions that ask not to be, too, where they wait at barriers: for targets that go on with other
    partitions there."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        Inliner(module, context, insists=self._insists, simplify=canonicalize_around_layouts, merges_calls=False).run()

    def _insists(self, callee: Operation) -> bool:
        return self.insists_on_waits and bool(find_ops(callee, ttng.WaitBarrierOp, ttg.WarpSpecializeOp))
