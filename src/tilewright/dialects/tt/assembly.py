"""Assembly directives of the `tt` and `tts` ops: `custom<Name>(...)` in an assembly format.

Imported only when an op is first parsed or printed.
"""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    OperandVariable,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.construction import i32_attr
from tilewright.dialects.index_lists import DynamicIndexList
from tilewright.dialects.tt import enums
from tilewright.dialects.tt.cache_policy import ATTRIBUTE_SINCE
from tilewright.dialects.tt.types import PointerType, TensorDescType, is_pointer_like, pointee_like
from tilewright.support.triton_version import is_before


@irdl_custom_directive
class EnumKeyword(CustomDirective):
    """An enumeration attribute printed as its keyword: `$axis` as `x`."""

    ENUM: ClassVar[type[enums.TTEnum]] = enums.TTEnum

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.attribute.set(state, i32_attr(parse_enum(parser, self.ENUM)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(self.ENUM.of(self.attribute.get(op)).keyword)


def parse_enum(parser: Parser, enum: type[enums.TTEnum]) -> int:
    """Parses a keyword of `enum` and returns its integer."""
    position = parser.pos
    keyword = parser.parse_identifier(f" ({enum.__name__})")
    try:
        return int(enum.get(keyword))
    except ValueError as error:
        parser.raise_error(str(error), position, parser.pos)


class ProgramIDDim(EnumKeyword):
    """`x`, `y` or `z`."""

    ENUM = enums.ProgramIDDim


class RMWOp(EnumKeyword):
    """The combining function of an atomic."""

    ENUM = enums.RMWOp


class MemSemantic(EnumKeyword):
    """The ordering of an atomic."""

    ENUM = enums.MemSemantic


class MemSyncScope(EnumKeyword):
    """The scope of an atomic."""

    ENUM = enums.MemSyncScope


class PropagateNan(EnumKeyword):
    """NaN behaviour of a clamp."""

    ENUM = enums.PropagateNan


class DescriptorReduceKind(EnumKeyword):
    """The combining function of a descriptor reduction."""

    ENUM = enums.DescriptorReduceKind


class ScaleDotElemType(EnumKeyword):
    """Element format of a scaled dot operand."""

    ENUM = enums.ScaleDotElemType


@irdl_custom_directive
class OptionalEnum(CustomDirective):
    """`, name = keyword`, printed only when the attribute is there and differs from its default; read from the
    attribute dictionary before it, too."""

    ENUM: ClassVar[type[enums.TTEnum]] = enums.TTEnum
    NAME: ClassVar[str] = ""

    attribute: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_punctuation(",") is None:
            if self.NAME in state.attributes:
                self.attribute.set(state, state.attributes.pop(self.NAME))
            return
        parser.parse_keyword(self.NAME)
        parser.parse_punctuation("=")
        self.attribute.set(state, i32_attr(parse_enum(parser, self.ENUM)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.attribute.get(op)
        if attribute is None or attribute == self.attribute.default_value:
            return
        printer.print_string(f", {self.NAME} = {self.ENUM.of(attribute).keyword}")
        state.last_was_punctuation = False
        state.should_emit_space = True


class OptionalRounding(OptionalEnum):
    """`, rounding = rtne`"""

    ENUM = enums.RoundingMode
    NAME = "rounding"


class OptionalInputPrecision(OptionalEnum):
    """`, inputPrecision = tf32`; `ieee` is not printed."""

    ENUM = enums.InputPrecision
    NAME = "inputPrecision"


@irdl_custom_directive
class MemoryHints(CustomDirective):
    """`cacheModifier = ca evictionPolicy = evict_first` in either order, each hidden at its default, and both where the
    attribute dictionary has them: see `cache_policy`."""

    cache: AttributeVariable
    evict: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        slots = {
            "cacheModifier": (self.cache, enums.CacheModifier),
            "evictionPolicy": (self.evict, enums.EvictionPolicy),
        }
        while slots and (name := parser.parse_optional_keyword_in(slots)) is not None:
            variable, enum = slots.pop(name)
            parser.parse_punctuation("=")
            variable.set(state, i32_attr(parse_enum(parser, enum)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        if not is_before(ATTRIBUTE_SINCE):
            return
        hints = (
            ("cacheModifier", self.cache, enums.CacheModifier),
            ("evictionPolicy", self.evict, enums.EvictionPolicy),
        )
        for name, variable, enum in hints:
            attribute = variable.get(op)
            if attribute is None or attribute == variable.default_value:
                continue
            state.print_whitespace(printer)
            printer.print_string(f"{name} = {enum.of(attribute).keyword}")


@irdl_custom_directive
class ShortType(CustomDirective):
    """A pointer type without its `!tt.ptr` prefix: `<f32>`. The full spelling is accepted too."""

    TYPE: ClassVar[type[PointerType] | type[TensorDescType]] = PointerType

    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.type.set(state, (parse_short_type(parser, self.TYPE),))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        for attribute in self.type.get(op):
            cast(PointerType | TensorDescType, attribute).print_parameters(printer)


class ShortDescriptorType(ShortType):
    """A descriptor type without its `!tt.tensordesc` prefix: `<tensor<4x8xf32>>`."""

    TYPE = TensorDescType


def parse_short_type(parser: Parser, cls: type[PointerType] | type[TensorDescType]) -> Attribute:
    """Parses `<...>` as the parameters of `cls`, or a whole type."""
    full = parser.parse_optional_type()
    if full is not None:
        return full
    return cls.new(cls.parse_parameters(parser))


@irdl_custom_directive
class PointeeType(CustomDirective):
    """The type of a pointer that was defined before, written as that of its value: `f32`, `tensor<16xf32>`."""

    type: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        from tilewright.ir.parsing import MLIRParser

        start = parser.pos
        pointee = parser.parse_type()
        assert isinstance(parser, MLIRParser) and isinstance(self.type.inner, OperandVariable)
        operands = state.operands[self.type.inner.index]
        assert operands is not None, "the type of an operand follows it"
        known = parser.known_type(operands[0])
        if known is None or not is_pointer_like(known) or pointee_like(known) != pointee:
            parser.raise_error("is not what the pointer points to", start, parser.pos)
        self.type.set(state, (known,))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        for pointer in self.type.get(op):
            printer.print_attribute(pointee_like(pointer))


DIRECTIVES: dict[str, type[CustomDirective]] = {
    directive.__name__: directive
    for directive in (
        ProgramIDDim,
        RMWOp,
        MemSemantic,
        MemSyncScope,
        PropagateNan,
        DescriptorReduceKind,
        ScaleDotElemType,
        OptionalRounding,
        OptionalInputPrecision,
        MemoryHints,
        PointeeType,
        DynamicIndexList,
        ShortType,
        ShortDescriptorType,
    )
}
"""Every directive by the name that formats use."""
