"""Ops that change the layout, or the packing, of tensors in registers."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerAttr, TensorType, i8
from xdsl.interfaces import HasCanonicalizationPatternsInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, i32_attr, init_op, value_of
from tilewright.dialects.fields import Operand, Result, operand_def, prop_def, result_def
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.inference import check_inferred
from tilewright.dialects.tt.traits import TensorSizeTrait
from tilewright.dialects.tt.types import NO_ENCODING, tensor_type
from tilewright.dialects.ttg.constraints import TritonGPUOp, as_tensor
from tilewright.dialects.ttg.encodings import encoding_of, layout_of
from tilewright.layouts import reshaping
from tilewright.layouts.convert import moved_dims
from tilewright.layouts.distributed import BLOCK, WARP


class ConvertLayoutOp(HasFolderInterface, HasCanonicalizationPatternsInterface, TritonGPUOp):
    """The same tensor in another layout:
    `%1 = ttg.convert_layout %0 : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>`."""

    name = "ttg.convert_layout"

    src: Operand = operand_def(TENSOR)
    result: Result = result_def(TENSOR)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.ttg.canonicalization import CONVERT_LAYOUT_RULES

        return CONVERT_LAYOUT_RULES

    def verify_(self) -> None:
        source, result = as_tensor(self.src.type), as_tensor(self.result.type)
        if source.get_shape() != result.get_shape():
            raise VerifyException("requires the same shape for all operands and results")
        if source.element_type != result.element_type:
            raise VerifyException("requires the same element type for all operands and results")
        if "force_warp_shuffle" in self.attributes and not _stays_within_warps(source, result):
            raise VerifyException("force_warp_shuffle requires a conversion within one warp")

    def fold(self) -> tuple[SSAValue | Attribute, ...] | None:
        """A conversion to the same layout is its source."""
        return (self.src,) if self.src.type == self.result.type else None


def _stays_within_warps(source: TensorType[Attribute], result: TensorType[Attribute]) -> bool:
    """Return whether no element leaves its warp."""
    shape = source.get_shape()
    before, after = (layout_of(type.encoding).to_linear(shape) for type in (source, result))
    return not moved_dims(before, after) & {WARP, BLOCK}


class Fp4ToFpOp(TritonGPUOp):
    """Two 4-bit floats per byte, unpacked along `axis`:
    `ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<16x32xi8, #blocked> -> tensor<16x64xbf16, #blocked1>`."""

    name = "ttg.fp4_to_fp"

    src: Operand = operand_def(TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr)
    result: Result = result_def(TENSOR)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure(), TensorSizeTrait())

    def __init__(self, src: Value, element_type: Attribute, axis: int):
        source = value_of(src)
        init_op(self, (source,), (_unpacked(as_tensor(source.type), element_type, axis),), {"axis": i32_attr(axis)})

    def verify_(self) -> None:
        source, result = as_tensor(self.src.type), as_tensor(self.result.type)
        if source.element_type != i8:
            raise VerifyException(f"source must have i8 elements, got {source.element_type}")
        if not isinstance(result.element_type, Float16Type | BFloat16Type):
            raise VerifyException(f"only f16 and bf16 results are supported, got {result.element_type}")
        if not 0 <= self.axis.value.data < len(source.get_shape()):
            raise VerifyException(f"axis {self.axis.value.data} is out of range")
        check_inferred(self.name, self.unpacked_type(), result)

    def unpacked_type(self) -> TensorType[Attribute]:
        """The type of the result, as it follows from that of the source."""
        return _unpacked(as_tensor(self.src.type), as_tensor(self.result.type).element_type, self.axis.value.data)


def _unpacked(source: TensorType[Attribute], element_type: Attribute, axis: int) -> TensorType[Attribute]:
    shape = tuple(extent * (2 if dim == axis else 1) for dim, extent in enumerate(source.get_shape()))
    if source.encoding == NO_ENCODING:
        return tensor_type(element_type, shape)
    try:
        encoding = encoding_of(reshaping.double_axis(layout_of(source.encoding), axis))
    except ValueError as error:
        raise VerifyException(str(error)) from error
    return tensor_type(element_type, shape, encoding)
