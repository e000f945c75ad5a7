"""Ops that buffers and tensors both have: another static type of the same value, and an extent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.constant import find_constant_int
from tilewright.dialects.arith.folding import integer_constant
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def, result_def
from tilewright.dialects.types import INDEX, element_type, shape_of


class ShapedCastOp(Op, HasFolderInterface, ABC):
    """``%r = memref.cast %m : memref<*xf32> to memref<?xf32>``: more or less of the type known."""

    source: Operand = operand_def()
    dest: Result = result_def()

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($dest)"

    @abstractmethod
    def is_compatible(self, source: Attribute, dest: Attribute) -> bool:
        """Return whether one value may be of both types, which have the same elements."""

    def verify_(self) -> None:
        source, dest = self.operands[0].type, self.results[0].type
        if element_type(source) != element_type(dest) or not self.is_compatible(source, dest):
            raise VerifyException(f"operand type '{source}' and result type '{dest}' are cast incompatible")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        source = self.operands[0]
        if source.type == self.results[0].type:
            return (source,)
        inner = source.owner
        if isinstance(inner, type(self)) and inner.operands[0].type == self.results[0].type:
            return (inner.operands[0],)
        return None


class ExtentOp(Op, HasFolderInterface, ABC):
    """``%n = tensor.dim %t, %c0 : tensor<?xf32>``: an extent."""

    source: Operand = operand_def()
    index: Operand = operand_def(INDEX)
    result: Result = inferred_result_def(INDEX)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "attr-dict $source `,` $index `:` type($source)"

    @abstractmethod
    def find_extent(self, dim: int) -> int | SSAValue | None:
        """Return what a dynamic extent was made from."""

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        shape, dim = shape_of(self.operands[0].type), find_constant_int(self.operands[1])
        if shape is None or dim is None or not 0 <= dim < len(shape):
            return None
        extent = shape[dim] if shape[dim] != DYNAMIC_INDEX else self.find_extent(dim)
        if extent is None:
            return None
        return (integer_constant(extent, INDEX) if isinstance(extent, int) else extent,)
