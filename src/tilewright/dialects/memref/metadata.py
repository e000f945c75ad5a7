"""What a memref is made of."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.arith.folding import integer_constant
from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.types import ANY_MEMREF, INDEX, shape_of


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


@op_definition
class RankOp(IRDLOperation, HasFolderInterface):
    """``%r = memref.rank %m : memref<*xf32>``: how many dimensions a buffer has. An argument of a kernel has none."""

    name = "memref.rank"

    memref = operand_def(ANY_MEMREF)
    result = result_def(INDEX)

    traits = traits_def(Pure())

    assembly_format = "$memref attr-dict `:` type($memref)"

    def __init__(self, memref: Value) -> None:
        init_op(self, (value_of(memref),), (INDEX,))

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape = shape_of(self.operands[0].type)
        return None if shape is None else (integer_constant(len(shape), INDEX),)
