"""Arithmetic on and movement of lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, VectorType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.attributes import FastMathOp
from tilewright.dialects.construction import Value, index_list, init_op, int_attr, static_values, value_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    I64Array,
    Operand,
    Operands,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.text import check_as_many, parse_integer_list, write
from tilewright.dialects.types import (
    ANY_VECTOR,
    I64_ARRAY,
    I64_ATTR,
    TypeWhere,
    as_vector,
    element_type,
    is_float,
    is_integer_or_index,
    is_vector,
    shape_of,
)
from tilewright.dialects.vector.attributes import ADD, CombiningKind, CombiningKindAttr, kind_attr

Kind = CombiningKind | CombiningKindAttr | str


OF_FLOATS = frozenset(CombiningKind(word) for word in ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf"))
OF_INTEGERS = frozenset(CombiningKind) - OF_FLOATS | {CombiningKind.ADD, CombiningKind.MUL}
"""How `vector.reduction` combines lanes of each kind of type."""

VECTOR_OF_FLOATS = TypeWhere("vector of floating-point values", lambda t: is_vector(t) and is_float(element_type(t)))


class FMAOp(Op):
    """``%r = vector.fma %a, %b, %c : vector<8xf32>``: ``a * b + c``, rounded once."""

    name = "vector.fma"

    T: ClassVar = VarConstraint("T", VECTOR_OF_FLOATS)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    acc: Operand = operand_def(T)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)"


class ReductionOp(FastMathOp):
    """``%x = vector.reduction <add>, %v, %acc : vector<8xf32> into f32``: all lanes, in any order only with
    `fastmath<reassoc>`."""

    name = "vector.reduction"

    E: ClassVar = VarConstraint("E", AnyAttr())

    kind: CombiningKindAttr = prop_def(CombiningKindAttr, converter=kind_attr)
    vector: Operand = operand_def(VectorType.constr(E))
    acc: OptionalOperand = opt_operand_def(E, default=None)
    dest: Result = inferred_result_def(E, of="vector", by=element_type)

    traits = traits_def(Pure())

    assembly_format = (
        "$kind `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($vector) `into` type($dest)"
    )

    def verify_(self) -> None:
        if len(shape_of(self.operands[0].type) or ()) > 1:
            rank = len(shape_of(self.operands[0].type) or ())
            raise VerifyException(f"unsupported reduction rank: {rank}")
        element = self.results[0].type
        kinds = (
            OF_FLOATS
            if is_float(element)
            else OF_INTEGERS
            if is_integer_or_index(element)
            else frozenset[CombiningKind]()
        )
        if self.kind.data not in kinds:
            raise VerifyException(f"unsupported reduction type ''{element}'' for kind '{self.kind.data.value}'")


class MultiDimReductionOp(Op):
    """``%r = vector.multi_reduction <add>, %v, %acc [1] : vector<4x8xf32> to vector<4xf32>``."""

    name = "vector.multi_reduction"

    T: ClassVar = VarConstraint("T", AnyAttr())

    kind: CombiningKindAttr = prop_def(CombiningKindAttr, converter=kind_attr)
    source: Operand = operand_def(VectorType)
    acc: Operand = operand_def(T)
    reduction_dims: I64Array = prop_def(I64_ARRAY, converter=index_list)
    dest: Result = inferred_result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$kind `,` $source `,` $acc $reduction_dims attr-dict `:` type($source) `to` type($dest)"

    def verify_(self) -> None:
        shape, dims = shape_of(self.operands[0].type) or (), static_values(self.reduction_dims)
        if element_type(self.results[0].type) != element_type(self.operands[0].type):
            raise VerifyException("failed to verify that source operand and result have same element type")
        kept = tuple(extent for dim, extent in enumerate(shape) if dim not in dims)
        for value in (self.operands[1], self.results[0]):
            if (shape_of(value.type) or ()) != kept:
                raise VerifyException(
                    f"destination type '{value.type}' is incompatible with source type '{self.operands[0].type}'"
                )
        if any(not 0 <= dim < len(shape) for dim in dims):
            raise VerifyException(f"{list(dims)} are no dimensions of {self.operands[0].type}")


def _shuffled_type(vector: Attribute, mask: Sequence[int]) -> Attribute:
    type_ = as_vector(vector)
    return VectorType(type_.element_type, (len(mask), *type_.get_shape()[1:]))


class ShuffleOp(Op):
    """``%r = vector.shuffle %a, %b [0, 8, 1, 9] : vector<8xf32>, vector<8xf32>``: lanes of both by number; -1 is any
    value."""

    name = "vector.shuffle"

    v1: Operand = operand_def(VectorType)
    v2: Operand = operand_def(VectorType)
    mask: I64Array = prop_def(I64_ARRAY, converter=index_list)
    vector: Result = inferred_result_def(VectorType, of=("v1", "mask"), by=_shuffled_type)

    traits = traits_def(Pure())

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lane numbers: those of the second vector follow those of the first."""
        return static_values(self.mask)

    def verify_(self) -> None:
        first, second = shape_of(self.operands[0].type) or (1,), shape_of(self.operands[1].type) or (1,)
        if element_type(self.operands[0].type) != element_type(self.operands[1].type):
            raise VerifyException("failed to verify that second operand v2 and result have same element type")
        if first[1:] != second[1:]:
            raise VerifyException(f"{self.operands[0].type} and {self.operands[1].type} cannot be shuffled")
        total = first[0] + second[0]
        wrong = next((at for at, lane in enumerate(self.lanes) if not -1 <= lane < total), None)
        if wrong is not None:
            raise VerifyException(f"mask index #{wrong + 1} out of range")
        if shape_of(self.results[0].type) != (len(self.lanes), *first[1:]):
            raise VerifyException(f"{len(self.lanes)} lanes do not make a {self.results[0].type}")

    @classmethod
    def parse(cls, parser: Parser) -> ShuffleOp:
        at = parser._current_token.span  # pyright: ignore[reportPrivateUsage]
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        lanes = parse_integer_list(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        check_as_many(operands, types, at)
        first, second = parser.resolve_operands(operands, types, parser.pos)
        op = cls(first, second, lanes)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.operands, f" {list(self.lanes)}")
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.operand_types)


