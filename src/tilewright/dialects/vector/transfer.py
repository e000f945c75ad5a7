"""Transfers between memory and vectors of any shape, padded or masked at the edges."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, BoolAttr, MemRefType, TensorType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import AttrSizedOperandSegments, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, segment_sizes, value_of, values_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operand,
    Operands,
    OptionalOperand,
    OptionalResult,
    Result,
    operand_def,
    opt_operand_def,
    opt_result_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.text import parse_values, write
from tilewright.dialects.types import INDEX, bool_like, element_type, shape_of


def _minor_identity(rank: int, vector_rank: int) -> AffineMapAttr:
    """``(d0, d1) -> (d1)``: the innermost dimensions."""
    dims = tuple(AffineExpr.dimension(dim) for dim in range(rank - vector_rank, rank))
    return AffineMapAttr(AffineMap(rank, 0, dims))


def _bounds_attr(in_bounds: Sequence[bool]) -> ArrayAttr[BoolAttr]:
    return ArrayAttr(BoolAttr.from_bool(value) for value in in_bounds)


def _transfer_properties(
    source: SSAValue,
    vector: Attribute,
    in_bounds: Sequence[bool] | None,
    permutation_map: AffineMap | None,
) -> dict[str, Attribute]:
    rank, vector_rank = len(shape_of(source.type) or ()), len(shape_of(vector) or ())
    map_attr = _minor_identity(rank, vector_rank) if permutation_map is None else AffineMapAttr(permutation_map)
    return {"in_bounds": _bounds_attr(in_bounds or [False] * vector_rank), "permutation_map": map_attr}


def _verify_transfer(
    source: Attribute,
    vector: Attribute,
    indices: Sequence[SSAValue],
    map_: AffineMapAttr,
    in_bounds: ArrayAttr[BoolAttr],
    mask: SSAValue | None,
) -> None:
    rank, vector_rank = len(shape_of(source) or ()), len(shape_of(vector) or ())
    if element_type(source) != element_type(vector):
        raise VerifyException(f"{source} and {vector} differ in element type")
    if len(indices) != rank:
        raise VerifyException(f"requires {rank} indices")
    if map_.data.num_dims != rank or len(map_.data.results) != vector_rank:
        raise VerifyException(f"the permutation map does not lead from {source} to {vector}")
    if len(in_bounds) != vector_rank:
        raise VerifyException(f"in_bounds must have {vector_rank} entries")
    if mask is not None and map_ == _minor_identity(rank, vector_rank) and mask.type != bool_like(vector):
        raise VerifyException(f"the mask must be a {bool_like(vector)}")


def _shown_attributes(
    op: TransferReadOp | TransferWriteOp, source: SSAValue, vector: Attribute
) -> dict[str, Attribute]:
    """The attributes without those that have their default value."""
    rank, vector_rank = len(shape_of(source.type) or ()), len(shape_of(vector) or ())
    shown = dict(op.attributes)
    if op.permutation_map != _minor_identity(rank, vector_rank):
        shown["permutation_map"] = op.permutation_map
    if any(bound.value.data for bound in op.in_bounds):
        shown["in_bounds"] = op.in_bounds
    return shown


def _parse_indexed(parser: Parser) -> tuple[Sequence[SSAValue], list[object]]:
    indices = parse_values(parser, INDEX, parser.Delimiter.SQUARE)
    rest: list[object] = []
    while parser.parse_optional_punctuation(",") is not None:
        rest.append(parser.parse_unresolved_operand())
    return indices, rest


def _print_indexed(printer: Printer, source: SSAValue, indices: Sequence[SSAValue], rest: Sequence[SSAValue]) -> None:
    write(printer, source, "[", indices, "]")
    for value in rest:
        write(printer, ", ", value)


def _apply_dictionary(op: TransferReadOp | TransferWriteOp, attributes: dict[str, Attribute]) -> None:
    for name in ("in_bounds", "permutation_map"):
        if name in attributes:
            op.properties[name] = attributes.pop(name)
    op.attributes.update(attributes)


class TransferReadOp(Op):
    """``%v = vector.transfer_read %m[%i], %pad {in_bounds = [true]} : memref<?xf32>, vector<8xf32>``: the padding
    stands for elements outside."""

    name = "vector.transfer_read"

    source: Operand = operand_def()
    indices: Operands = var_operand_def(INDEX)
    padding: Operand = operand_def()
    mask: OptionalOperand = opt_operand_def(VectorType)
    permutation_map: AffineMapAttr = prop_def(AffineMapAttr)
    in_bounds: ArrayAttr[BoolAttr] = prop_def(ArrayAttr[BoolAttr])
    result: Result = result_def(VectorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        source: Value,
        indices: Sequence[Value],
        padding: Value,
        result_type: Attribute,
        mask: Value | None = None,
        *,
        in_bounds: Sequence[bool] | None = None,
        permutation_map: AffineMap | None = None,
    ) -> None:
        source, index_values = value_of(source), values_of(indices)
        masks = [] if mask is None else [value_of(mask)]
        properties = _transfer_properties(source, result_type, in_bounds, permutation_map)
        properties["operandSegmentSizes"] = segment_sizes(1, len(index_values), 1, len(masks))
        init_op(self, [source, *index_values, value_of(padding), *masks], (result_type,), properties)

    def verify_(self) -> None:
        _verify_transfer(
            self.source.type, self.results[0].type, self.indices, self.permutation_map, self.in_bounds, self.mask
        )

    @classmethod
    def parse(cls, parser: Parser) -> TransferReadOp:
        source = parser.parse_unresolved_operand()
        indices, rest = _parse_indexed(parser)
        attributes = dict(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_punctuation(",")
        vector_type = parser.parse_type()
        types = (element_type(source_type), bool_like(vector_type))[: len(rest)]
        values = parser.resolve_operands(rest, types, parser.pos)  # pyright: ignore[reportArgumentType]
        op = cls(parser.resolve_operand(source, source_type), indices, values[0], vector_type, *values[1:])
        _apply_dictionary(op, attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        rest = (self.padding,) if self.mask is None else (self.padding, self.mask)
        _print_indexed(printer, self.source, self.indices, rest)
        printer.print_op_attributes(_shown_attributes(self, self.source, self.results[0].type))
        write(printer, " : ", (self.source.type, self.results[0].type))


class TransferWriteOp(Op):
    """``vector.transfer_write %v, %m[%i] {in_bounds = [true]} : vector<8xf32>, memref<?xf32>``: nothing is written
    outside."""

    name = "vector.transfer_write"

    vector: Operand = operand_def(VectorType)
    source: Operand = operand_def()
    indices: Operands = var_operand_def(INDEX)
    mask: OptionalOperand = opt_operand_def(VectorType)
    permutation_map: AffineMapAttr = prop_def(AffineMapAttr)
    in_bounds: ArrayAttr[BoolAttr] = prop_def(ArrayAttr[BoolAttr])
    result: OptionalResult = opt_result_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        vector: Value,
        source: Value,
        indices: Sequence[Value],
        mask: Value | None = None,
        *,
        in_bounds: Sequence[bool] | None = None,
        permutation_map: AffineMap | None = None,
    ) -> None:
        vector, source, index_values = value_of(vector), value_of(source), values_of(indices)
        masks = [] if mask is None else [value_of(mask)]
        properties = _transfer_properties(source, vector.type, in_bounds, permutation_map)
        properties["operandSegmentSizes"] = segment_sizes(1, 1, len(index_values), len(masks))
        types = () if isinstance(source.type, MemRefType) else (source.type,)
        init_op(self, [vector, source, *index_values, *masks], types, properties)

    def verify_(self) -> None:
        _verify_transfer(
            self.source.type, self.vector.type, self.indices, self.permutation_map, self.in_bounds, self.mask
        )

    @classmethod
    def parse(cls, parser: Parser) -> TransferWriteOp:
        vector = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        source = parser.parse_unresolved_operand()
        indices, rest = _parse_indexed(parser)
        attributes = dict(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        vector_type = parser.parse_type()
        parser.parse_punctuation(",")
        source_type = parser.parse_type()
        masks = parser.resolve_operands(rest, (bool_like(vector_type),) * len(rest), parser.pos)  # pyright: ignore[reportArgumentType]
        values = parser.resolve_operands((vector, source), (vector_type, source_type), parser.pos)
        op = cls(values[0], values[1], indices, *masks)
        _apply_dictionary(op, attributes)
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.vector, ", ")
        _print_indexed(printer, self.source, self.indices, () if self.mask is None else (self.mask,))
        printer.print_op_attributes(_shown_attributes(self, self.source, self.vector.type))
        write(printer, " : ", (self.vector.type, self.source.type))
