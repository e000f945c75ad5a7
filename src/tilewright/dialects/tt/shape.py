"""Ops that change the shape of a tensor and leave its elements as they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr
from xdsl.interfaces import HasCanonicalizationPatternsInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, i32_array, i32_attr, init_op, static_values, unit_if, value_of
from tilewright.dialects.definition import WithOlderFormats
from tilewright.dialects.fields import (
    I64Array,
    InferableResult,
    Operand,
    Result,
    inferred_result_def,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.constraints import SAME_TYPE, TENSOR, Derived
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.folds import constant_with_shape, splat_constant
from tilewright.dialects.tt.traits import SameOperandsAndResultEncoding, TensorSizeTrait
from tilewright.dialects.tt.types import is_tensor, shape_of
from tilewright.dialects.types import element_type

Folded = tuple[SSAValue | Attribute, ...] | None
"""What `fold` gives: one value or constant per result, or None when nothing folds."""


def _check_element_type(op: IRDLOperation, source: SSAValue, result: SSAValue) -> None:
    if element_type(source.type) != element_type(result.type):
        raise VerifyException(
            f"'{op.name}' requires the same element type for all operands and results, "
            f"got {source.type} and {result.type}"
        )


FUNCTION_TYPE = "$src attr-dict `:` `(` type($src) `)` `->` type($result)"
"""How ops that change a shape were written before they had formats of their own."""


class SplatOp(WithOlderFormats, HasFolderInterface, TritonOp):
    """A scalar, or what a tensor without dimensions holds, in every element:
    `%1 = tt.splat %n : i32 -> tensor<16xi32>`."""

    name = "tt.splat"

    src: Operand = operand_def()
    result: Result = result_def(TENSOR)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (FUNCTION_TYPE,)
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        if is_tensor(self.src.type) and shape_of(self.src.type):
            raise VerifyException(f"source of a splat must be a scalar, got {self.src.type}")
        _check_element_type(self, self.src, self.result)

    def fold(self) -> Folded:
        """splat of a constant is a constant tensor."""
        return splat_constant(self.src, self.result.type)


class UnsplatOp(HasFolderInterface, TritonOp):
    """The only element of a tensor: `%2 = tt.unsplat %t : tensor<1xf32>`."""

    name = "tt.unsplat"

    src: Operand = operand_def(VarConstraint("T", TENSOR))
    result: Result = inferred_result_def(
        Derived("T", element_type, "result type matches the element type of the source"), of="src", by=element_type
    )

    assembly_format = "$src attr-dict `:` type($src)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        if prod(shape_of(self.src.type)) != 1:
            raise VerifyException("source tensor must have exactly one element")

    def fold(self) -> Folded:
        """unsplat(splat(x)) = x."""
        source = self.src.owner
        return (source.src,) if isinstance(source, SplatOp) else None


class ExpandDimsOp(WithOlderFormats, HasFolderInterface, HasCanonicalizationPatternsInterface, TritonOp):
    """A new dimension of extent 1: `tt.expand_dims %x {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>`."""

    name = "tt.expand_dims"

    src: Operand = operand_def(TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    result: Result = inferred_result_def(TENSOR, of=("src", "axis"), by=inference.expand_dims)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (FUNCTION_TYPE,)
    traits = traits_def(Pure(), TensorSizeTrait())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import ExpandDimsOfBroadcast, ExpandDimsOfSplat

        return (ExpandDimsOfSplat(), ExpandDimsOfBroadcast())

    def verify_(self) -> None:
        expected = inference.expand_dims(self.src.type, self.axis.value.data)
        inference.check_inferred(self.name, expected, self.result.type)

    def fold(self) -> Folded:
        """expand_dims of a constant is a constant."""
        return constant_with_shape(self.src, self.result.type)


class BroadcastOp(WithOlderFormats, HasFolderInterface, HasCanonicalizationPatternsInterface, TritonOp):
    """Dimensions of extent 1 repeated: `tt.broadcast %x : tensor<16x1xi32> -> tensor<16x32xi32>`."""

    name = "tt.broadcast"

    src: Operand = operand_def(TENSOR)
    result: Result = result_def(TENSOR)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (FUNCTION_TYPE,)
    traits = traits_def(Pure(), TensorSizeTrait(), SameOperandsAndResultEncoding())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import BroadcastOfBroadcast, BroadcastOfSplat

        return (BroadcastOfSplat(), BroadcastOfBroadcast())

    def verify_(self) -> None:
        _check_element_type(self, self.src, self.result)
        source, result = shape_of(self.src.type), shape_of(self.result.type)
        if len(source) != len(result):
            raise VerifyException("rank of source must be same as rank of result")
        for index, (from_, to) in enumerate(zip(source, result, strict=True)):
            if from_ not in (1, to):
                raise VerifyException(
                    f"Different dimensions at index {index} between source and result. "
                    "Broadcast requires the source dimension to be 1."
                )

    def fold(self) -> Folded:
        """A broadcast to the same type is its source; one of a splat constant is a splat constant."""
        if self.src.type == self.result.type:
            return (self.src,)
        return constant_with_shape(self.src, self.result.type, splat_only=True)


class ReshapeOp(HasFolderInterface, HasCanonicalizationPatternsInterface, TritonOp):
    """The same elements in another shape, row-major unless `allow_reorder` leaves the order free:
    `tt.reshape %x allow_reorder : tensor<8x4xf32> -> tensor<32xf32>`."""

    name = "tt.reshape"

    src: Operand = operand_def(TENSOR)
    allow_reorder: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False)
    efficient_layout: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False)
    result: Result = result_def(TENSOR)

    assembly_format = (
        "$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict "
        "`:` type($src) `->` type($result)"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import ReshapeOfReshape, ReshapeOfSplat

        return (ReshapeOfReshape(), ReshapeOfSplat())

    def verify_(self) -> None:
        _check_element_type(self, self.src, self.result)
        if prod(shape_of(self.src.type)) != prod(shape_of(self.result.type)):
            raise VerifyException("number of src and dst elements of reshape must be the same")
        if self.allow_reorder is None:
            expected = inference.reshape(self.src.type, shape_of(self.result.type))
            inference.check_inferred(self.name, expected, self.result.type)

    def fold(self) -> Folded:
        """A reshape to the same type that may not reorder is its source; one of a constant is a constant."""
        if self.src.type == self.result.type and self.allow_reorder is None:
            return (self.src,)
        return constant_with_shape(self.src, self.result.type)


class TransOp(HasFolderInterface, HasCanonicalizationPatternsInterface, TritonOp):
    """Permuted dimensions, result dimension i being source dimension `order[i]`:
    `tt.trans %x {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>`."""

    name = "tt.trans"

    src: Operand = operand_def(TENSOR)
    order: I64Array = prop_def(DenseArrayBase)
    result: Result = result_def(TENSOR)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, src: Value, order: Sequence[int]):
        source, order = value_of(src), tuple(order)
        init_op(self, (source,), (inference.trans(source.type, order),), {"order": i32_array(order)})

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.tt.canonicalization import TransOfSplat, TransOfTrans

        return (TransOfTrans(), TransOfSplat())

    def verify_(self) -> None:
        order = static_values(self.order)
        inference.check_inferred(self.name, inference.trans(self.src.type, order), self.result.type)

    def fold(self) -> Folded:
        """An identity permutation is its source; a permuted splat constant is a splat constant."""
        if self.src.type == self.result.type and static_values(self.order) == tuple(range(len(self.order))):
            return (self.src,)
        return constant_with_shape(self.src, self.result.type, splat_only=True)


class JoinOp(TritonOp):
    """Two tensors side by side in a new minor dimension: `tt.join %a, %b : tensor<8xf32> -> tensor<8x2xf32>`."""

    name = "tt.join"

    lhs: Operand = operand_def(VarConstraint("T", TENSOR))
    rhs: Operand = operand_def(SAME_TYPE)
    result: Result = inferred_result_def(TENSOR, of="lhs", by=inference.join)

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        """The new dimension may come anywhere among the registers, of which `split` takes it away again."""
        expected = inference.join(self.lhs.type)
        if self.result.type == expected or shape_of(self.result.type) != shape_of(expected):
            inference.check_inferred(self.name, expected, self.result.type)
        else:
            inference.check_inferred(self.name, inference.split(self.result.type), self.lhs.type)


class SplitOp(HasFolderInterface, TritonOp):
    """The two halves of a minor dimension of extent 2: `%a, %b = tt.split %x : tensor<8x2xf32> -> tensor<8xf32>`."""

    name = "tt.split"

    src: Operand = operand_def(TENSOR)
    outLHS: Result = inferred_result_def(VarConstraint("R", AnyAttr()), of="src", by=inference.split)
    outRHS: Result = inferred_result_def(VarConstraint("R", AnyAttr()), of="src", by=inference.split)

    assembly_format = "$src attr-dict `:` type($src) `->` type($outLHS)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        inference.check_inferred(self.name, inference.split(self.src.type), self.outLHS.type)

    def fold(self) -> Folded:
        """split(join(a, b)) = a, b, where the layout comes back, too."""
        source = self.src.owner
        if not isinstance(source, JoinOp) or source.lhs.type != self.outLHS.type:
            return None
        return (source.lhs, source.rhs)


class CatOp(TritonOp):
    """The elements of two tensors, in an order that is not specified:
    `tt.cat %a, %b : tensor<8xf32> -> tensor<16xf32>`."""

    name = "tt.cat"

    lhs: Operand = operand_def(VarConstraint("T", TENSOR))
    rhs: Operand = operand_def(SAME_TYPE)
    result: InferableResult = result_def(TENSOR, default=None, of=("lhs", "rhs"), by=inference.cat)

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        _check_element_type(self, self.lhs, self.result)
