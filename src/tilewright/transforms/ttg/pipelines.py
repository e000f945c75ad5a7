"""The passes of each GPU architecture on TritonGPU IR, in order: from layouts as they come out of
`convert-triton-to-tritongpu` to IR that is lowered op by op.
"""

from __future__ import annotations

from collections.abc import Callable

from tilewright.ir.passes import Pass
from tilewright.support.errors import PipelineError
from tilewright.transforms.common.canonicalize import CanonicalizePass
from tilewright.transforms.common.cse import CsePass
from tilewright.transforms.common.modes import NEVER
from tilewright.transforms.common.symbol_dce import SymbolDcePass
from tilewright.transforms.tt.guard_masks import GuardMasksPass
from tilewright.transforms.tt.join_loops import JoinLoopsPass
from tilewright.transforms.tt.licm import TritonLicmPass
from tilewright.transforms.tt.loop_aware_cse import LoopAwareCsePass
from tilewright.transforms.tt.persist_programs import PersistProgramsPass
from tilewright.transforms.tt.promote_loads_to_tma import PromoteLoadsToTMAPass
from tilewright.transforms.tt.promote_stores_to_tma import PromoteStoresToTMAPass
from tilewright.transforms.tt.scale_after_max import ScaleAfterMaxPass
from tilewright.transforms.tt.tma.gain import SHARED_BYTES
from tilewright.transforms.ttg.accelerate_matmul import AccelerateMatmulPass
from tilewright.transforms.ttg.assign_latencies import AssignLatenciesPass
from tilewright.transforms.ttg.coalesce import CoalescePass
from tilewright.transforms.ttg.combine_tensor_select_and_if import CombineTensorSelectAndIfPass
from tilewright.transforms.ttg.defer_row_sums import DeferRowSumsPass
from tilewright.transforms.ttg.drop_turns import DropTurnsPass
from tilewright.transforms.ttg.enter_roles_directly import EnterRolesDirectlyPass
from tilewright.transforms.ttg.f32_dot_tc import F32DotTCPass
from tilewright.transforms.ttg.fence_insertion import FenceInsertionPass
from tilewright.transforms.ttg.fuse_nested_loops import FuseNestedLoopsPass
from tilewright.transforms.ttg.gluon_canonicalize import GluonCanonicalizePass
from tilewright.transforms.ttg.gluon_infer_coalesced_encodings import GluonInferCoalescedEncodingsPass
from tilewright.transforms.ttg.gluon_inline import GluonInlinePass
from tilewright.transforms.ttg.gluon_resolve_auto_encodings import GluonResolveAutoEncodingsPass
from tilewright.transforms.ttg.loop_options import LoopOptions
from tilewright.transforms.ttg.optimize_accumulator_init import OptimizeAccumulatorInitPass
from tilewright.transforms.ttg.optimize_descriptor_encoding import OptimizeDescriptorEncodingPass
from tilewright.transforms.ttg.optimize_dot_operands import OptimizeDotOperandsPass
from tilewright.transforms.ttg.optimize_thread_locality import OptimizeThreadLocalityPass
from tilewright.transforms.ttg.overlap_products import OverlapProductsPass
from tilewright.transforms.ttg.pipeline import PipelinePass
from tilewright.transforms.ttg.prefetch import PrefetchPass
from tilewright.transforms.ttg.reassociate_pointers import ReassociatePointersPass
from tilewright.transforms.ttg.reduce_data_duplication import ReduceDataDuplicationPass
from tilewright.transforms.ttg.remove_layout_conversions import RemoveLayoutConversionsPass
from tilewright.transforms.ttg.reorder_instructions import ReorderInstructionsPass
from tilewright.transforms.ttg.schedule_loops import ScheduleLoopsPass
from tilewright.transforms.ttg.specialize_warps import SpecializeWarpsPass
from tilewright.transforms.ttg.start_products_early import StartProductsEarlyPass
from tilewright.transforms.ttg.store_by_warps import StoreByWarpsPass
from tilewright.transforms.ttg.take_turns import TakeTurnsPass
from tilewright.transforms.ttg.tma_lowering import TMALoweringPass


def passes_for_ampere(options: LoopOptions) -> list[Pass]:
    """Compute capability 8.x: `mma.sync` with operands in registers, `cp.async`; nothing to overlap."""
    return [
        *_choose_layouts(),
        *_fuse_loops(),
        *_hoist(),
        *_pipeline_loops(options.num_stages),
        *_place_conversions(),
        SymbolDcePass(),  # functions that were inlined everywhere
        CsePass(),
        CanonicalizePass(),
    ]


