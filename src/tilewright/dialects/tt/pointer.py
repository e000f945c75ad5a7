"""Pointer arithmetic and conversions that keep the shape."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, VarConstraint, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import optional
from tilewright.dialects.fields import (
    InferableResult,
    Operand,
    Result,
    inferred_result_def,
    operand_def,
    opt_prop_def,
    result_def,
)
from tilewright.dialects.traits import Elementwise
from tilewright.dialects.tt.constraints import INTEGER_LIKE, POINTER_LIKE, MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import RoundingMode
from tilewright.dialects.tt.folds import convert_zero, splat_of
from tilewright.dialects.tt.traits import SameOperandsAndResultEncoding, SameOperandsAndResultShape, TensorSizeTrait
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.types import FLOAT_LIKE, bit_width, element_type, with_element_type

ELEMENTWISE = (Pure(), Elementwise(), TensorSizeTrait(), SameOperandsAndResultShape(), SameOperandsAndResultEncoding())
"""Traits of an op that acts on each element by itself."""


class AddPtrOp(HasFolderInterface, TritonOp):
    """A pointer moved by a signed number of *elements*:
    `tt.addptr %p, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>`."""

    name = "tt.addptr"

    ptr: Operand = operand_def(VarConstraint("T", POINTER_LIKE))
    offset: Operand = operand_def(INTEGER_LIKE)
    result: Result = inferred_result_def(VarConstraint("T", AnyAttr()), of="ptr")

    assembly_format = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)"
    traits = traits_def(*ELEMENTWISE)

    def fold(self) -> tuple[SSAValue] | None:
        """addptr(p, 0) = p."""
        return (self.ptr,) if splat_of(self.offset) == 0 else None


def _address_type(pointer: Attribute) -> Attribute:
    return with_element_type(pointer, i64)


class PtrToIntOp(TritonOp):
    """The address as an integer: `tt.ptr_to_int %p : !tt.ptr<f32> -> i64`."""

    name = "tt.ptr_to_int"

    src: Operand = operand_def(POINTER_LIKE)
    result: InferableResult = result_def(INTEGER_LIKE, default=None, of="src", by=_address_type)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    def verify_(self) -> None:
        if element_type(self.result.type) != i64:
            raise VerifyException(f"an address is an i64, got {self.result.type}")


class IntToPtrOp(HasCanonicalizationPatternsInterface, TritonOp):
    """The pointer with a given address: `tt.int_to_ptr %i : i64 -> !tt.ptr<f32>`."""

    name = "tt.int_to_ptr"

    src: Operand = operand_def(INTEGER_LIKE)
    result: Result = result_def(POINTER_LIKE)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import IntToPtrOfPtrToInt

        return (IntToPtrOfPtrToInt(),)

    def verify_(self) -> None:
        if element_type(self.src.type) != i64:
            raise VerifyException(f"an address is an i64, got {self.src.type}")


class BitcastOp(HasFolderInterface, HasCanonicalizationPatternsInterface, TritonOp):
    """The same bits at another type: `tt.bitcast %x : tensor<16xf32> -> tensor<16xi32>`."""

    name = "tt.bitcast"

    src: Operand = operand_def()
    result: Result = result_def()

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import BitcastOfBitcast

        return (BitcastOfBitcast(),)

    def verify_(self) -> None:
        source, result = element_type(self.src.type), element_type(self.result.type)
        match source, result:
            case PointerType(), PointerType():
                if source.address_space != result.address_space:
                    raise VerifyException("Cannot bitcast pointer to pointer of a different address space")
            case (PointerType(), _) | (_, PointerType()):
                raise VerifyException("Cannot bitcast pointer to non-pointer type")
            case FixedBitwidthType(), FixedBitwidthType():
                if bit_width(source) != bit_width(result):
                    raise VerifyException(
                        f"Cannot bitcast data-type of size {bit_width(source)} to data-type of size {bit_width(result)}"
                    )
            case _:
                raise VerifyException(f"Cannot bitcast {self.src.type} to {self.result.type}")

    def fold(self) -> tuple[SSAValue] | None:
        """A bitcast to the same type is its source."""
        return (self.src,) if self.src.type == self.result.type else None


class FpToFpOp(HasFolderInterface, TritonOp):
    """A float conversion, to or from fp8 or with a chosen rounding:
    `tt.fp_to_fp %x, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>`."""

    name = "tt.fp_to_fp"

    src: Operand = operand_def(FLOAT_LIKE)
    rounding: IntegerAttr | None = opt_prop_def(
        MemberOf(RoundingMode), default=None, converter=optional(RoundingMode.attr)
    )
    result: Result = result_def(FLOAT_LIKE)

    assembly_format = "$src attr-dict custom<OptionalRounding>($rounding) `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    def verify_(self) -> None:
        source, result = bit_width(element_type(self.src.type)), bit_width(element_type(self.result.type))
        if source > result and self.rounding is None:
            raise VerifyException("Rounding mode is required for FP downcast")

    def fold(self) -> tuple[Attribute] | None:
        """A converted zero is zero, with its sign."""
        return convert_zero(self.src, self.result.type)
