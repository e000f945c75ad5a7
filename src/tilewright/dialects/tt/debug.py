"""Prints and assertions in the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, operand_def, prop_def, traits_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of, values_of
from tilewright.dialects.tt.definition import bool_attr, i32_array, op_definition, string_attr
from tilewright.dialects.tt.traits import TensorSizeTrait, WriteEffect
from tilewright.dialects.types import BOOL_LIKE


@op_definition
class PrintOp(IRDLOperation):
    """A line printed for every element, with the program ids and the element's index; `isSigned` has one entry
    per value.

    `tt.print " hi: " {hex = false, isSigned = array<i32: 0, 1>} : %x, %n : tensor<16xi32>, i32`
    """

    name = "tt.print"

    prefix = prop_def(StringAttr)
    hex = prop_def(IntegerAttr)
    is_signed = prop_def(DenseArrayBase, prop_name="isSigned")
    args = var_operand_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$prefix attr-dict (`:` $args^ `:` type($args))?"
    traits = traits_def(WriteEffect(), TensorSizeTrait())

    def __init__(self, args: Sequence[Value], *, prefix: str, hex: bool = False, is_signed: Sequence[int] = ()):
        init_op(
            self,
            values_of(args),
            (),
            {"hex": bool_attr(hex), "isSigned": i32_array(tuple(is_signed)), "prefix": string_attr(prefix)},
        )

    def verify_(self) -> None:
        if len(self.is_signed) < len(self.args):
            raise VerifyException(f"isSigned must have one entry for each of {len(self.args)} values")


@op_definition
class AssertOp(IRDLOperation):
    """The kernel stops with a message unless all elements hold: `tt.assert %m, "bad" : tensor<16xi1>`."""

    name = "tt.assert"

    condition = operand_def(BOOL_LIKE)
    message = prop_def(StringAttr)

    assembly_format = "$condition `,` $message attr-dict `:` type($condition)"
    traits = traits_def(WriteEffect(), TensorSizeTrait())

    def __init__(self, condition: Value, message: str):
        init_op(self, (value_of(condition),), (), {"message": string_attr(message)})
