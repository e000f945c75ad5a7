"""The linalg dialect: loops over whole tensors or buffers, said by maps and a scalar body."""

from xdsl.ir import Dialect, Operation

from tilewright.dialects.linalg.attributes import PARALLEL, REDUCTION, IteratorType, IteratorTypeAttr
from tilewright.dialects.linalg.generic import GenericOp, IndexOp, YieldOp
from tilewright.dialects.linalg.named import BatchMatmulOp, BroadcastOp, FillOp, MatmulOp, TransposeOp
from tilewright.dialects.linalg.structured import StructuredOp, entry_block
from tilewright.dialects.linalg.with_body import MapOp, ReduceOp

OPERATIONS: list[type[Operation]] = [
    BatchMatmulOp,
    BroadcastOp,
    FillOp,
    GenericOp,
    IndexOp,
    MapOp,
    MatmulOp,
    ReduceOp,
    TransposeOp,
    YieldOp,
]

Linalg = Dialect("linalg", OPERATIONS, [IteratorTypeAttr])

__all__ = [
    "OPERATIONS",
    "PARALLEL",
    "REDUCTION",
    "BatchMatmulOp",
    "BroadcastOp",
    "FillOp",
    "GenericOp",
    "IndexOp",
    "IteratorType",
    "IteratorTypeAttr",
    "Linalg",
    "MapOp",
    "MatmulOp",
    "ReduceOp",
    "StructuredOp",
    "TransposeOp",
    "YieldOp",
    "entry_block",
]
