"""Matmuls."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import AnyAttr, AttrSizedOperandSegments, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import bool_attr, i32_attr
from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    prop_def,
)
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.constraints import TENSOR, MemberOf
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.enums import InputPrecision, ScaleDotElemType
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.tt.types import NO_ENCODING, is_tensor
from tilewright.dialects.types import bit_width, is_float

ACCUMULATOR = VarConstraint("Acc", TENSOR)
RESULT = VarConstraint("Acc", AnyAttr())


def _check_dot_shapes(a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...], k_a: int, k_b: int) -> None:
    if len(a) not in (2, 3) or len(a) != len(b):
        raise VerifyException("expected operands to be 2d or 3d, both with the same rank")
    if k_a != k_b:
        raise VerifyException(
            "expected the last dimension of the first operand to be equal to the second-to-last dimension of the "
            f"second operand, got {k_a} and {k_b}"
        )
    if len(a) == 3 and not a[0] == b[0]:
        raise VerifyException(
            "expected the first dimension of the first operand to be equal to that of the second operand"
        )
    expected = (*a[:-2], a[-2], b[-1])
    if c != expected:
        raise VerifyException(f"expected the result to have shape {expected}, got {c}")


class DotOp(TritonOp):
    """`d = a @ b + c` on matrices or batches of matrices.

    `%d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>`
    """

    name = "tt.dot"

    a: Operand = operand_def(TENSOR)
    b: Operand = operand_def(TENSOR)
    c: Operand = operand_def(ACCUMULATOR)
    input_precision: IntegerAttr = prop_def(
        MemberOf(InputPrecision),
        default_value=i32_attr(InputPrecision.IEEE),
        prop_name="inputPrecision",
        converter=InputPrecision.attr,
        default=InputPrecision.IEEE,
        kw_only=True,
    )
    max_num_imprecise_acc: IntegerAttr = prop_def(
        IntegerAttr,
        default_value=i32_attr(0),
        prop_name="maxNumImpreciseAcc",
        converter=i32_attr,
        default=0,
        kw_only=True,
    )
    d: Result = inferred_result_def(RESULT, of="c")

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$a `,` $b `,` $c custom<OptionalInputPrecision>($inputPrecision) attr-dict "
        "`:` type($a) `*` type($b) `->` type($d)"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        a, b, c = self.a.type, self.b.type, self.c.type
        assert is_tensor(a) and is_tensor(b) and is_tensor(c)
        if bit_width(a.element_type) != bit_width(b.element_type):
            raise VerifyException("element types of operands A and B must have same bit width")
        if is_float(a.element_type) != is_float(c.element_type):
            raise VerifyException("accumulator and operands must both be floats or both be integers")
        if (a.encoding == NO_ENCODING) != (b.encoding == NO_ENCODING):
            raise VerifyException("mismatching encoding between A and B operands")
        if a.encoding != NO_ENCODING and c.encoding == NO_ENCODING:
            raise VerifyException("miss encoding of C operand")
        inference.check_dot(c.encoding, (a.encoding, b.encoding))
        shapes = a.get_shape(), b.get_shape(), c.get_shape()
        k_b = shapes[1][-2] if len(shapes[1]) > 1 else -1
        _check_dot_shapes(*shapes, k_a=shapes[0][-1], k_b=k_b)


class DotScaledOp(TritonOp):
    """`d = (a * a_scale) @ (b * b_scale) + c` on microscaling formats; each scale covers 32 (or 16) elements along K.

    `%d = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e2m1 rhs = e4m3 {fastMath = false} :
    tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>`
    """

    name = "tt.dot_scaled"

    a: Operand = operand_def(TENSOR)
    b: Operand = operand_def(TENSOR)
    c: Operand = operand_def(ACCUMULATOR)
    a_scale: OptionalOperand = opt_operand_def(TENSOR, default=None)
    b_scale: OptionalOperand = opt_operand_def(TENSOR, default=None)
    a_elem_type: IntegerAttr = prop_def(MemberOf(ScaleDotElemType), converter=ScaleDotElemType.attr, kw_only=True)
    b_elem_type: IntegerAttr = prop_def(MemberOf(ScaleDotElemType), converter=ScaleDotElemType.attr, kw_only=True)
    fast_math: IntegerAttr = prop_def(
        IntegerAttr, prop_name="fastMath", converter=bool_attr, default=False, kw_only=True
    )
    lhs_k_pack: IntegerAttr = prop_def(
        IntegerAttr, default_value=bool_attr(True), converter=bool_attr, default=True, kw_only=True
    )
    rhs_k_pack: IntegerAttr = prop_def(
        IntegerAttr, default_value=bool_attr(True), converter=bool_attr, default=True, kw_only=True
    )
    d: Result = inferred_result_def(RESULT, of="c")

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c "
        "`lhs` `=` custom<ScaleDotElemType>($a_elem_type) `rhs` `=` custom<ScaleDotElemType>($b_elem_type) attr-dict "
        "`:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    def verify_(self) -> None:
        a, b, c = self.a.type, self.b.type, self.c.type
        assert is_tensor(a) and is_tensor(b) and is_tensor(c)
        rows, k_a = _unpacked(a.get_shape(), self.a_elem_type, bool(self.lhs_k_pack.value.data), k_dim=-1)
        columns, k_b = _unpacked(b.get_shape(), self.b_elem_type, bool(self.rhs_k_pack.value.data), k_dim=-2)
        _check_dot_shapes(rows, columns, c.get_shape(), k_a, k_b)
        sides = ((self.a_scale, rows[-2], "A"), (self.b_scale, columns[-1], "B"))
        groups = {_check_scale(scale.type, extent, k_a, side) for scale, extent, side in sides if scale is not None}
        if len(groups) > 1:
            raise VerifyException("the scales of A and B must cover the same number of elements each")


def _unpacked(shape: tuple[int, ...], element: Attribute, k_pack: bool, k_dim: int) -> tuple[tuple[int, ...], int]:
    """The shape in unpacked elements (an fp4 tensor holds two in each byte), and its extent along K."""
    if len(shape) < 2:
        raise VerifyException("expected operands to be 2d or 3d")
    extents = list(shape)
    if ScaleDotElemType.of(element) is ScaleDotElemType.E2M1:
        extents[k_dim if k_pack else (-3 - k_dim)] *= 2
    return tuple(extents), extents[k_dim]


SCALE_GROUPS = (32, 16)
"""How many elements along K may share a scale."""


def group_of_scale(k: int, scales: int) -> int | None:
    """Return how many elements along K share a scale, if `scales` cover K; None if no format has such groups."""
    return next((group for group in SCALE_GROUPS if scales * group == k), None)


def _check_scale(type: Attribute, extent: int, k: int, side: str) -> int:
    """Return how many elements of an operand share a scale; VerifyException if the scales do not cover it."""
    assert is_tensor(type)
    shape = type.get_shape()
    group = group_of_scale(k, shape[-1])
    if shape[-2] != extent or group is None:
        raise VerifyException(
            f"scale of operand {side} must have shape [{extent}, {k // 32}] or [{extent}, {k // 16}], got {shape[-2:]}"
        )
    return group
