"""Parts of a vector: elements, leading sub-vectors, strided slices."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    VectorType,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, ParsePropInAttrDict, VarConstraint, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.arith.constant import constant_attr, is_splat
from tilewright.dialects.construction import (
    MixedIndex,
    Value,
    init_op,
    int_attr,
    join_mixed,
    static_values,
    value_of,
)
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    I64Array,
    InferableResult,
    MixedOperands,
    Operand,
    Operands,
    Result,
    Results,
    inferred_result_def,
    internal_prop_def,
    mixed_operand_def,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.index_lists import DynamicIndexList
from tilewright.dialects.numeric import array_of, attr_of
from tilewright.dialects.text import write
from tilewright.dialects.types import (
    ANY_VECTOR,
    I64_ARRAY,
    INDEX,
    as_vector,
    element_type,
    shape_of,
)
from tilewright.dialects.vector.shapes import BroadcastOp

Folded = Sequence[SSAValue | Attribute] | None


def _part_type(vector: Attribute, position: Sequence[MixedIndex]) -> Attribute:
    """The type of the part at a position: an element, or a vector of the remaining dimensions."""
    rest = as_vector(vector).get_shape()[len(position) :]
    return VectorType(element_type(vector), rest) if rest else element_type(vector)


def _verify_position(
    static: Sequence[int], dynamic: Sequence[SSAValue], vector: Attribute, part: Attribute, operands: str
) -> None:
    """Check a position in a vector, and the type of the part there; `operands` says which two have one element type."""
    shape = shape_of(vector) or ()
    if static.count(DYNAMIC_INDEX) != len(dynamic):
        raise VerifyException("the number of index values does not match the dynamic places of the position")
    if len(static) > len(shape):
        raise VerifyException("expected position attribute of rank no greater than vector rank")
    for position, (index, extent) in enumerate(zip(static, shape, strict=False), start=1):
        if index not in (DYNAMIC_INDEX, -1) and not 0 <= index < extent:
            raise VerifyException(
                f"expected position attribute #{position} to be a non-negative integer smaller than the corresponding "
                "vector dimension or poison (-1)"
            )
    rest = shape[len(static) :]
    if element_type(part) != element_type(vector):
        raise VerifyException(f"failed to verify that {operands} have same element type")
    if rest and not shape_of(part) and operands.startswith("source"):
        raise VerifyException("expected position attribute rank to match the dest vector rank")
    if (shape_of(part) or ()) != rest and (rest or shape_of(part) != (1,)):
        raise VerifyException(f"a part of {vector} at a position of {len(static)} indices is not a {part}")


class PositionedOp(Op, ABC):
    """An op on the part of a vector at a position: an element, or a vector of fewer dimensions."""

    @property
    def position(self) -> list[int | SSAValue]:
        """The indices, constants as ints."""
        assert isinstance(self, (ExtractOp, InsertOp))
        return join_mixed(self.static_position, self.dynamic_position)


class ExtractOp(PositionedOp, HasFolderInterface):
    """``%x = vector.extract %v[%i, 3] : f32 from vector<4x8xf32>``."""

    name = "vector.extract"

    vector: Operand = operand_def(VectorType)
    dynamic_position: MixedOperands = mixed_operand_def("static_position", INDEX)
    static_position: I64Array = internal_prop_def(I64_ARRAY)
    result: Result = inferred_result_def(of=("vector", "dynamic_position"), by=_part_type)

    traits = traits_def(Pure())

    custom_directives = (DynamicIndexList,)
    assembly_format = (
        "$vector `` custom<DynamicIndexList>($dynamic_position, $static_position) attr-dict "
        "`:` type($result) `from` type($vector)"
    )

    def verify_(self) -> None:
        static = static_values(self.static_position)
        _verify_position(
            static, self.dynamic_position, self.operands[0].type, self.results[0].type, "operand and result"
        )

    def fold(self) -> Folded:
        source, result_type = self.operands[0], self.results[0].type
        if not self.position:
            return (source,)
        inner = source.owner
        if isinstance(inner, BroadcastOp) and inner.operands[0].type == result_type == element_type(source.type):
            return (inner.operands[0],)
        if isinstance(inner, FromElementsOp) and len(inner.operands) == (shape_of(source.type) or (0,))[0]:
            (index,) = self.position if len(self.position) == 1 else (None,)
            if isinstance(index, int) and 0 <= index < len(inner.operands):
                return (inner.operands[index],)
        constant = constant_attr(source)
        if isinstance(constant, DenseIntOrFPElementsAttr):
            return self._fold_constant(constant, result_type)
        return None

    def _fold_constant(self, constant: DenseIntOrFPElementsAttr, result_type: Attribute) -> Folded:
        values = array_of(constant)
        if values is None:
            return None
        if is_splat(constant):
            return (attr_of(values.reshape(-1)[0], result_type),)
        indices = [index for index in self.position if isinstance(index, int) and index >= 0]
        if len(indices) != len(self.position):
            return None
        return (attr_of(values[tuple(indices)], result_type),)


class InsertOp(PositionedOp):
    """``%r = vector.insert %x, %v [%i] : f32 into vector<8xf32>``."""

    name = "vector.insert"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    source: Operand = operand_def()
    dest: Operand = operand_def(T)
    dynamic_position: MixedOperands = mixed_operand_def("static_position", INDEX)
    static_position: I64Array = internal_prop_def(I64_ARRAY)
    result: Result = inferred_result_def(T)

    traits = traits_def(Pure())

    custom_directives = (DynamicIndexList,)
    assembly_format = (
        "$source `,` $dest custom<DynamicIndexList>($dynamic_position, $static_position) attr-dict "
        "`:` type($source) `into` type($dest)"
    )

    def verify_(self) -> None:
        static = static_values(self.static_position)
        _verify_position(
            static, self.dynamic_position, self.operands[1].type, self.operands[0].type, "source operand and result"
        )


def _int_array(values: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr(int_attr(value) for value in values)


def _ints(attr: ArrayAttr[IntegerAttr]) -> list[int]:
    return [value.value.data for value in attr]


class ExtractStridedSliceOp(Op, HasFolderInterface):
    """``%r = vector.extract_strided_slice %v {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to
    vector<4xf32>``."""

    name = "vector.extract_strided_slice"

    source: Operand = operand_def(VectorType)
    offsets: ArrayAttr[IntegerAttr] = prop_def(ArrayAttr[IntegerAttr])
    sizes: ArrayAttr[IntegerAttr] = prop_def(ArrayAttr[IntegerAttr])
    strides: ArrayAttr[IntegerAttr] = prop_def(ArrayAttr[IntegerAttr])
    result: Result = result_def(VectorType)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: Value, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        source = value_of(source)
        shape = (*sizes, *as_vector(source.type).get_shape()[len(sizes) :])
        properties: dict[str, Attribute] = {
            "offsets": _int_array(offsets),
            "sizes": _int_array(sizes),
            "strides": _int_array([1] * len(sizes)),
        }
        init_op(self, (source,), (VectorType(element_type(source.type), shape),), properties)

    def verify_(self) -> None:
        offsets, sizes, strides = _ints(self.offsets), _ints(self.sizes), _ints(self.strides)
        shape = shape_of(self.operands[0].type) or ()
        if not len(offsets) == len(sizes) == len(strides) <= len(shape):
            raise VerifyException("offsets, sizes and strides must be of one length, within the rank of the source")
        if any(stride != 1 for stride in strides):
            raise VerifyException("expected strides to be confined to [1, 2)")
        if any(o < 0 or s <= 0 or o + s > n for o, s, n in zip(offsets, sizes, shape, strict=False)):
            raise VerifyException(f"offsets {offsets} and sizes {sizes} are not within {list(shape)}")
        if shape_of(self.results[0].type) != (*sizes, *shape[len(sizes) :]):
            raise VerifyException(f"the slice is not a {self.results[0].type}")

    def fold(self) -> Folded:
        source = self.operands[0]
        return (source,) if source.type == self.results[0].type else None


class InsertStridedSliceOp(Op, HasFolderInterface):
    """``%r = vector.insert_strided_slice %p, %v {offsets = [2], strides = [1]} : vector<4xf32> into vector<8xf32>``."""

    name = "vector.insert_strided_slice"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    valueToStore: Operand = operand_def(VectorType)
    dest: Operand = operand_def(T)
    offsets: ArrayAttr[IntegerAttr] = prop_def(ArrayAttr[IntegerAttr])
    strides: ArrayAttr[IntegerAttr] = prop_def(ArrayAttr[IntegerAttr])
    result: Result = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)

    traits = traits_def(Pure())

    assembly_format = "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)"

    def __init__(self, value: Value, dest: Value, offsets: Sequence[int]) -> None:
        value, dest = value_of(value), value_of(dest)
        strides = _int_array([1] * len(shape_of(value.type) or ()))
        properties: dict[str, Attribute] = {"offsets": _int_array(offsets), "strides": strides}
        init_op(self, (value, dest), (dest.type,), properties)

    def verify_(self) -> None:
        offsets, strides = _ints(self.offsets), _ints(self.strides)
        source, dest = shape_of(self.operands[0].type) or (), shape_of(self.operands[1].type) or ()
        if len(offsets) != len(dest) or len(strides) != len(source) or len(source) > len(dest):
            raise VerifyException(
                "expected one offset per dimension of the destination, one stride per one of the source"
            )
        if any(stride != 1 for stride in strides):
            raise VerifyException("expected strides to be confined to [1, 2)")
        sizes = (*(1,) * (len(dest) - len(source)), *source)
        if any(o < 0 or o + s > n for o, s, n in zip(offsets, sizes, dest, strict=True)):
            raise VerifyException(f"offsets {offsets} leave no room for {self.operands[0].type}")

    def fold(self) -> Folded:
        value = self.operands[0]
        return (value,) if value.type == self.results[0].type else None


def _vector_of(elements: Sequence[Value]) -> Attribute:
    return VectorType(value_of(elements[0]).type, (len(elements),))


class FromElementsOp(Op):
    """``%v = vector.from_elements %a, %b : vector<2xf32>``: the lanes in row-major order."""

    name = "vector.from_elements"

    T: ClassVar = VarConstraint("T", AnyAttr())

    elements: Operands = var_operand_def(T)
    dest: InferableResult = result_def(VectorType.constr(T), default=None, of="elements", by=_vector_of)

    traits = traits_def(Pure())

    assembly_format = "$elements attr-dict `:` type($dest)"

    def verify_(self) -> None:
        if prod(shape_of(self.results[0].type) or ()) != len(self.operands):
            raise VerifyException(f"{len(self.operands)} elements do not make a {self.results[0].type}")


class ToElementsOp(Op):
    """``%e:2 = vector.to_elements %v : vector<2xf32>``: every lane as a scalar."""

    name = "vector.to_elements"

    T: ClassVar = VarConstraint("T", AnyAttr())

    source: Operand = operand_def(VectorType.constr(T))
    elements: Results = var_result_def(T)

    traits = traits_def(Pure())

    def __init__(self, source: Value) -> None:
        source = value_of(source)
        count = prod(shape_of(source.type) or ())
        init_op(self, (source,), (element_type(source.type),) * count)

    def verify_(self) -> None:
        if len(self.results) != prod(shape_of(self.operands[0].type) or ()):
            raise VerifyException(f"{len(self.results)} results for a {self.operands[0].type}")

    @classmethod
    def parse(cls, parser: Parser) -> ToElementsOp:
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(source, parser.parse_type()))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.source)
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.source.type)
