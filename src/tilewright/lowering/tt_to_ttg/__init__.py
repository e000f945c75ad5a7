"""From Triton IR to TritonGPU IR: every tensor gets a layout."""

from tilewright.lowering.tt_to_ttg.convert import ConvertTritonToTritonGPUPass
from tilewright.lowering.tt_to_ttg.pipeline import make_ttgir
from tilewright.lowering.tt_to_ttg.relayout import RelayoutTritonGPUPass

__all__ = ["ConvertTritonToTritonGPUPass", "RelayoutTritonGPUPass", "make_ttgir"]
