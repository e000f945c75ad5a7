"""Atomic updates of many elements at a time. Not in MLIR: other paths to LLVM update one element after the other."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, operand_def, prop_def, traits_def, var_operand_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tilewright.dialects.construction import Value, init_op, int_attr, value_of, values_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.memref.access import AtomicKindKeyword
from tilewright.dialects.memref.atomic_kind import AtomicRMWKind
from tilewright.dialects.types import I64_ATTR, INDEX
from tilewright.dialects.vector.memory import VectorMemoryOp, verify_index_vector, verify_mask


@op_definition
class AtomicScatterOp(VectorMemoryOp):
    """``vector.atomic_scatter addf %v, %m[%i] [%offsets], %mask : memref<?xf32>, vector<8xi32>, vector<8xi1>,
    vector<8xf32>``: combine each lane whose bit is set into its element, as one indivisible step a lane.

    Lanes go in no particular order. Other threads may have to wait for elements near by until `vector.end_atomics`.
    """

    name = "vector.atomic_scatter"

    value = operand_def(VectorType)
    base = operand_def(MemRefType)
    indices = var_operand_def(INDEX)
    index_vec = operand_def(VectorType)
    mask = operand_def(VectorType)
    kind = prop_def(I64_ATTR)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    custom_directives = (AtomicKindKeyword,)
    assembly_format = (
        "custom<AtomicKindKeyword>($kind) $value `,` $base `[` $indices `]` `[` $index_vec `]` `,` $mask attr-dict "
        "`:` type($base) `,` type($index_vec) `,` type($mask) `,` type($value)"
    )

    def __init__(
        self,
        kind: AtomicRMWKind,
        value: Value,
        base: Value,
        indices: Sequence[Value],
        index_vec: Value,
        mask: Value,
    ) -> None:
        operands = [value_of(value), value_of(base), *values_of(indices), value_of(index_vec), value_of(mask)]
        init_op(self, operands, (), {"kind": int_attr(int(kind))})

    @property
    def combination(self) -> AtomicRMWKind:
        """The kind as an enum member."""
        return AtomicRMWKind(self.kind.value.data)

    def verify_(self) -> None:
        self.verify_access(self.value.type)
        verify_mask(self.mask.type, self.value.type)
        verify_index_vector(self.index_vec.type, self.value.type)


@op_definition
class EndAtomicsOp(IRDLOperation):
    """``vector.end_atomics``: nobody has to wait any longer for what this thread has updated by
    `vector.atomic_scatter`."""

    name = "vector.end_atomics"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        init_op(self, (), ())
