"""The vector dialect: values of a machine's vector registers, and memory access with them."""

from xdsl.ir import Dialect

from tilewright.dialects.vector.attributes import CombiningKind, CombiningKindAttr, Punctuation, PunctuationAttr
from tilewright.dialects.vector.compute import (
    DeinterleaveOp,
    FMAOp,
    InterleaveOp,
    MultiDimReductionOp,
    OuterProductOp,
    ReductionOp,
    ScanOp,
    ShuffleOp,
    TransposeOp,
)
from tilewright.dialects.vector.elements import (
    ExtractOp,
    ExtractStridedSliceOp,
    FromElementsOp,
    InsertOp,
    InsertStridedSliceOp,
    ToElementsOp,
)
from tilewright.dialects.vector.memory import (
    CompressStoreOp,
    ExpandLoadOp,
    GatherOp,
    LoadOp,
    MaskedLoadOp,
    MaskedStoreOp,
    ScatterOp,
    StoreOp,
)
from tilewright.dialects.vector.shapes import (
    BitcastOp,
    BroadcastOp,
    ConstantMaskOp,
    CreateMaskOp,
    PrintOp,
    ShapeCastOp,
    StepOp,
)
from tilewright.dialects.vector.transfer import TransferReadOp, TransferWriteOp

OPERATIONS = [
    BitcastOp,
    BroadcastOp,
    CompressStoreOp,
    ConstantMaskOp,
    CreateMaskOp,
    DeinterleaveOp,
    ExpandLoadOp,
    ExtractOp,
    ExtractStridedSliceOp,
    FMAOp,
    FromElementsOp,
    GatherOp,
    InsertOp,
    InsertStridedSliceOp,
    InterleaveOp,
    LoadOp,
    MaskedLoadOp,
    MaskedStoreOp,
    MultiDimReductionOp,
    OuterProductOp,
    PrintOp,
    ReductionOp,
    ScanOp,
    ScatterOp,
    ShapeCastOp,
    ShuffleOp,
    StepOp,
    StoreOp,
    ToElementsOp,
    TransferReadOp,
    TransferWriteOp,
    TransposeOp,
]

Vector = Dialect("vector", OPERATIONS, [CombiningKindAttr, PunctuationAttr])

__all__ = [*(op.__name__ for op in OPERATIONS), "CombiningKind", "CombiningKindAttr", "Punctuation", "Vector"]
