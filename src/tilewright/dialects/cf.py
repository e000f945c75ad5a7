"""The cf dialect: assertions and branches between blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerType, StringAttr, VectorType, i1
from xdsl.ir import Attribute, Block, Dialect, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, successor_def, traits_def, var_successor_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import (
    Value,
    init_op,
    segment_sizes,
    static_values,
    string_attr,
    value_of,
    values_of,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import I64Array, Operand, Operands, operand_def, opt_prop_def, prop_def, var_operand_def
from tilewright.dialects.text import parse_typed_group, print_typed_group, write
from tilewright.dialects.types import INTEGER_LIKE, bit_width
from tilewright.ir.wording import BareVerifyException


def _verify_successor_operands(operands: Sequence[SSAValue], block: Block, index: int = 0) -> None:
    if len(operands) != len(block.args):
        raise BareVerifyException(
            f"branch has {len(operands)} operands for successor #{index}, but target block has {len(block.args)}"
        )
    for at, (operand, argument) in enumerate(zip(operands, block.args, strict=True)):
        if operand.type != argument.type:
            raise BareVerifyException(
                f"type mismatch for bb argument #{at} of successor #{index}: '{operand.type}' for '{argument.type}'"
            )


class AssertOp(Op):
    """``cf.assert %cond, "index out of range"``: stop the program with a message unless the condition holds."""

    name = "cf.assert"

    arg: Operand = operand_def(i1)
    msg: StringAttr = prop_def(StringAttr, converter=string_attr)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$arg `,` $msg attr-dict"


class BranchOp(Op):
    """``cf.br ^bb1(%a : i32)``."""

    name = "cf.br"

    arguments: Operands = var_operand_def()
    successor = successor_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "$successor (`(` $arguments^ `:` type($arguments) `)`)? attr-dict"

    def __init__(self, dest: Block, *arguments: Value) -> None:
        init_op(self, values_of(arguments), successors=(dest,))

    def verify_(self) -> None:
        _verify_successor_operands(self.arguments, self.successor)


class ConditionalBranchOp(Op):
    """``cf.cond_br %cond, ^bb1(%a : i32), ^bb2``."""

    name = "cf.cond_br"

    cond: Operand = operand_def(i1)
    then_arguments: Operands = var_operand_def()
    else_arguments: Operands = var_operand_def()
    then_block = successor_def()
    else_block = successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = (
        "$cond `,` $then_block (`(` $then_arguments^ `:` type($then_arguments) `)`)? `,` "
        "$else_block (`(` $else_arguments^ `:` type($else_arguments) `)`)? attr-dict"
    )

    def __init__(
        self,
        cond: Value,
        then_block: Block,
        then_arguments: Sequence[Value],
        else_block: Block,
        else_arguments: Sequence[Value],
    ) -> None:
        then_values, else_values = values_of(then_arguments), values_of(else_arguments)
        properties = {"operandSegmentSizes": segment_sizes(1, len(then_values), len(else_values))}
        operands = [value_of(cond), *then_values, *else_values]
        init_op(self, operands, (), properties, successors=(then_block, else_block))

    def verify_(self) -> None:
        _verify_successor_operands(self.then_arguments, self.then_block)
        _verify_successor_operands(self.else_arguments, self.else_block, 1)


class SwitchOp(Op):
    """``cf.switch %flag : i32, [default: ^bb1, 4: ^bb2(%a : i32)]``."""

    name = "cf.switch"

    flag: Operand = operand_def(INTEGER_LIKE)
    default_operands: Operands = var_operand_def()
    case_operands: Operands = var_operand_def()
    case_values: DenseIntOrFPElementsAttr | None = opt_prop_def(DenseIntOrFPElementsAttr)
    case_operand_segments: I64Array = prop_def(DenseArrayBase)
    default_block = successor_def()
    case_blocks = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(IsTerminator(), Pure())

    def __init__(
        self,
        flag: Value,
        default_block: Block,
        default_operands: Sequence[Value] = (),
        case_values: Sequence[int] = (),
        case_blocks: Sequence[Block] = (),
        case_operands: Sequence[Sequence[Value]] = (),
    ) -> None:
        flag = value_of(flag)
        defaults = values_of(default_operands)
        cases = [value for operands in case_operands for value in values_of(operands)]
        properties: dict[str, Attribute] = {
            "operandSegmentSizes": segment_sizes(1, len(defaults), len(cases)),
            "case_operand_segments": segment_sizes(*(len(operands) for operands in case_operands)),
        }
        if case_values:
            values_type = VectorType(cast(IntegerType, flag.type), (len(case_values),))
            properties["case_values"] = DenseIntOrFPElementsAttr.from_list(values_type, list(case_values))
        init_op(self, [flag, *defaults, *cases], (), properties, successors=(default_block, *case_blocks))

    @property
    def cases(self) -> list[tuple[int, Block, list[SSAValue]]]:
        """Per case the value, the block and the operands that it passes."""
        if self.case_values is None:
            return []
        found: list[tuple[int, Block, list[SSAValue]]] = []
        start = 0
        values = self.case_values.get_values()
        segments = static_values(self.case_operand_segments)
        for value, block, count in zip(values, self.case_blocks, segments, strict=True):
            found.append((int(value), block, list(self.case_operands[start : start + count])))  # pyright: ignore[reportArgumentType]
            start += count
        return found

    def verify_(self) -> None:
        _verify_successor_operands(self.default_operands, self.default_block)
        segments = static_values(self.case_operand_segments)
        values = () if self.case_values is None else self.case_values.get_values()
        if not len(values) == len(self.case_blocks) == len(segments):
            raise VerifyException("the numbers of case values, case blocks and operand segments differ")
        if sum(segments) != len(self.case_operands):
            raise VerifyException("the operand segments do not add up to the number of case operands")
        for _, block, operands in self.cases:
            _verify_successor_operands(operands, block)

    @classmethod
    def parse(cls, parser: Parser) -> SwitchOp:
        flag = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        flag_value = parser.resolve_operand(flag, parser.parse_type())
        parser.parse_punctuation(",")
        parser.parse_punctuation("[")
        parser.parse_keyword("default")
        default_block, default_operands = _parse_target(parser)
        values: list[int] = []
        targets: list[tuple[Block, Sequence[SSAValue]]] = []
        while parser.parse_optional_punctuation(",") is not None:
            values.append(parser.parse_integer())
            targets.append(_parse_target(parser))
        parser.parse_punctuation("]")
        blocks, operands = [block for block, _ in targets], [values for _, values in targets]
        op = cls(flag_value, default_block, default_operands, values, blocks, operands)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.flag, " : ", self.flag.type, ", [")
        with printer.indented():
            _print_target(printer, "default", self.default_block, self.default_operands)
            for value, block, operands in self.cases:
                printer.print_string(",")
                unsigned = value & ((1 << bit_width(self.flag.type)) - 1)
                _print_target(printer, str(unsigned), block, operands)
        printer.print_string("\n]")
        printer.print_op_attributes(self.attributes)


def _parse_target(parser: Parser) -> tuple[Block, Sequence[SSAValue]]:
    """``: ^bb1(%a : i32)``."""
    parser.parse_punctuation(":")
    block = parser.parse_successor()
    if parser.parse_optional_punctuation("(") is None:
        return block, ()
    values, types = parse_typed_group(parser)
    parser.parse_punctuation(")")
    return block, parser.resolve_operands(values, types, parser.pos)


def _print_target(printer: Printer, case: str, block: Block, operands: Sequence[SSAValue]) -> None:
    printer.print_string(f"\n{case}: ")
    printer.print_block_name(block)
    if operands:
        printer.print_string("(")
        print_typed_group(printer, operands)
        printer.print_string(")")


Cf = Dialect("cf", [AssertOp, BranchOp, ConditionalBranchOp, SwitchOp], [])
