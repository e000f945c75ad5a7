"""The `tts` dialect: structured pointers and the accesses on them."""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.tts.accesses import GatherOp, LoadOp, ScatterOp, StoreOp
from tilewright.dialects.tts.pointers import (
    GetStructuredStateOp,
    MakeGatherScatterTensorPtrOp,
    MakeTensorPtrOp,
    PointerKind,
)

TTS = Dialect(
    "tts",
    (
        GatherOp,
        GetStructuredStateOp,
        LoadOp,
        MakeGatherScatterTensorPtrOp,
        MakeTensorPtrOp,
        ScatterOp,
        StoreOp,
    ),
)
"""The dialect, to be loaded into a context."""

__all__ = [
    "TTS",
    "GatherOp",
    "GetStructuredStateOp",
    "LoadOp",
    "MakeGatherScatterTensorPtrOp",
    "MakeTensorPtrOp",
    "PointerKind",
    "ScatterOp",
    "StoreOp",
]
