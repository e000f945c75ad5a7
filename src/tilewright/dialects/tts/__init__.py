"""The `tts` dialect: structured pointers and the accesses on them."""

from __future__ import annotations

from xdsl.ir import Dialect

from tilewright.dialects.tts.accesses import GatherOp, LoadOp, ScatterOp, StoreOp
from tilewright.dialects.tts.atomics import AtomicCASOp, AtomicRMWOp, NanosecondsOp
from tilewright.dialects.tts.masked import MaskedLoadOp, MaskedStoreOp
from tilewright.dialects.tts.pointers import (
    GetStructuredStateOp,
    MakeGatherScatterTensorPtrOp,
    MakeTensorPtrOp,
    PointerKind,
)

TTS = Dialect(
    "tts",
    [
        AtomicCASOp,
        AtomicRMWOp,
        GatherOp,
        GetStructuredStateOp,
        LoadOp,
        MakeGatherScatterTensorPtrOp,
        MakeTensorPtrOp,
        MaskedLoadOp,
        MaskedStoreOp,
        NanosecondsOp,
        ScatterOp,
        StoreOp,
    ],
)
"""The dialect, to be loaded into a context."""

__all__ = [
    "TTS",
    "AtomicCASOp",
    "AtomicRMWOp",
    "GatherOp",
    "GetStructuredStateOp",
    "LoadOp",
    "MakeGatherScatterTensorPtrOp",
    "MakeTensorPtrOp",
    "MaskedLoadOp",
    "MaskedStoreOp",
    "NanosecondsOp",
    "PointerKind",
    "ScatterOp",
    "StoreOp",
]
