"""The `ttg` dialect: TritonGPU IR, where every tensor has a layout, as Triton 3.6 prints it and 3.6 to 3.9 parse it."""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.ttg.async_copy import AsyncCommitGroupOp, AsyncCopyGlobalToLocalOp, AsyncWaitOp
from tilewright.dialects.ttg.control import (
    BarrierText,
    GlobalScratchAllocOp,
    LocalBarrierOp,
    MaskOp,
    MaskReturnOp,
    PredicateStageOp,
)
from tilewright.dialects.ttg.conversion import ConvertLayoutOp, Fp4ToFpOp
from tilewright.dialects.ttg.encodings import (
    BlockedEncodingAttr,
    DistributedEncoding,
    DotOperandEncodingAttr,
    LinearEncodingAttr,
    NvidiaMmaEncodingAttr,
    SliceEncodingAttr,
    encoding_of,
    layout_of,
)
from tilewright.dialects.ttg.indexed_access import LocalAtomicScatterRMWOp, LocalGatherOp, LocalScatterOp
from tilewright.dialects.ttg.memory import LocalAllocOp, LocalDeallocOp, LocalLoadOp, LocalStoreOp
from tilewright.dialects.ttg.shared_encodings import (
    NVMMASharedEncodingAttr,
    PaddedSharedEncodingAttr,
    SharedEncoding,
    SharedLinearEncodingAttr,
    SharedMemorySpaceAttr,
    SwizzledSharedEncodingAttr,
    shared_encoding_of,
    shared_layout_of,
)
from tilewright.dialects.ttg.types import ASYNC_TOKEN, SMEM, AsyncTokenType, MemDescType, memdesc_type
from tilewright.dialects.ttg.verification import NUM_WARPS, verify_layouts
from tilewright.dialects.ttg.views import (
    MemDescIndexOp,
    MemDescReinterpretOp,
    MemDescReshapeOp,
    MemDescSubsliceOp,
    MemDescTransOp,
)
from tilewright.dialects.ttg.warp_specialize import (
    WarpReturnOp,
    WarpSpecializeOp,
    WarpSpecializePartitionsOp,
    WarpYieldOp,
)
from tilewright.ir.verify import register_module_check

OPS = (
    AsyncCommitGroupOp,
    AsyncCopyGlobalToLocalOp,
    AsyncWaitOp,
    ConvertLayoutOp,
    Fp4ToFpOp,
    GlobalScratchAllocOp,
    LocalAllocOp,
    LocalAtomicScatterRMWOp,
    LocalBarrierOp,
    LocalDeallocOp,
    LocalGatherOp,
    LocalLoadOp,
    LocalScatterOp,
    LocalStoreOp,
    MaskOp,
    MaskReturnOp,
    MemDescIndexOp,
    MemDescReinterpretOp,
    MemDescReshapeOp,
    MemDescSubsliceOp,
    MemDescTransOp,
    PredicateStageOp,
    WarpReturnOp,
    WarpSpecializeOp,
    WarpSpecializePartitionsOp,
    WarpYieldOp,
)
"""Every op of the dialect."""

ATTRIBUTES = (
    AsyncTokenType,
    BlockedEncodingAttr,
    DotOperandEncodingAttr,
    LinearEncodingAttr,
    MemDescType,
    NVMMASharedEncodingAttr,
    NvidiaMmaEncodingAttr,
    PaddedSharedEncodingAttr,
    SharedLinearEncodingAttr,
    SharedMemorySpaceAttr,
    SliceEncodingAttr,
    SwizzledSharedEncodingAttr,
)
"""Every type and attribute of the dialect."""

register_module_check(NUM_WARPS, verify_layouts)

TTG = Dialect("ttg", [*OPS, BarrierText], list(ATTRIBUTES))
"""The dialect, to be loaded into a context."""

__all__ = [
    "ASYNC_TOKEN",
    "ATTRIBUTES",
    "NUM_WARPS",
    "OPS",
    "SMEM",
    "TTG",
    "AsyncCommitGroupOp",
    "AsyncCopyGlobalToLocalOp",
    "AsyncTokenType",
    "AsyncWaitOp",
    "BlockedEncodingAttr",
    "ConvertLayoutOp",
    "DistributedEncoding",
    "DotOperandEncodingAttr",
    "Fp4ToFpOp",
    "GlobalScratchAllocOp",
    "LinearEncodingAttr",
    "LocalAllocOp",
    "LocalAtomicScatterRMWOp",
    "LocalBarrierOp",
    "LocalDeallocOp",
    "LocalGatherOp",
    "LocalLoadOp",
    "LocalScatterOp",
    "LocalStoreOp",
    "MaskOp",
    "MaskReturnOp",
    "MemDescIndexOp",
    "MemDescReinterpretOp",
    "MemDescReshapeOp",
    "MemDescSubsliceOp",
    "MemDescTransOp",
    "MemDescType",
    "NVMMASharedEncodingAttr",
    "NvidiaMmaEncodingAttr",
    "PaddedSharedEncodingAttr",
    "PredicateStageOp",
    "SharedEncoding",
    "SharedLinearEncodingAttr",
    "SharedMemorySpaceAttr",
    "SliceEncodingAttr",
    "SwizzledSharedEncodingAttr",
    "WarpReturnOp",
    "WarpSpecializeOp",
    "WarpSpecializePartitionsOp",
    "WarpYieldOp",
    "encoding_of",
    "layout_of",
    "memdesc_type",
    "shared_encoding_of",
    "shared_layout_of",
    "verify_layouts",
]
