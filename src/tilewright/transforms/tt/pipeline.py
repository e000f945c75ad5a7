"""`make-ttir`: the passes between the front end and every back end."""

from __future__ import annotations

from tilewright.ir.passes import Pass, register_pipeline
from tilewright.transforms.common.canonicalize import CanonicalizePass
from tilewright.transforms.common.cse import CsePass
from tilewright.transforms.common.inline import InlinePass
from tilewright.transforms.common.symbol_dce import SymbolDcePass
from tilewright.transforms.tt.combine import CombinePass
from tilewright.transforms.tt.loop_unroll import LoopUnrollPass
from tilewright.transforms.tt.mark_awaited_loads import MarkAwaitedLoadsPass
from tilewright.transforms.tt.reorder_broadcast import ReorderBroadcastPass
from tilewright.transforms.tt.rewrite_tensor_descriptor_to_pointer import RewriteTensorDescriptorToPointerPass
from tilewright.transforms.tt.rewrite_tensor_pointer import RewriteTensorPointerPass


def make_ttir(
    *,
    rewrite_tensor_pointers: bool = True,
    rewrite_tensor_descriptors: bool = True,
    rewrite_gathered_descriptors: bool = False,
    unit_inner_stride: bool = False,
) -> list[Pass]:
    """Turns the front end's output into the IR that every back end starts from.

    A target that lowers block pointers or descriptors itself turns off their rewriting, or has descriptors rewritten
    only if rows are gathered through them. `unit-inner-stride` makes contiguity visible through descriptor arguments.
    """
    passes: list[Pass] = [
        InlinePass(),  # first: what follows sees across calls
        MarkAwaitedLoadsPass(),  # before anything moves or removes loads
    ]
    if rewrite_tensor_pointers:
        passes.append(RewriteTensorPointerPass())
    if rewrite_tensor_descriptors:
        passes.append(RewriteTensorDescriptorToPointerPass(unit_inner_stride=unit_inner_stride))
    elif rewrite_gathered_descriptors:
        passes.append(RewriteTensorDescriptorToPointerPass(unit_inner_stride=unit_inner_stride, only_gathered=True))
    passes += [
        CanonicalizePass(),  # constants and plain forms, which the next two look for
        CombinePass(),  # fewer ops for the same
        ReorderBroadcastPass(),  # work on small tensors, which are made large last
        CsePass(),  # addresses that were computed for several accesses
        SymbolDcePass(),  # functions that were inlined everywhere
        LoopUnrollPass(),  # last, so that what is copied is small
    ]
    return passes


register_pipeline("make-ttir", make_ttir)