def _transposed_type(vector: Attribute, permutation: Sequence[int]) -> Attribute:
    shape = as_vector(vector).get_shape()
    return VectorType(element_type(vector), [shape[dim] for dim in permutation])


class TransposeOp(Op, HasFolderInterface):
    """``%r = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>``: result dim i is source dim
    permutation[i]."""

    name = "vector.transpose"

    vector: Operand = operand_def(VectorType)
    permutation: I64Array = prop_def(I64_ARRAY, converter=index_list)
    result: Result = inferred_result_def(VectorType, of=("vector", "permutation"), by=_transposed_type)

    traits = traits_def(Pure())

    assembly_format = "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)"

    def verify_(self) -> None:
        shape, permutation = shape_of(self.operands[0].type) or (), static_values(self.permutation)
        result = shape_of(self.results[0].type) or ()
        if element_type(self.results[0].type) != element_type(self.operands[0].type):
            raise VerifyException("failed to verify that operand and result have same element type")
        if len(result) != len(shape):
            raise VerifyException(f"vector result rank mismatch: {len(result)}")
        if len(permutation) != len(shape):
            raise VerifyException(f"transposition length mismatch: {len(permutation)}")
        for place, dim in enumerate(permutation):
            if not 0 <= dim < len(shape):
                raise VerifyException(f"transposition index out of range: {dim}")
            if dim in permutation[:place]:
                raise VerifyException(f"duplicate position index: {dim}")
            if result[place] != shape[dim]:
                raise VerifyException(f"dimension size mismatch at: {dim}")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        permutation = static_values(self.permutation)
        return (self.operands[0],) if permutation == tuple(range(len(permutation))) else None


