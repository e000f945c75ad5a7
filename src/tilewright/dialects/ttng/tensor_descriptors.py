"""Descriptors of tensors for TMA: their types, and the ops that write them to memory and read them back."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, IntegerAttr, TensorType, i32, i64
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import AttrSizedOperandSegments, irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr, segment_sizes
from tilewright.dialects.fields import Operand, Operands, Result, operand_def, prop_def, result_def, var_operand_def
from tilewright.dialects.text import write
from tilewright.dialects.tt.types import PointerType, TensorDescType, read_described_block, write_described_block
from tilewright.dialects.ttg.constraints import TritonGPUOp
from tilewright.dialects.ttg.effects import GLOBAL, READ, WRITE, Touches
from tilewright.dialects.types import TypeWhere


@irdl_attr_definition
class TensorDescIm2ColType(ParametrizedAttribute, TypeAttribute):
    """Descriptor of a tensor of pixels, of which blocks are pixels around a point by channels:
    `!ttng.tensordesc_im2col<64x128xf16, #shared>`."""

    name = "ttng.tensordesc_im2col"

    block_type: TensorType[Attribute]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return (read_described_block(parser),)

    def print_parameters(self, printer: Printer) -> None:
        write_described_block(printer, self.block_type)

    def verify(self) -> None:
        rank = len(self.block_type.get_shape())
        if rank != 2:
            raise VerifyException(f"TensorDescIm2ColType requires rank-2 shape, got rank {rank}")


DESCRIPTOR = TypeWhere("a tensor descriptor", lambda type: isinstance(type, TensorDescType))
ANY_DESCRIPTOR = TypeWhere("a tensor descriptor", lambda type: isinstance(type, TensorDescType | TensorDescIm2ColType))
POINTER = TypeWhere("a pointer", lambda type: isinstance(type, PointerType))


class TensormapCreateOp(TritonGPUOp):
    """Writes a hardware descriptor to memory.

    `ttng.tensormap_create %p, %g, [%b0, %b1], [%n0, %n1], [%s0], [%e0, %e1] {elem_type = 6 : i32, ...} : (...) -> ()`
    """

    name = "ttng.tensormap_create"

    desc_ptr: Operand = operand_def(POINTER)
    global_address: Operand = operand_def(POINTER)
    box_dim: Operands = var_operand_def(i32)
    global_dim: Operands = var_operand_def(i32)
    global_stride: Operands = var_operand_def(i64)
    element_stride: Operands = var_operand_def(i32)
    elem_type: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr, kw_only=True)
    interleave_layout: IntegerAttr = prop_def(IntegerAttr, default=0, converter=i32_attr, kw_only=True)
    swizzle_mode: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr, kw_only=True)
    fill_mode: IntegerAttr = prop_def(IntegerAttr, default=0, converter=i32_attr, kw_only=True)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, GLOBAL))))

    def verify_(self) -> None:
        rank = len(self.box_dim)
        if not 1 <= rank <= 5:
            raise VerifyException(f"Rank must be between 1 and 5, got {rank}")
        if len(self.global_dim) != rank or len(self.element_stride) != rank:
            raise VerifyException(f"Rank mismatch: box of {rank}, global {len(self.global_dim)} dimensions")
        if len(self.global_stride) + 1 != rank:
            raise VerifyException(
                f"Rank mismatch for global stride: expected {rank - 1}, got {len(self.global_stride)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> TensormapCreateOp:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
        sizes = [1, 1]
        for _ in range(4):
            parser.parse_punctuation(",")
            group = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
            sizes.append(len(group))
            operands += group
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        values = parser.resolve_operands(operands, type.inputs.data, parser.pos)
        own = cls.get_irdl_definition().properties
        properties = {name: attributes.pop(name) for name in list(attributes) if name in own}
        properties["operandSegmentSizes"] = segment_sizes(*sizes)
        return cls.create(operands=values, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        write(printer, " ", (self.desc_ptr, self.global_address))
        for group in (self.box_dim, self.global_dim, self.global_stride, self.element_stride):
            write(printer, ", [", group, "]")
        shown = {name: value for name, value in self.properties.items() if name != "operandSegmentSizes"}
        printer.print_op_attributes({**self.attributes, **shown})
        write(printer, " : ", FunctionType.from_lists([value.type for value in self.operands], []))


class TensormapFenceproxyAcquireOp(TritonGPUOp):
    """Makes a written descriptor visible to TMA: `ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>`."""

    name = "ttng.tensormap_fenceproxy_acquire"

    desc_ptr: Operand = operand_def(POINTER)

    assembly_format = "$desc_ptr attr-dict `:` type($desc_ptr)"
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, GLOBAL))))


class ReinterpretTensorDescOp(TritonGPUOp):
    """A descriptor in memory as one that ops take: `%d = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to
    !tt.tensordesc<...>`.
    """

    name = "ttng.reinterpret_tensor_descriptor"

    raw_desc: Operand = operand_def(POINTER)
    result: Result = result_def(DESCRIPTOR)

    assembly_format = "$raw_desc attr-dict `:` type($raw_desc) `to` type($result)"
    traits = traits_def(Pure())
