"""`gluon-resolve-auto-encodings`: tensors without a layout get the one that follows from their uses."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import gluon
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops, ops_within
from tilewright.support.errors import AmbiguousLayoutError
from tilewright.transforms.common.dce import eliminate_dead_code
from tilewright.transforms.ttg.following_layouts import FollowingLayouts, encoding_of


@register_pass
class GluonResolveAutoEncodingsPass(Pass):
    """Replaces `#gluon.auto_encoding` by the layout that a `gluon.set_auto_layout` gives to the values a tensor is
    computed from and with.

    ```mlir
    %0 = tt.make_range {...} : tensor<128xi32, #gluon.auto_encoding>
    %1 = gluon.set_auto_layout %0 : tensor<128xi32, #gluon.auto_encoding> -> tensor<128xi32, #blocked>
    // becomes
    %0 = tt.make_range {...} : tensor<128xi32, #blocked>
    ```

    Raises PassError for a tensor for which two layouts are inferred, or none.
    """

    name = "gluon-resolve-auto-encodings"
    takes: ClassVar[tuple[str, ...]] = ("gluon",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        setters = find_ops(module, gluon.SetAutoLayoutOp)
        if not setters and not _has_auto(module):
            return
        layouts = FollowingLayouts(module, gluon.AUTO, self.name)
        for op in setters:
            encoding = encoding_of(op.result)
            assert encoding is not None
            layouts.seed(op.src, encoding)
        layouts.propagate()
        layouts.apply()
        for op in setters:
            op.result.replace_all_uses_with(op.src)
            op.detach()
            op.erase()
        eliminate_dead_code(module)  # what nothing uses needs no layout
        self._check(module)

    def _check(self, module: ModuleOp) -> None:
        for op in ops_within(module):
            if any(encoding_of(value) == gluon.AUTO for value in op.results):
                raise op_error(
                    op,
                    "the layout is ambiguous: nothing that the tensor is used with has one; give it a layout where it "
                    "is made, or by gl.set_auto_layout",
                    pass_name=self.name,
                    kind=AmbiguousLayoutError,
                )


def _has_auto(module: ModuleOp) -> bool:
    return any(encoding_of(value) == gluon.AUTO for op in ops_within(module) for value in op.results)
