"""Pointer arithmetic and conversions that keep the shape."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType, i64
from xdsl.interfaces import HasCanonicalizationPatternsInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, VarConstraint, operand_def, opt_prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, value_of
from tilewright.dialects.tt.constraints import INTEGER_LIKE, POINTER_LIKE, MemberOf
from tilewright.dialects.tt.definition import i32_attr, op_definition
from tilewright.dialects.tt.enums import RoundingMode
from tilewright.dialects.tt.folds import convert_zero, splat_of
from tilewright.dialects.tt.traits import SameOperandsAndResultEncoding, SameOperandsAndResultShape, TensorSizeTrait
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.types import FLOAT_LIKE, bit_width, element_type, with_element_type

ELEMENTWISE = (Pure(), TensorSizeTrait(), SameOperandsAndResultShape(), SameOperandsAndResultEncoding())
"""Traits of an op that acts on each element by itself."""


@op_definition
class AddPtrOp(HasFolderInterface, IRDLOperation):
    """A pointer moved by a signed number of *elements*:
    `tt.addptr %p, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>`."""

    name = "tt.addptr"

    ptr = operand_def(VarConstraint("T", POINTER_LIKE))
    offset = operand_def(INTEGER_LIKE)
    result = result_def(VarConstraint("T", AnyAttr()))

    assembly_format = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)"
    traits = traits_def(*ELEMENTWISE)

    def __init__(self, ptr: Value, offset: Value):
        pointer = value_of(ptr)
        init_op(self, (pointer, value_of(offset)), (pointer.type,))

    def fold(self) -> tuple[SSAValue] | None:
        """addptr(p, 0) = p."""
        return (self.ptr,) if splat_of(self.offset) == 0 else None


@op_definition
class PtrToIntOp(IRDLOperation):
    """The address as an integer: `tt.ptr_to_int %p : !tt.ptr<f32> -> i64`."""

    name = "tt.ptr_to_int"

    src = operand_def(POINTER_LIKE)
    result = result_def(INTEGER_LIKE)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    def __init__(self, src: Value, result_type: Attribute | None = None):
        source = value_of(src)
        init_op(self, (source,), (result_type or with_element_type(source.type, i64),))

    def verify_(self) -> None:
        if element_type(self.result.type) != i64:
            raise VerifyException(f"an address is an i64, got {self.result.type}")


@op_definition
class IntToPtrOp(HasCanonicalizationPatternsInterface, IRDLOperation):
    """The pointer with a given address: `tt.int_to_ptr %i : i64 -> !tt.ptr<f32>`."""

    name = "tt.int_to_ptr"

    src = operand_def(INTEGER_LIKE)
    result = result_def(POINTER_LIKE)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    def __init__(self, src: Value, result_type: Attribute):
        init_op(self, (value_of(src),), (result_type,))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import IntToPtrOfPtrToInt

        return (IntToPtrOfPtrToInt(),)

    def verify_(self) -> None:
        if element_type(self.src.type) != i64:
            raise VerifyException(f"an address is an i64, got {self.src.type}")


@op_definition
class BitcastOp(HasFolderInterface, HasCanonicalizationPatternsInterface, IRDLOperation):
    """The same bits at another type: `tt.bitcast %x : tensor<16xf32> -> tensor<16xi32>`."""

    name = "tt.bitcast"

    src = operand_def()
    result = result_def()

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    def __init__(self, src: Value, result_type: Attribute):
        init_op(self, (value_of(src),), (result_type,))

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


@op_definition
class FpToFpOp(HasFolderInterface, IRDLOperation):
    """A float conversion, to or from fp8 or with a chosen rounding:
    `tt.fp_to_fp %x, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>`."""

    name = "tt.fp_to_fp"

    src = operand_def(FLOAT_LIKE)
    rounding = opt_prop_def(MemberOf(RoundingMode))
    result = result_def(FLOAT_LIKE)

    assembly_format = "$src attr-dict custom<OptionalRounding>($rounding) `:` type($src) `->` type($result)"
    traits = traits_def(*ELEMENTWISE)

    def __init__(self, src: Value, result_type: Attribute, *, rounding: RoundingMode | int | str | None = None):
        properties = {} if rounding is None else {"rounding": i32_attr(RoundingMode.get(rounding))}
        init_op(self, (value_of(src),), (result_type,), properties)

    def verify_(self) -> None:
        source, result = bit_width(element_type(self.src.type)), bit_width(element_type(self.result.type))
        if source > result and self.rounding is None:
            raise VerifyException("Rounding mode is required for FP downcast")

    def fold(self) -> tuple[Attribute] | None:
        """A converted zero is zero, with its sign."""
        return convert_zero(self.src, self.result.type)
