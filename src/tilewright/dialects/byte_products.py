"""Sums of products of bytes, at the loops stage: calls of functions that the module declares.

MLIR has such instructions for single processors only. The names of the functions say what the bytes of both sides are:
`s8` have a sign, `u8` have none, `u7` have none and are at most 127; the types are in the signature:

```mlir
func.func private @tw_dot_bytes_u7_s8_8xi32(vector<8xi32>, vector<8xi32>) -> vector<8xi32>
```
Each lane is the sum of the products of its four bytes, modulo 2^32. Functions whose names begin with
`tw_add_dot_bytes_` add it to a third operand. Two more make it in two steps, which `linalg_ext.dot_pairs` and
`linalg_ext.sum_pairs` describe:

```mlir
func.func private @tw_dot_pairs_8xi32(vector<8xi32>, vector<8xi32>) -> vector<16xi16>
func.func private @tw_sum_pairs_16xi16(vector<16xi16>) -> vector<8xi32>
```
"""

from __future__ import annotations

from xdsl.ir import Attribute

from tilewright.dialects import linalg_ext
from tilewright.dialects.types import element_type, shape_of
from tilewright.support.records import dataclass

SIGNED, UNSIGNED, SMALL = "s8", "u8", "u7"
_PREFIX, _ADDING = "tw_dot_bytes_", "tw_add_dot_bytes_"
DOT_PAIRS, SUM_PAIRS = "tw_dot_pairs_", "tw_sum_pairs_"
"""Beginnings of the names of functions that multiply and sum pairs of bytes, and that sum pairs: a type follows."""


def name_of_type(type: Attribute) -> str:
    """Return how names say a type: i32 or 8xi32."""
    return "x".join(map(str, (*(shape_of(type) or ()), element_type(type))))


@dataclass(frozen=True, slots=True)
class ByteProduct:
    """What the bytes of both sides are."""

    lhs: str
    rhs: str
    is_added: bool = False
    """Whether the products are added to a third operand."""

    @staticmethod
    def of(op: linalg_ext.DotBytesOp) -> ByteProduct:
        lhs = SMALL if op.small_lhs is not None else UNSIGNED if op.unsigned_lhs is not None else SIGNED
        return ByteProduct(lhs, UNSIGNED if op.unsigned_rhs is not None else SIGNED, op.addend is not None)

    def symbol(self, type: Attribute) -> str:
        """Return the name of the function for operands of a type, i32 or a vector of it."""
        return f"{_ADDING if self.is_added else _PREFIX}{self.lhs}_{self.rhs}_{name_of_type(type)}"

    @staticmethod
    def find(symbol: str) -> ByteProduct | None:
        """Return what the function of a name multiplies; None for other functions."""
        prefix = _ADDING if symbol.startswith(_ADDING) else _PREFIX
        kinds = symbol.removeprefix(prefix).split("_")
        if not symbol.startswith(prefix) or len(kinds) != 3:
            return None
        lhs, rhs, _ = kinds
        is_one = lhs in (SIGNED, UNSIGNED, SMALL) and rhs in (SIGNED, UNSIGNED)
        return ByteProduct(lhs, rhs, prefix == _ADDING) if is_one else None
