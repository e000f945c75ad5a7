"""Passes on the linalg stage: fusion, loads that read in place, dimensions joined."""

from tilewright.transforms.linalg.bufferize_function_boundaries import LinalgBufferizeFunctionBoundariesPass
from tilewright.transforms.linalg.collapse_shape import CollapseShapePass
from tilewright.transforms.linalg.elide_reduction_starts import LinalgElideReductionStartsPass
from tilewright.transforms.linalg.expand_selects import LinalgExpandSelectsPass
from tilewright.transforms.linalg.find_needed_bounds import LinalgFindNeededBoundsPass
from tilewright.transforms.linalg.form_words import LinalgFormWordsPass
from tilewright.transforms.linalg.forward_loads import ForwardLoadsPass
from tilewright.transforms.linalg.fuse_elementwise import LinalgFuseElementwisePass
from tilewright.transforms.linalg.generalize_named_ops import LinalgGeneralizeNamedOpsPass
from tilewright.transforms.linalg.if_conversion import LinalgIfConversionPass
from tilewright.transforms.linalg.merge_reductions import LinalgMergeReductionsPass
from tilewright.transforms.linalg.merge_siblings import LinalgMergeSiblingsPass
from tilewright.transforms.linalg.narrow_results import LinalgNarrowResultsPass
from tilewright.transforms.linalg.one_shot_bufferize import OneShotBufferizePass
from tilewright.transforms.linalg.promote_carried_tiles import LinalgPromoteCarriedTilesPass
from tilewright.transforms.linalg.recognize_scans import LinalgRecognizeScansPass
from tilewright.transforms.linalg.reduce_assertions import LinalgReduceAssertionsPass
from tilewright.transforms.linalg.sink_producers import LinalgSinkProducersPass

__all__ = [
    "CollapseShapePass",
    "ForwardLoadsPass",
    "LinalgBufferizeFunctionBoundariesPass",
    "LinalgElideReductionStartsPass",
    "LinalgExpandSelectsPass",
    "LinalgFindNeededBoundsPass",
    "LinalgFormWordsPass",
    "LinalgFuseElementwisePass",
    "LinalgGeneralizeNamedOpsPass",
    "LinalgIfConversionPass",
    "LinalgMergeReductionsPass",
    "LinalgMergeSiblingsPass",
    "LinalgNarrowResultsPass",
    "LinalgPromoteCarriedTilesPass",
    "LinalgRecognizeScansPass",
    "LinalgReduceAssertionsPass",
    "LinalgSinkProducersPass",
    "OneShotBufferizePass",
]
