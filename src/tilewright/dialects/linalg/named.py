"""Linalg ops whose body is known from their name: what they share, fill, transpose and broadcast."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import AttrSizedOperandSegments, SameVariadicOperandSize, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

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
from tilewright.dialects.types import I64_ARRAY, element_type, shape_of


def map_of_dims(count: int, positions: Sequence[int]) -> AffineMap:
    """``(d0, d1, d2) -> (d0, d2)`` of three loops at positions 0 and 2."""
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

    def __init__(
        self,
        inputs: Sequence[Value] | Value,
        outputs: Sequence[Value] | Value,
        *,
        properties: Mapping[str, Attribute] | None = None,
        result_types: Sequence[Attribute] | None = None,
    ) -> None:
        """Raises `ValueError` where the name means nothing for so many operands, or for their element types."""
        ins = values_of(inputs) if isinstance(inputs, Sequence) else [value_of(inputs)]
        outs = values_of(outputs) if isinstance(outputs, Sequence) else [value_of(outputs)]
        given = {**self.fixed_properties(), **(properties or {})}
        expected = self.input_count(given) + 1
        if (len(ins), len(outs)) != (expected - 1, 1):
            counts = f"expects {expected} args, got {len(ins) + len(outs)}"
            raise ValueError(f"[parseNamedStructuredOpRegion] ods-gen generated region {counts}")
        regions = (self.make_body(ins, outs, given),)
        given["operandSegmentSizes"] = segment_sizes(len(ins), 1)
        types = tensor_result_types(outs) if result_types is None else result_types
        init_op(self, [*ins, *outs], types, given, regions=regions)

    @classmethod
    def class_for(cls, properties: Mapping[str, Attribute]) -> type[Self]:
        """The class of ops with these properties: ops of one name may have several."""
        return cls

    @classmethod
    def fixed_properties(cls) -> dict[str, Attribute]:
        """The properties that all ops of a class have."""
        return {}

    @classmethod
    def input_count(cls, properties: Mapping[str, Attribute]) -> int:
        """Return the number of inputs that an op with these properties takes."""
        return cls.INPUTS

    @classmethod
    @abstractmethod
    def make_body(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Region:
        """The body that the name stands for."""

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        """Return what stands between the name and the attributes."""
        return {}

    def print_properties(self, printer: Printer) -> None:
        """Print what `parse_properties` reads."""

    WRITTEN_AMONG_ATTRIBUTES: ClassVar[tuple[str, ...]] = ()
    """Properties that are written in ``{...}``."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = cls.parse_properties(parser)
        attributes = dict(parser.parse_optional_attr_dict())
        properties |= {key: attributes.pop(key) for key in cls.WRITTEN_AMONG_ATTRIBUTES if key in attributes}
        position = parser.pos
        inputs, outputs = parse_ins_and_outs(parser)
        types = parse_result_types(parser)
        try:
            made = cls.class_for({**cls.fixed_properties(), **properties})
            op = made(inputs, outputs, properties=properties, result_types=types or None)
        except ValueError as error:
            parser.raise_error(f"custom op '{cls.name}' {error}", position, position + 1)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        self.print_properties(printer)
        among = {key: self.properties[key] for key in self.WRITTEN_AMONG_ATTRIBUTES if key in self.properties}
        printer.print_op_attributes(among | self.attributes)
        print_ins_and_outs(printer, self.inputs, self.outputs)
        print_result_types(printer, self.result_types)

    def verify_(self) -> None:
        if self.body.blocks:
            self.verify_structure()


class FillOp(NamedOp, init=False):
    """``%r = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: one scalar in every place."""

    name = "linalg.fill"

    @classmethod
    def make_body(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Region:
        return _pass_through_body(inputs, outputs)

    def verify_(self) -> None:
        value, element = self.operands[0].type, element_type(self.operands[1].type)
        if value != element:
            raise VerifyException(f"expected fill value type ('{value}') to match output element type ('{element}')")
        super().verify_()

    @property
    def maps(self) -> Sequence[AffineMap]:
        rank = _rank(self.operands[1])
        return (AffineMap(rank, 0, ()), AffineMap.identity(rank))

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (IteratorType.PARALLEL,) * _rank(self.operands[1])


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
        return (map_of_dims(len(permutation), inverse), AffineMap.identity(len(permutation)))

    def verify_(self) -> None:
        source, dest = shape_of(self.operands[0].type) or (), shape_of(self.operands[1].type) or ()
        permutation = self.dims
        if sorted(permutation) != list(range(len(permutation))):
            raise VerifyException("permutation is not valid")
        if len(source) != len(dest):
            raise VerifyException(f"input rank {len(source)} does not match init rank {len(dest)}")
        if len(source) != len(permutation):
            raise VerifyException(
                f"size of permutation {len(permutation)} does not match the argument rank {len(source)}"
            )
        for dim, from_dim in enumerate(permutation):
            if dest[dim] != source[from_dim]:
                wanted = f"dim(input, permutation[{dim}]) = {source[from_dim]}"
                raise VerifyException(f"dim(result, {dim}) = {dest[dim]} doesn't match {wanted}")
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
        return (map_of_dims(rank, kept), AffineMap.identity(rank))

    def verify_(self) -> None:
        source, dest = shape_of(self.operands[0].type) or (), shape_of(self.operands[1].type) or ()
        rank, added = len(dest), self.dims
        if len(source) + len(added) != rank:
            raise VerifyException(
                "input rank plus added dimensions does not match init rank. "
                f"input rank: {len(source)}, dimensions size: {len(added)}, init rank: {rank}"
            )
        for position, dim in enumerate(added):
            if not 0 <= dim < rank:
                raise VerifyException(
                    f"dimension {position} is out of range. expected range: [0, {rank - 1}], got: {dim}"
                )
        kept = [dim for dim in range(rank) if dim not in added]
        if len(kept) != len(source):
            raise VerifyException(f"dimensions {list(added)} name a dimension twice")
        for position, dim in enumerate(kept):
            if source[position] != dest[dim]:
                raise VerifyException(
                    f"input dim {position} should match init dim {dim}. input: {source[position]}, init: {dest[dim]}"
                )
        self.verify_structure()
