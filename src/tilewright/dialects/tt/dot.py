"""Matrix products."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, segment_sizes, value_of
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.constraints import TENSOR, MemberOf
from tilewright.dialects.tt.definition import bool_attr, i32_attr, op_definition
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


@op_definition
class DotOp(IRDLOperation):
    """`d = a @ b + c` on matrices or batches of matrices.

    `%d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>`
    """

    name = "tt.dot"

    a = operand_def(TENSOR)
    b = operand_def(TENSOR)
    c = operand_def(ACCUMULATOR)
    input_precision = prop_def(
        MemberOf(InputPrecision), default_value=i32_attr(InputPrecision.IEEE), prop_name="inputPrecision"
    )
    max_num_imprecise_acc = prop_def(IntegerAttr, default_value=i32_attr(0), prop_name="maxNumImpreciseAcc")
    d = result_def(RESULT)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$a `,` $b `,` $c custom<OptionalInputPrecision>($inputPrecision) attr-dict "
        "`:` type($a) `*` type($b) `->` type($d)"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(
        self,
        a: Value,
        b: Value,
        c: Value,
        *,
        input_precision: InputPrecision | int | str = InputPrecision.IEEE,
        max_num_imprecise_acc: int = 0,
    ):
        accumulator = value_of(c)
        init_op(
            self,
            (value_of(a), value_of(b), accumulator),
            (accumulator.type,),
            {
                "inputPrecision": i32_attr(InputPrecision.get(input_precision)),
                "maxNumImpreciseAcc": i32_attr(max_num_imprecise_acc),
            },
        )

    def verify_(self) -> None:
        a, b, c = self.a.type, self.b.type, self.c.type
        assert is_tensor(a) and is_tensor(b) and is_tensor(c)
        if bit_width(a.element_type) != bit_width(b.element_type):
            raise VerifyException("element types of operands A and B must have same bit width")
        if is_float(a.element_type) != is_float(c.element_type):
            raise VerifyException("accumulator and operands must both be floats or both be integers")
        if (a.encoding == NO_ENCODING) != (b.encoding == NO_ENCODING):
            raise VerifyException("mismatching encoding between A and B operands")
        inference.check_dot(c.encoding, (a.encoding, b.encoding))
        shapes = a.get_shape(), b.get_shape(), c.get_shape()
        k_b = shapes[1][-2] if len(shapes[1]) > 1 else -1
        _check_dot_shapes(*shapes, k_a=shapes[0][-1], k_b=k_b)


@op_definition
class DotScaledOp(IRDLOperation):
    """`d = (a * a_scale) @ (b * b_scale) + c` on microscaling formats; each scale covers 32 (or 16) elements along K.

    `%d = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e2m1 rhs = e4m3 {fastMath = false} :
    tensor<64x32xi8>, tensor<64x2xi8> * tensor<64x64xf8E4M3FN>, tensor<64x2xi8> -> tensor<64x64xf32>`
    """

    name = "tt.dot_scaled"

    a = operand_def(TENSOR)
    b = operand_def(TENSOR)
    c = operand_def(ACCUMULATOR)
    a_scale = opt_operand_def(TENSOR)
    b_scale = opt_operand_def(TENSOR)
    a_elem_type = prop_def(MemberOf(ScaleDotElemType))
    b_elem_type = prop_def(MemberOf(ScaleDotElemType))
    fast_math = prop_def(IntegerAttr, prop_name="fastMath")
    lhs_k_pack = prop_def(IntegerAttr, default_value=bool_attr(True))
    rhs_k_pack = prop_def(IntegerAttr, default_value=bool_attr(True))
    d = result_def(RESULT)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c "
        "`lhs` `=` custom<ScaleDotElemType>($a_elem_type) `rhs` `=` custom<ScaleDotElemType>($b_elem_type) attr-dict "
        "`:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)"
    )
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(
        self,
        a: Value,
        b: Value,
        c: Value,
        a_scale: Value | None = None,
        b_scale: Value | None = None,
        *,
        a_elem_type: ScaleDotElemType | int | str,
        b_elem_type: ScaleDotElemType | int | str,
        fast_math: bool = False,
        lhs_k_pack: bool = True,
        rhs_k_pack: bool = True,
    ):
        accumulator = value_of(c)
        scales = [value_of(scale) for scale in (a_scale, b_scale) if scale is not None]
        init_op(
            self,
            (value_of(a), value_of(b), accumulator, *scales),
            (accumulator.type,),
            {
                "a_elem_type": i32_attr(ScaleDotElemType.get(a_elem_type)),
                "b_elem_type": i32_attr(ScaleDotElemType.get(b_elem_type)),
                "fastMath": bool_attr(fast_math),
                "lhs_k_pack": bool_attr(lhs_k_pack),
                "operandSegmentSizes": segment_sizes(1, 1, 1, int(a_scale is not None), int(b_scale is not None)),
                "rhs_k_pack": bool_attr(rhs_k_pack),
            },
        )

    def verify_(self) -> None:
        a, b, c = self.a.type, self.b.type, self.c.type
        assert is_tensor(a) and is_tensor(b) and is_tensor(c)
        rows, k_a = _unpacked(a.get_shape(), self.a_elem_type, bool(self.lhs_k_pack.value.data), k_dim=-1)
        columns, k_b = _unpacked(b.get_shape(), self.b_elem_type, bool(self.rhs_k_pack.value.data), k_dim=-2)
        _check_dot_shapes(rows, columns, c.get_shape(), k_a, k_b)
        for scale, extent, side in ((self.a_scale, rows[-2], "A"), (self.b_scale, columns[-1], "B")):
            if scale is not None:
                _check_scale(scale.type, extent, k_a, side)


def _unpacked(shape: tuple[int, ...], element: Attribute, k_pack: bool, k_dim: int) -> tuple[tuple[int, ...], int]:
    """The shape in unpacked elements (an fp4 tensor holds two in each byte), and its extent along K."""
    if len(shape) < 2:
        raise VerifyException("expected operands to be 2d or 3d")
    extents = list(shape)
    if ScaleDotElemType.of(element) is ScaleDotElemType.E2M1:
        extents[k_dim if k_pack else (-3 - k_dim)] *= 2
    return tuple(extents), extents[k_dim]


def _check_scale(type: Attribute, extent: int, k: int, side: str) -> None:
    assert is_tensor(type)
    block = 32 if bit_width(type.element_type) == 8 and not is_float(type.element_type) else 16
    shape = type.get_shape()
    if shape[-2] != extent or shape[-1] * block != k:
        raise VerifyException(f"scale of operand {side} must have shape [{extent}, {k // block}], got {shape[-2:]}")
