"""The `tptr` dialect of triton-shared: pointers as addresses in bytes, the form that `triton-to-ptr` gives them."""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition, traits_def
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

from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def, prop_def, result_def
from tilewright.dialects.ptr import PtrType
from tilewright.dialects.text import write
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


class PointerOp(Op):
    """An op whose format may use `DIRECTIVES`."""

    DIRECTIVES_MODULE: ClassVar[str] = __name__


class TypeOffsetOp(PointerOp):
    """``%n = tptr.type_offset f32 : i32``: how many bytes one element of a type takes in memory."""

    name = "tptr.type_offset"

    base_type: Attribute = prop_def(prop_name="baseType")
    result: Result = result_def(INTEGER)

    traits = traits_def(Pure())

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
        write(printer, " ", self.base_type)
        if not isinstance(self.result.type, IndexType):
            write(printer, "  : ", self.result.type)


class PtrAddOp(PointerOp):
    """``%q = tptr.ptradd %p %n : <#tptr.default_memory_space>, i32 to <#tptr.default_memory_space>``: `n` bytes on."""

    name = "tptr.ptradd"

    base: Operand = operand_def(POINTER)
    offset: Operand = operand_def(INTEGER)
    result: Result = inferred_result_def(POINTER, of="base")

    traits = traits_def(Pure())
    assembly_format = (
        "$base $offset attr-dict `:` custom<Short>(type($base)) `,` type($offset) `to` custom<Short>(type($result))"
    )

    def verify_(self) -> None:
        if self.base.type != self.result.type:
            raise VerifyException("failed to verify that all of {base, result} have same type")


class IntToPtrOp(PointerOp):
    """``%p = tptr.inttoptr %i : i64 to <#tptr.default_memory_space>``"""

    name = "tptr.inttoptr"

    arg: Operand = operand_def(INTEGER)
    res: Result = result_def(POINTER, default=DEFAULT_POINTER)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg) `to` custom<Short>(type($res))"


class PtrToIntOp(PointerOp):
    """``%i = tptr.ptrtoint %p : <#tptr.default_memory_space> to i64``"""

    name = "tptr.ptrtoint"

    arg: Operand = operand_def(POINTER)
    res: Result = result_def(INTEGER)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` custom<Short>(type($arg)) `to` type($res)"


class FromMemrefOp(PointerOp):
    """``%p = tptr.from_memref %m : memref<*xf32> to <#tptr.default_memory_space>``: where memory starts."""

    name = "tptr.from_memref"

    input: Operand = operand_def(ANY_MEMREF)
    result: Result = result_def(POINTER, default=DEFAULT_POINTER)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` custom<Short>(type($result))"


class ToMemrefOp(PointerOp):
    """``%m = tptr.to_memref %p : <#tptr.default_memory_space> to memref<1xf32>``: the memory at an address."""

    name = "tptr.to_memref"

    arg: Operand = operand_def(POINTER)
    res: Result = result_def(ANY_MEMREF)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` custom<Short>(type($arg)) `to` type($res)"

    def verify_(self) -> None:
        kind = self.res.type
        if not is_memref(kind) or not kind.has_static_shape():
            raise VerifyException(f"result must be a memref of static shape, got {kind}")


class LoadOp(PointerOp):
    """``%v = tptr.load %p : !ptr.ptr<#tptr.default_memory_space> -> f32``"""

    name = "tptr.load"

    addr: Operand = operand_def()
    res: Result = result_def()

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$addr attr-dict `:` type($addr) `->` type($res)"


class StoreOp(PointerOp):
    """``tptr.store %v, %p : f32, !ptr.ptr<#tptr.default_memory_space>``"""

    name = "tptr.store"

    value: Operand = operand_def()
    addr: Operand = operand_def()

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$value `,` $addr attr-dict `:` type($value) `,` type($addr)"


TPTR = Dialect(
    "tptr",
    [FromMemrefOp, IntToPtrOp, LoadOp, PtrAddOp, PtrToIntOp, StoreOp, ToMemrefOp, TypeOffsetOp],
    [DefaultMemorySpaceAttr],
)
"""The dialect, to be loaded into a context."""
