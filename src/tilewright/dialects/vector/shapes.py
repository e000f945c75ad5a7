"""Vectors out of scalars, masks, and other views of the same lanes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, VectorType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.constant import constant_attr, find_constant_int, is_splat
from tilewright.dialects.arith.folding import integer_constant
from tilewright.dialects.construction import dense_attr, index_list, static_values
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    I64Array,
    Operand,
    Operands,
    OptionalOperand,
    Result,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.numeric import array_of, attr_of
from tilewright.dialects.text import write
from tilewright.dialects.types import (
    BOOL_LIKE,
    I64_ARRAY,
    INDEX,
    TypeWhere,
    bit_width,
    element_type,
    is_vector,
    shape_of,
)
from tilewright.dialects.vector.attributes import NEWLINE, Punctuation, PunctuationAttr

Folded = Sequence[SSAValue | Attribute] | None


class BroadcastOp(Op, HasFolderInterface):
    """``%v = vector.broadcast %x : f32 to vector<8xf32>``: new leading dimensions, and size-1 dimensions stretched."""

    name = "vector.broadcast"

    source: Operand = operand_def()
    vector: Result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($vector)"

    def verify_(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        if element_type(source) != element_type(result):
            raise VerifyException("failed to verify that source operand and result have same element type")
        inner, outer = shape_of(source) or (), shape_of(result) or ()
        aligned = outer[len(outer) - len(inner) :]
        if len(inner) > len(outer):
            raise VerifyException("source rank higher than destination rank")
        for extent, wanted in zip(inner, aligned, strict=True):
            if extent not in (1, wanted):
                raise VerifyException(f"dimension mismatch ({extent} vs. {wanted})")

    def fold(self) -> Folded:
        source, result_type = self.operands[0], self.results[0].type
        if source.type == result_type:
            return (source,)
        constant = constant_attr(source)
        if constant is None or (isinstance(constant, DenseIntOrFPElementsAttr) and not is_splat(constant)):
            return None
        values = array_of(constant)
        return None if values is None else (attr_of(values.reshape(()), result_type),)


class ShapeCastOp(Op, HasFolderInterface):
    """``%r = vector.shape_cast %v : vector<4x8xf32> to vector<32xf32>``: the lanes in row-major order."""

    name = "vector.shape_cast"

    source: Operand = operand_def(VectorType)
    result: Result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def verify_(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        if element_type(source) != element_type(result):
            raise VerifyException("has different source and result element types")
        sizes = prod(shape_of(source) or ()), prod(shape_of(result) or ())
        if sizes[0] != sizes[1]:
            raise VerifyException(f"has different number of elements at source ({sizes[0]}) and result ({sizes[1]})")

    def fold(self) -> Folded:
        source, result_type = self.operands[0], self.results[0].type
        if source.type == result_type:
            return (source,)
        inner = source.owner
        if isinstance(inner, ShapeCastOp) and inner.operands[0].type == result_type:
            return (inner.operands[0],)
        constant = constant_attr(source)
        if isinstance(constant, DenseIntOrFPElementsAttr) and is_vector(result_type):
            return (dense_attr(result_type, constant.data),)
        return None


class BitcastOp(Op, HasFolderInterface):
    """``%r = vector.bitcast %v : vector<8xf32> to vector<16xi16>``: the bits of the last dimension cut into other
    elements."""

    name = "vector.bitcast"

    source: Operand = operand_def(VectorType)
    result: Result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def verify_(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        inner, outer = shape_of(source) or (), shape_of(result) or ()
        bits = [bit_width(element_type(type_)) for type_ in (source, result)]
        last = [(shape[-1] if shape else 1) * width for shape, width in zip((inner, outer), bits, strict=True)]
        if len(inner) != len(outer):
            raise VerifyException("failed to verify that all of {source, result} have same rank")
        if wrong := [dim for dim, (a, b) in enumerate(zip(inner[:-1], outer[:-1], strict=True)) if a != b]:
            raise VerifyException(f"dimension size mismatch at: {wrong[0]}")
        if last[0] != last[1]:
            raise VerifyException("source/result bitwidth of the minor 1-D vectors must be equal")

    def fold(self) -> Folded:
        source, result_type = self.operands[0], self.results[0].type
        if source.type == result_type:
            return (source,)
        inner = source.owner
        if isinstance(inner, BitcastOp) and inner.operands[0].type == result_type:
            return (inner.operands[0],)
        return None


class CreateMaskOp(Op, HasFolderInterface):
    """``%m = vector.create_mask %n : vector<8xi1>``: the lanes below `%n` (clamped to 0 and the size), per
    dimension."""

    name = "vector.create_mask"

    mask_dim_sizes: Operands = var_operand_def(INDEX)
    mask_vector: Result = result_def(BOOL_LIKE)

    traits = traits_def(Pure())

    assembly_format = "$mask_dim_sizes attr-dict `:` type($mask_vector)"

    def verify_(self) -> None:
        shape = shape_of(self.results[0].type)
        if shape is None or len(shape) != len(self.operands):
            raise VerifyException("must specify an operand for each result vector dimension")

    def fold(self) -> Folded:
        result_type = self.results[0].type
        sizes = [find_constant_int(size) for size in self.operands]
        shape = shape_of(result_type) or ()
        if any(size is not None and size <= 0 for size in sizes):
            return (integer_constant(0, result_type),)
        if all(size is not None and size >= extent for size, extent in zip(sizes, shape, strict=True)):
            return (integer_constant(1, result_type),)
        return None


class ConstantMaskOp(Op):
    """``%m = vector.constant_mask [4] : vector<8xi1>``."""

    name = "vector.constant_mask"

    mask_dim_sizes: I64Array = prop_def(I64_ARRAY, converter=index_list)
    result: Result = result_def(BOOL_LIKE)

    traits = traits_def(Pure())

    assembly_format = "$mask_dim_sizes attr-dict `:` type($result)"

    def verify_(self) -> None:
        sizes, shape = static_values(self.mask_dim_sizes), shape_of(self.results[0].type)
        if shape is None or len(shape) != len(sizes):
            raise VerifyException("must specify array attr of size equal vector result rank")
        if any(not 0 <= size <= extent for size, extent in zip(sizes, shape, strict=True)):
            raise VerifyException("array attr of size out of bounds of vector result dimension size")
        if 0 in sizes and any(sizes):
            raise VerifyException(
                "expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim"
            )


INDICES = TypeWhere(
    "vector of index values of ranks 1",
    lambda t: is_vector(t) and len(shape_of(t) or ()) == 1 and element_type(t) == IndexType(),
)


class StepOp(Op):
    """``%v = vector.step : vector<8xindex>``: 0, 1, 2, ..."""

    name = "vector.step"

    result: Result = result_def(INDICES)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"


def _punctuation_attr(punctuation: Punctuation | str) -> PunctuationAttr:
    return PunctuationAttr(Punctuation(punctuation))


class PrintOp(Op):
    """``vector.print %v : vector<8xf32>``: to standard output, ended by a line break unless `punctuation` says
    otherwise."""

    name = "vector.print"

    source: OptionalOperand = opt_operand_def(default=None)
    punctuation: PunctuationAttr = prop_def(
        PunctuationAttr, default_value=NEWLINE, default=Punctuation.NEWLINE, converter=_punctuation_attr, kw_only=True
    )

    traits = traits_def(MemoryWriteEffect())

    @classmethod
    def parse(cls, parser: Parser) -> PrintOp:
        source = parser.parse_optional_unresolved_operand()
        punctuation = Punctuation.NEWLINE
        if parser.parse_optional_keyword("punctuation"):
            punctuation = PunctuationAttr.parse_parameter(parser)
        attributes = parser.parse_optional_attr_dict()
        values: list[SSAValue] = []
        if source is not None:
            parser.parse_punctuation(":")
            values.append(parser.resolve_operand(source, parser.parse_type()))
        op = cls(*values, punctuation=punctuation)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        for value in self.operands:
            write(printer, " ", value)
        if self.punctuation != NEWLINE:
            printer.print_string(" punctuation ")
            self.punctuation.print_parameter(printer)
        printer.print_op_attributes(self.attributes)
        for value in self.operands:
            write(printer, " : ", value.type)
