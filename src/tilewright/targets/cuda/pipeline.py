"""The passes from Triton IR to the ttg stage, and those that lay out its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import Pass, PassContext, PassPipeline
from tilewright.support import knobs

if TYPE_CHECKING:
    from tilewright.codegen.nvptx.facts import NvptxFacts

TMA_LOWERING = "triton-nvidia-tma-lowering"
"""The pass that makes copies by tensor maps of accesses by descriptors."""


def stages(capability: int, options: Any) -> Sequence[tuple[str, Sequence[Pass]]]:
    """Stage names in `kernel.asm`, each with the passes that lead to it."""
    from tilewright.lowering.tt_to_ttg.convert_triton_to_tritongpu import ConvertTritonToTritonGPUPass
    from tilewright.transforms.tt.pipeline import make_ttir
    from tilewright.transforms.ttg.pipelines import loop_passes_for, passes_for

    num_warps, num_ctas = getattr(options, "num_warps", 4), getattr(options, "num_ctas", 1)
    convert = ConvertTritonToTritonGPUPass(target=f"cuda:{capability}", num_warps=num_warps, num_ctas=num_ctas)
    ttgir = passes_for(
        capability,
        num_stages=getattr(options, "num_stages", 3),
        overlap=str(knobs.get("overlap_products")),
        specialize=str(knobs.get("specialize_warps")),
        turns=str(knobs.get("take_turns")),
        widen=bool(knobs.get("widen_in_registers")),
    )
    loops = loop_passes_for(
        capability,
        join=bool(knobs.get("join_loops")),
        guard=bool(knobs.get("guard_masks")),
        tma_loads=_tma_loads(num_ctas),
        persist=str(knobs.get("persist_programs")),
        num_warps=num_warps,
        num_stages=getattr(options, "num_stages", 3),
        scale_after_max=bool(knobs.get("scale_after_max")),
        turns=str(knobs.get("take_turns")),
        copy_kept=bool(knobs.get("copy_kept")),
    )
    # Where nothing copies by tensor maps, descriptors are pointers, extents and strides; and where rows are gathered,
    # which Hopper's tensor maps cannot do for rows of any width.
    is_rewritten = all(pass_.name != TMA_LOWERING for pass_ in ttgir)
    ttir = make_ttir(rewrite_tensor_descriptors=is_rewritten, rewrite_gathered_descriptors=True, unit_inner_stride=True)
    return ("ttir", ttir), ("ttgir", [*loops, convert, *ttgir])


def _tma_loads(num_ctas: int) -> str:
    """The mode of `triton-promote-loads-to-tma`: not where clusters share blocks, nor where accesses are checked."""
    if num_ctas > 1 or knobs.get("sanitize") or knobs.get("specialize_warps") == "never":
        return "never"
    return str(knobs.get("tma_loads"))


def gluon_stages() -> Sequence[tuple[str, Sequence[Pass]]]:
    """As `stages`, for kernels whose layouts, copies and barriers are the user's."""
    from tilewright.transforms.ttg.pipelines import passes_for_gluon

    return (("ttgir", passes_for_gluon()),)


def memory_passes() -> list[Pass]:
    """Partitions get their warps, buffers their places in shared and scratch memory, and accesses the barriers between
    them that they need."""
    from tilewright.transforms.ttg.allocate_shared_memory import AllocateSharedMemoryPass
    from tilewright.transforms.ttg.allocate_warp_groups import AllocateWarpGroupsPass
    from tilewright.transforms.ttg.check_clusters import CheckClustersPass
    from tilewright.transforms.ttg.global_scratch_memory_allocation import GlobalScratchMemoryAllocationPass
    from tilewright.transforms.ttg.membar import MembarPass

    return [
        CheckClustersPass(),
        AllocateWarpGroupsPass(),
        AllocateSharedMemoryPass(),
        GlobalScratchMemoryAllocationPass(),
        MembarPass(),
    ]


def lower_memory(module: ModuleOp, facts: NvptxFacts) -> None:
    """Run `memory_passes`: what is left to do is op by op."""
    PassPipeline(memory_passes()).run(module, PassContext(facts=facts))
