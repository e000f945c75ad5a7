"""Atomics on all lanes of a vector, at the loops stage: calls of functions that the module declares.

MLIR has atomics on single elements. Those of lanes are performed by functions whose names tell what they do; the types
are in the signature, which is the buffer, an index into it, the lanes' offsets from there (`_at`; neighbours, `_row`,
have none), which lanes take part, and the values:

```mlir
func.func private @tw_atomic_addf_16xf32_at_i32(memref<?xf32>, index, vector<16xi32>, vector<16xi1>, vector<16xf32>)
func.func private @tw_atomic_addf_16xf32_row(memref<?xf32>, index, vector<16xi1>, vector<16xf32>)
func.func private @tw_atomics_end()
```
Each lane that takes part is combined into its element as one indivisible step, in no particular order, ordered against
other memory as by acquire and release, at the scope of the process. Nothing is returned. Other threads may have to wait
for elements near by until `tw_atomics_end`, which ends a nest of them.
"""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation

from tilewright.dialects import func
from tilewright.dialects.memref import AtomicRMWKind
from tilewright.dialects.types import as_vector
from tilewright.support.records import dataclass

ATOMIC_PREFIX = "tw_atomic_"
END_ATOMICS = "tw_atomics_end"

_KINDS = {kind.name.lower(): kind for kind in AtomicRMWKind}


@dataclass(frozen=True, slots=True)
class AtomicCall:
    """What one of the functions does."""

    kind: AtomicRMWKind
    values: VectorType[Attribute]
    offsets: VectorType[Attribute] | None
    """None: lane i is the element i after the index."""

    @property
    def symbol(self) -> str:
        where = "row" if self.offsets is None else f"at_{self.offsets.element_type}"
        (lanes,) = self.values.get_shape()
        return f"{ATOMIC_PREFIX}{self.kind.name.lower()}_{lanes}x{self.values.element_type}_{where}"


def find_atomic_call(symbol: str, operands: tuple[Attribute, ...]) -> AtomicCall | None:
    """Return what a function does, by its name and the types of its operands."""
    if not symbol.startswith(ATOMIC_PREFIX) or len(operands) not in (4, 5):
        return None
    kind = _KINDS.get(symbol.removeprefix(ATOMIC_PREFIX).split("_")[0])
    _, _, *offsets, _, values = operands
    if kind is None or not all(isinstance(type, VectorType) for type in (*offsets, values)):
        return None
    call = AtomicCall(kind, as_vector(values), as_vector(offsets[0]) if offsets else None)
    return call if call.symbol == symbol else None


def is_atomic_call(op: Operation) -> bool:
    """Return whether an op is a call of such a function, the end of a nest aside."""
    return isinstance(op, func.CallOp) and op.callee.string_value().startswith(ATOMIC_PREFIX)
