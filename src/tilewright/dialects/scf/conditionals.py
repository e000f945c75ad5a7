"""Branches with a single way out."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, index_list, init_op, region_of, static_values, value_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Bodies,
    Body,
    I64Array,
    Operand,
    Results,
    operand_def,
    prop_def,
    region_def,
    var_region_def,
    var_result_def,
)
from tilewright.dialects.scf.terminators import YieldOp, verify_edge
from tilewright.dialects.text import parse_region_ending_in, parse_result_types, print_result_types, write
from tilewright.dialects.types import I64_ARRAY, INDEX


def _verify_yields(op: Operation, region: Region, what: str) -> None:
    types = [result.type for result in op.results]
    terminator = region.block.last_op
    if not isinstance(terminator, YieldOp):
        raise VerifyException(f"{what} must end in 'scf.yield'")
    verify_edge(op, terminator, types, "parent")


class IfOp(Op):
    """``%r = scf.if %cond -> (f32) { scf.yield %a : f32 } else { scf.yield %b : f32 }``."""

    name = "scf.if"

    cond: Operand = operand_def(i1)
    output: Results = var_result_def()
    true_region: Body = region_def("single_block")
    false_region: Body = region_def()

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect(), RecursivelySpeculatable())

    def __init__(
        self,
        cond: Value,
        result_types: Sequence[Attribute],
        true_region: Region | Block | Sequence[Operation],
        false_region: Region | Block | Sequence[Operation] | None = None,
    ) -> None:
        otherwise = Region() if false_region is None else region_of(false_region)
        init_op(self, (value_of(cond),), result_types, regions=(region_of(true_region), otherwise))

    @property
    def then_yielded(self) -> Sequence[SSAValue]:
        """The operands of the then-branch's `scf.yield`."""
        terminator = self.true_region.block.last_op
        return terminator.operands if isinstance(terminator, YieldOp) else ()

    @property
    def else_yielded(self) -> Sequence[SSAValue]:
        """The operands of the else-branch's `scf.yield`; empty without an else-branch."""
        block = self.false_region.blocks.first
        terminator = None if block is None else block.last_op
        return terminator.operands if isinstance(terminator, YieldOp) else ()

    def verify_(self) -> None:
        _verify_yields(self, self.true_region, "the then-branch")
        if self.false_region.blocks:
            _verify_yields(self, self.false_region, "the else-branch")
        elif self.results:
            raise VerifyException("must have an else block if defining values")

    @classmethod
    def parse(cls, parser: Parser) -> IfOp:
        cond = parser.parse_operand(i1)
        types = parse_result_types(parser)
        then = parse_region_ending_in(parser, YieldOp)
        otherwise = parse_region_ending_in(parser, YieldOp) if parser.parse_optional_keyword("else") else None
        op = cls(cond, types, then, otherwise)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.cond)
        if self.results:
            write(printer, " -> (", self.result_types, ")")
        with_terminators = bool(self.results)
        printer.print_string(" ")
        printer.print_region(self.true_region, print_entry_block_args=False, print_block_terminators=with_terminators)
        if self.false_region.blocks:
            printer.print_string(" else ")
            printer.print_region(
                self.false_region, print_entry_block_args=False, print_block_terminators=with_terminators
            )
        printer.print_op_attributes(self.attributes)


class IndexSwitchOp(Op):
    """``%r = scf.index_switch %i -> i32 case 2 { ... scf.yield %a : i32 } default { ... scf.yield %b : i32 }``."""

    name = "scf.index_switch"

    arg: Operand = operand_def(INDEX)
    cases: I64Array = prop_def(I64_ARRAY, converter=index_list)
    default_region: Body = region_def("single_block")
    case_regions: Bodies = var_region_def("single_block")
    output: Results = var_result_def(default=())

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect(), RecursivelySpeculatable())

    def verify_(self) -> None:
        values = static_values(self.cases)
        if len(values) != len(self.case_regions):
            raise VerifyException(f"{len(self.case_regions)} case regions for {len(values)} cases")
        if len(set(values)) != len(values):
            raise VerifyException("a case value is given twice")
        for region in self.regions:
            _verify_yields(self, region, "a case")

    @classmethod
    def parse(cls, parser: Parser) -> IndexSwitchOp:
        arg = parser.parse_operand(INDEX)
        attributes = parser.parse_optional_attr_dict()
        types = parse_result_types(parser)
        values: list[int] = []
        regions: list[Region] = []
        while parser.parse_optional_keyword("case"):
            values.append(parser.parse_integer())
            regions.append(parse_region_ending_in(parser, YieldOp))
        parser.parse_keyword("default")
        op = cls(arg, values, parse_region_ending_in(parser, YieldOp), regions, types)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.arg)
        printer.print_op_attributes(self.attributes)
        print_result_types(printer, self.result_types)
        printer.print_string(" ")
        with_terminators = bool(self.results)
        for value, region in zip(static_values(self.cases), self.case_regions, strict=True):
            printer.print_string(f"\ncase {value} ")
            printer.print_region(region, print_entry_block_args=False, print_block_terminators=with_terminators)
        printer.print_string("\ndefault ")
        printer.print_region(
            self.default_region, print_entry_block_args=False, print_block_terminators=with_terminators
        )


class ExecuteRegionOp(Op):
    """``%r = scf.execute_region -> i32 { ... scf.yield %a : i32 }``: several blocks where one op is wanted."""

    name = "scf.execute_region"

    outs: Results = var_result_def()
    region: Body = region_def()

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> ExecuteRegionOp:
        types = parse_result_types(parser)
        op = cls(types, parser.parse_region())
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        print_result_types(printer, self.result_types)
        printer.print_string(" ")
        printer.print_region(self.region, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)
