"""Ops that combine elements of one tensor with one another: scans, and networks of exchanges."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.irdl import SameVariadicOperandSize, traits_def
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import int_attr, unit_if
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Body,
    Operands,
    Results,
    inferred_results_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.types import ANY_TENSOR, element_type, is_tensor, shape_of


class ScanOp(Op):
    """``%r = linalg_ext.scan dimension(1) ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) { ^bb0(%running: f32,
    %current: f32): ... linalg.yield %next : f32 } -> tensor<4x8xf32>``.

    Each element of a result is the combination of all elements up to it along a dimension, or, in `reverse`, of all
    elements from it on; several inputs may be scanned together. The body combines what came before with the current
    elements. Destinations have the types of the inputs; what they hold is not read.
    """

    name = "linalg_ext.scan"

    inputs: Operands = var_operand_def(ANY_TENSOR)
    outputs: Operands = var_operand_def(ANY_TENSOR)
    dimension: IntegerAttr = prop_def(IntegerAttr.constr(i64), converter=int_attr)
    reverse: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if)
    res: Results = inferred_results_def(ANY_TENSOR, of="outputs")
    body: Body = region_def("single_block")

    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())
    assembly_format = (
        "(`reverse` $reverse^)? `dimension` `(` $dimension `)` `ins` `(` $inputs `:` type($inputs) `)` "
        "`outs` `(` $outputs `:` type($outputs) `)` $body attr-dict `->` type($res)"
    )

    def verify_(self) -> None:
        types = [value.type for value in self.inputs]
        if types != [value.type for value in self.outputs] or types != [value.type for value in self.res]:
            raise VerifyException("inputs, destinations and results must have the same types")
        shapes = {shape_of(type_) for type_ in types}
        if len(shapes) != 1 or not all(map(is_tensor, types)):
            raise VerifyException("all inputs must have one shape")
        if not 0 <= self.dimension.value.data < len(shapes.pop() or ()):
            raise VerifyException(f"there is no dimension {self.dimension.value.data}")
        elements = [element_type(type_) for type_ in types]
        block, end = self.body.block, self.body.block.last_op
        if [argument.type for argument in block.args] != [*elements, *elements]:
            raise VerifyException("the body must take what came before and the current elements")
        if end is None or end.name != "linalg.yield" or [value.type for value in end.operands] != elements:
            raise VerifyException("the body must yield one element per result")


class ExchangeNetworkOp(Op):
    """``%y = linalg_ext.exchange_network { ... linalg.yield %2 : tensor<256x2x2xf32> } -> tensor<256x2x2xf32>``.

    The steps of a sort, a butterfly or a sum over pairs: linalg ops that combine elements whose indices differ in one
    bit, and reshapes between them. The body reads tensors from outside, and yields what others read.
    """

    name = "linalg_ext.exchange_network"

    body: Body = region_def("single_block")
    res: Results = var_result_def(ANY_TENSOR)

    traits = traits_def(RecursiveMemoryEffect())
    assembly_format = "$body attr-dict (`->` type($res)^)?"

    def verify_(self) -> None:
        end = self.body.block.last_op
        if self.body.block.args or end is None or end.name != "linalg.yield":
            raise VerifyException("the body must have no arguments and end in 'linalg.yield'")
        if [value.type for value in end.operands] != [result.type for result in self.res]:
            raise VerifyException("the body must yield the results")
