"""The memref dialect: buffers, views of them, and access to their elements."""

from xdsl.ir import Dialect, Operation

from tilewright.dialects.memref.access import (
    VOLATILE,
    AtomicRMWOp,
    AtomicYieldOp,
    CopyOp,
    DimOp,
    GenericAtomicRMWOp,
    LoadOp,
    StoreOp,
)
from tilewright.dialects.memref.allocation import AllocaOp, AllocOp, AssumeAlignmentOp, DeallocOp, GetGlobalOp, GlobalOp
from tilewright.dialects.memref.atomic_kind import AtomicRMWKind
from tilewright.dialects.memref.metadata import ExtractAlignedPointerAsIndexOp, RankOp
from tilewright.dialects.memref.prefetch import PrefetchOp
from tilewright.dialects.memref.views import (
    CastOp,
    CollapseShapeOp,
    ExpandShapeOp,
    ReinterpretCastOp,
    SubviewOp,
    ViewOp,
    moved_offset,
    strides_and_offset,
)

OPERATIONS: list[type[Operation]] = [
    AllocaOp,
    AllocOp,
    AssumeAlignmentOp,
    AtomicRMWOp,
    AtomicYieldOp,
    CastOp,
    CollapseShapeOp,
    CopyOp,
    DeallocOp,
    DimOp,
    ExpandShapeOp,
    ExtractAlignedPointerAsIndexOp,
    GenericAtomicRMWOp,
    GetGlobalOp,
    GlobalOp,
    LoadOp,
    PrefetchOp,
    RankOp,
    ReinterpretCastOp,
    StoreOp,
    SubviewOp,
    ViewOp,
]

MemRef = Dialect("memref", OPERATIONS, [])

__all__ = [
    "OPERATIONS",
    "VOLATILE",
    "AllocOp",
    "AllocaOp",
    "AssumeAlignmentOp",
    "AtomicRMWKind",
    "AtomicRMWOp",
    "AtomicYieldOp",
    "CastOp",
    "CollapseShapeOp",
    "CopyOp",
    "DeallocOp",
    "DimOp",
    "ExpandShapeOp",
    "ExtractAlignedPointerAsIndexOp",
    "GenericAtomicRMWOp",
    "GetGlobalOp",
    "GlobalOp",
    "LoadOp",
    "MemRef",
    "PrefetchOp",
    "RankOp",
    "ReinterpretCastOp",
    "StoreOp",
    "SubviewOp",
    "ViewOp",
    "moved_offset",
    "strides_and_offset",
]
