"""The `linalg_ext` dialect: what linalg has no op for, named as in IREE's dialect of this name.

It stands between two passes of the CPU only: no stage allows its ops.
"""

from xdsl.ir import Dialect

from tilewright.dialects.linalg_ext.bounds import NeededOp
from tilewright.dialects.linalg_ext.matmuls import PackedMatmulOp, PackOp, ViewMatmulOp
from tilewright.dialects.linalg_ext.structured import ExchangeNetworkOp, ScanOp
from tilewright.dialects.linalg_ext.vectors import FromVectorsOp, ToVectorsOp
from tilewright.dialects.linalg_ext.words import WORD_BYTES, AsWordsOp, DotBytesOp, DotPairsOp, SumPairsOp, words_type

LinalgExt = Dialect(
    "linalg_ext",
    [
        AsWordsOp, DotBytesOp, DotPairsOp, ExchangeNetworkOp, FromVectorsOp, NeededOp, PackOp, PackedMatmulOp, ScanOp,
        SumPairsOp, ToVectorsOp, ViewMatmulOp,
    ],
)  # fmt: skip
"""The dialect, to be loaded into a context."""

__all__ = [
    "WORD_BYTES",
    "AsWordsOp",
    "DotBytesOp",
    "DotPairsOp",
    "ExchangeNetworkOp",
    "FromVectorsOp",
    "LinalgExt",
    "NeededOp",
    "PackOp",
    "PackedMatmulOp",
    "ScanOp",
    "SumPairsOp",
    "ToVectorsOp",
    "ViewMatmulOp",
    "words_type",
]