def _with_last(type_: Attribute, times: int, divided_by: int) -> Attribute:
    shape = as_vector(type_).get_shape()
    if not shape or shape[-1] % divided_by:
        raise VerifyException(f"the last dimension of {type_} must be a multiple of {divided_by}")
    return VectorType(element_type(type_), (*shape[:-1], shape[-1] * times // divided_by))


def _doubled_type(vector: Attribute) -> Attribute:
    return _with_last(vector, 2, 1)


def _halved_type(vector: Attribute) -> Attribute:
    return _with_last(vector, 1, 2)


class InterleaveOp(Op):
    """``%r = vector.interleave %a, %b : vector<8xf32> -> vector<16xf32>``: a0, b0, a1, b1, ... along the last
    dimension."""

    name = "vector.interleave"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(VectorType, of="lhs", by=_doubled_type)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    def verify_(self) -> None:
        if self.results[0].type != _with_last(self.operands[0].type, 2, 1):
            raise VerifyException("failed to verify that type of 'result' is double the width of the inputs")


class DeinterleaveOp(Op):
    """``%even, %odd = vector.deinterleave %v : vector<8xf32> -> vector<4xf32>``: the inverse of
    :class:`InterleaveOp`."""

    name = "vector.deinterleave"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    source: Operand = operand_def(VectorType)
    res1: Result = inferred_result_def(T, of="source", by=_halved_type)
    res2: Result = inferred_result_def(T, of="source", by=_halved_type)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `->` type($res1)"

    def verify_(self) -> None:
        if self.results[0].type != _with_last(self.operands[0].type, 1, 2):
            raise VerifyException(
                "failed to verify that the trailing dimension of the results is half the width of source trailing "
                "dimension"
            )


class ScanOp(Op):
    """``%r, %last = vector.scan <add>, %v, %init {inclusive = true, reduction_dim = 1 : i64} : vector<4x8xf32>,
    vector<4xf32>``."""

    name = "vector.scan"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)
    I: ClassVar = VarConstraint("I", ANY_VECTOR)  # noqa: E741

    kind: CombiningKindAttr = prop_def(CombiningKindAttr, converter=kind_attr)
    source: Operand = operand_def(T)
    initial_value: Operand = operand_def(I)
    reduction_dim: IntegerAttr = prop_def(I64_ATTR, converter=int_attr)
    inclusive: BoolAttr = prop_def(BoolAttr, default=True, converter=BoolAttr.from_bool, kw_only=True)
    dest: Result = inferred_result_def(T)
    accumulated_value: Result = inferred_result_def(I)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(Pure())

    assembly_format = "$kind `,` $source `,` $initial_value attr-dict `:` type($source) `,` type($initial_value)"

    def verify_(self) -> None:
        shape, dim = shape_of(self.operands[0].type) or (), self.reduction_dim.value.data
        if not 0 <= dim < len(shape):
            raise VerifyException(f"reduction dimension {dim} has to be less than {len(shape)}")
        if shape_of(self.operands[1].type) != (*shape[:dim], *shape[dim + 1 :]):
            raise VerifyException("incompatible input/initial value shapes")


class OuterProductOp(Op):
    """``%r = vector.outerproduct %a, %b, %acc : vector<4xf32>, vector<8xf32>``: ``a[i] * b[j] + acc[i, j]``; `b` may
    be a scalar."""

    name = "vector.outerproduct"

    lhs: Operand = operand_def(VectorType)
    rhs: Operand = operand_def()
    acc: Operands = var_operand_def()
    kind: CombiningKindAttr = prop_def(CombiningKindAttr, default_value=ADD)
    result: Result = result_def(VectorType)

    traits = traits_def(Pure())

    def __init__(self, lhs: Value, rhs: Value, acc: Value | None = None, *, kind: Kind = ADD) -> None:
        lhs, rhs = value_of(lhs), value_of(rhs)
        operands = [lhs, rhs] if acc is None else [lhs, rhs, value_of(acc)]
        shape = (*(shape_of(lhs.type) or ()), *(shape_of(rhs.type) or ()))
        init_op(self, operands, (VectorType(element_type(lhs.type), shape),), {"kind": kind_attr(kind)})

    def verify_(self) -> None:
        shape = (*(shape_of(self.operands[0].type) or ()), *(shape_of(self.operands[1].type) or ()))
        if shape_of(self.results[0].type) != shape:
            raise VerifyException(f"the product is not a {self.results[0].type}")
        if len(self.operands) > 3 or any(value.type != self.results[0].type for value in self.operands[2:]):
            raise VerifyException("at most one accumulator, of the type of the result")

    @classmethod
    def parse(cls, parser: Parser) -> OuterProductOp:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = dict(parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        types: list[Attribute] = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
        if len(operands) == 3:
            shape = (*(shape_of(types[0]) or ()), *(shape_of(types[1]) or ()))
            types.append(VectorType(element_type(types[0]), shape))
        values = parser.resolve_operands(operands, types, parser.pos)
        kind = attributes.pop("kind", ADD)
        assert isinstance(kind, CombiningKindAttr)
        op = cls(*values, kind=kind)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.operands)
        shown = self.attributes if len(self.operands) < 3 else {"kind": self.kind, **self.attributes}
        printer.print_op_attributes(shown)
        write(printer, " : ", [value.type for value in self.operands[:2]])
