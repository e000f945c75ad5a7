"""The passes from Triton IR to the ttg stage, and those that lay out its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import Pass, PassContext, PassPipeline

if TYPE_CHECKING:
    from tilewright.codegen.nvptx.facts import NvptxFacts

HOPPER = 90


def stages(capability: int, options: Any) -> Sequence[tuple[str, Sequence[Pass]]]:
    """Stage names in `kernel.asm`, each with the passes that lead to it."""
    from tilewright.lowering.tt_to_ttg.convert import ConvertTritonToTritonGPUPass
    from tilewright.transforms.tt.pipeline import make_ttir

    # Hopper copies by descriptors; before it they are pointers, extents and strides.
    has_descriptors = capability >= HOPPER
    ttir = make_ttir(rewrite_tensor_descriptors=not has_descriptors, unit_inner_stride=not has_descriptors)
    num_warps = getattr(options, "num_warps", 4)
    ttgir = [ConvertTritonToTritonGPUPass(target=f"cuda:{capability}", num_warps=num_warps)]
    return ("ttir", ttir), ("ttgir", ttgir)


def lower_memory(module: ModuleOp, facts: NvptxFacts) -> None:
    """Give buffers their places in shared and scratch memory, and put barriers between accesses that need them."""
    from tilewright.transforms.ttg.allocate_global_scratch import GlobalScratchMemoryAllocationPass
    from tilewright.transforms.ttg.allocate_shared_memory import AllocateSharedMemoryPass
    from tilewright.transforms.ttg.membar import MembarPass

    passes = [AllocateSharedMemoryPass(), GlobalScratchMemoryAllocationPass(), MembarPass()]
    PassPipeline(passes).run(module, PassContext(facts=facts))
