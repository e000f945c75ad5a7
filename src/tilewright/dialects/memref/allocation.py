"""Making and freeing buffers."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict, VarConstraint, base, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryAllocEffect,
    MemoryFreeEffect,
    Pure,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import (
    UNIT,
    i32_attr,
    int_attr,
    optional,
    string_attr,
    unit_if,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operand,
    Operands,
    Result,
    inferred_result_def,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.text import write
from tilewright.dialects.types import ANY_MEMREF, I64_ATTR, INDEX, is_memref
from tilewright.ir.wording import CustomOpException


class AllocationOp(Op, ABC):
    """A new buffer: one size per dynamic dimension, one value per symbol of the layout."""

    dynamic_sizes: Operands = var_operand_def(INDEX)
    symbol_operands: Operands = var_operand_def(INDEX)
    memref: Result[MemRefType[Attribute]] = result_def(MemRefType)
    alignment: IntegerAttr | None = opt_prop_def(I64_ATTR, default=None, converter=optional(int_attr))

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    traits = traits_def(MemoryAllocEffect())

    assembly_format = "`(` $dynamic_sizes `)` (`` `[` $symbol_operands^ `]`)? attr-dict `:` type($memref)"

    def verify_(self) -> None:
        type_ = self.results[0].type
        assert isinstance(type_, MemRefType)
        dynamic = type_.get_shape().count(DYNAMIC_INDEX)
        if dynamic != len(self.dynamic_sizes):
            raise VerifyException(
                f"incorrect number of dynamic sizes, has {len(self.dynamic_sizes)}, expected {dynamic}"
            )
        verify_alignment(self.alignment)


def verify_alignment(alignment: IntegerAttr | None) -> None:
    """VerifyException unless an alignment that is given is a power of two."""
    if alignment is not None and (alignment.value.data <= 0 or alignment.value.data & (alignment.value.data - 1)):
        raise VerifyException(f"alignment must be a power of two, got {alignment.value.data}")


class AllocOp(AllocationOp):
    """``%alloc = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>``: on the heap."""

    name = "memref.alloc"


class AllocaOp(AllocationOp):
    """``%alloca = memref.alloca() : memref<4xf32>``: on the stack, until the function returns."""

    name = "memref.alloca"


class DeallocOp(Op):
    """``memref.dealloc %alloc : memref<4xf32>``."""

    name = "memref.dealloc"

    memref: Operand = operand_def(ANY_MEMREF)

    traits = traits_def(MemoryFreeEffect())

    assembly_format = "$memref attr-dict `:` type($memref)"


class AssumeAlignmentOp(Op):
    """``%a = memref.assume_alignment %m, 64 : memref<4xf32>``: the same buffer, known to start at a multiple of 64
    bytes."""

    name = "memref.assume_alignment"

    T: ClassVar = VarConstraint("T", base(MemRefType))

    memref: Operand = operand_def(T)
    alignment: IntegerAttr = prop_def(IntegerAttr.constr(i32), converter=i32_attr)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$memref `,` $alignment attr-dict `:` type($memref)"


class GlobalOp(Op):
    """``memref.global "private" constant @table : memref<4xf32> = dense<[...]>``: a buffer that lives as long as the
    program."""

    name = "memref.global"

    sym_name: StringAttr = prop_def(SymbolNameConstraint(), converter=string_attr)
    type: MemRefType[Attribute] = prop_def(MemRefType)
    initial_value: UnitAttr | DenseIntOrFPElementsAttr | None = opt_prop_def(
        base(UnitAttr) | base(DenseIntOrFPElementsAttr), default=None, kw_only=False
    )
    sym_visibility: StringAttr | None = opt_prop_def(StringAttr, default="private", converter=optional(string_attr))
    constant: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if)
    alignment: IntegerAttr | None = opt_prop_def(I64_ATTR, default=None, converter=optional(int_attr))

    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        visibility = parser.parse_optional_str_literal()
        constant = parser.parse_optional_keyword("constant") is not None
        name = parser.parse_symbol_name().data
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not is_memref(type_):
            raise CustomOpException(f"type should be static shaped memref, but got '{type_}'")
        initial: UnitAttr | DenseIntOrFPElementsAttr | None = None
        if parser.parse_optional_punctuation("=") is not None:
            if parser.parse_optional_keyword("uninitialized") is not None:
                initial = UNIT
            else:
                tensor_type = TensorType(type_.element_type, type_.shape)
                initial = _parse_elements(parser, tensor_type)
        attributes = parser.parse_optional_attr_dict()
        alignment = attributes.pop("alignment", None)
        op = cls(name, type_, initial, sym_visibility=visibility, constant=constant)
        if alignment is not None:
            op.properties["alignment"] = alignment
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.sym_visibility is not None:
            printer.print_string(f'"{self.sym_visibility.data}" ')
        if self.constant is not None:
            printer.print_string("constant ")
        printer.print_symbol_name(self.sym_name.data)
        write(printer, " : ", self.type)
        initial = self.initial_value
        if isinstance(initial, DenseIntOrFPElementsAttr):
            printer.print_string(" = ")
            initial.print_without_type(printer)
        elif initial is not None:
            printer.print_string(" = uninitialized")
        extra = dict(self.attributes)
        if self.alignment is not None:
            extra["alignment"] = self.alignment
        printer.print_op_attributes(extra)


def _parse_elements(parser: Parser, type_: TensorType[Attribute]) -> DenseIntOrFPElementsAttr:
    """``dense<...>`` without its type."""
    parser.parse_keyword("dense")
    return parser.parse_dense_int_or_fp_elements_attr(cast(TensorType[IntegerType], type_))


class NamesGlobal(SymbolUserOpInterface):
    """The global exists, and is of the type of the result."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, GetGlobalOp)
        found, name, type_ = SymbolTable.lookup_symbol(op, op.name_), op.name_.string_value(), op.memref.type
        if not isinstance(found, GlobalOp):
            raise VerifyException(f"'{name}' does not reference a valid global memref")
        if found.type != type_:
            raise VerifyException(
                f"result type '{type_}' does not match type '{found.type}' of the global memref @{name}"
            )


class GetGlobalOp(Op):
    """``%0 = memref.get_global @table : memref<4xf32>``."""

    name = "memref.get_global"

    name_: SymbolRefAttr = prop_def(SymbolRefAttr, prop_name="name", converter=SymbolRefAttr)
    memref: Result = result_def(MemRefType)

    traits = traits_def(Pure(), NamesGlobal())

    assembly_format = "$name `:` type($memref) attr-dict"
