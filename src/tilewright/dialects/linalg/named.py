"""Linalg ops whose body is known from their name: fill, transpose, broadcast and the matrix products."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import AttrSizedOperandSegments, SameVariadicOperandSize, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith import AddfOp, AddiOp, AndIOp, ExtFOp, ExtSIOp, MulfOp, MuliOp, OrIOp, TruncFOp, TruncIOp
from tilewright.dialects.assembly import parse_integer_list, parse_operand_group, print_operand_group
from tilewright.dialects.construction import (
    Value,
    index_array,
    init_op,
    segment_sizes,
    static_values,
    value_of,
    values_of,
)
from tilewright.dialects.fields import I64Array, Operands, prop_def, var_operand_def
from tilewright.dialects.linalg.attributes import IteratorType
from tilewright.dialects.linalg.generic import YieldOp, print_arrow_types
from tilewright.dialects.linalg.structured import StructuredOp, StructuredOpEffects, entry_block, tensor_result_types
from tilewright.dialects.types import I64_ARRAY, bit_width, is_float, shape_of


def _dims(count: int, positions: Sequence[int]) -> AffineMap:
    return AffineMap(count, 0, tuple(AffineExpr.dimension(position) for position in positions))


def _pass_through_body(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
    """A body that yields its input."""
    block = entry_block(inputs, outputs)
    block.add_op(YieldOp(block.args[0]))
    return Region(block)


def _rank(value: SSAValue) -> int:
    return len(shape_of(value.type) or ())


class NamedOp(StructuredOp, ABC):
    """An op written ``linalg.name {attributes} ins(...) outs(...) -> types``."""

    inputs: Operands = var_operand_def()
    outputs: Operands = var_operand_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(StructuredOpEffects())

    @classmethod
    def parse_operands(
        cls, parser: Parser
    ) -> tuple[list[SSAValue], list[SSAValue], dict[str, Attribute], list[Attribute]]:
        """Inputs, outputs, attributes and result types."""
        attributes = dict(parser.parse_optional_attr_dict())
        inputs, outputs = parse_operand_group(parser, "ins"), parse_operand_group(parser, "outs")
        types: Sequence[Attribute] = ()
        if parser.parse_optional_punctuation("->"):
            several = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            types = (parser.parse_type(),) if several is None else several
        return inputs, outputs, attributes, list(types)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        print_operand_group(printer, "ins", self.inputs)
        print_operand_group(printer, "outs", self.outputs)
        print_arrow_types(printer, [result.type for result in self.results])

    def verify_(self) -> None:
        if self.body.blocks:
            self.verify_structure()


class FillOp(NamedOp):
    """``%r = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: one scalar in every place."""

    name = "linalg.fill"

    def __init__(self, value: Value | Sequence[Value], dest: Value | Sequence[Value]) -> None:
        inputs = values_of(value) if isinstance(value, Sequence) else [value_of(value)]
        outputs = values_of(dest) if isinstance(dest, Sequence) else [value_of(dest)]
        properties = {"operandSegmentSizes": segment_sizes(1, 1)}
        init_op(
            self,
            [*inputs, *outputs],
            tensor_result_types(outputs),
            properties,
            regions=(_pass_through_body(inputs, outputs),),
        )

    @property
    def maps(self) -> Sequence[AffineMap]:
        rank = _rank(self.operands[1])
        return (AffineMap(rank, 0, ()), AffineMap.identity(rank))

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (IteratorType.PARALLEL,) * _rank(self.operands[1])

    @classmethod
    def parse(cls, parser: Parser) -> FillOp:
        inputs, outputs, attributes, _ = cls.parse_operands(parser)
        if len(inputs) != 1 or len(outputs) != 1:
            parser.raise_error("expected one input and one output")
        op = cls(inputs, outputs)
        op.attributes.update(attributes)
        return op


class ContractionOp(NamedOp, ABC):
    """A matrix product that accumulates into its destination: ``C[.., i, j] += A[.., i, k] * B[.., k, j]``.

    Operands of other element types are converted to the destination's before the multiplication.
    """

    def __init__(self, inputs: Sequence[Value], outputs: Sequence[Value] | Value) -> None:
        ins = values_of(inputs)
        outs = values_of(outputs) if isinstance(outputs, Sequence) else [value_of(outputs)]
        if len(ins) != 2 or len(outs) != 1:
            raise ValueError(f"{self.name} takes two inputs and one output")
        properties: dict[str, Attribute] = {
            "operandSegmentSizes": segment_sizes(2, 1),
            "indexing_maps": self.map_attrs(),
        }
        regions = (_multiply_accumulate_body(ins, outs),)
        init_op(self, [*ins, *outs], tensor_result_types(outs), properties, regions=regions)

    @classmethod
    def map_attrs(cls) -> ArrayAttr[AffineMapAttr]:
        """The indexing maps as an attribute, made once per class."""
        raise NotImplementedError

    @property
    def maps(self) -> Sequence[AffineMap]:
        attr = self.properties["indexing_maps"]
        assert isinstance(attr, ArrayAttr)
        return [map_.data for map_ in cast("ArrayAttr[AffineMapAttr]", attr)]

    @classmethod
    def parse(cls, parser: Parser) -> ContractionOp:
        inputs, outputs, attributes, _ = cls.parse_operands(parser)
        if len(inputs) != 2 or len(outputs) != 1:
            parser.raise_error("expected two inputs and one output")
        op = cls(inputs, outputs)
        op.attributes.update(attributes)
        return op

    def verify_(self) -> None:
        if self.properties["indexing_maps"] != self.map_attrs():
            raise VerifyException("only the standard indexing maps are supported")
        super().verify_()


_MATMUL_MAPS = ArrayAttr(AffineMapAttr(_dims(3, dims)) for dims in ((0, 2), (2, 1), (0, 1)))
_BATCH_MATMUL_MAPS = ArrayAttr(AffineMapAttr(_dims(4, dims)) for dims in ((0, 1, 3), (0, 3, 2), (0, 1, 2)))


class MatmulOp(ContractionOp, init=False):
    """``%c = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x16xbf16>) outs(%acc : tensor<4x16xf32>) ->
    tensor<4x16xf32>``."""

    name = "linalg.matmul"

    indexing_maps: ArrayAttr[AffineMapAttr] = prop_def(ArrayAttr[AffineMapAttr], default_value=_MATMUL_MAPS)

    @classmethod
    def map_attrs(cls) -> ArrayAttr[AffineMapAttr]:
        return _MATMUL_MAPS

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION)


class BatchMatmulOp(ContractionOp, init=False):
    """``%r = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%c : tensor<2x4x4xf32>)
    -> tensor<2x4x4xf32>``: :class:`MatmulOp` with a leading batch dimension."""

    name = "linalg.batch_matmul"

    indexing_maps: ArrayAttr[AffineMapAttr] = prop_def(ArrayAttr[AffineMapAttr], default_value=_BATCH_MATMUL_MAPS)

    @classmethod
    def map_attrs(cls) -> ArrayAttr[AffineMapAttr]:
        return _BATCH_MATMUL_MAPS

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (*(IteratorType.PARALLEL,) * 3, IteratorType.REDUCTION)


def _convert(value: SSAValue, target: Attribute, emit: object) -> SSAValue:
    """A scalar in another element type, by the signed conversions that upstream uses."""
    source = value.type
    if source == target:
        return value
    wider = bit_width(target) > bit_width(source)
    if is_float(source) and is_float(target):
        op = ExtFOp(value, target) if wider else TruncFOp(value, target)
    elif not is_float(source) and not is_float(target):
        op = ExtSIOp(value, target) if wider else TruncIOp(value, target)
    else:
        raise ValueError(f"no conversion from {source} to {target} in a named linalg op")
    emit(op)  # pyright: ignore[reportCallIssue]
    return op.results[0]


def _multiply_accumulate_body(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
    block = entry_block(inputs, outputs)
    accumulator = block.args[2]
    element = accumulator.type
    lhs = _convert(block.args[0], element, block.add_op)
    rhs = _convert(block.args[1], element, block.add_op)
    if is_float(element):
        product = MulfOp(lhs, rhs)
        total = AddfOp(accumulator, product)
    elif bit_width(element) == 1:
        product = AndIOp(lhs, rhs)
        total = OrIOp(accumulator, product)
    else:
        product = MuliOp(lhs, rhs)
        total = AddiOp(accumulator, product)
    block.add_ops((product, total, YieldOp(total)))
    return Region(block)


class ReshufflingOp(StructuredOp, ABC):
    """An op written ``linalg.name ins(..) outs(..) key = [..]`` that moves elements without computing."""

    inputs: Operands = var_operand_def()
    outputs: Operands = var_operand_def()

    irdl_options = (SameVariadicOperandSize(),)

    traits = traits_def(StructuredOpEffects())

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (IteratorType.PARALLEL,) * _rank(self.operands[1])

    def print_with_dims(self, printer: Printer, key: str, dims: Sequence[int]) -> None:
        """The custom form; like upstream it ends the list with a space."""
        print_operand_group(printer, "ins", self.inputs)
        print_operand_group(printer, "outs", self.outputs)
        printer.print_string(f" {key} = {list(dims)} ")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse_with_dims(cls, parser: Parser, key: str) -> tuple[SSAValue, SSAValue, tuple[int, ...]]:
        """Input, destination and the list."""
        inputs, outputs = parse_operand_group(parser, "ins"), parse_operand_group(parser, "outs")
        if len(inputs) != 1 or len(outputs) != 1:
            parser.raise_error("expected one input and one output")
        parser.parse_keyword(key)
        parser.parse_punctuation("=")
        return inputs[0], outputs[0], parse_integer_list(parser)


class TransposeOp(ReshufflingOp):
    """``%r = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]``: result dim
    i is input dim permutation[i]."""

    name = "linalg.transpose"

    permutation: I64Array = prop_def(I64_ARRAY)

    def __init__(self, value: Value, dest: Value, permutation: Sequence[int]) -> None:
        value, dest = value_of(value), value_of(dest)
        properties = {"permutation": index_array(tuple(permutation))}
        regions = (_pass_through_body((value,), (dest,)),)
        init_op(self, (value, dest), tensor_result_types((dest,)), properties, regions=regions)

    @property
    def permutation_values(self) -> tuple[int, ...]:
        """The permutation as integers."""
        return static_values(self.permutation)

    @property
    def maps(self) -> Sequence[AffineMap]:
        permutation = self.permutation_values
        inverse = [permutation.index(dim) for dim in range(len(permutation))]
        return (_dims(len(permutation), inverse), AffineMap.identity(len(permutation)))

    @classmethod
    def parse(cls, parser: Parser) -> TransposeOp:
        op = cls(*cls.parse_with_dims(parser, "permutation"))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        self.print_with_dims(printer, "permutation", self.permutation_values)

    def verify_(self) -> None:
        source, dest = shape_of(self.operands[0].type) or (), shape_of(self.operands[1].type) or ()
        permutation = self.permutation_values
        if sorted(permutation) != list(range(len(source))) or len(dest) != len(source):
            raise VerifyException(f"{list(permutation)} is no permutation of the dimensions")
        self.verify_structure()


class BroadcastOp(ReshufflingOp):
    """``%r = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]``: repeated along
    new dimensions."""

    name = "linalg.broadcast"

    dimensions: I64Array = prop_def(I64_ARRAY)

    def __init__(self, value: Value, dest: Value, dimensions: Sequence[int]) -> None:
        value, dest = value_of(value), value_of(dest)
        properties = {"dimensions": index_array(tuple(dimensions))}
        regions = (_pass_through_body((value,), (dest,)),)
        init_op(self, (value, dest), tensor_result_types((dest,)), properties, regions=regions)

    @property
    def dimension_values(self) -> tuple[int, ...]:
        """The added dimensions as integers."""
        return static_values(self.dimensions)

    @property
    def maps(self) -> Sequence[AffineMap]:
        rank = _rank(self.operands[1])
        kept = [dim for dim in range(rank) if dim not in self.dimension_values]
        return (_dims(rank, kept), AffineMap.identity(rank))

    @classmethod
    def parse(cls, parser: Parser) -> BroadcastOp:
        op = cls(*cls.parse_with_dims(parser, "dimensions"))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        self.print_with_dims(printer, "dimensions", self.dimension_values)

    def verify_(self) -> None:
        rank, added = _rank(self.operands[1]), self.dimension_values
        if len(set(added)) != len(added) or any(not 0 <= dim < rank for dim in added):
            raise VerifyException(f"{list(added)} are no dimensions of the destination")
        if _rank(self.operands[0]) + len(added) != rank:
            raise VerifyException("input rank plus added dimensions should match init rank")
        self.verify_structure()
