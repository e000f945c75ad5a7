"""Loops: counted, conditional and parallel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, UnitAttr
from xdsl.ir import Block, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, VarConstraint, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import RecursivelySpeculatable, RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.construction import unit_if
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Body,
    Operand,
    Operands,
    Results,
    inferred_results_def,
    operand_def,
    opt_prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.scf.terminators import ConditionOp, ReduceOp, YieldOp, verify_edge
from tilewright.dialects.text import (
    parse_assignments,
    parse_carried,
    parse_region_ending_in,
    parse_result_types,
    parse_values,
    print_assignments,
    print_carried,
    print_result_types,
    write,
)
from tilewright.dialects.types import INDEX, TypeWhere, is_integer_or_index

LOOP_BOUND = TypeWhere("a signless integer or index", is_integer_or_index)


class ForOp(Op):
    """A counted loop over ``lb <= i < ub`` that carries values.

    ``%r = scf.for %i = %lb to %ub step %step iter_args(%acc = %init) -> (f32)  : i32 { ... scf.yield %next : f32 }``

    The bounds are compared as signed, or as unsigned with ``scf.for unsigned``. MLIR 22 and Triton 3.6 both print two
    spaces before the
    type of bounds that are not index; one is read as well.
    """

    name = "scf.for"

    T: ClassVar = VarConstraint("T", LOOP_BOUND)

    lb: Operand = operand_def(T)
    ub: Operand = operand_def(T)
    step: Operand = operand_def(T)
    iter_args: Operands = var_operand_def()
    res: Results = inferred_results_def(of="iter_args")
    body: Body = region_def("single_block")
    unsigned_cmp: UnitAttr | None = opt_prop_def(UnitAttr, prop_name="unsignedCmp", default=None, converter=unit_if)

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect(), RecursivelySpeculatable())

    @property
    def induction_variable(self) -> SSAValue:
        """The loop counter."""
        return self.body.block.args[0]

    @property
    def region_iter_args(self) -> Sequence[SSAValue]:
        """The carried values inside the body."""
        return self.body.block.args[1:]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The operands of the body's `scf.yield`: the carried values of the next iteration."""
        terminator = self.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return terminator.operands

    def carrying(self, iter_args: Sequence[SSAValue]) -> ForOp:
        """A loop that takes over the body, and carries values that start as these; arguments and terminator of the body
        fit them already. This one is to be replaced."""
        return ForOp.create(
            operands=(self.lb, self.ub, self.step, *iter_args),
            result_types=[value.type for value in iter_args],
            properties=self.properties,
            attributes=self.attributes,
            regions=(self.detach_region(self.body),),
            location=self.location,
        )

    def verify_(self) -> None:
        arguments = self.body.block.args
        carried = [value.type for value in self.iter_args]
        if not arguments or arguments[0].type != self.lb.type:
            raise VerifyException(f"the loop counter must be of the type of the bounds, {self.lb.type}")
        if [argument.type for argument in arguments[1:]] != carried:
            raise VerifyException("the arguments of the body do not match the carried values")
        if [result.type for result in self.results] != carried:
            raise VerifyException("the results do not match the carried values")
        terminator = self.body.block.last_op
        if not isinstance(terminator, YieldOp):
            return
        if not terminator.operands:
            verify_edge(self, terminator, carried, "Region #0")
        if len(terminator.operands) != len(carried):
            counts = f"{len(carried)} != {len(terminator.operands)}"
            raise VerifyException(f"different number of region iter_args and yielded values: {counts}")
        for index, (value, wanted) in enumerate(zip(terminator.operands, carried, strict=True)):
            if value.type != wanted:
                what = f"{index}-th region iter_arg and {index}-th yielded value"
                raise VerifyException(f"{what} have different type: '{wanted}' != '{value.type}'")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        unsigned = parser.parse_optional_keyword("unsigned") is not None
        counter = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        lb = parser.parse_unresolved_operand()
        parser.parse_keyword("to")
        ub = parser.parse_unresolved_operand()
        parser.parse_keyword("step")
        step = parser.parse_unresolved_operand()
        arguments, initial = parse_carried(parser)
        counter_type = parser.parse_type() if parser.parse_optional_punctuation(":") else INDEX
        bounds = parser.resolve_operands((lb, ub, step), (counter_type,) * 3, parser.pos)
        body = parse_region_ending_in(parser, YieldOp, (counter.resolve(counter_type), *arguments))
        op = cls(bounds[0], bounds[1], bounds[2], initial, body, unsigned_cmp=unsigned)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        counter, *arguments = self.body.block.args
        write(printer, " unsigned " if self.unsigned_cmp is not None else " ", counter)
        for separator, bound in ((" = ", self.lb), (" to ", self.ub), (" step ", self.step)):
            write(printer, separator, bound)
        print_carried(printer, arguments, self.iter_args)
        if not isinstance(counter.type, IndexType):
            write(printer, "  : ", counter.type)
        printer.print_string(" ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=bool(arguments),
        )
        printer.print_op_attributes(self.attributes)


