"""What a memref is made of."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tilewright.dialects.arith.folding import integer_constant
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def
from tilewright.dialects.types import ANY_MEMREF, INDEX, shape_of


class ExtractAlignedPointerAsIndexOp(Op):
    """``%p = memref.extract_aligned_pointer_as_index %m : memref<?xf32> -> index``: the address of the buffer, its
    offset left out."""

    name = "memref.extract_aligned_pointer_as_index"

    source: Operand = operand_def(ANY_MEMREF)
    aligned_pointer: Result = inferred_result_def(INDEX)

    traits = traits_def(Pure())

    assembly_format = "$source `:` type($source) `->` type($aligned_pointer) attr-dict"


class RankOp(Op, HasFolderInterface):
    """``%r = memref.rank %m : memref<*xf32>``: how many dimensions a buffer has. An argument of a kernel has none."""

    name = "memref.rank"

    memref: Operand = operand_def(ANY_MEMREF)
    result: Result = inferred_result_def(INDEX)

    traits = traits_def(Pure())

    assembly_format = "$memref attr-dict `:` type($memref)"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape = shape_of(self.operands[0].type)
        return None if shape is None else (integer_constant(len(shape), INDEX),)
