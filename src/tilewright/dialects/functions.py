"""What the functions of all dialects share: their text, their signature, calls and returns."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.dialects.utils import print_func_op_like
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import CallableOpInterface, IsolatedFromAbove, SymbolOpInterface, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import init_op
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Body, opt_prop_def, prop_def, region_def
from tilewright.dialects.text import write
from tilewright.ir.diagnostics import note_at, verify_error
from tilewright.ir.wording import BareVerifyException, CustomOpException

RESERVED = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")
"""What the text says without a dictionary."""
NO_ATTRIBUTES = DictionaryAttr({})

AttributeLists = Sequence[Mapping[str, Attribute]] | ArrayAttr[DictionaryAttr] | None


class Callable(CallableOpInterface):
    """How passes over call graphs see a function."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        return op.regions[0]

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FunctionOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FunctionOp)
        return op.function_type.outputs.data


class CallsDefinedFunction(SymbolUserOpInterface):
    """The callee exists, and takes and gives what the call does."""

    def verify(self, op: Operation) -> None:
        name = op.properties["callee"]
        assert isinstance(name, SymbolRefAttr)
        callee = SymbolTable.lookup_symbol(op, name)
        if not isinstance(callee, FunctionOp):
            raise VerifyException(f"'{name.string_value()}' does not reference a valid function")
        for what, wanted, given in (
            ("operand", callee.function_type.inputs.data, op.operand_types),
            ("result", callee.function_type.outputs.data, op.result_types),
        ):
            if len(wanted) != len(given):
                raise VerifyException(f"incorrect number of {what}s for callee")
            for index, (expected, found) in enumerate(zip(wanted, given, strict=True)):
                if expected == found:
                    continue
                if what == "result":
                    types = {"      op result types": given, "function result types": wanted}
                    notes = [note_at(op, f"{which}: {_quoted(listed)}") for which, listed in types.items()]
                    raise verify_error(op, f"result type mismatch at index {index}", notes)
                raise VerifyException(
                    f"operand type mismatch: expected operand type '{expected}', but provided '{found}' for operand "
                    f"number {index}"
                )


