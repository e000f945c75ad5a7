"""`gluon-infer-coalesced-encodings`: accesses in a coalesced layout get the one that their addresses ask for."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import gluon, ttg
from tilewright.dialects.ttg.verification import program_shape
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.errors import AmbiguousLayoutError
from tilewright.transforms.common.dce import eliminate_dead_code
from tilewright.transforms.ttg.coalesce import AccessLayouts, pointers_of
from tilewright.transforms.ttg.following_layouts import FollowingLayouts, encoding_of


@register_pass
class GluonInferCoalescedEncodingsPass(Pass):
    """Replaces `#gluon.coalesced_encoding` of an access through pointers by the layout in which adjacent threads access
    adjacent memory, in vectors as wide as is safe. The values it is computed from and with follow.

    ```mlir
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #gluon.coalesced_encoding>
    // becomes, for contiguous addresses that are divisible by 16
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>       // sizePerThread = [4]
    ```

    Raises PassError for a tensor for which two layouts are inferred, and for one that takes part in no access.
    """

    name = "gluon-infer-coalesced-encodings"
    takes: ClassVar[tuple[str, ...]] = ("gluon",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        program = program_shape(module)
        values = (value for op in ops_within(module) for value in op.results)
        if program is None or not any(encoding_of(value) == gluon.COALESCED for value in values):
            return
        layouts = FollowingLayouts(module, gluon.COALESCED, self.name)
        for op, layout in AccessLayouts(module, program).layouts().items():
            pointers = pointers_of(op)
            assert pointers is not None
            layouts.seed(pointers, ttg.encoding_of(layout))
        layouts.propagate()
        layouts.apply()
        eliminate_dead_code(module)  # what nothing uses needs no layout
        for op in ops_within(module):
            if any(encoding_of(value) == gluon.COALESCED for value in op.results):
                raise op_error(
                    op,
                    "the layout is ambiguous: it is to follow from addresses that are accessed, and there are none",
                    pass_name=self.name,
                    kind=AmbiguousLayoutError,
                )
