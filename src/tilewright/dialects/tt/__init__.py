"""The `tt` dialect: Triton IR, as Triton 3.6 to 3.9 print and parse it."""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.tt.atomics import AtomicCASOp, AtomicLoadOp, AtomicPollOp, AtomicRMWOp, AtomicStoreOp
from tilewright.dialects.tt.block_pointer import AdvanceOp, MakeTensorPtrOp
from tilewright.dialects.tt.cache_policy import CachePolicyAttr
from tilewright.dialects.tt.debug import AssertOp, PrintOp
from tilewright.dialects.tt.descriptor import (
    DescriptorGatherOp,
    DescriptorLoadOp,
    DescriptorReduceOp,
    DescriptorScatterOp,
    DescriptorStoreOp,
    MakeTensorDescOp,
)
from tilewright.dialects.tt.dot import DotOp, DotScaledOp
from tilewright.dialects.tt.elementwise import (
    ApproxDivFOp,
    ClampFOp,
    ElementwiseInlineAsmOp,
    ExternElementwiseOp,
    MulhiUIOp,
    PreciseDivFOp,
    PreciseSqrtOp,
)
from tilewright.dialects.tt.enums import (
    CacheModifier,
    DescriptorReduceKind,
    EvictionPolicy,
    InputPrecision,
    MemSemantic,
    MemSyncScope,
    PaddingOption,
    ProgramIDDim,
    PropagateNan,
    RMWOp,
    RoundingMode,
    ScaleDotElemType,
)
from tilewright.dialects.tt.function import CallOp, FuncOp, ReturnOp
from tilewright.dialects.tt.indexing import GatherOp, HistogramOp
from tilewright.dialects.tt.memory import LoadOp, StoreOp
from tilewright.dialects.tt.pointer import AddPtrOp, BitcastOp, FpToFpOp, IntToPtrOp, PtrToIntOp
from tilewright.dialects.tt.program import GetNumProgramsOp, GetProgramIdOp, MakeRangeOp
from tilewright.dialects.tt.reduction import (
    MapElementwiseOp,
    MapElementwiseReturnOp,
    ReduceOp,
    ReduceReturnOp,
    ScanOp,
    ScanReturnOp,
)
from tilewright.dialects.tt.shape import (
    BroadcastOp,
    CatOp,
    ExpandDimsOp,
    JoinOp,
    ReshapeOp,
    SplatOp,
    SplitOp,
    TransOp,
    UnsplatOp,
)
from tilewright.dialects.tt.types import PointerType, TensorDescType, pointer_type, tensor_type

Atomic = AtomicCASOp | AtomicLoadOp | AtomicPollOp | AtomicRMWOp | AtomicStoreOp
"""Any op that accesses memory as one indivisible step."""

ATOMICS = (AtomicCASOp, AtomicLoadOp, AtomicPollOp, AtomicRMWOp, AtomicStoreOp)

OPS = (
    AddPtrOp,
    AdvanceOp,
    ApproxDivFOp,
    AssertOp,
    AtomicCASOp,
    AtomicLoadOp,
    AtomicPollOp,
    AtomicRMWOp,
    AtomicStoreOp,
    BitcastOp,
    BroadcastOp,
    CallOp,
    CatOp,
    ClampFOp,
    DescriptorGatherOp,
    DescriptorLoadOp,
    DescriptorReduceOp,
    DescriptorScatterOp,
    DescriptorStoreOp,
    DotOp,
    DotScaledOp,
    ElementwiseInlineAsmOp,
    ExpandDimsOp,
    ExternElementwiseOp,
    FpToFpOp,
    FuncOp,
    GatherOp,
    GetNumProgramsOp,
    GetProgramIdOp,
    HistogramOp,
    IntToPtrOp,
    JoinOp,
    LoadOp,
    MakeRangeOp,
    MakeTensorDescOp,
    MakeTensorPtrOp,
    MapElementwiseOp,
    MapElementwiseReturnOp,
    MulhiUIOp,
    PreciseDivFOp,
    PreciseSqrtOp,
    PrintOp,
    PtrToIntOp,
    ReduceOp,
    ReduceReturnOp,
    ReshapeOp,
    ReturnOp,
    ScanOp,
    ScanReturnOp,
    SplatOp,
    SplitOp,
    StoreOp,
    TransOp,
    UnsplatOp,
)
"""Every op of the dialect."""

TT = Dialect("tt", list(OPS), [CachePolicyAttr, PointerType, TensorDescType])
"""The dialect, to be loaded into a context."""

__all__ = [
    "ATOMICS",
    "OPS",
    "TT",
    "AddPtrOp",
    "AdvanceOp",
    "ApproxDivFOp",
    "AssertOp",
    "Atomic",
    "AtomicCASOp",
    "AtomicLoadOp",
    "AtomicPollOp",
    "AtomicRMWOp",
    "AtomicStoreOp",
    "BitcastOp",
    "BroadcastOp",
    "CacheModifier",
    "CallOp",
    "CatOp",
    "ClampFOp",
    "DescriptorGatherOp",
    "DescriptorLoadOp",
    "DescriptorReduceKind",
    "DescriptorReduceOp",
    "DescriptorScatterOp",
    "DescriptorStoreOp",
    "DotOp",
    "DotScaledOp",
    "ElementwiseInlineAsmOp",
    "EvictionPolicy",
    "ExpandDimsOp",
    "ExternElementwiseOp",
    "FpToFpOp",
    "FuncOp",
    "GatherOp",
    "GetNumProgramsOp",
    "GetProgramIdOp",
    "HistogramOp",
    "InputPrecision",
    "IntToPtrOp",
    "JoinOp",
    "LoadOp",
    "MakeRangeOp",
    "MakeTensorDescOp",
    "MakeTensorPtrOp",
    "MapElementwiseOp",
    "MapElementwiseReturnOp",
    "MemSemantic",
    "MemSyncScope",
    "MulhiUIOp",
    "PaddingOption",
    "PointerType",
    "PreciseDivFOp",
    "PreciseSqrtOp",
    "PrintOp",
    "ProgramIDDim",
    "PropagateNan",
    "PtrToIntOp",
    "RMWOp",
    "ReduceOp",
    "ReduceReturnOp",
    "ReshapeOp",
    "ReturnOp",
    "RoundingMode",
    "ScaleDotElemType",
    "ScanOp",
    "ScanReturnOp",
    "SplatOp",
    "SplitOp",
    "StoreOp",
    "TensorDescType",
    "TransOp",
    "UnsplatOp",
    "pointer_type",
    "tensor_type",
]
