"""Buffers in shared memory: allocation, loads and stores."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr, optional
from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    Result,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
)
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.ttg.constraints import (
    MEMDESC,
    TOKEN,
    TritonGPUOp,
    as_memdesc,
    check_mutable,
    check_same_contents,
)
from tilewright.dialects.ttg.effects import FREE, READ, SHARED, WRITE, AllocatesBuffer, Touches
from tilewright.dialects.ttg.shared_encodings import find_shared_layout, shared_layout_of
from tilewright.dialects.ttg.types import element_bits


class LocalAllocOp(HasCanonicalizationPatternsInterface, TritonGPUOp):
    """A buffer in shared memory, with an initial value or mutable:
    `%m = ttg.local_alloc %x : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared, #smem>`."""

    name = "ttg.local_alloc"

    result: Result = result_def(MEMDESC)
    alignment: IntegerAttr | None = opt_prop_def(IntegerAttr, converter=optional(i32_attr), default=None)
    src: OptionalOperand = opt_operand_def(TENSOR, default=None)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "($src^)? attr-dict `:` functional-type(operands, results)"
    traits = traits_def(AllocatesBuffer(), TensorSizeTrait())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.ttg.canonicalization import LocalAllocOfConvert

        return (LocalAllocOfConvert(),)

    def verify_(self) -> None:
        type = as_memdesc(self.result.type)
        if find_shared_layout(type.encoding) is None:
            raise VerifyException(f"result must have a shared memory encoding, got {type.encoding}")
        if element_bits(type) % 8:
            raise VerifyException("element type bit width must be a multiple of 8")
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


class LocalDeallocOp(TritonGPUOp):
    """The end of a buffer's life: `ttg.local_dealloc %m : !ttg.memdesc<16x32xf16, #shared, #smem, mutable>`."""

    name = "ttg.local_dealloc"

    src: Operand = operand_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src)"
    traits = traits_def(Touches(((FREE, SHARED),)))


class LocalLoadOp(TritonGPUOp):
    """A tensor out of a buffer, after the copies that a token stands for: `%t = ttg.local_load %m token %tok :
    !ttg.memdesc<16x32xf16, #shared, #smem, mutable> -> tensor<16x32xf16, #blocked>`.
    """

    name = "ttg.local_load"

    src: Operand = operand_def(MEMDESC)
    result: Result = result_def(TENSOR)
    token: OptionalOperand = opt_operand_def(TOKEN, default=None)

    assembly_format = "$src (`token` $token^)? attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Touches(((READ, SHARED),)), TensorSizeTrait())

    def verify_(self) -> None:
        check_same_contents(self.result.type, self.src.type, "local_load")


class LocalStoreOp(HasCanonicalizationPatternsInterface, TritonGPUOp):
    """A tensor into a buffer:
    `ttg.local_store %t, %m : tensor<16x32xf16, #blocked> -> !ttg.memdesc<16x32xf16, #shared, #smem, mutable>`."""

    name = "ttg.local_store"

    src: Operand = operand_def(TENSOR)
    dst: Operand = operand_def(MEMDESC)

    assembly_format = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)"
    traits = traits_def(Touches(((WRITE, SHARED),)), TensorSizeTrait())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.ttg.canonicalization import LocalStoreOfConvert

        return (LocalStoreOfConvert(),)

    def verify_(self) -> None:
        check_mutable(self.dst.type)
        check_same_contents(self.src.type, self.dst.type, "local_store")
