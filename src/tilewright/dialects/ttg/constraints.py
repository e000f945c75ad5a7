"""Type constraints, and questions about types, that several `ttg` ops share."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import EqAttrConstraint
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.definition import Op
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttg.types import ASYNC_TOKEN, MemDescType
from tilewright.dialects.types import TypeWhere, is_tensor


class TritonGPUOp(Op):
    """An op whose format may use every directive of `ttg.assembly.DIRECTIVES`."""

    DIRECTIVES_MODULE: ClassVar[str] = "tilewright.dialects.ttg.assembly"


MEMDESC = TypeWhere("a memdesc", lambda type: isinstance(type, MemDescType))
TOKEN = EqAttrConstraint(ASYNC_TOKEN)


def as_memdesc(type: Attribute) -> MemDescType:
    """A type that is known to be a buffer; VerifyException for any other."""
    if not isinstance(type, MemDescType):
        raise VerifyException(f"expected a memdesc, got {type}")
    return type


def may_begin_elsewhere(buffer: MemDescType) -> bool:
    """Return whether a buffer may begin in another CTA: it is a slice along a dimension that the CTAs share out."""
    layout = find_shared_layout(buffer.encoding)
    for basis in () if layout is None else layout.cga:
        extents = zip(buffer.get_shape()[-len(basis) :], buffer.get_alloc_shape()[-len(basis) :], strict=True)
        if any(step and extent != whole for step, (extent, whole) in zip(basis, extents, strict=True)):
            return True
    return False


def as_tensor(type: Attribute) -> TensorType[Attribute]:
    """A type that is known to be a tensor; VerifyException for any other."""
    if not is_tensor(type):
        raise VerifyException(f"expected a tensor, got {type}")
    return type


def check_same_contents(tensor: Attribute, buffer: Attribute, what: str) -> None:
    """VerifyException unless tensor and buffer have one shape and element type."""
    value, memory = as_tensor(tensor), as_memdesc(buffer)
    if value.get_shape() != memory.get_shape():
        raise VerifyException(
            f"{what}: shapes differ, tensor {list(value.get_shape())} and buffer {list(memory.get_shape())}"
        )
    if value.element_type != memory.element_type:
        raise VerifyException(f"{what}: element types differ, {value.element_type} and {memory.element_type}")


def check_mutable(buffer: Attribute) -> None:
    """VerifyException unless stores to the buffer are allowed."""
    if not as_memdesc(buffer).is_mutable:
        raise VerifyException("Cannot store into immutable memory")
