"""Passes on Triton IR; importing this package registers them and the `make-ttir` pipeline."""

from __future__ import annotations

from tilewright.transforms.tt.combine import CombinePass
from tilewright.transforms.tt.divide_aligned_tiles import DivideAlignedTilesPass
from tilewright.transforms.tt.expand_atomics import ExpandAtomicsPass
from tilewright.transforms.tt.fold_comparisons import FoldComparisonsPass
from tilewright.transforms.tt.guard_masks import GuardMasksPass
from tilewright.transforms.tt.join_loops import JoinLoopsPass
from tilewright.transforms.tt.licm import TritonLicmPass
from tilewright.transforms.tt.loop_aware_cse import LoopAwareCsePass
from tilewright.transforms.tt.loop_unroll import LoopUnrollPass
from tilewright.transforms.tt.mark_awaited_loads import MarkAwaitedLoadsPass
from tilewright.transforms.tt.pipeline import make_ttir
from tilewright.transforms.tt.print_addresses import PrintAddressesPass
from tilewright.transforms.tt.reorder_broadcast import ReorderBroadcastPass
from tilewright.transforms.tt.rewrite_tensor_descriptor_to_pointer import RewriteTensorDescriptorToPointerPass
from tilewright.transforms.tt.rewrite_tensor_pointer import RewriteTensorPointerPass

__all__ = [
    "CombinePass",
    "DivideAlignedTilesPass",
    "ExpandAtomicsPass",
    "FoldComparisonsPass",
    "GuardMasksPass",
    "JoinLoopsPass",
    "LoopAwareCsePass",
    "LoopUnrollPass",
    "MarkAwaitedLoadsPass",
    "PrintAddressesPass",
    "ReorderBroadcastPass",
    "RewriteTensorDescriptorToPointerPass",
    "RewriteTensorPointerPass",
    "TritonLicmPass",
    "make_ttir",
]
