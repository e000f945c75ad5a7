"""Linalg ops whose body is known from their name: fill, transpose, broadcast and the matrix products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import AttrSizedOperandSegments, SameVariadicOperandSize, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith import AddfOp, AddiOp, AndIOp, ExtFOp, ExtSIOp, MulfOp, MuliOp, OrIOp, TruncFOp, TruncIOp
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
from tilewright.dialects.linalg.generic import YieldOp
from tilewright.dialects.linalg.structured import StructuredOp, StructuredOpEffects, entry_block, tensor_result_types
from tilewright.dialects.text import (
    parse_dims,
    parse_ins_and_outs,
    parse_result_types,
    print_ins_and_outs,
    print_result_types,
)
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

    INPUTS: ClassVar[int] = 1
    """How many inputs the op takes; its destination is one."""

    def __init__(self, inputs: Sequence[Value] | Value, outputs: Sequence[Value] | Value) -> None:
        ins = values_of(inputs) if isinstance(inputs, Sequence) else [value_of(inputs)]
        outs = values_of(outputs) if isinstance(outputs, Sequence) else [value_of(outputs)]
        if (len(ins), len(outs)) != (self.INPUTS, 1):
            raise ValueError(f"{self.name} takes {self.INPUTS} inputs and one output")
        properties = {"operandSegmentSizes": segment_sizes(self.INPUTS, 1), **self.fixed_properties()}
        regions = (self.make_body(ins, outs),)
        init_op(self, [*ins, *outs], tensor_result_types(outs), properties, regions=regions)

    @classmethod
    def fixed_properties(cls) -> dict[str, Attribute]:
        """The properties that all ops of a class have."""
        return {}

    @staticmethod
    @abstractmethod
    def make_body(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        """The body that the name stands for."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        op = cls(*parse_ins_and_outs(parser, cls.INPUTS))
        parse_result_types(parser)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        print_ins_and_outs(printer, self.inputs, self.outputs)
        print_result_types(printer, self.result_types)

    def verify_(self) -> None:
        if self.body.blocks:
            self.verify_structure()


class FillOp(NamedOp, init=False):
    """``%r = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: one scalar in every place."""

    name = "linalg.fill"

    @staticmethod
    def make_body(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        return _pass_through_body(inputs, outputs)

    @property
    def maps(self) -> Sequence[AffineMap]:
        rank = _rank(self.operands[1])
        return (AffineMap(rank, 0, ()), AffineMap.identity(rank))

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (IteratorType.PARALLEL,) * _rank(self.operands[1])


class ContractionOp(NamedOp, ABC, init=False):
    """A matrix product that accumulates into its destination: ``C[.., i, j] += A[.., i, k] * B[.., k, j]``.

    Operands of other element types are converted to the destination's before the multiplication.
    """

    INPUTS: ClassVar[int] = 2

    @staticmethod
    def make_body(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        return _multiply_accumulate_body(inputs, outputs)

    @classmethod
    def fixed_properties(cls) -> dict[str, Attribute]:
        return {"indexing_maps": cls.map_attrs()}

    @classmethod
    def map_attrs(cls) -> ArrayAttr[AffineMapAttr]:
        """The indexing maps as an attribute, made once per class."""
        raise NotImplementedError

    @property
    def maps(self) -> Sequence[AffineMap]:
        attr = self.properties["indexing_maps"]
        assert isinstance(attr, ArrayAttr)
        return [map_.data for map_ in cast("ArrayAttr[AffineMapAttr]", attr)]

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

    DIMS: ClassVar[str]
    """The name of the list."""

    def __init__(self, value: Value, dest: Value, dims: Sequence[int]) -> None:
        value, dest = value_of(value), value_of(dest)
        regions = (_pass_through_body((value,), (dest,)),)
        init_op(
            self, (value, dest), tensor_result_types((dest,)), {self.DIMS: index_array(tuple(dims))}, regions=regions
        )

    @property
    def dims(self) -> tuple[int, ...]:
        """The list as integers."""
        return static_values(cast(I64Array, self.properties[self.DIMS]))

    def print(self, printer: Printer) -> None:
        """As upstream it ends the list with a space."""
        print_ins_and_outs(printer, self.inputs, self.outputs)
        printer.print_string(f" {self.DIMS} = {list(self.dims)} ")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        (value,), (dest,) = parse_ins_and_outs(parser, 1)
        op = cls(value, dest, parse_dims(parser, cls.DIMS))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op


class TransposeOp(ReshufflingOp, init=False):
    """``%r = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]``: result dim
    i is input dim permutation[i]."""

    name = "linalg.transpose"

    permutation: I64Array = prop_def(I64_ARRAY)

    DIMS: ClassVar[str] = "permutation"

    @property
    def maps(self) -> Sequence[AffineMap]:
        permutation = self.dims
        inverse = [permutation.index(dim) for dim in range(len(permutation))]
        return (_dims(len(permutation), inverse), AffineMap.identity(len(permutation)))

    def verify_(self) -> None:
        source, dest = shape_of(self.operands[0].type) or (), shape_of(self.operands[1].type) or ()
        permutation = self.dims
        if sorted(permutation) != list(range(len(source))) or len(dest) != len(source):
            raise VerifyException(f"{list(permutation)} is no permutation of the dimensions")
        self.verify_structure()


class BroadcastOp(ReshufflingOp, init=False):
    """``%r = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]``: repeated along
    new dimensions."""

    name = "linalg.broadcast"

    dimensions: I64Array = prop_def(I64_ARRAY)

    DIMS: ClassVar[str] = "dimensions"

    @property
    def maps(self) -> Sequence[AffineMap]:
        rank = _rank(self.operands[1])
        kept = [dim for dim in range(rank) if dim not in self.dims]
        return (_dims(rank, kept), AffineMap.identity(rank))

    def verify_(self) -> None:
        rank, added = _rank(self.operands[1]), self.dims
        if len(set(added)) != len(added) or any(not 0 <= dim < rank for dim in added):
            raise VerifyException(f"{list(added)} are no dimensions of the destination")
        if _rank(self.operands[0]) + len(added) != rank:
            raise VerifyException("input rank plus added dimensions should match init rank")
        self.verify_structure()
