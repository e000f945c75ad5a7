"""Making and freeing buffers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
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
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import UNIT, Value, init_op, int_attr, segment_sizes, value_of, values_of
from tilewright.dialects.definition import op_definition
from tilewright.dialects.types import ANY_MEMREF, I64_ATTR, INDEX, is_memref


class AllocationOp(IRDLOperation, ABC):
    """A new buffer: one size per dynamic dimension, one value per symbol of the layout."""

    dynamic_sizes = var_operand_def(INDEX)
    symbol_operands = var_operand_def(INDEX)
    memref = result_def(MemRefType)
    alignment = opt_prop_def(I64_ATTR)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    traits = traits_def(MemoryAllocEffect())

    assembly_format = "`(` $dynamic_sizes `)` (`` `[` $symbol_operands^ `]`)? attr-dict `:` type($memref)"

    def __init__(
        self,
        dynamic_sizes: Sequence[Value],
        symbol_operands: Sequence[Value],
        result_type: Attribute,
        *,
        alignment: int | None = None,
    ) -> None:
        sizes, symbols = values_of(dynamic_sizes), values_of(symbol_operands)
        properties: dict[str, Attribute] = {"operandSegmentSizes": segment_sizes(len(sizes), len(symbols))}
        if alignment is not None:
            properties["alignment"] = int_attr(alignment)
        init_op(self, [*sizes, *symbols], (result_type,), properties)

    def verify_(self) -> None:
        type_ = self.results[0].type
        assert isinstance(type_, MemRefType)
        dynamic = type_.get_shape().count(DYNAMIC_INDEX)
        if dynamic != len(self.dynamic_sizes):
            raise VerifyException(
                f"incorrect number of dynamic sizes, has {len(self.dynamic_sizes)}, expected {dynamic}"
            )
        alignment = self.alignment
        if alignment is not None and (alignment.value.data <= 0 or alignment.value.data & (alignment.value.data - 1)):
            raise VerifyException(f"alignment must be a power of two, got {alignment.value.data}")


@op_definition
class AllocOp(AllocationOp):
    """``%alloc = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>``: on the heap."""

    name = "memref.alloc"


@op_definition
class AllocaOp(AllocationOp):
    """``%alloca = memref.alloca() : memref<4xf32>``: on the stack, until the function returns."""

    name = "memref.alloca"


@op_definition
class DeallocOp(IRDLOperation):
    """``memref.dealloc %alloc : memref<4xf32>``."""

    name = "memref.dealloc"

    memref = operand_def(ANY_MEMREF)

    traits = traits_def(MemoryFreeEffect())

    assembly_format = "$memref attr-dict `:` type($memref)"

    def __init__(self, memref: Value) -> None:
        init_op(self, (value_of(memref),))


@op_definition
class AssumeAlignmentOp(IRDLOperation):
    """``%a = memref.assume_alignment %m, 64 : memref<4xf32>``: the same buffer, known to start at a multiple of 64
    bytes."""

    name = "memref.assume_alignment"

    T: ClassVar = VarConstraint("T", base(MemRefType))

    memref = operand_def(T)
    alignment = prop_def(IntegerAttr.constr(i32))
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$memref `,` $alignment attr-dict `:` type($memref)"

    def __init__(self, memref: Value, alignment: int) -> None:
        memref = value_of(memref)
        init_op(self, (memref,), (memref.type,), {"alignment": int_attr(alignment, 32)})


@op_definition
class GlobalOp(IRDLOperation):
    """``memref.global "private" constant @table : memref<4xf32> = dense<[...]>``: a buffer that lives as long as the
    program."""

    name = "memref.global"

    sym_name = prop_def(SymbolNameConstraint())
    sym_visibility = opt_prop_def(StringAttr)
    type = prop_def(MemRefType)
    initial_value = opt_prop_def(base(UnitAttr) | base(DenseIntOrFPElementsAttr))
    constant = opt_prop_def(UnitAttr)
    alignment = opt_prop_def(I64_ATTR)

    traits = traits_def(SymbolOpInterface())

    def __init__(
        self,
        sym_name: str,
        type: MemRefType[Attribute],
        initial_value: Attribute | None = None,
        *,
        visibility: str | None = "private",
        constant: bool = False,
        alignment: int | None = None,
    ) -> None:
        properties: dict[str, Attribute] = {"sym_name": StringAttr(sym_name), "type": type}
        if visibility is not None:
            properties["sym_visibility"] = StringAttr(visibility)
        if initial_value is not None:
            properties["initial_value"] = initial_value
        if constant:
            properties["constant"] = UNIT
        if alignment is not None:
            properties["alignment"] = int_attr(alignment)
        init_op(self, (), (), properties)

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        visibility = parser.parse_optional_str_literal()
        constant = parser.parse_optional_keyword("constant") is not None
        name = parser.parse_symbol_name().data
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not is_memref(type_):
            parser.raise_error("expected a memref type")
        initial: Attribute | None = None
        if parser.parse_optional_punctuation("=") is not None:
            if parser.parse_optional_keyword("uninitialized") is not None:
                initial = UNIT
            else:
                tensor_type = TensorType(type_.element_type, type_.shape)
                initial = _parse_elements(parser, tensor_type)
        attributes = parser.parse_optional_attr_dict()
        alignment = attributes.pop("alignment", None)
        op = cls(name, type_, initial, visibility=visibility, constant=constant)
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
        printer.print_string(" : ")
        printer.print_attribute(self.type)
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


def _parse_elements(parser: Parser, type_: TensorType[Attribute]) -> Attribute:
    """``dense<...>`` without its type."""
    parser.parse_keyword("dense")
    return parser.parse_dense_int_or_fp_elements_attr(cast(TensorType[IntegerType], type_))


@op_definition
class GetGlobalOp(IRDLOperation):
    """``%0 = memref.get_global @table : memref<4xf32>``."""

    name = "memref.get_global"

    name_ = prop_def(SymbolRefAttr, prop_name="name")
    memref = result_def(MemRefType)

    traits = traits_def(Pure())

    assembly_format = "$name `:` type($memref) attr-dict"

    def __init__(self, name: str, type: Attribute) -> None:
        init_op(self, (), (type,), {"name": SymbolRefAttr(name)})
