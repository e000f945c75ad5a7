"""The passes of each GPU architecture on TritonGPU IR, in order: from layouts as they come out of
`convert-triton-to-tritongpu` to IR that is lowered op by op.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.ir.passes import Pass
from tilewright.support.errors import PipelineError
from tilewright.transforms.common.canonicalize import CanonicalizePass
from tilewright.transforms.common.cse import CsePass
from tilewright.transforms.common.symbol_dce import SymbolDcePass
from tilewright.transforms.tt.guard_masks import GuardMasksPass
from tilewright.transforms.tt.join_loops import JoinLoopsPass
from tilewright.transforms.tt.licm import TritonLicmPass
from tilewright.transforms.tt.loop_aware_cse import LoopAwareCsePass
from tilewright.transforms.tt.persist_programs import PersistProgramsPass
from tilewright.transforms.tt.promote_loads_to_tma import PromoteLoadsToTMAPass
from tilewright.transforms.tt.promote_stores_to_tma import PromoteStoresToTMAPass
from tilewright.transforms.tt.scale_after_max import ScaleAfterMaxPass
from tilewright.transforms.ttg.accelerate_matmul import AccelerateMatmulPass
from tilewright.transforms.ttg.assign_latencies import AssignLatenciesPass
from tilewright.transforms.ttg.coalesce import CoalescePass
from tilewright.transforms.ttg.combine_tensor_select_and_if import CombineTensorSelectAndIfPass
from tilewright.transforms.ttg.f32_dot_tc import F32DotTCPass
from tilewright.transforms.ttg.fence_insertion import FenceInsertionPass
from tilewright.transforms.ttg.fuse_nested_loops import FuseNestedLoopsPass
from tilewright.transforms.ttg.gluon_canonicalize import GluonCanonicalizePass
from tilewright.transforms.ttg.gluon_infer_coalesced_encodings import GluonInferCoalescedEncodingsPass
from tilewright.transforms.ttg.gluon_inline import GluonInlinePass
from tilewright.transforms.ttg.gluon_resolve_auto_encodings import GluonResolveAutoEncodingsPass
from tilewright.transforms.ttg.optimize_accumulator_init import OptimizeAccumulatorInitPass
from tilewright.transforms.ttg.optimize_descriptor_encoding import OptimizeDescriptorEncodingPass
from tilewright.transforms.ttg.optimize_dot_operands import OptimizeDotOperandsPass
from tilewright.transforms.ttg.optimize_thread_locality import OptimizeThreadLocalityPass
from tilewright.transforms.ttg.overlap_products import AUTO, NEVER, OverlapProductsPass
from tilewright.transforms.ttg.pipeline import PipelinePass
from tilewright.transforms.ttg.prefetch import PrefetchPass
from tilewright.transforms.ttg.reassociate_pointers import ReassociatePointersPass
from tilewright.transforms.ttg.reduce_data_duplication import ReduceDataDuplicationPass
from tilewright.transforms.ttg.remove_layout_conversions import RemoveLayoutConversionsPass
from tilewright.transforms.ttg.reorder_instructions import ReorderInstructionsPass
from tilewright.transforms.ttg.schedule_loops import ScheduleLoopsPass
from tilewright.transforms.ttg.specialize_warps import SpecializeWarpsPass
from tilewright.transforms.ttg.take_turns import TakeTurnsPass
from tilewright.transforms.ttg.tma_lowering import TMALoweringPass


def passes_for_ampere(num_stages: int, overlap: str, specialize: str, turns: str, widen: bool) -> list[Pass]:
    """Compute capability 8.x: `mma.sync` with operands in registers, `cp.async`; nothing to overlap."""
    del overlap, specialize, turns, widen
    return [
        *_choose_layouts(),
        *_fuse_loops(),
        *_hoist(),
        *_pipeline_loops(num_stages),
        *_place_conversions(),
        SymbolDcePass(),  # functions that were inlined everywhere
        CsePass(),
        CanonicalizePass(),
    ]


def passes_for_hopper(num_stages: int, overlap: str, specialize: str, turns: str, widen: bool) -> list[Pass]:
    """Compute capability 9.0: `wgmma` with operands in shared memory, `cp.async` and TMA."""
    return [
        *_choose_layouts(widen_in_registers=widen),
        ReassociatePointersPass(),  # loops carry scalar pointers: fewer registers (on Ampere it costs time: measured)
        *_fuse_loops(),
        OptimizeAccumulatorInitPass(),  # sums are reset by `wgmma` itself, which runs on in loops
        *_hoist(),
        OptimizeDescriptorEncodingPass(),  # what TMA writes is what `wgmma` reads
        *_pipeline_loops(
            num_stages,
            OverlapProductsPass(mode=overlap, specialize=specialize, turns=turns),  # arithmetic under products
            SpecializeWarpsPass(mode=specialize),  # a warp that copies for those that multiply
        ),
        TakeTurnsPass(mode=turns),  # one group of warps computes while another multiplies
        TMALoweringPass(),  # accesses through descriptors that no loop pipelines
        *_place_conversions(),
        SymbolDcePass(),  # functions that were inlined everywhere
        FenceInsertionPass(),  # `wgmma` sees what threads wrote
        CsePass(),
        CanonicalizePass(),
    ]


def _choose_layouts(*, widen_in_registers: bool = False) -> list[Pass]:
    """Layouts that memory and tensor cores ask for, and few conversions between them."""
    return [
        CoalescePass(),  # neighbouring lanes access neighbouring addresses
        F32DotTCPass(emu_tf32=True),  # f32 dots of more than tf32's precision: several on tensor cores
        RemoveLayoutConversionsPass(),  # what coalescing converted meets again, before dots ask for more
        OptimizeThreadLocalityPass(gathers=False),  # sums across threads after loops; gathers go through memory anyway
        AccelerateMatmulPass(widen_in_registers=widen_in_registers),  # dots on tensor cores
        RemoveLayoutConversionsPass(),  # accumulators stay in the tensor cores' layout
        OptimizeDotOperandsPass(),  # operands are transposed in shared memory, where it costs nothing
        LoopAwareCsePass(),  # pointers that move alike are one, before each is carried by a loop
    ]


def _fuse_loops() -> list[Pass]:
    return [
        FuseNestedLoopsPass(),  # loops over tiles that ask for it are one with their inner loop
        CanonicalizePass(),  # bounds and constants in plain form for what follows
    ]


def _hoist() -> list[Pass]:
    return [
        TritonLicmPass(),  # nothing invariant in loops that are pipelined: it would be carried
        CanonicalizePass(),
    ]


def _pipeline_loops(num_stages: int, *then: Pass) -> list[Pass]:
    """Loads of later iterations while this one computes; `then` change the schedules that were found."""
    return [
        CombineTensorSelectAndIfPass(),  # accumulators that are reset in a branch have one way through the loop
        AssignLatenciesPass(num_stages=num_stages),  # loads that run ahead, and how far
        ScheduleLoopsPass(),  # stages of all ops of their loops
        *then,
        PipelinePass(num_stages=num_stages),  # several iterations at a time, asynchronous copies into several buffers
        CanonicalizePass(),  # first iterations of constant loops need no masks
        LoopAwareCsePass(),  # indices into buffers that are counted alike
        PrefetchPass(),  # the first operands of an iteration are in registers when it begins; not those of `wgmma`
    ]


def _place_conversions() -> list[Pass]:
    return [
        RemoveLayoutConversionsPass(),  # conversions that pipelining left next to loads from shared memory
        ReduceDataDuplicationPass(),  # operands of dots from one copy in shared memory
        ReorderInstructionsPass(),  # values in registers for a short time
        LoopAwareCsePass(),
    ]


def passes_for_gluon() -> list[Pass]:
    """Kernels that say themselves how data is laid out and moved: only what they leave open is chosen."""
    return [
        GluonInlinePass(),
        GluonInferCoalescedEncodingsPass(),  # layouts that follow from addresses
        GluonResolveAutoEncodingsPass(),  # layouts that follow from others
        TMALoweringPass(),  # descriptors that the kernel makes
        GluonCanonicalizePass(),
        LoopAwareCsePass(),
        GluonCanonicalizePass(),
        CombineTensorSelectAndIfPass(),
        SymbolDcePass(),
    ]


PIPELINES: dict[int, Callable[[int, str, str, str, bool], list[Pass]]] = {
    80: passes_for_ampere,
    86: passes_for_ampere,
    87: passes_for_ampere,
    89: passes_for_ampere,
    90: passes_for_hopper,
}
"""The list of each compute capability that is supported."""


def loop_passes_for(
    capability: int,
    *,
    join: bool = True,
    guard: bool = True,
    tma_loads: str = NEVER,
    persist: str = NEVER,
    num_warps: int = 4,
    num_stages: int = 3,
    scale_after_max: bool = True,
    turns: str = AUTO,
    copy_kept: bool = True,
) -> list[Pass]:
    """The passes on Triton IR that make of its loops what the pipeliner does most with, before there are layouts: for
    Hopper, where they were measured.
    """
    if PIPELINES.get(capability) is not passes_for_hopper:
        return []
    passes: list[Pass] = []
    if join:
        passes.append(JoinLoopsPass())  # what is filled and drained once, not twice
    if guard:
        passes.append(GuardMasksPass())  # masks of the blocks that need them
    if tma_loads != NEVER:
        passes += [
            PromoteLoadsToTMAPass(
                mode=tma_loads, num_warps=num_warps, num_stages=num_stages, persist=persist
            ),  # after what makes one loop of several
            CanonicalizePass(),  # pointers that nobody reads through any more
        ]
    if scale_after_max:
        passes.append(ScaleAfterMaxPass())  # after what has the launch make sure of something
    if tma_loads != NEVER and persist != NEVER:
        passes += [
            PromoteStoresToTMAPass(mode=persist, num_warps=num_warps, num_stages=num_stages, turns=turns),
            PersistProgramsPass(
                mode=persist, num_warps=num_warps, num_stages=num_stages, turns=turns, copy_kept=copy_kept
            ),  # last: it adds numbers
            CanonicalizePass(),  # of programs, and pointers that nobody stores through any more
        ]
    return passes


def passes_for(
    capability: int,
    *,
    num_stages: int = 3,
    overlap: str = AUTO,
    specialize: str = AUTO,
    turns: str = AUTO,
    widen: bool = True,
) -> list[Pass]:
    """The passes on TritonGPU IR for a compute capability, e.g. 90; `num_stages` is how many iterations of a loop are
    under way unless the loop says otherwise, `overlap` the mode of `tritongpu-overlap-products`, `specialize` that of
    `tritongpu-specialize-warps`, `turns` that of `tritongpu-take-turns`; `widen` says whether operands are widened in
    registers. Raises `PipelineError` where the GPU is not supported.
    """
    build = PIPELINES.get(capability)
    if build is None:
        known = ", ".join(f"cuda:{number}" for number in PIPELINES)
        raise PipelineError(f"no pipeline for target 'cuda:{capability}'; there is one for {known}")
    return build(num_stages, overlap, specialize, turns, widen)
