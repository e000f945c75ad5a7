"""The passes from Triton IR to the loops stage, one reason a line."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.ir.passes import Pass
from tilewright.support import knobs


def stages(*, is_baseline: bool = False) -> Sequence[tuple[str, Sequence[Pass]]]:
    """Stage names in `kernel.asm`, each with the passes that lead to it."""
    from tilewright.transforms.tt.pipeline import make_ttir

    return (
        ("ttir", make_ttir(unit_inner_stride=True)),
        ("structured", _to_structured()),
        ("linalg", _to_linalg()),
        ("loops", _baseline() if is_baseline else _to_loops()),
    )


def gluon_stages(*, is_baseline: bool = False) -> Sequence[tuple[str, Sequence[Pass]]]:
    """As `stages`, for kernels in Gluon: their layouts go first."""
    from tilewright.lowering.ttg_to_tt.gluon_drop_layouts import GluonDropLayoutsPass
    from tilewright.transforms.ttg.gluon_infer_coalesced_encodings import GluonInferCoalescedEncodingsPass
    from tilewright.transforms.ttg.gluon_inline import GluonInlinePass
    from tilewright.transforms.ttg.gluon_resolve_auto_encodings import GluonResolveAutoEncodingsPass

    (name, passes), *later = stages(is_baseline=is_baseline)
    first = (
        GluonInlinePass(insists_on_waits=True),  # a wait lets other partitions run, which no call can
        GluonInferCoalescedEncodingsPass(),
        GluonResolveAutoEncodingsPass(),  # a layout that is ambiguous is an error on every target
        GluonDropLayoutsPass(),
    )
    return ((name, (*first, *passes)), *later)


def _to_structured() -> Sequence[Pass]:
    from tilewright.lowering.tt_to_structured.triton_to_structured import TritonToStructuredPass
    from tilewright.transforms.common.canonicalize import CanonicalizePass
    from tilewright.transforms.common.cse import CsePass
    from tilewright.transforms.common.inline import InlinePass
    from tilewright.transforms.common.lift_cf_to_scf import LiftCfToScfPass
    from tilewright.transforms.inline_ptx.inline_ptx_to_arith import InlinePtxToArithPass
    from tilewright.transforms.tt.divide_aligned_tiles import DivideAlignedTilesPass
    from tilewright.transforms.tt.expand_atomics import ExpandAtomicsPass
    from tilewright.transforms.tt.fold_comparisons import FoldComparisonsPass
    from tilewright.transforms.tt.narrow_comparisons import NarrowComparisonsPass
    from tilewright.transforms.tt.print_addresses import PrintAddressesPass
    from tilewright.transforms.tt.rewrite_tensor_descriptor_to_pointer import RewriteTensorDescriptorToPointerPass

    return (
        # Calls pass numbers, tiles of them, and pointers; the sanitisers look at accesses through a kernel's arguments.
        InlinePass(insists=bool(knobs.get("sanitize")), insists_on_pointers=True),
        LiftCfToScfPass(),  # early returns: tiles cross no blocks
        RewriteTensorDescriptorToPointerPass(unit_inner_stride=True),  # only IR from elsewhere still has descriptors
        ExpandAtomicsPass(),  # reads, writes and polls by read-modify-writes
        PrintAddressesPass(),  # pointers will be offsets
        InlinePtxToArithPass(insists=True),  # addresses and masks may be computed by it
        DivideAlignedTilesPass(),  # contiguous accesses are seen as such
        FoldComparisonsPass(),  # masks that mask nothing would make two loops of one
        NarrowComparisonsPass(),  # the widest type of a loop says how many lanes it has
        TritonToStructuredPass(),
        CsePass(),
        CanonicalizePass(),
    )


def _to_linalg() -> Sequence[Pass]:
    from tilewright.lowering.arith_to_linalg.arith_to_linalg import TritonArithToLinalgPass
    from tilewright.lowering.ptr_to_memref.ptr_to_memref import TritonPtrToMemrefPass
    from tilewright.lowering.structured_to_memref.structured_to_memref import StructuredToMemrefPass
    from tilewright.lowering.tt_to_unstructured.triton_to_unstructured import TritonToUnstructuredPass
    from tilewright.lowering.unstructured_to_memref.unstructured_to_memref import UnstructuredToMemrefPass
    from tilewright.transforms.common.canonicalize import CanonicalizePass
    from tilewright.transforms.common.cse import CsePass
    from tilewright.transforms.common.remove_dead_values import RemoveDeadValuesPass

    return (
        TritonToUnstructuredPass(),  # every access that is left is at offsets from a base
        # Loops may carry pointers whose accesses were folded away. Scans are still ops, which lose no half of a pair.
        RemoveDeadValuesPass(),
        *_checks(),
        TritonArithToLinalgPass(),  # everything that is not memory
        StructuredToMemrefPass(rows_by_lane=True),  # tiles
        UnstructuredToMemrefPass(),  # single elements
        TritonPtrToMemrefPass(),  # signatures and control flow
        # Bounds of loads and stores become one value, which is how narrowing knows them equal.
        CsePass(),
        CanonicalizePass(),
    )


def _to_loops() -> Sequence[Pass]:
    """Fusion and merging first: they move readers, and a load is forwarded if nothing writes before its last one."""
    from tilewright.lowering.linalg_matmuls.allow_flush_to_zero import LinalgAllowFlushToZeroPass
    from tilewright.lowering.linalg_matmuls.fuse_matmul_stores import LinalgFuseMatmulStoresPass
    from tilewright.lowering.linalg_matmuls.pack_operands import LinalgPackOperandsPass
    from tilewright.lowering.linalg_matmuls.recognize_k_loops import LinalgRecognizeKLoopsPass
    from tilewright.lowering.linalg_matmuls.select_microkernels import LinalgSelectMicrokernelsPass
    from tilewright.lowering.linalg_matmuls.transpose_matmuls import LinalgTransposeMatmulsPass
    from tilewright.lowering.linalg_to_loops.chain_byte_products import ChainByteProductsPass
    from tilewright.lowering.linalg_to_loops.convert_dot_bytes_to_calls import ConvertDotBytesToCallsPass
    from tilewright.lowering.linalg_to_loops.form_exchange_networks import LinalgFormExchangeNetworksPass
    from tilewright.lowering.linalg_to_loops.linalg_to_loops import LinalgToLoopsPass
    from tilewright.lowering.linalg_to_loops.narrow_byte_sums import NarrowByteSumsPass
    from tilewright.transforms.common.outline_equal_loops import OutlineEqualLoopsPass
    from tilewright.transforms.common.sink_scalars import SinkScalarsPass
    from tilewright.transforms.common.split_long_functions import SplitLongFunctionsPass
    from tilewright.transforms.linalg.bufferize_function_boundaries import LinalgBufferizeFunctionBoundariesPass
    from tilewright.transforms.linalg.choose_unrolling import LinalgChooseUnrollingPass
    from tilewright.transforms.linalg.choose_vector_dims import LinalgChooseVectorDimsPass
    from tilewright.transforms.linalg.elide_reduction_starts import LinalgElideReductionStartsPass
    from tilewright.transforms.linalg.expand_selects import LinalgExpandSelectsPass
    from tilewright.transforms.linalg.find_needed_bounds import LinalgFindNeededBoundsPass
    from tilewright.transforms.linalg.form_words import LinalgFormWordsPass
    from tilewright.transforms.linalg.forward_loads import ForwardLoadsPass
    from tilewright.transforms.linalg.fuse_elementwise import LinalgFuseElementwisePass
    from tilewright.transforms.linalg.if_conversion import LinalgIfConversionPass
    from tilewright.transforms.linalg.lay_out_carried_tiles import LinalgLayOutCarriedTilesPass
    from tilewright.transforms.linalg.merge_reductions import LinalgMergeReductionsPass
    from tilewright.transforms.linalg.merge_siblings import LinalgMergeSiblingsPass
    from tilewright.transforms.linalg.narrow_results import LinalgNarrowResultsPass
    from tilewright.transforms.linalg.promote_carried_tiles import LinalgPromoteCarriedTilesPass
    from tilewright.transforms.linalg.recognize_scans import LinalgRecognizeScansPass
    from tilewright.transforms.linalg.reduce_assertions import LinalgReduceAssertionsPass
    from tilewright.transforms.linalg.sink_producers import LinalgSinkProducersPass

    return (
        LinalgReduceAssertionsPass(),  # conditions go by vectors
        LinalgBufferizeFunctionBoundariesPass(),  # tiles as arguments and results of calls
        LinalgIfConversionPass(),  # what both ways compute fuses with what is around them
        LinalgFormWordsPass(),  # products of bytes by one instruction; what makes the bytes is done on words
        LinalgFuseElementwisePass(),  # chains become one loop each
        LinalgNarrowResultsPass(),  # casts of results that are reduced, too, which fusion leaves
        LinalgMergeSiblingsPass(),  # loops over the same elements become one
        ForwardLoadsPass(),  # no copies of what can be read in place
        LinalgExpandSelectsPass(),  # selections of tiles are branches, as those of the program are
        LinalgRecognizeScansPass(),  # loops over elements that can go by vectors
        LinalgElideReductionStartsPass(),  # argmax and the like need no first element
        LinalgMergeReductionsPass(),  # what is reduced twice is read once
        LinalgSelectMicrokernelsPass(),  # matmuls by register tiles; others are loops
        LinalgAllowFlushToZeroPass(),  # narrowings that only matmuls read need not mend subnormals
        LinalgFormExchangeNetworksPass(),  # sorts and butterflies run in registers
        LinalgSinkProducersPass(),  # into the memory that they are stored to
        LinalgRecognizeKLoopsPass(),  # accumulators stay in registers over all of k
        LinalgFuseMatmulStoresPass(),  # micro-kernels write where the result is stored
        LinalgTransposeMatmulsPass(),  # what a loop does not change is the right operand, which can be packed
        LinalgPackOperandsPass(),  # once for a loop, or for all programs
        LinalgPromoteCarriedTilesPass(),  # what waits for a buffer in each step
        LinalgFindNeededBoundsPass(),  # loops end where what is stored does
        LinalgLayOutCarriedTilesPass(),  # as the memory that they are combined with
        LinalgChooseVectorDimsPass(),  # where the memory is known; the order of the loops follows
        LinalgChooseUnrollingPass(),  # accumulators hide one another's latency
        LinalgToLoopsPass(),
        SinkScalarsPass(),  # few values live through many loops
        NarrowByteSumsPass(),  # loops are written out, and sums that 16 bits hold are seen
        ChainByteProductsPass(),  # where an instruction adds products to a sum
        ConvertDotBytesToCallsPass(),  # which upstream reads
        # LLVM sees one of a thousand copies, and no function of thousands. A debugger wants the line of each.
        *(() if knobs.get("debug_symbols") else (OutlineEqualLoopsPass(), SplitLongFunctionsPass())),
    )


def _baseline() -> Sequence[Pass]:
    """From linalg to loops for every module, slowly: a buffer for each tile, loops over scalars."""
    from tilewright.lowering.convert_linalg_to_loops.convert_linalg_to_loops import ConvertLinalgToLoopsPass
    from tilewright.transforms.linalg.one_shot_bufferize.one_shot_bufferize import OneShotBufferizePass

    return (OneShotBufferizePass(), ConvertLinalgToLoopsPass())


def _checks() -> Sequence[Pass]:
    """The checks of the `sanitize` switch; where every access is a tile or lanes at offsets from an argument."""
    kinds = knobs.get("sanitize")
    if not kinds:
        return ()
    from tilewright.transforms.sanitize.sanitize import SanitizePass

    return (SanitizePass(bounds=True, race="race" in kinds, init="init" in kinds),)
