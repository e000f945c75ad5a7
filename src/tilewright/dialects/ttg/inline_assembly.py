"""Assembly of the user's that each thread runs once, on all of its registers."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr, string_attr
from tilewright.dialects.fields import Operands, Results, prop_def, var_operand_def, var_result_def
from tilewright.dialects.tt.traits import EffectUnlessPure
from tilewright.dialects.ttg.constraints import TritonGPUOp
from tilewright.dialects.ttg.types import MemDescType


class InlineAsmOp(TritonGPUOp):
    """Target assembly that every thread runs once. A tensor is as many operands as a thread has registers of it, in the
    order of its layout; a scalar is one; a buffer is one, its address in shared memory.

    `%r = ttg.inline_asm "add.f32 $0, $2, $4; add.f32 $1, $3, $4;" {constraints = "=&f,=&f,f,f,f", pure = true} %x, %b :
    (tensor<256xf32, #blocked>, f32) -> tensor<256xf32, #blocked>`
    """

    name = "ttg.inline_asm"

    asm_string: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    constraints: StringAttr = prop_def(StringAttr, converter=string_attr, kw_only=True)
    pure: IntegerAttr = prop_def(IntegerAttr, converter=bool_attr, kw_only=True)
    args: Operands = var_operand_def()
    result: Results = var_result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$asm_string attr-dict ($args^)? `:` functional-type($args, $result)"
    traits = traits_def(EffectUnlessPure())

    def verify_(self) -> None:
        if self.pure.value.data and any(isinstance(operand.type, MemDescType) for operand in self.args):
            raise VerifyException("inline assembly that is given a buffer cannot be pure")


__all__ = ["InlineAsmOp"]
