"""The linalg dialect: loops over whole tensors or buffers, said by maps and a scalar body."""

from xdsl.ir import Dialect

from tilewright.dialects.linalg.attributes import PARALLEL, REDUCTION, IteratorType, IteratorTypeAttr
from tilewright.dialects.linalg.generic import GenericOp, IndexOp, YieldOp
from tilewright.dialects.linalg.named import BatchMatmulOp, BroadcastOp, FillOp, MatmulOp, TransposeOp
from tilewright.dialects.linalg.structured import StructuredOp, entry_block
from tilewright.dialects.linalg.with_body import MapOp, ReduceOp

OPERATIONS = [
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
    *(op.__name__ for op in OPERATIONS),
    "PARALLEL",
    "REDUCTION",
    "IteratorType",
    "IteratorTypeAttr",
    "Linalg",
    "StructuredOp",
    "entry_block",
]
