"""The `ttng` dialect: what NVIDIA's Hopper GPUs add to TritonGPU IR, as Triton 3.6 prints and parses it."""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.ttng.barriers import (
    ArriveBarrierOp,
    AsyncCopyMbarrierArriveOp,
    BarrierExpectOp,
    ClusterArriveOp,
    ClusterWaitOp,
    FenceAsyncSharedOp,
    InitBarrierOp,
    InvalBarrierOp,
    WaitBarrierOp,
)
from tilewright.dialects.ttng.matrix import (
    WarpGroupDotOp,
    WarpGroupDotWaitOp,
)
from tilewright.dialects.ttng.tensor_memory_accelerator import (
    AsyncTMACopyGlobalToLocalOp,
    AsyncTMACopyLocalToGlobalOp,
    AsyncTMAGatherOp,
    AsyncTMAReduceOp,
    AsyncTMAScatterOp,
    ReinterpretTensorDescOp,
    TensormapCreateOp,
    TensormapFenceproxyAcquireOp,
    TMAStoreWaitOp,
)

OPS = (
    ArriveBarrierOp,
    AsyncCopyMbarrierArriveOp,
    AsyncTMACopyGlobalToLocalOp,
    AsyncTMACopyLocalToGlobalOp,
    AsyncTMAGatherOp,
    AsyncTMAReduceOp,
    AsyncTMAScatterOp,
    BarrierExpectOp,
    ClusterArriveOp,
    ClusterWaitOp,
    FenceAsyncSharedOp,
    InitBarrierOp,
    InvalBarrierOp,
    ReinterpretTensorDescOp,
    TMAStoreWaitOp,
    TensormapCreateOp,
    TensormapFenceproxyAcquireOp,
    WaitBarrierOp,
    WarpGroupDotOp,
    WarpGroupDotWaitOp,
)
"""Every op of the dialect."""

TTNG = Dialect("ttng", list(OPS), [])
"""The dialect, to be loaded into a context."""

__all__ = [
    "OPS",
    "TTNG",
    "ArriveBarrierOp",
    "AsyncCopyMbarrierArriveOp",
    "AsyncTMACopyGlobalToLocalOp",
    "AsyncTMACopyLocalToGlobalOp",
    "AsyncTMAGatherOp",
    "AsyncTMAReduceOp",
    "AsyncTMAScatterOp",
    "BarrierExpectOp",
    "ClusterArriveOp",
    "ClusterWaitOp",
    "FenceAsyncSharedOp",
    "InitBarrierOp",
    "InvalBarrierOp",
    "ReinterpretTensorDescOp",
    "TMAStoreWaitOp",
    "TensormapCreateOp",
    "TensormapFenceproxyAcquireOp",
    "WaitBarrierOp",
    "WarpGroupDotOp",
    "WarpGroupDotWaitOp",
]