class WhileOp(Op):
    """A loop that tests in `before_region` and works in `after_region`.

    ``%r = scf.while (%a = %init) : (i32) -> i32 { ... scf.condition(%c) %a : i32 } do { ^bb0(%b: i32): ... scf.yield
    %n : i32 }``
    """

    name = "scf.while"

    arguments: Operands = var_operand_def()
    res: Results = var_result_def()
    before_region: Body = region_def("single_block")
    after_region: Body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        before, after = self.before_region.block, self.after_region.block
        if [argument.type for argument in before.args] != [value.type for value in self.arguments]:
            raise VerifyException("the arguments of the 'before' region do not match the operands")
        if [argument.type for argument in after.args] != [result.type for result in self.results]:
            raise VerifyException("the arguments of the 'after' region do not match the results")
        test, step = before.last_op, after.last_op
        if not isinstance(test, ConditionOp):
            raise VerifyException("the 'before' region must end in 'scf.condition'")
        verify_edge(self, test, [result.type for result in self.results], "parent")
        if not isinstance(step, YieldOp):
            raise VerifyException("the 'after' region must end in 'scf.yield'")
        verify_edge(self, step, [value.type for value in self.arguments], "Region #0")

    @classmethod
    def parse(cls, parser: Parser) -> WhileOp:
        names, operands = parse_assignments(parser)
        parser.parse_punctuation(":")
        function_type = parser.parse_function_type()
        inputs = function_type.inputs.data
        if len(inputs) != len(operands):
            parser.raise_error(f"expected {len(operands)} operand types, got {len(inputs)}")
        values = parser.resolve_operands(operands, inputs, parser.pos)
        arguments = [name.resolve(type_) for name, type_ in zip(names, inputs, strict=True)]
        before = parser.parse_region(arguments)
        parser.parse_keyword("do")
        after = parser.parse_region()
        if not after.blocks:
            after.add_block(Block())
        op = cls(values, function_type.outputs.data, before, after)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            print_assignments(printer, self.before_region.block.args, self.arguments)
        printer.print_string(" : ")
        printer.print_operation_type(self)
        printer.print_string(" ")
        printer.print_region(self.before_region, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.after_region)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)


class ParallelOp(Op):
    """A loop nest whose iterations may run in any order: ``scf.parallel (%i, %j) = (%a, %b) to (%c, %d) step (%e, %f)
    { ... }``."""

    name = "scf.parallel"

    lowerBound: Operands = var_operand_def(INDEX)
    upperBound: Operands = var_operand_def(INDEX)
    step: Operands = var_operand_def(INDEX)
    body: Body = region_def("single_block")
    res: Results = inferred_results_def(of="initVals")
    initVals: Operands = var_operand_def(default=())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(ReduceOp))

    def verify_(self) -> None:
        rank = len(self.lowerBound)
        if not len(self.upperBound) == len(self.step) == rank or len(self.body.block.args) != rank:
            raise VerifyException("bounds, steps and counters differ in number")
        if any(step is not None and step <= 0 for step in (find_constant_int(step) for step in self.step)):
            raise VerifyException("constant step operand must be positive")
        terminator = self.body.block.last_op
        if isinstance(terminator, ReduceOp) and len(terminator.operands) != len(self.initVals):
            raise VerifyException("'scf.reduce' does not combine as many values as the loop starts from")

    @classmethod
    def parse(cls, parser: Parser) -> ParallelOp:
        counters = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = parse_values(parser, INDEX, Parser.Delimiter.PAREN)
        parser.parse_keyword("to")
        upper = parse_values(parser, INDEX, Parser.Delimiter.PAREN)
        parser.parse_keyword("step")
        steps = parse_values(parser, INDEX, Parser.Delimiter.PAREN)
        unresolved: Sequence[UnresolvedOperand] = ()
        if parser.parse_optional_keyword("init"):
            unresolved = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        initial = parser.resolve_operands(unresolved, parse_result_types(parser), parser.pos)
        body = parse_region_ending_in(parser, ReduceOp, [counter.resolve(INDEX) for counter in counters])
        op = cls(lower, upper, steps, body, initial)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        for separator, values in (
            (" (", self.body.block.args),
            (") = (", self.lowerBound),
            (") to (", self.upperBound),
            (") step (", self.step),
        ):
            write(printer, separator, values)
        write(printer, ") init (" if self.initVals else "", self.initVals, ")")
        print_result_types(printer, self.result_types)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)
