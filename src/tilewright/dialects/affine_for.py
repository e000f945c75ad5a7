"""Loops between bounds that are affine maps of values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, lazy_traits_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, values_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Body, Operands, Results, prop_def, region_def, var_operand_def, var_result_def
from tilewright.dialects.text import parse_carried, parse_region_ending_in, print_carried, write
from tilewright.dialects.types import INDEX

Bound = tuple[AffineMap, Sequence[SSAValue]]
"""A map and its operands; of several results a lower bound is the largest, an upper bound the smallest."""


class YieldOp(Op):
    """What an iteration hands to the next: ``affine.yield %x : f32``."""

    name = "affine.yield"

    arguments: Operands = var_operand_def()

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"
    traits = lazy_traits_def(lambda: (Pure(), IsTerminator(), HasParent(ForOp)))

    def __init__(self, *values: Value) -> None:
        init_op(self, values_of(values), ())


class ForOp(Op):
    """``%r = affine.for %i = 0 to min #map(%n)[%m] step 2 iter_args(%a = %b) -> (f32) { ... affine.yield %x : f32 }``.

    The counter is an index; the step is a positive constant.
    """

    name = "affine.for"

    lower_operands: Operands = var_operand_def(INDEX)
    upper_operands: Operands = var_operand_def(INDEX)
    inits: Operands = var_operand_def()
    res: Results = var_result_def()
    lower_map: AffineMapAttr = prop_def(AffineMapAttr, prop_name="lowerBoundMap")
    upper_map: AffineMapAttr = prop_def(AffineMapAttr, prop_name="upperBoundMap")
    step: IntegerAttr = prop_def(IntegerAttr)
    body: Body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

    def __init__(self, lower: Bound, upper: Bound, step: int, inits: Sequence[SSAValue], body: Region) -> None:
        properties: dict[str, Attribute] = {
            "lowerBoundMap": AffineMapAttr(lower[0]),
            "upperBoundMap": AffineMapAttr(upper[0]),
            "step": IntegerAttr(step, INDEX),
        }
        IRDLOperation.__init__(
            self,
            operands=[lower[1], upper[1], inits],
            result_types=[[value.type for value in inits]],
            properties=properties,
            regions=[body],
        )

    def verify_(self) -> None:
        for which, map_, operands in (
            ("lower", self.lower_map.data, self.lower_operands),
            ("upper", self.upper_map.data, self.upper_operands),
        ):
            if map_.num_dims + map_.num_symbols != len(operands):
                raise VerifyException(f"the {which} bound takes {map_.num_dims + map_.num_symbols} operands")
            if not map_.results:
                raise VerifyException(f"expected the {which} bound map to have at least one result")
        if self.step.value.data <= 0:
            raise VerifyException("expected step to be a positive number")
        carried = [value.type for value in self.inits]
        if [argument.type for argument in self.body.block.args] != [INDEX, *carried]:
            raise VerifyException("the body must take the counter and the carried values")
        last = self.body.block.last_op
        yielded = [value.type for value in last.operands] if isinstance(last, YieldOp) else None
        if [result.type for result in self.res] != carried or yielded != carried:
            raise VerifyException("initial, yielded and resulting values must have the same types")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        counter = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        lower = _parse_bound(parser, "max")
        parser.parse_keyword("to")
        upper = _parse_bound(parser, "min")
        step = parser.parse_integer() if parser.parse_optional_keyword("step") else 1
        arguments, inits = parse_carried(parser)
        body = parse_region_ending_in(parser, YieldOp, (counter.resolve(INDEX), *arguments))
        op = cls(lower, upper, step, inits, body)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        counter, *arguments = self.body.block.args
        write(printer, " ", counter, " = ")
        _print_bound(printer, "max", self.lower_map, self.lower_operands)
        printer.print_string(" to ")
        _print_bound(printer, "min", self.upper_map, self.upper_operands)
        if self.step.value.data != 1:
            printer.print_string(f" step {self.step.value.data}")
        print_carried(printer, arguments, self.inits)
        printer.print_string(" ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=bool(arguments),
        )
        printer.print_op_attributes(self.attributes)


def _parse_bound(parser: Parser, extreme: str) -> Bound:
    """``4``, ``%n``, ``#map(%i)[%n]``, or ``max #map(%i)`` of several results."""
    number = parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        return AffineMap(0, 0, (AffineExpr.constant(number),)), ()
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        return AffineMap(0, 1, (AffineExpr.symbol(0),)), (parser.resolve_operand(operand, INDEX),)
    several = parser.parse_optional_keyword(extreme) is not None
    position = parser.pos
    map_ = parser.parse_attribute()
    if not isinstance(map_, AffineMapAttr):
        parser.raise_error("expected an affine map", position, parser.pos)
    if len(map_.data.results) > 1 and not several:
        parser.raise_error(f"a bound of several results begins with '{extreme}'", position, parser.pos)
    return map_.data, parse_map_operands(parser)


def parse_map_operands(parser: Parser) -> list[SSAValue]:
    """``(%i)[%n]``: dimensions, then symbols."""
    delimiters = (parser.Delimiter.PAREN, parser.Delimiter.SQUARE)
    groups = (
        parser.parse_optional_comma_separated_list(d, lambda: parser.parse_operand(INDEX), " in operand list")
        for d in delimiters
    )
    return [value for group in groups for value in group or ()]


def _print_bound(printer: Printer, extreme: str, attribute: AffineMapAttr, operands: Sequence[SSAValue]) -> None:
    map_ = attribute.data
    match map_.results:
        case (AffineConstantExpr(value=value),) if not operands:
            printer.print_string(str(value))
            return
        case (AffineSymExpr(),) if len(operands) == 1:
            printer.print_ssa_value(operands[0])
            return
        case _:
            printer.print_string(f"{extreme} " if len(map_.results) > 1 else "")
    printer.print_attribute(attribute)
    print_map_operands(printer, map_, operands)


def print_map_operands(printer: Printer, map_: AffineMap, operands: Sequence[SSAValue]) -> None:
    """``(%i)[%n]``."""
    write(printer, "(", operands[: map_.num_dims], ")")
    if map_.num_symbols:
        write(printer, "[", operands[map_.num_dims :], "]")
