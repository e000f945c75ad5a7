"""The tensor dialect: tensors as values."""

from xdsl.ir import Dialect, Operation

from tilewright.dialects.tensor.creation import EmptyOp, FromElementsOp, GenerateOp, PadOp, SplatOp, YieldOp
from tilewright.dialects.tensor.elements import DimOp, ExtractOp, InsertOp, RankOp
from tilewright.dialects.tensor.reshaping import BitcastOp, CastOp, CollapseShapeOp, ConcatOp, ExpandShapeOp, ReshapeOp
from tilewright.dialects.tensor.slicing import ExtractSliceOp, InsertSliceOp

OPERATIONS: list[type[Operation]] = [
    BitcastOp,
    CastOp,
    CollapseShapeOp,
    ConcatOp,
    DimOp,
    EmptyOp,
    ExpandShapeOp,
    ExtractOp,
    ExtractSliceOp,
    FromElementsOp,
    GenerateOp,
    InsertOp,
    InsertSliceOp,
    PadOp,
    RankOp,
    ReshapeOp,
    SplatOp,
    YieldOp,
]

Tensor = Dialect("tensor", OPERATIONS, [])

__all__ = [
    "OPERATIONS",
    "BitcastOp",
    "CastOp",
    "CollapseShapeOp",
    "ConcatOp",
    "DimOp",
    "EmptyOp",
    "ExpandShapeOp",
    "ExtractOp",
    "ExtractSliceOp",
    "FromElementsOp",
    "GenerateOp",
    "InsertOp",
    "InsertSliceOp",
    "PadOp",
    "RankOp",
    "ReshapeOp",
    "SplatOp",
    "Tensor",
    "YieldOp",
]
