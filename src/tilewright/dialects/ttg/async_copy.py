"""Asynchronous copies from global to shared memory (`cp.async`), and waiting for them."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr
from tilewright.dialects.fields import (
    Operand,
    Operands,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    prop_def,
    var_operand_def,
)
from tilewright.dialects.tt.cache_policy import VolatileOp, WithCachePolicy
from tilewright.dialects.tt.constraints import MASK, POINTEE, POINTER
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.tt.types import pointee_like
from tilewright.dialects.ttg.constraints import MEMDESC, TOKEN, TritonGPUOp, check_mutable, check_same_contents
from tilewright.dialects.ttg.effects import GLOBAL, READ, SHARED, WRITE, Touches
from tilewright.dialects.ttg.types import ASYNC_TOKEN


class AsyncCopyGlobalToLocalOp(WithCachePolicy, VolatileOp, TritonGPUOp):
    """Starts copying what the pointers see into a buffer; masked lanes write `other`, or zero without it.

    `%t = ttg.async_copy_global_to_local %p, %m mask %k other %o cacheModifier = cg {contiguity = 8 : i32}
    : tensor<16x32x!tt.ptr<f16>, #blocked> -> <16x32xf16, #shared, #smem, mutable>`
    """

    name = "ttg.async_copy_global_to_local"

    src: Operand = operand_def(POINTER)
    result: Operand = operand_def(MEMDESC)
    mask: OptionalOperand = opt_operand_def(MASK, default=None)
    other: OptionalOperand = opt_operand_def(POINTEE, default=None)
    contiguity: IntegerAttr = prop_def(
        IntegerAttr, default_value=i32_attr(1), default=1, converter=i32_attr, kw_only=True
    )
    token: Result = inferred_result_def(ASYNC_TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$src `,` $result (`mask` $mask^)? (`other` $other^)? custom<MemoryHints>($cache, $evict) attr-dict "
        "`:` type($src) `->` custom<ShortMemDesc>(type($result))"
    )
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, SHARED))), TensorSizeTrait())

    def verify_(self) -> None:
        check_mutable(self.result.type)
        check_same_contents(pointee_like(self.src.type), self.result.type, self.name)
        if self.other is not None and self.mask is None:
            raise VerifyException("operand 'other' needs a mask")


class AsyncCommitGroupOp(TritonGPUOp):
    """Makes all copies started so far one group: `%g = ttg.async_commit_group tokens %t, %u`."""

    name = "ttg.async_commit_group"

    input_tokens: Operands = var_operand_def(TOKEN, default=())
    async_token: Result = inferred_result_def(ASYNC_TOKEN)

    assembly_format = "(`tokens` $input_tokens^)? attr-dict"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))


class AsyncWaitOp(TritonGPUOp):
    """Waits until at most `num` groups are still under way: `%w = ttg.async_wait %g {num = 0 : i32}`."""

    name = "ttg.async_wait"

    async_token: Operands = var_operand_def(TOKEN, default=())
    num: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr, kw_only=True)
    ret_token: Result = inferred_result_def(ASYNC_TOKEN)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "($async_token^)? attr-dict"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))

    def verify_(self) -> None:
        if self.num.value.data < 0:
            raise VerifyException(f"num must not be negative, got {self.num.value.data}")
