"""Loads and stores through pointers, tensors of pointers and block pointers."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_array, i32_list, optional, static_values
from tilewright.dialects.definition import WithOlderFormats
from tilewright.dialects.fields import (
    I64Array,
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
)
from tilewright.dialects.tt.cache_policy import VolatileOp, WithCachePolicy
from tilewright.dialects.tt.constraints import MASK, POINTEE, POINTER, RESULT_POINTEE, MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import PaddingOption
from tilewright.dialects.tt.traits import ReadEffect, SameOperandsAndResultEncoding, TensorSizeTrait, WriteEffect
from tilewright.dialects.tt.types import is_block_pointer, pointee_like, shape_of

NO_DIMS = i32_array(())


def _verify_block_access(pointer_type: Attribute, boundary_check: DenseArrayBase, has_mask: bool) -> None:
    dims = static_values(boundary_check)
    if not is_block_pointer(pointer_type):
        if dims:
            raise VerifyException("boundaryCheck is only allowed with a block pointer")
        return
    if has_mask:
        raise VerifyException("a block pointer access takes no mask; use boundaryCheck")
    rank = len(shape_of(pointee_like(pointer_type)))
    if any(not 0 <= dim < rank for dim in dims) or len(set(dims)) != len(dims):
        raise VerifyException(f"boundaryCheck must name dimensions of a rank {rank} block once each, got {dims}")


class LoadOp(WithOlderFormats, WithCachePolicy, VolatileOp, HasCanonicalizationPatternsInterface, TritonOp):
    """The value behind a pointer, or behind each pointer whose mask bit is set; other lanes give `other`, and are
    undefined without it. A block pointer pads the dimensions in `boundaryCheck` with `padding`.

    `%v = tt.load %p, %mask, %other cacheModifier = ca {isVolatile = true} : tensor<16x!tt.ptr<f32>>`
    """

    name = "tt.load"

    ptr: Operand = operand_def(POINTER)
    mask: OptionalOperand = opt_operand_def(MASK, default=None)
    other: OptionalOperand = opt_operand_def(POINTEE, default=None)
    boundary_check: I64Array = prop_def(
        DenseArrayBase, default_value=NO_DIMS, prop_name="boundaryCheck", default=(), converter=i32_list, kw_only=True
    )
    padding: IntegerAttr | None = opt_prop_def(
        MemberOf(PaddingOption), default=None, converter=optional(PaddingOption.attr)
    )
    result: Result = inferred_result_def(RESULT_POINTEE)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = "$ptr (`,` $mask^)? (`,` $other^)? custom<MemoryHints>($cache, $evict) attr-dict `:` type($ptr)"
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (
        "$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` custom<PointeeType>(type($ptr))",
    )
    traits = traits_def(ReadEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import LoadWithConstantMask

        return (LoadWithConstantMask(),)

    def verify_(self) -> None:
        if self.other is not None and self.mask is None:
            raise VerifyException("operand 'other' needs a mask")
        _verify_block_access(self.ptr.type, self.boundary_check, self.mask is not None)


class StoreOp(WithOlderFormats, WithCachePolicy, HasCanonicalizationPatternsInterface, TritonOp):
    """A value written behind a pointer, or behind each pointer whose mask bit is set.

    `tt.store %p, %v, %mask cacheModifier = wb : tensor<16x!tt.ptr<f32>>`
    """

    name = "tt.store"

    ptr: Operand = operand_def(POINTER)
    value: Operand = operand_def(POINTEE)
    mask: OptionalOperand = opt_operand_def(MASK, default=None)
    boundary_check: I64Array = prop_def(
        DenseArrayBase, default_value=NO_DIMS, prop_name="boundaryCheck", converter=i32_list, default=(), kw_only=True
    )

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr `,` $value (`,` $mask^)? custom<MemoryHints>($cache, $evict) attr-dict `:` type($ptr)"
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (
        "$ptr `,` $value (`,` $mask^)? attr-dict `:` custom<PointeeType>(type($ptr))",
    )
    traits = traits_def(WriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import StoreWithConstantMask

        return (StoreWithConstantMask(),)

    def verify_(self) -> None:
        _verify_block_access(self.ptr.type, self.boundary_check, self.mask is not None)
