"""Reading and printing pieces of ops that have no assembly format."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.utils import parse_assignment
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.lexer import Span

from tilewright.ir.wording import CustomOpException

Piece = str | SSAValue | Attribute | Sequence["Piece"]
"""What an op's text is made of."""


def write(printer: Printer, *pieces: Piece) -> None:
    """Print text, values and types one after the other, those of a sequence with commas between them.

    ``write(printer, " ", self.base, "[", self.indices, "] : ", self.base.type)``
    """
    for piece in pieces:
        match piece:
            case str():
                printer.print_string(piece)
            case SSAValue():
                printer.print_ssa_value(piece)
            case Attribute():
                printer.print_attribute(piece)
            case _:
                printer.print_list(piece, lambda item: write(printer, item))


def check_as_many(operands: Sequence[object], types: Sequence[object], at: Span[str]) -> None:
    """Raise what an op's parser says where there are not as many types as operands."""
    if len(operands) != len(types):
        counts = f"got {len(operands)} operands and {len(types)} types"
        raise CustomOpException(f"number of operands and types do not match: {counts}", at)


def parse_integer_list(parser: AttrParser) -> tuple[int, ...]:
    """``[0, 1]``."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def parse_operand_group(parser: Parser, keyword: str) -> list[SSAValue]:
    """``ins(%a, %b : tensor<4xf32>, f32)``; nothing when the keyword is absent."""
    if parser.parse_optional_keyword(keyword) is None:
        return []
    parser.parse_punctuation("(")
    if parser.parse_optional_punctuation(")"):
        return []
    at = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
    values, types = parse_typed_group(parser)
    parser.parse_punctuation(")")
    check_as_many(values, types, at)
    return list(parser.resolve_operands(values, types, parser.pos))


def parse_ins_and_outs(parser: Parser, inputs: int | None = None) -> tuple[list[SSAValue], list[SSAValue]]:
    """``ins(%a : f32) outs(%e : tensor<4xf32>)``; where a number of inputs is given, there is one destination."""
    ins, outs = parse_operand_group(parser, "ins"), parse_operand_group(parser, "outs")
    if inputs is not None and (len(ins), len(outs)) != (inputs, 1):
        parser.raise_error(f"expected {inputs} input{'s' if inputs > 1 else ''} and one output")
    return ins, outs


def print_ins_and_outs(printer: Printer, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> None:
    """`` ins(%a : f32) outs(%e : tensor<4xf32>)``."""
    print_operand_group(printer, "ins", inputs)
    print_operand_group(printer, "outs", outputs)


def parse_dims(parser: Parser, key: str) -> tuple[int, ...]:
    """``permutation = [1, 0]``."""
    parser.parse_keyword(key)
    parser.parse_punctuation("=")
    return parse_integer_list(parser)


def parse_typed_group(parser: Parser) -> tuple[list[UnresolvedOperand], list[Attribute]]:
    """``%a, %b : tensor<4xf32>, f32``."""
    values = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    parser.parse_punctuation(":")
    types: list[Attribute] = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
    return values or [], types


def print_operand_group(printer: Printer, keyword: str, values: Sequence[SSAValue]) -> None:
    """`` ins(%a, %b : tensor<4xf32>, f32)``; nothing for no values."""
    if not values:
        return
    printer.print_string(f" {keyword}(")
    print_typed_group(printer, values)
    printer.print_string(")")


def print_typed_group(printer: Printer, values: Sequence[SSAValue]) -> None:
    """``%a, %b : tensor<4xf32>, f32``."""
    write(printer, values, " : ", [value.type for value in values])


def parse_values(parser: Parser, type_: Attribute, delimiter: Parser.Delimiter) -> Sequence[SSAValue]:
    """``[%a, %b]``, all of one type."""
    return parser.parse_comma_separated_list(delimiter, lambda: parser.parse_operand(type_), " in operand list")


def parse_types_in_parentheses(parser: Parser) -> list[Attribute]:
    """``f32``, ``(f32, i32)`` or ``()``."""
    several = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if several is None else list(several)


def parse_result_types(parser: Parser) -> list[Attribute]:
    """``-> f32`` or ``-> (f32, i32)``; no types without an arrow."""
    return parse_types_in_parentheses(parser) if parser.parse_optional_punctuation("->") else []


def print_result_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """`` -> tensor<4xf32>`` or `` -> (tensor<4xf32>, tensor<4xi32>)``; nothing for no types."""
    if types:
        write(printer, " -> ", *types if len(types) == 1 else ("(", types, ")"))


def parse_assignments(parser: Parser) -> tuple[list[Parser.UnresolvedArgument], list[UnresolvedOperand]]:
    """``(%a = %x, %b = %y)``: block arguments and what they start as; nothing without a parenthesis."""
    pairs = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_assignment(parser)) or ()
    return [argument for argument, _ in pairs], [value for _, value in pairs]


def print_assignments(printer: Printer, arguments: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    """``(%a = %x, %b = %y)``."""
    printer.print_string("(")
    for position, (argument, value) in enumerate(zip(arguments, values, strict=True)):
        write(printer, ", " if position else "", argument, " = ", value)
    printer.print_string(")")


def parse_carried(parser: Parser) -> tuple[list[Parser.Argument], Sequence[SSAValue]]:
    """``iter_args(%a = %x) -> (f32)``: the arguments of a loop's body and what they start as."""
    if parser.parse_optional_keyword("iter_args") is None:
        return [], ()
    arguments, values = parse_assignments(parser)
    types = parse_result_types(parser)
    if len(types) != len(arguments):
        raise CustomOpException("mismatch in number of loop-carried values and defined values")
    initial = parser.resolve_operands(values, types, parser.pos)
    return [argument.resolve(type_) for argument, type_ in zip(arguments, types, strict=True)], initial


def print_carried(printer: Printer, arguments: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
    """`` iter_args(%a = %x) -> (f32)``; nothing for no values."""
    if arguments:
        printer.print_string(" iter_args")
        print_assignments(printer, arguments, values)
        write(printer, " -> (", [argument.type for argument in arguments], ")")


def parse_region_ending_in(
    parser: Parser, terminator: type[Operation], arguments: Sequence[Parser.Argument] | None = None
) -> Region:
    """A region whose only block ends in `terminator()` where the text has no terminator."""
    region = parser.parse_region(arguments)
    if not region.blocks:
        region.add_block(Block())
    last = region.block.last_op
    if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
        region.block.add_op(terminator())
    return region
