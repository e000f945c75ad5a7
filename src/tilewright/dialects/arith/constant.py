"""`arith.constant` and the helpers that make constants the way upstream names them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    UnrankedTensorType,
    i1,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import base, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import dense_attr, init_op
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Result, prop_def, result_def
from tilewright.dialects.text import write
from tilewright.dialects.types import INDEX, element_type, is_float, is_signless_integer, is_tensor, is_vector

ConstantAttr = IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr | DenseResourceAttr


class ConstantOp(Op, HasFolderInterface):
    """``%cst = arith.constant dense<1.000000e+00> : tensor<4xf32>``."""

    name = "arith.constant"

    value: ConstantAttr = prop_def(
        base(IntegerAttr) | base(FloatAttr) | base(DenseIntOrFPElementsAttr) | base(DenseResourceAttr)
    )
    result: Result = result_def()

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: ConstantAttr, value_type: Attribute | None = None) -> None:
        init_op(self, (), (value.get_type() if value_type is None else value_type,), {"value": value})

    def verify_(self) -> None:
        value_type = self.value.get_type()
        if value_type != self.result.type:
            raise VerifyException(f"value of type {value_type} does not match the result type {self.result.type}")
        element = element_type(value_type)
        if not is_signless_integer(element) and isinstance(element, IntegerType):
            raise VerifyException(f"integer constants are signless, got {element}")

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        value = parser.parse_attribute()
        if not isinstance(value, ConstantAttr):
            raise VerifyException("value must be an integer, float, or elements attribute")
        op = cls(cast(ConstantAttr, value))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        write(printer, " ", self.value)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return (self.properties["value"],)


def constant_int(value: int, type_: IntegerType | IndexType | int) -> ConstantOp:
    """``%c4_i32 = arith.constant 4 : i32`` (``%true`` for i1, ``%c4`` for index); bits above the width are cut off."""
    if isinstance(type_, int):
        type_ = IntegerType(type_)
    return _named(ConstantOp(_integer_attr(value, type_), type_), _integer_name(value, type_))


def constant_index(value: int) -> ConstantOp:
    """``%c4 = arith.constant 4 : index``."""
    return _named(ConstantOp(_integer_attr(value, INDEX), INDEX), _integer_name(value, INDEX))


def constant_bool(value: bool) -> ConstantOp:
    """``%true = arith.constant true``."""
    return constant_int(int(value), i1)


def constant_float(value: float, type_: Attribute) -> ConstantOp:
    """``%cst = arith.constant 1.000000e+00 : f32``; the value is rounded to the type."""
    return _named(ConstantOp(float_attr(value, type_), type_), "cst")


def constant_splat(value: float, type_: Attribute) -> ConstantOp:
    """``%cst = arith.constant dense<0.000000e+00> : tensor<4xf32>``; a scalar type gives a scalar constant."""
    match type_:
        case IntegerType() | IndexType():
            return constant_int(int(value), type_)
        case _ if is_float(type_):
            return constant_float(value, type_)
        case _:
            return _named(ConstantOp(splat_attr(value, type_), type_), "cst")


@lru_cache(maxsize=4096)
def _integer_attr(value: int, type_: IntegerType | IndexType) -> IntegerAttr:
    return IntegerAttr(value, type_, truncate_bits=True)


def float_attr(value: float, type_: Attribute) -> FloatAttr:
    """A float attribute rounded to nearest even in its type; what is too large becomes infinite."""
    from tilewright.dialects.numeric import round_to_type

    assert is_float(type_)
    return FloatAttr(round_to_type(value, type_), type_)


def splat_attr(value: float, type_: Attribute) -> DenseIntOrFPElementsAttr:
    """``dense<value>`` of a tensor or vector type of static shape."""
    from tilewright.dialects.numeric import round_to_type

    assert is_tensor(type_) or is_vector(type_), type_
    match type_.element_type:
        case IntegerType() | IndexType() as element:
            data = element.pack((_integer_attr(int(value), element).value.data,))
        case element:
            assert is_float(element), f"no constants of {element}"
            data = element.pack((round_to_type(value, element),))
    count = 1
    for extent in type_.get_shape():
        if extent < 0:
            raise ValueError(f"a splat needs a static shape, got {type_}")
        count *= extent
    return dense_attr(type_, data * count)


def _named(op: ConstantOp, name: str) -> ConstantOp:
    op.results[0].name_hint = name
    return op


def _integer_name(value: int, type_: Attribute) -> str:
    """Upstream's hints: ``c4``, ``c4_i32``, ``c-1_i32`` (printed ``%c-1_i32``), ``true``."""
    if type_ == i1:
        return "true" if value & 1 else "false"
    return f"c{value}" if isinstance(type_, IndexType) else f"c{value}_{type_}"


def constant_attr(value: SSAValue) -> ConstantAttr | None:
    """The attribute of the constant that a value is, or None."""
    owner = value.owner
    return owner.properties["value"] if type(owner) is ConstantOp else None  # pyright: ignore[reportReturnType]


def find_constant_int(value: SSAValue) -> int | None:
    """The signed integer that a value is known to be: an integer, index or bool constant or a splat of one (i1 true
    is -1)."""
    match constant_attr(value):
        case IntegerAttr() as attr:
            return attr.value.data
        case DenseIntOrFPElementsAttr() as attr:
            return find_splat_int(attr)
        case _:
            return None


def find_splat_int(attr: DenseIntOrFPElementsAttr) -> int | None:
    """The integer that all elements of a dense attribute are, if they are one integer."""
    element = element_type(attr.type)
    if not isinstance(element, (IntegerType, IndexType)) or not is_splat(attr):
        return None
    size = element.compile_time_size
    return element.unpack(attr.data.data[:size], 1)[0]


def is_dense(attr: Attribute | None) -> TypeIs[DenseIntOrFPElementsAttr]:
    """Return whether an attribute lists the elements of a tensor or vector."""
    return isinstance(attr, DenseIntOrFPElementsAttr)


def is_splat(attr: DenseIntOrFPElementsAttr) -> bool:
    """Return whether all elements are bitwise equal (compared as bytes: unpacking a large tensor would be slow)."""
    data = attr.data.data
    size = attr.type.element_type.compile_time_size
    return bool(data) and data == data[:size] * (len(data) // size)


def materialize_constant(value: Attribute, type_: Attribute) -> Operation | None:
    """The constant op that stands for a folded attribute, with its name hint."""
    match value:
        case IntegerAttr():
            return _named(ConstantOp(value, type_), _integer_name(value.value.data, type_))
        case FloatAttr() | DenseIntOrFPElementsAttr() | DenseResourceAttr():
            if isinstance(type_, UnrankedTensorType):
                return None
            return _named(ConstantOp(value, type_), "cst")
        case _:
            return None
