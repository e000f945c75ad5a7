"""Buffers in shared memory: allocation, loads and stores."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.definition import i32_attr
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.ttg.constraints import (
    MEMDESC,
    TOKEN,
    as_memdesc,
    check_mutable,
    check_same_contents,
    op_definition,
)
from tilewright.dialects.ttg.effects import FREE, READ, SHARED, WRITE, AllocatesBuffer, Touches
from tilewright.dialects.ttg.shared_encodings import find_shared_layout, shared_layout_of


@op_definition
class LocalAllocOp(HasCanonicalizationPatternsInterface, IRDLOperation):
    """A buffer in shared memory, with an initial value or mutable:
    `%m = ttg.local_alloc %x : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared, #smem>`."""

    name = "ttg.local_alloc"

    src = opt_operand_def(TENSOR)
    alignment = opt_prop_def(IntegerAttr)
    result = result_def(MEMDESC)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "($src^)? attr-dict `:` functional-type(operands, results)"
    traits = traits_def(AllocatesBuffer(), TensorSizeTrait())

    def __init__(self, result_type: Attribute, src: Value | None = None, *, alignment: int | None = None):
        operands = () if src is None else (value_of(src),)
        init_op(self, operands, (result_type,), {} if alignment is None else {"alignment": i32_attr(alignment)})

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.ttg.canonicalization import LocalAllocOfConvert

        return (LocalAllocOfConvert(),)

    def verify_(self) -> None:
        type = as_memdesc(self.result.type)
        if find_shared_layout(type.encoding) is None:
            raise VerifyException(f"result must have a shared memory encoding, got {type.encoding}")
        if type.shape != type.alloc_shape:
            raise VerifyException("result shape and its alloc shape must match")
        if self.src is None:
            if not type.is_mutable:
                raise VerifyException("uninitialized alloc must have a mutable memdesc type")
            return
        check_same_contents(self.src.type, type, "local_alloc")

    def alignment_bytes(self) -> int:
        """The alignment asked for, else the one that the encoding needs."""
        if self.alignment is not None:
            return self.alignment.value.data
        return shared_layout_of(as_memdesc(self.result.type).encoding).alignment()


@op_definition
class LocalDeallocOp(IRDLOperation):
    """The end of a buffer's life: `ttg.local_dealloc %m : !ttg.memdesc<16x32xf16, #shared, #smem, mutable>`."""

    name = "ttg.local_dealloc"

    src = operand_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src)"
    traits = traits_def(Touches(((FREE, SHARED),)))

    def __init__(self, src: Value):
        init_op(self, (value_of(src),))


@op_definition
class LocalLoadOp(IRDLOperation):
    """A tensor out of a buffer, after the copies that a token stands for: `%t = ttg.local_load %m token %tok :
    !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #blocked>`.
    """

    name = "ttg.local_load"

    src = operand_def(MEMDESC)
    token = opt_operand_def(TOKEN)
    result = result_def(TENSOR)

    assembly_format = "$src (`token` $token^)? attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Touches(((READ, SHARED),)), TensorSizeTrait())

    def __init__(self, src: Value, result_type: Attribute, token: Value | None = None):
        operands = (value_of(src),) if token is None else (value_of(src), value_of(token))
        init_op(self, operands, (result_type,))

    def verify_(self) -> None:
        check_same_contents(self.result.type, self.src.type, "local_load")


@op_definition
class LocalStoreOp(HasCanonicalizationPatternsInterface, IRDLOperation):
    """A tensor into a buffer:
    `ttg.local_store %t, %m : tensor<16x32xf16, #blocked> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>`."""

    name = "ttg.local_store"

    src = operand_def(TENSOR)
    dst = operand_def(MEMDESC)

    assembly_format = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)"
    traits = traits_def(Touches(((WRITE, SHARED),)), TensorSizeTrait())

    def __init__(self, src: Value, dst: Value):
        init_op(self, (value_of(src), value_of(dst)))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.ttg.canonicalization import LocalStoreOfConvert

        return (LocalStoreOfConvert(),)

    def verify_(self) -> None:
        check_mutable(self.dst.type)
        check_same_contents(self.src.type, self.dst.type, "local_store")
