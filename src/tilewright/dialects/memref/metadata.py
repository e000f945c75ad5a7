"""What a memref is made of."""

from __future__ import annotations

from xdsl.irdl import IRDLOperation, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.types import ANY_MEMREF, INDEX


@op_definition
class ExtractAlignedPointerAsIndexOp(IRDLOperation):
    """``%p = memref.extract_aligned_pointer_as_index %m : memref<?xf32> -> index``: the address of the buffer, its
    offset left out."""

    name = "memref.extract_aligned_pointer_as_index"

    source = operand_def(ANY_MEMREF)
    aligned_pointer = result_def(INDEX)

    traits = traits_def(Pure())

    assembly_format = "$source `:` type($source) `->` type($aligned_pointer) attr-dict"

    def __init__(self, source: Value) -> None:
        init_op(self, (value_of(source),), (INDEX,))
