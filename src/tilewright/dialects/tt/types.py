"""Types of the `tt` dialect, and the type functions that its ops infer their operands and results with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from xdsl.dialects.builtin import IntAttr, NoneAttr, TensorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.text import write
from tilewright.dialects.types import bool_like, element_type, is_float, is_integer, is_tensor, with_element_type
from tilewright.support.triton_version import is_before

NO_ENCODING = NoneAttr()


ADDRESS_SPACES = {"global": 1, "shared": 3, "constant": 1}


def _parse_address_space(parser: AttrParser) -> int:
    start = parser.pos
    name = parser.parse_optional_str_literal()
    if name is None:
        return parser.parse_integer()
    if name not in ADDRESS_SPACES:
        parser.raise_error(f"unknown address space, expected one of {', '.join(ADDRESS_SPACES)}", start, parser.pos)
    return ADDRESS_SPACES[name]


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """Pointer to a value of `pointee_type`: `!tt.ptr<f32>`, in address space 3 `!tt.ptr<f32, 3>`, to a block of a
    tensor `!tt.ptr<tensor<4x8xf32>>`. Triton 3.9 names spaces, `!tt.ptr<f32, "shared">`; what is "constant" there, a
    parameter that is only read through, is global memory like any other."""

    name = "tt.ptr"

    pointee_type: Attribute
    address_space: IntAttr

    def __init__(self, pointee_type: Attribute, address_space: int | IntAttr = 1):
        space = IntAttr(address_space) if isinstance(address_space, int) else address_space
        super().__init__(pointee_type, space)

    def verify(self) -> None:
        pointee = self.pointee_type
        if (
            not is_integer(pointee)
            and not is_float(pointee)
            and not isinstance(pointee, PointerType)
            and not is_tensor(pointee)
        ):
            raise VerifyException(f"pointer types must point to integer or floating-point types, got {pointee}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            pointee = parser.parse_type()
            space = _parse_address_space(parser) if parser.parse_optional_punctuation(",") else 1
        return (pointee, IntAttr(space))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.pointee_type)
            if self.address_space.data != 1:
                printer.print_string(f", {self.address_space.data}")


@irdl_attr_definition
class TensorDescType(ParametrizedAttribute, TypeAttribute):
    """Descriptor of a tensor in memory that is accessed in blocks: `!tt.tensordesc<32x64xf16, #shared>`, before
    Triton 3.8 `!tt.tensordesc<32x64xf16, #shared>`. Both are read; `triton_version` says which is printed."""

    name = "tt.tensordesc"

    block_type: TensorType[Attribute]

    def __init__(self, block_type: TensorType[Attribute]):
        super().__init__(block_type)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return (read_described_block(parser),)

    def print_parameters(self, printer: Printer) -> None:
        write_described_block(printer, self.block_type)


def read_described_block(parser: AttrParser) -> TensorType[Attribute]:
    """Parse `<32x64xf16, #shared>`, or the form before Triton 3.8, `<tensor<32x64xf16, #shared>>`."""
    with parser.in_angle_brackets():
        whole = parser.parse_optional_type()
        if whole is not None:
            return cast(TensorType[Attribute], whole)
        shape, element = parser.parse_ranked_shape()
        encoding = parser.parse_attribute() if parser.parse_optional_punctuation(",") else NO_ENCODING
    return TensorType(element, shape, encoding)


def write_described_block(printer: Printer, block: TensorType[Attribute]) -> None:
    """Print a block as `read_described_block` parses it, in the form of the chosen version."""
    with printer.in_angle_brackets():
        if is_before("3.8"):
            printer.print_attribute(block)
            return
        write(printer, "".join(f"{extent}x" for extent in block.get_shape()), block.element_type)
        if not isinstance(block.encoding, NoneAttr):
            write(printer, ", ", block.encoding)


@cache
def _tensor_type(element: Attribute, shape: tuple[int, ...], encoding: Attribute) -> TensorType[Attribute]:
    return TensorType(element, shape, encoding)


def tensor_type(element: Attribute, shape: Sequence[int], encoding: Attribute = NO_ENCODING) -> TensorType[Attribute]:
    """`tensor<shape x element, encoding>`, made once per combination."""
    return _tensor_type(element, tuple(shape), encoding)


@cache
def _pointer_type(pointee_type: Attribute, address_space: int) -> PointerType:
    return PointerType(pointee_type, address_space)


def pointer_type(pointee_type: Attribute, address_space: int = 1) -> PointerType:
    """`!tt.ptr<pointee_type, address_space>`, made once per combination."""
    return _pointer_type(pointee_type, address_space)


def shape_of(type: Attribute) -> tuple[int, ...]:
    """The shape of a tensor; `()` for a scalar or pointer."""
    return type.get_shape() if is_tensor(type) else ()


def is_block_pointer(type: Attribute) -> bool:
    """Return whether `type` is a pointer to a tensor, `!tt.ptr<tensor<...>>`."""
    return isinstance(type, PointerType) and is_tensor(type.pointee_type)


def is_pointer_like(type: Attribute) -> bool:
    """Return whether `type` is a pointer or a tensor of pointers."""
    return isinstance(element_type(type), PointerType)


def pointee_like(type: Attribute) -> Attribute:
    """Return what a load through `type` yields: `tensor<16x!tt.ptr<f32>>` gives `tensor<16xf32>`, a block pointer its
    tensor.

    Raises VerifyException when `type` is neither a pointer nor a tensor of pointers."""
    element = element_type(type)
    if not isinstance(element, PointerType):
        raise VerifyException(f"expected a pointer or a tensor of pointers, got {type}")
    return with_element_type(type, element.pointee_type)


def mask_like(pointer_type: Attribute) -> Attribute:
    """The mask type of an access through `pointer_type`: `tensor<16x!tt.ptr<f32>>` gives `tensor<16xi1>`."""
    return bool_like(pointee_like(pointer_type))