def _quoted(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{type_}'" for type_ in types)


def attribute_lists(lists: AttributeLists) -> ArrayAttr[DictionaryAttr] | None:
    """One dictionary per argument or result; None when all are empty."""
    if isinstance(lists, ArrayAttr):
        return lists
    if lists is None or not any(lists):
        return None
    return ArrayAttr(DictionaryAttr(dict(attributes)) if attributes else NO_ATTRIBUTES for attributes in lists)


class FunctionOp(Op, ABC):
    """A function; without a body it is a declaration of something outside the module."""

    sym_name: StringAttr = prop_def(SymbolNameConstraint())
    function_type: FunctionType = prop_def(FunctionType)
    sym_visibility: StringAttr | None = opt_prop_def(StringAttr)
    arg_attrs: ArrayAttr[DictionaryAttr] | None = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs: ArrayAttr[DictionaryAttr] | None = opt_prop_def(ArrayAttr[DictionaryAttr])
    body: Body = region_def()

    PROPERTIES_IN_TEXT: ClassVar[tuple[str, ...]] = ()
    """Further properties, which stand among the attributes in the text."""

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), Callable())

    def __init__(
        self,
        name: str,
        function_type: FunctionType | tuple[Sequence[Attribute], Sequence[Attribute]],
        region: Region | None = None,
        visibility: StringAttr | str | None = None,
        *,
        arg_attrs: AttributeLists = None,
        res_attrs: AttributeLists = None,
    ) -> None:
        if not isinstance(function_type, FunctionType):
            function_type = FunctionType.from_lists(*function_type)
        optional: dict[str, Attribute | None] = {
            "sym_visibility": StringAttr(visibility) if isinstance(visibility, str) else visibility,
            "arg_attrs": attribute_lists(arg_attrs),
            "res_attrs": attribute_lists(res_attrs),
        }
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name), "function_type": function_type}
        properties.update((key, attribute) for key, attribute in optional.items() if attribute is not None)
        body = Region(Block(arg_types=function_type.inputs.data)) if region is None else region
        init_op(self, (), (), properties, regions=(body,))

    @property
    def args(self) -> Sequence[BlockArgument]:
        """The arguments of the entry block."""
        return self.body.blocks[0].args

    @property
    def is_declaration(self) -> bool:
        """True if the function has no body."""
        return self.body.blocks.first is None

    def verify_(self) -> None:
        inputs, outputs = self.function_type.inputs.data, self.function_type.outputs.data
        entry = self.body.blocks.first
        if entry is None and (self.sym_visibility is None or self.sym_visibility.data == "public"):
            raise VerifyException("symbol declaration cannot have public visibility")
        if entry is not None and tuple(entry.arg_types) != inputs:
            if len(entry.args) != len(inputs):
                raise VerifyException(f"entry block must have {len(inputs)} arguments to match function signature")
            index = next(index for index, wanted in enumerate(inputs) if entry.args[index].type != wanted)
            raise VerifyException(
                f"type of entry block argument #{index}('{entry.args[index].type}') must match the type of the "
                f"corresponding argument in function signature('{inputs[index]}')"
            )
        for what, attrs, types in (("argument", self.arg_attrs, inputs), ("result", self.res_attrs, outputs)):
            if attrs is not None and len(attrs) != len(types):
                raise VerifyException(f"{len(attrs)} {what} attribute dictionaries for {len(types)} {what}s")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_visibility_keyword()
        symbol = parser.parse_optional_symbol_name()
        if symbol is None:
            place = parser.pos
            parser.raise_error(f"custom op '{cls.name}' expected valid '@'-identifier for symbol name", place, place)
        arguments, inputs, arg_attrs = _parse_inputs(parser)
        outputs, res_attrs = _parse_outputs(parser)
        extra = parser.parse_optional_attr_dict_with_keyword(RESERVED)
        position = parser.pos
        body = parser.parse_optional_region(arguments)
        if body is not None and not any(block.first_op for block in body.blocks):
            parser.raise_error(f"custom op '{cls.name}' expected non-empty function body", position, position + 1)
        op = cls(
            symbol.data,
            (inputs, outputs),
            body or Region(),
            visibility,
            arg_attrs=attribute_lists(arg_attrs),
            res_attrs=attribute_lists(res_attrs),
        )
        for key, attribute in (NO_ATTRIBUTES if extra is None else extra).data.items():
            (op.properties if key in cls.PROPERTIES_IN_TEXT else op.attributes)[key] = attribute
        return op

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        attributes = dict(self.attributes)
        attributes |= {key: self.properties[key] for key in self.PROPERTIES_IN_TEXT if key in self.properties}
        if self.is_declaration:
            self._print_declaration(printer, attributes)
            return
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            attributes,
            arg_attrs=self.arg_attrs,
            res_attrs=self.res_attrs,
            reserved_attr_names=RESERVED,
        )

    def _print_declaration(self, printer: Printer, attributes: Mapping[str, Attribute]) -> None:
        """``@f(i32, memref<*xf32> {a}) -> f32``: types without names, which xDSL prints without their attributes."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string("(")
        _print_types(printer, self.function_type.inputs.data, self.arg_attrs)
        printer.print_string(")")
        outputs = self.function_type.outputs.data
        if outputs:
            parenthesised = len(outputs) > 1 or self.res_attrs is not None
            printer.print_string(" -> (" if parenthesised else " -> ")
            _print_types(printer, outputs, self.res_attrs)
            printer.print_string(")" if parenthesised else "")
        printer.print_op_attributes(attributes, print_keyword=True)


def _print_types(printer: Printer, types: Sequence[Attribute], attrs: ArrayAttr[DictionaryAttr] | None) -> None:
    for position, (type_, dictionary) in enumerate(zip_longest(types, attrs.data if attrs is not None else ())):
        write(printer, ", " if position else "", type_)
        if dictionary is not None:
            printer.print_op_attributes(dictionary.data)


def _parse_inputs(
    parser: Parser,
) -> tuple[list[Parser.Argument] | None, list[Attribute], list[Mapping[str, Attribute]]]:
    """``(%a: i32 {x}, %b: f32)``, or types only: the named arguments if they are named, the types and the
    attributes."""
    named: list[Parser.Argument] = []
    types: list[Attribute] = []
    attrs: list[Mapping[str, Attribute]] = []

    def parse_input() -> None:
        first = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        argument = parser.parse_optional_argument()
        if (argument is None) != (not named) and types:
            reason = "expected SSA identifier" if named else "expected type instead of SSA identifier"
            raise CustomOpException(reason, first)
        types.append(parser.parse_type() if argument is None else argument.type)
        attrs.append(parser.parse_optional_dictionary_attr_dict())
        location = parser.parse_optional_location()
        if argument is not None:
            argument.location = location
            named.append(argument)

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_input)
    return named or None, types, attrs


def _parse_outputs(parser: Parser) -> tuple[list[Attribute], list[Mapping[str, Attribute]]]:
    """``-> f32`` or ``-> (f32 {x}, i32)``: the types and the attributes."""
    if parser.parse_optional_punctuation("->") is None:
        return [], []
    several = parser.parse_optional_comma_separated_list(
        parser.Delimiter.PAREN, lambda: (parser.parse_type(), parser.parse_optional_dictionary_attr_dict())
    )
    if several is None:
        return [parser.parse_type()], [{}]
    return [type_ for type_, _ in several], [attrs for _, attrs in several]


def verify_return(op: Operation, function: FunctionOp) -> None:
    """VerifyException unless an op gives what the function around it says."""
    expected = function.function_type.outputs.data
    found = tuple(value.type for value in op.operands)
    name = function.sym_name.data
    if len(found) != len(expected):
        raise VerifyException(f"has {len(found)} operands, but enclosing function (@{name}) returns {len(expected)}")
    for index, (given, wanted) in enumerate(zip(found, expected, strict=True)):
        if given != wanted:
            reason = f"type of return operand {index} ('{given}') doesn't match function result type ('{wanted}')"
            raise BareVerifyException(f"{reason} in function @{name}")
