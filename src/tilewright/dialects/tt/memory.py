"""Loads and stores through pointers, tensors of pointers and block pointers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, segment_sizes, static_values, value_of
from tilewright.dialects.definition import WithOlderFormats
from tilewright.dialects.tt.cache_policy import WithCachePolicy
from tilewright.dialects.tt.constraints import MASK, POINTEE, POINTER, RESULT_POINTEE, MemberOf
from tilewright.dialects.tt.definition import bool_attr, i32_array, i32_attr, op_definition
from tilewright.dialects.tt.enums import CacheModifier, EvictionPolicy, PaddingOption
from tilewright.dialects.tt.traits import ReadEffect, SameOperandsAndResultEncoding, TensorSizeTrait, WriteEffect
from tilewright.dialects.tt.types import is_block_pointer, pointee_like, shape_of

NO_DIMS = i32_array(())
NO_CACHE = i32_attr(CacheModifier.NONE)
NORMAL_EVICTION = i32_attr(EvictionPolicy.EVICT_NORMAL)


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


@op_definition
class LoadOp(WithOlderFormats, WithCachePolicy, HasCanonicalizationPatternsInterface, IRDLOperation):
    """The value behind a pointer, or behind each pointer whose mask bit is set; other lanes give `other`, and are
    undefined without it. A block pointer pads the dimensions in `boundaryCheck` with `padding`.

    `%v = tt.load %p, %mask, %other cacheModifier = ca {isVolatile = true} : tensor<16x!tt.ptr<f32>>`
    """

    name = "tt.load"

    ptr = operand_def(POINTER)
    mask = opt_operand_def(MASK)
    other = opt_operand_def(POINTEE)
    boundary_check = prop_def(DenseArrayBase, default_value=NO_DIMS, prop_name="boundaryCheck")
    padding = opt_prop_def(MemberOf(PaddingOption))
    cache = prop_def(MemberOf(CacheModifier), default_value=NO_CACHE)
    evict = prop_def(MemberOf(EvictionPolicy), default_value=NORMAL_EVICTION)
    is_volatile = prop_def(IntegerAttr, default_value=bool_attr(False), prop_name="isVolatile")
    result = result_def(RESULT_POINTEE)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = "$ptr (`,` $mask^)? (`,` $other^)? custom<MemoryHints>($cache, $evict) attr-dict `:` type($ptr)"
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (
        "$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` custom<PointeeType>(type($ptr))",
    )
    traits = traits_def(ReadEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def __init__(
        self,
        ptr: Value,
        mask: Value | None = None,
        other: Value | None = None,
        *,
        cache: CacheModifier | int | str = CacheModifier.NONE,
        evict: EvictionPolicy | int | str = EvictionPolicy.EVICT_NORMAL,
        is_volatile: bool = False,
        boundary_check: Sequence[int] = (),
        padding: PaddingOption | int | str | None = None,
    ):
        pointer = value_of(ptr)
        properties: dict[str, Attribute] = {
            "boundaryCheck": i32_array(tuple(boundary_check)),
            "cache": i32_attr(CacheModifier.get(cache)),
            "evict": i32_attr(EvictionPolicy.get(evict)),
            "isVolatile": bool_attr(is_volatile),
            "operandSegmentSizes": segment_sizes(1, int(mask is not None), int(other is not None)),
        }
        if padding is not None:
            properties["padding"] = i32_attr(PaddingOption.get(padding))
        operands = [pointer, *(value_of(value) for value in (mask, other) if value is not None)]
        init_op(self, operands, (pointee_like(pointer.type),), properties)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import LoadWithConstantMask

        return (LoadWithConstantMask(),)

    def verify_(self) -> None:
        if self.other is not None and self.mask is None:
            raise VerifyException("operand 'other' needs a mask")
        _verify_block_access(self.ptr.type, self.boundary_check, self.mask is not None)


@op_definition
class StoreOp(WithOlderFormats, WithCachePolicy, HasCanonicalizationPatternsInterface, IRDLOperation):
    """A value written behind a pointer, or behind each pointer whose mask bit is set.

    `tt.store %p, %v, %mask cacheModifier = wb : tensor<16x!tt.ptr<f32>>`
    """

    name = "tt.store"

    ptr = operand_def(POINTER)
    value = operand_def(POINTEE)
    mask = opt_operand_def(MASK)
    boundary_check = prop_def(DenseArrayBase, default_value=NO_DIMS, prop_name="boundaryCheck")
    cache = prop_def(MemberOf(CacheModifier), default_value=NO_CACHE)
    evict = prop_def(MemberOf(EvictionPolicy), default_value=NORMAL_EVICTION)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr `,` $value (`,` $mask^)? custom<MemoryHints>($cache, $evict) attr-dict `:` type($ptr)"
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (
        "$ptr `,` $value (`,` $mask^)? attr-dict `:` custom<PointeeType>(type($ptr))",
    )
    traits = traits_def(WriteEffect(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    def __init__(
        self,
        ptr: Value,
        value: Value,
        mask: Value | None = None,
        *,
        cache: CacheModifier | int | str = CacheModifier.NONE,
        evict: EvictionPolicy | int | str = EvictionPolicy.EVICT_NORMAL,
        boundary_check: Sequence[int] = (),
    ):
        operands = [value_of(ptr), value_of(value)]
        if mask is not None:
            operands.append(value_of(mask))
        properties: dict[str, Attribute] = {
            "boundaryCheck": i32_array(tuple(boundary_check)),
            "cache": i32_attr(CacheModifier.get(cache)),
            "evict": i32_attr(EvictionPolicy.get(evict)),
        }
        init_op(self, operands, (), properties)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import StoreWithConstantMask

        return (StoreWithConstantMask(),)

    def verify_(self) -> None:
        _verify_block_access(self.ptr.type, self.boundary_check, self.mask is not None)
