"""`make-ttir`: the passes between the front end and every back end."""

from __future__ import annotations

from tilewright.ir.passes import Pass, register_pipeline
from tilewright.transforms.common.canonicalize import CanonicalizePass
from tilewright.transforms.common.eliminate_common_subexpressions import CsePass
from tilewright.transforms.common.eliminate_dead_code import SymbolDcePass
from tilewright.transforms.common.inline import InlinePass
from tilewright.transforms.tt.combine import CombinePass
from tilewright.transforms.tt.reorder_broadcast import ReorderBroadcastPass
from tilewright.transforms.tt.rewrite_tensor_descriptor import RewriteTensorDescriptorToPointerPass
from tilewright.transforms.tt.rewrite_tensor_pointer import RewriteTensorPointerPass
from tilewright.transforms.tt.unroll_loops import LoopUnrollPass


def make_ttir(
    *,
    rewrite_tensor_pointers: bool = True,
    rewrite_tensor_descriptors: bool = True,
    rewrite_gathered_descriptors: bool = False,
    unit_inner_stride: bool = False,
) -> list[Pass]:
    """The passes in order. A target that lowers block pointers or descriptors itself leaves their rewrite out, or asks
    for that of descriptors only where rows are gathered through them; `unit_inner_stride` lets contiguity be seen
    through descriptor arguments.
    """
    passes: list[Pass] = [InlinePass()]
    if rewrite_tensor_pointers:
        passes.append(RewriteTensorPointerPass())
    if rewrite_tensor_descriptors:
        passes.append(RewriteTensorDescriptorToPointerPass(unit_inner_stride=unit_inner_stride))
    elif rewrite_gathered_descriptors:
        passes.append(RewriteTensorDescriptorToPointerPass(unit_inner_stride=unit_inner_stride, only_gathered=True))
    passes += [
        CanonicalizePass(),
        CombinePass(),
        ReorderBroadcastPass(),
        CsePass(),
        SymbolDcePass(),
        LoopUnrollPass(),
    ]
    return passes


register_pipeline("make-ttir", make_ttir)
