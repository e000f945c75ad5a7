"""The passes from Triton IR to the ttg stage, and the passes that allocate memory for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import Pass, PassContext, PassPipeline
from tilewright.support import knobs

if TYPE_CHECKING:
    from tilewright.codegen.nvptx.facts import NvptxFacts
    from tilewright.transforms.ttg.loop_options import LoopOptions

TMA_LOWERING = "triton-nvidia-tma-lowering"
"""The pass that makes copies by tensor maps of accesses by descriptors."""


def stages(capability: int, options: Any, reserved_bytes: int = 0) -> Sequence[tuple[str, Sequence[Pass]]]:
    """Stage names in `kernel.asm`, each with the passes that lead to it; `reserved_bytes` as in `LoopOptions`."""
    from tilewright.lowering.tt_to_ttg.convert_triton_to_tritongpu import ConvertTritonToTritonGPUPass
    from tilewright.transforms.tt.pipeline import make_ttir
    from tilewright.transforms.ttg.pipelines import loop_passes_for, passes_for

    num_ctas = getattr(options, "num_ctas", 1)
    loops = loop_options(options, reserved_bytes)
    convert = ConvertTritonToTritonGPUPass(target=f"cuda:{capability}", num_warps=loops.num_warps, num_ctas=num_ctas)
    ttgir = passes_for(capability, loops)
    # Where nothing copies by tensor maps, as in programs of several CTAs, descriptors are pointers, extents, strides;
    # and where rows are gathered, which Hopper's tensor maps cannot do for rows of any width.
    is_rewritten = num_ctas > 1 or all(pass_.name != TMA_LOWERING for pass_ in ttgir)
    ttir = make_ttir(rewrite_tensor_descriptors=is_rewritten, rewrite_gathered_descriptors=True, unit_inner_stride=True)
    return ("ttir", ttir), ("ttgir", [*loop_passes_for(capability, loops), convert, *ttgir])


def loop_options(options: Any, reserved_bytes: int = 0) -> LoopOptions:
    """Gather what a launch asks of loops and what the switches say.

    Programs of several CTAs load nothing by TMA and overlap no iterations; nor is TMA used where accesses are checked.
    """
    from tilewright.transforms.common.modes import NEVER
    from tilewright.transforms.ttg.loop_options import SWITCHES, LoopOptions

    switches = {name: knobs.get(name) for name in SWITCHES}
    if getattr(options, "num_ctas", 1) > 1 or knobs.get("sanitize") or switches["specialize_warps"] == NEVER:
        switches["tma_loads"] = NEVER
    launch = {name: getattr(options, name) for name in ("num_warps", "num_stages") if hasattr(options, name)}
    if getattr(options, "num_ctas", 1) > 1:
        launch["num_stages"] = 1
    return LoopOptions(**launch, **switches, reserved_bytes=reserved_bytes)


def gluon_stages() -> Sequence[tuple[str, Sequence[Pass]]]:
    """As `stages`, for kernels whose layouts, copies and barriers are the user's."""
    from tilewright.transforms.ttg.pipelines import passes_for_gluon

    return (("ttgir", passes_for_gluon()),)


def memory_passes() -> list[Pass]:
    """Partitions get their warps, buffers their places in shared and scratch memory, and accesses the fences and
    barriers between them that they need."""
    from tilewright.transforms.ttg.allocate_shared_memory import AllocateSharedMemoryPass
    from tilewright.transforms.ttg.allocate_warp_groups import AllocateWarpGroupsPass
    from tilewright.transforms.ttg.gather_cluster_operands import GatherClusterOperandsPass
    from tilewright.transforms.ttg.global_scratch_memory_allocation import GlobalScratchMemoryAllocationPass
    from tilewright.transforms.ttg.membar import MembarPass
    from tilewright.transforms.ttg.proxy_fence_insertion import ProxyFenceInsertionPass
    from tilewright.transforms.ttg.sync_clusters import SyncClustersPass

    return [
        GatherClusterOperandsPass(),
        SyncClustersPass(),
        AllocateWarpGroupsPass(),
        AllocateSharedMemoryPass(),
        GlobalScratchMemoryAllocationPass(),
        ProxyFenceInsertionPass(),
        MembarPass(),
    ]


def lower_memory(module: ModuleOp, facts: NvptxFacts) -> None:
    """Run `memory_passes`: what is left to do is op by op."""
    PassPipeline(memory_passes()).run(module, PassContext(facts=facts))
