"""The `ttx` dialect of triton-shared: what it adds to linalg for Triton's scans."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness
from xdsl.ir import Dialect
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Operand, Result, inferred_result_def, operand_def, prop_def
from tilewright.dialects.text import parse_ins_and_outs, print_ins_and_outs, write
from tilewright.dialects.types import ANY_TENSOR, shape_of

UI32 = IntegerType(32, Signedness.UNSIGNED)


def _axis_attr(axis: int) -> IntegerAttr:
    return IntegerAttr(axis, UI32)


class CumSumOp(Op):
    """``%s = ttx.cumsum {axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>} ins(%x : tensor<4x8xf32>)
    outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>``: running sums along the last axis of one or two.

    What the destination holds is not read.
    """

    name = "ttx.cumsum"

    input: Operand = operand_def(ANY_TENSOR)
    output: Operand = operand_def(ANY_TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr, converter=_axis_attr)
    result: Result = inferred_result_def(ANY_TENSOR, of="output")

    traits = traits_def(Pure())

    def verify_(self) -> None:
        types = {value.type for value in (self.input, self.output, self.result)}
        if len(types) != 1:
            raise VerifyException("input, destination and result must have the same type")
        rank = len(shape_of(self.input.type) or ())
        if rank not in (1, 2):
            raise VerifyException(f"input must have rank 1 or 2, got {rank}")
        if self.axis.value.data != rank - 1:
            raise VerifyException(f"axis must be the last one, {rank - 1}, got {self.axis.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> CumSumOp:
        position = parser.pos
        attributes = parser.parse_optional_attr_dict()
        axis = attributes.pop("axis", None)
        attributes.pop("operandSegmentSizes", None)
        if not isinstance(axis, IntegerAttr):
            parser.raise_error("expected an integer attribute 'axis'", position, parser.pos)
        inputs, outputs = parse_ins_and_outs(parser, 1)
        parser.parse_punctuation("->")
        parser.parse_type()
        op = cls(inputs[0], outputs[0], axis.value.data)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        shown = {"axis": self.axis, "operandSegmentSizes": segment_sizes(1, 1)}
        printer.print_op_attributes({**self.attributes, **shown})
        print_ins_and_outs(printer, (self.input,), (self.output,))
        write(printer, " -> ", self.result.type)


TTX = Dialect("ttx", [CumSumOp], [])
