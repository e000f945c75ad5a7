"""The ops that end the regions of scf ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of, values_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Bodies, Operand, Operands, operand_def, var_operand_def, var_region_def
from tilewright.dialects.text import write
from tilewright.ir.diagnostics import note_at, verify_error


class YieldOp(Op):
    """``scf.yield %a, %b : i32, f32``: the values that a region gives."""

    name = "scf.yield"

    arguments: Operands = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *arguments: Value) -> None:
        init_op(self, values_of(arguments))

    def verify_(self) -> None:
        parent = self.parent_op()
        allowed = ("scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while")
        if parent is not None and parent.name not in allowed:
            raise VerifyException(f"expects parent op to be one of '{', '.join(allowed)}'")


def verify_edge(op: Operation, terminator: Operation, types: Sequence[Attribute], target: str) -> None:
    """Check what a terminator passes on to its op, or to a region of it."""
    passed = terminator.arguments if isinstance(terminator, ConditionOp) else terminator.operands
    edge = f"along control flow edge from Operation {terminator.name} to {target}"
    reason = ""
    if len(passed) != len(types):
        reason = f"region branch point has {len(passed)} operands, but region successor needs {len(types)} inputs"
    for index, (value, wanted) in enumerate(zip(passed, types, strict=False)):
        if not reason and value.type != wanted:
            given = f"successor operand type #{index} '{value.type}'"
            reason = f"{given} should match successor input type #{index} '{wanted}'"
    if reason:
        raise verify_error(op, f"{edge}: {reason}", [note_at(terminator, "region branch point")])


class ConditionOp(Op):
    """``scf.condition(%cond) %a : i32``: goes on with the loop body while the condition holds, passing values to it."""

    name = "scf.condition"

    cond: Operand = operand_def(i1)
    arguments: Operands = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "`(` $cond `)` attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, cond: Value, *arguments: Value) -> None:
        init_op(self, [value_of(cond), *values_of(arguments)])

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name != "scf.while":
            raise VerifyException("expects parent op 'scf.while'")


class ReduceOp(Op):
    """``scf.reduce(%x : f32) { ^bb0(%a: f32, %b: f32): ... }``: ends scf.parallel, with one combining region per
    value."""

    name = "scf.reduce"

    arguments: Operands = var_operand_def(default=())
    reductions: Bodies = var_region_def("single_block", default=())

    traits = traits_def(IsTerminator(), RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> ReduceOp:
        arguments: Sequence[Value] = ()
        if parser.parse_optional_punctuation("(") is not None:
            values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
            parser.parse_punctuation(":")
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            parser.parse_punctuation(")")
            arguments = parser.resolve_operands(values, types, parser.pos)
        reductions: list[Region] = []
        while (region := parser.parse_optional_region()) is not None:
            reductions.append(region)
            parser.parse_optional_punctuation(",")
        op = cls(arguments, reductions)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        if self.operands:
            write(printer, "(", self.operands, " : ", [value.type for value in self.operands], ")")
        printer.print_string(" ")
        printer.print_list(self.regions, printer.print_region)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if len(self.regions) != len(self.operands):
            raise VerifyException(f"{len(self.operands)} values need as many reductions, got {len(self.regions)}")
        for value, region in zip(self.operands, self.regions, strict=True):
            if tuple(region.block.arg_types) != (value.type, value.type):
                raise VerifyException(f"a reduction of {value.type} takes two arguments of that type")


class ReduceReturnOp(Op):
    """``scf.reduce.return %c : f32``."""

    name = "scf.reduce.return"

    result: Operand = operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "$result attr-dict `:` type($result)"
