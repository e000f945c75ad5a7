"""The `tptr` dialect of triton-shared: pointers as addresses in bytes, the form that `triton-to-ptr` gives them."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.definition import op_definition_with
from tilewright.dialects.ptr import PtrType
from tilewright.dialects.types import ANY_MEMREF, TypeWhere, is_integer_or_index, is_memref

POINTER = TypeWhere("a pointer", lambda t: isinstance(t, PtrType))
INTEGER = TypeWhere("a signless integer or index", lambda t: is_integer_or_index(t))


@irdl_attr_definition
class DefaultMemorySpaceAttr(ParametrizedAttribute):
    """``#tptr.default_memory_space``: the memory that kernels' arguments point to."""

    name = "tptr.default_memory_space"


DEFAULT_POINTER = PtrType(DefaultMemorySpaceAttr())
"""The type of pointers to the memory of kernels' arguments."""


@irdl_custom_directive
class Short(CustomDirective):
    """A pointer type without its `!ptr.ptr` prefix; the full spelling is accepted too."""

    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        full = parser.parse_optional_type()
        self.type.set(state, (PtrType(*PtrType.parse_parameters(parser)) if full is None else full,))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        for attribute in self.type.get(op):
            cast(PtrType, attribute).print_parameters(printer)


DIRECTIVES: dict[str, type[CustomDirective]] = {"Short": Short}
op_definition = op_definition_with(__name__)


@op_definition
class TypeOffsetOp(IRDLOperation):
    """``%n = tptr.type_offset f32 : i32``: how many bytes one element of a type takes in memory."""

    name = "tptr.type_offset"

    base_type = prop_def(prop_name="baseType")
    result = result_def(INTEGER)

    traits = traits_def(Pure())

    def __init__(self, base_type: Attribute, result_type: Attribute) -> None:
        init_op(self, (), (result_type,), {"baseType": base_type})

    @classmethod
    def parse(cls, parser: Parser) -> TypeOffsetOp:
        attributes = parser.parse_optional_attr_dict()
        base = parser.parse_type()
        result = parser.parse_type() if parser.parse_optional_punctuation(":") else IndexType()
        op = cls(base, result)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.base_type)
        if not isinstance(self.result.type, IndexType):
            printer.print_string("  : ")
            printer.print_attribute(self.result.type)


@op_definition
class PtrAddOp(IRDLOperation):
    """``%q = tptr.ptradd %p %n : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>``: `n` bytes on."""

    name = "tptr.ptradd"

    base = operand_def(POINTER)
    offset = operand_def(INTEGER)
    result = result_def(POINTER)

    traits = traits_def(Pure())
    assembly_format = (
        "$base $offset attr-dict `:` custom<Short>(type($base)) `,` type($offset) `to` custom<Short>(type($result))"
    )

    def __init__(self, base: Value, offset: Value) -> None:
        pointer = value_of(base)
        init_op(self, (pointer, value_of(offset)), (pointer.type,))

    def verify_(self) -> None:
        if self.base.type != self.result.type:
            raise VerifyException("failed to verify that all of {base, result} have same type")


@op_definition
class IntToPtrOp(IRDLOperation):
    """``%p = tptr.inttoptr %i : i64 to <#tptr.default_memory_space>``"""

    name = "tptr.inttoptr"

    arg = operand_def(INTEGER)
    res = result_def(POINTER)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg) `to` custom<Short>(type($res))"

    def __init__(self, arg: Value, result_type: PtrType = DEFAULT_POINTER) -> None:
        init_op(self, (value_of(arg),), (result_type,))


@op_definition
class PtrToIntOp(IRDLOperation):
    """``%i = tptr.ptrtoint %p : <#tptr.default_memory_space> to i64``"""

    name = "tptr.ptrtoint"

    arg = operand_def(POINTER)
    res = result_def(INTEGER)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` custom<Short>(type($arg)) `to` type($res)"

    def __init__(self, arg: Value, result_type: Attribute) -> None:
        init_op(self, (value_of(arg),), (result_type,))


@op_definition
class FromMemrefOp(IRDLOperation):
    """``%p = tptr.from_memref %m : memref<*xf32> to <#tptr.default_memory_space>``: where memory starts."""

    name = "tptr.from_memref"

    input = operand_def(ANY_MEMREF)
    result = result_def(POINTER)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` custom<Short>(type($result))"

    def __init__(self, input: Value, result_type: PtrType = DEFAULT_POINTER) -> None:
        init_op(self, (value_of(input),), (result_type,))


@op_definition
class ToMemrefOp(IRDLOperation):
    """``%m = tptr.to_memref %p : <#tptr.default_memory_space> to memref<1xf32>``: the memory at an address."""

    name = "tptr.to_memref"

    arg = operand_def(POINTER)
    res = result_def(ANY_MEMREF)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` custom<Short>(type($arg)) `to` type($res)"

    def __init__(self, arg: Value, result_type: Attribute) -> None:
        init_op(self, (value_of(arg),), (result_type,))

    def verify_(self) -> None:
        kind = self.res.type
        if not is_memref(kind) or not kind.has_static_shape():
            raise VerifyException(f"result must be a memref of static shape, got {kind}")


@op_definition
class LoadOp(IRDLOperation):
    """``%v = tptr.load %p : !ptr.ptr<#tptr.default_memory_space> -> f32``"""

    name = "tptr.load"

    addr = operand_def()
    res = result_def()

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$addr attr-dict `:` type($addr) `->` type($res)"


@op_definition
class StoreOp(IRDLOperation):
    """``tptr.store %v, %p : f32, !ptr.ptr<#tptr.default_memory_space>``"""

    name = "tptr.store"

    value = operand_def()
    addr = operand_def()

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `,` $addr attr-dict `:` type($value) `,` type($addr)"


TPTR = Dialect(
    "tptr",
    [FromMemrefOp, IntToPtrOp, LoadOp, PtrAddOp, PtrToIntOp, StoreOp, ToMemrefOp, TypeOffsetOp],
    [DefaultMemorySpaceAttr],
)
"""The dialect, to be loaded into a context."""