def passes_for_hopper(options: LoopOptions) -> list[Pass]:
    """Compute capability 9.0: `wgmma` with operands in shared memory, `cp.async` and TMA."""
    overlap = OverlapProductsPass(
        mode=options.overlap_products, specialize=options.specialize_warps, turns=options.take_turns
    )
    specialize = SpecializeWarpsPass(mode=options.specialize_warps, reserved_bytes=options.reserved_bytes)
    return [
        *_choose_layouts(
            widen_in_registers=options.widen_in_registers, transpose=options.reserved_bytes < SHARED_BYTES
        ),
        ReassociatePointersPass(),  # loops carry scalar pointers: fewer registers (on Ampere it costs time: measured)
        *_fuse_loops(),
        OptimizeAccumulatorInitPass(),  # sums are reset by `wgmma` itself, which runs on in loops
        *_hoist(),
        OptimizeDescriptorEncodingPass(),  # what TMA writes is what `wgmma` reads
        *([StartProductsEarlyPass()] if options.start_products_early else []),  # under the arithmetic on others
        *_pipeline_loops(
            options.num_stages,
            overlap,  # arithmetic under products
            specialize,  # a warp that copies for those that multiply
        ),
        TakeTurnsPass(mode=options.take_turns),  # one group of warps computes while another multiplies
        TMALoweringPass(),  # accesses through descriptors that no loop pipelines
        *_place_conversions(),
        DropTurnsPass(),  # of groups that exchange elements meanwhile
        *([DeferRowSumsPass()] if options.defer_row_sums else []),  # threads exchange sums once, after loops
        *([StoreByWarpsPass()] if options.store_by_warps else []),  # no warp waits for another where programs end
        SymbolDcePass(),  # functions that were inlined everywhere
        FenceInsertionPass(),  # `wgmma` sees what threads wrote
        CsePass(),
        CanonicalizePass(),
        *([EnterRolesDirectlyPass()] if options.enter_roles_directly else []),  # copies start with the kernel
    ]


def _choose_layouts(*, widen_in_registers: bool = False, transpose: bool = True) -> list[Pass]:
    """Layouts that memory and tensor cores ask for, and few conversions between them."""
    return [
        CoalescePass(),  # neighbouring lanes access neighbouring addresses
        F32DotTCPass(emu_tf32=True),  # f32 dots of more than tf32's precision: several on tensor cores
        RemoveLayoutConversionsPass(),  # what coalescing converted meets again, before dots ask for more
        OptimizeThreadLocalityPass(gathers=False),  # sums across threads after loops; gathers go through memory anyway
        AccelerateMatmulPass(widen_in_registers=widen_in_registers, transpose=transpose),  # dots on tensor cores
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


PIPELINES: dict[int, Callable[[LoopOptions], list[Pass]]] = {
    80: passes_for_ampere,
    86: passes_for_ampere,
    87: passes_for_ampere,
    89: passes_for_ampere,
    90: passes_for_hopper,
}
"""The list of each compute capability that is supported."""


def loop_passes_for(capability: int, options: LoopOptions) -> list[Pass]:
    """The passes on Triton IR that make of its loops what the pipeliner does most with, before there are layouts: for
    Hopper, where they were measured.
    """
    if PIPELINES.get(capability) is not passes_for_hopper:
        return []
    names = ("num_warps", "num_stages", "reserved_bytes")
    launch = {name: getattr(options, name) for name in names}
    passes: list[Pass] = []
    if options.join_loops:
        passes.append(JoinLoopsPass())  # what is filled and drained once, not twice
    if options.guard_masks:
        passes.append(GuardMasksPass())  # masks of the blocks that need them
    if options.tma_loads != NEVER:
        passes += [
            PromoteLoadsToTMAPass(
                mode=options.tma_loads, persist=options.persist_programs, **launch
            ),  # after what makes one loop of several
            CanonicalizePass(),  # pointers that nobody reads through any more
        ]
    if options.scale_after_max:
        passes.append(ScaleAfterMaxPass())  # after what has the launch make sure of something
    if options.tma_loads != NEVER and options.persist_programs != NEVER:
        mode, turns = options.persist_programs, options.take_turns
        passes += [
            PromoteStoresToTMAPass(mode=mode, turns=turns, store_parts=options.store_parts, **launch),
            PersistProgramsPass(
                mode=mode,
                turns=turns,
                store_parts=options.store_parts,
                copy_kept=options.copy_kept,
                longest_first=options.longest_first,
                **launch,
            ),  # last: it adds numbers
            CanonicalizePass(),  # of programs, and pointers that nobody stores through any more
        ]
    return passes


def passes_for(capability: int, options: LoopOptions) -> list[Pass]:
    """The passes on TritonGPU IR for a compute capability, e.g. 90.

    Raises `PipelineError` where the GPU is not supported.
    """
    build = PIPELINES.get(capability)
    if build is None:
        known = ", ".join(f"cuda:{number}" for number in PIPELINES)
        raise PipelineError(f"no pipeline for target 'cuda:{capability}'; there is one for {known}")
    return build(options)
