"""Prints and assertions in the kernel."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr, i32_list, string_attr
from tilewright.dialects.fields import I64Array, Operand, Operands, operand_def, prop_def, var_operand_def
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.traits import TensorSizeTrait, WriteEffect
from tilewright.dialects.types import BOOL_LIKE


class PrintOp(TritonOp):
    """A line printed for every element, with the program ids and the element's index; `isSigned` has one entry
    per value.

    `tt.print " hi: " {hex = false, isSigned = array<i32: 0, 1>} : %x, %n : tensor<16xi32>, i32`
    """

    name = "tt.print"

    prefix: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    hex: IntegerAttr = prop_def(IntegerAttr, converter=bool_attr, default=False, kw_only=True)
    is_signed: I64Array = prop_def(DenseArrayBase, prop_name="isSigned", converter=i32_list, default=(), kw_only=True)
    args: Operands = var_operand_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$prefix attr-dict (`:` $args^ `:` type($args))?"
    traits = traits_def(WriteEffect(), TensorSizeTrait())

    def verify_(self) -> None:
        if len(self.is_signed) < len(self.args):
            raise VerifyException(f"isSigned must have one entry for each of {len(self.args)} values")


class AssertOp(TritonOp):
    """The kernel stops with a message unless all elements hold: `tt.assert %m, "bad" : tensor<16xi1>`."""

    name = "tt.assert"

    condition: Operand = operand_def(BOOL_LIKE)
    message: StringAttr = prop_def(StringAttr, converter=string_attr)

    assembly_format = "$condition `,` $message attr-dict `:` type($condition)"
    traits = traits_def(WriteEffect(), TensorSizeTrait())
