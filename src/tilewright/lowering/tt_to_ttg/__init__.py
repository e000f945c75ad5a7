"""From Triton IR to TritonGPU IR: every tensor gets a layout."""

from tilewright.lowering.tt_to_ttg.convert_triton_to_tritongpu import ConvertTritonToTritonGPUPass
from tilewright.lowering.tt_to_ttg.pipeline import make_ttgir
from tilewright.lowering.tt_to_ttg.relayout_tritongpu import RelayoutTritonGPUPass

__all__ = ["ConvertTritonToTritonGPUPass", "RelayoutTritonGPUPass", "make_ttgir"]
