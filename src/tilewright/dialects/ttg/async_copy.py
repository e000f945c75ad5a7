"""Asynchronous copies from global to shared memory (`cp.async`), and waiting for them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, segment_sizes, values_of
from tilewright.dialects.tt.cache_policy import WithCachePolicy
from tilewright.dialects.tt.constraints import MASK, POINTEE, POINTER
from tilewright.dialects.tt.definition import bool_attr, i32_attr
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.tt.types import pointee_like
from tilewright.dialects.ttg.constraints import MEMDESC, TOKEN, check_mutable, check_same_contents, op_definition
from tilewright.dialects.ttg.effects import GLOBAL, READ, SHARED, WRITE, Touches
from tilewright.dialects.ttg.types import ASYNC_TOKEN


@op_definition
class AsyncCopyGlobalToLocalOp(WithCachePolicy, IRDLOperation):
    """Starts copying what the pointers see into a buffer; masked lanes write `other`, or zero without it.

    `%t = ttg.async_copy_global_to_local %p, %m mask %k other %o cacheModifier = cg {contiguity = 8 : i32}
    : tensor<16x32x!tt.ptr<f16>, #blocked> -> <16x32xf16, #shared, #smem, mutable>`
    """

    name = "ttg.async_copy_global_to_local"

    src = operand_def(POINTER)
    result = operand_def(MEMDESC)
    mask = opt_operand_def(MASK)
    other = opt_operand_def(POINTEE)
    cache = prop_def(IntegerAttr, default_value=i32_attr(CacheModifier.NONE))
    evict = prop_def(IntegerAttr, default_value=i32_attr(EvictionPolicy.EVICT_NORMAL))
    is_volatile = prop_def(IntegerAttr, default_value=bool_attr(False), prop_name="isVolatile")
    contiguity = prop_def(IntegerAttr, default_value=i32_attr(1))
    token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$src `,` $result (`mask` $mask^)? (`other` $other^)? custom<MemoryHints>($cache, $evict) attr-dict "
        "`:` type($src) `->` custom<ShortMemDesc>(type($result))"
    )
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, SHARED))), TensorSizeTrait())

    def __init__(
        self,
        src: Value,
        result: Value,
        mask: Value | None = None,
        other: Value | None = None,
        *,
        cache: CacheModifier | int | str = CacheModifier.NONE,
        evict: EvictionPolicy | int | str = EvictionPolicy.EVICT_NORMAL,
        is_volatile: bool = False,
        contiguity: int = 1,
    ):
        properties: dict[str, Attribute] = {
            "cache": i32_attr(CacheModifier.get(cache)),
            "contiguity": i32_attr(contiguity),
            "evict": i32_attr(EvictionPolicy.get(evict)),
            "isVolatile": bool_attr(is_volatile),
            "operandSegmentSizes": segment_sizes(1, 1, int(mask is not None), int(other is not None)),
        }
        operands = values_of([value for value in (src, result, mask, other) if value is not None])
        init_op(self, operands, (ASYNC_TOKEN,), properties)

    def verify_(self) -> None:
        check_mutable(self.result.type)
        check_same_contents(pointee_like(self.src.type), self.result.type, self.name)
        if self.other is not None and self.mask is None:
            raise VerifyException("operand 'other' needs a mask")


@op_definition
class AsyncCommitGroupOp(IRDLOperation):
    """Makes all copies started so far one group: `%g = ttg.async_commit_group tokens %t, %u`."""

    name = "ttg.async_commit_group"

    input_tokens = var_operand_def(TOKEN)
    async_token = result_def(TOKEN)

    assembly_format = "(`tokens` $input_tokens^)? attr-dict"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))

    def __init__(self, tokens: Sequence[Value] = ()):
        init_op(self, values_of(tokens), (ASYNC_TOKEN,))


@op_definition
class AsyncWaitOp(IRDLOperation):
    """Waits until at most `num` groups are still under way: `%w = ttg.async_wait %g {num = 0 : i32}`."""

    name = "ttg.async_wait"

    async_token = var_operand_def(TOKEN)
    num = prop_def(IntegerAttr)
    ret_token = result_def(TOKEN)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "($async_token^)? attr-dict"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))

    def __init__(self, tokens: Sequence[Value] = (), *, num: int):
        init_op(self, values_of(tokens), (ASYNC_TOKEN,), {"num": i32_attr(num)})

    def verify_(self) -> None:
        if self.num.value.data < 0:
            raise VerifyException(f"num must not be negative, got {self.num.value.data}")
