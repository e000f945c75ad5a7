"""Pointer arithmetic: pointers are byte addresses, see :mod:`tilewright.reference.address_space`."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects import tt
from tilewright.dialects.arith.meaning import as_signed
from tilewright.dialects.numeric import dtype_of
from tilewright.dialects.tt import PointerType
from tilewright.dialects.types import bit_width, element_type
from tilewright.reference.machine import Frame, Values, meaning_of


def storage_type(type_: Attribute) -> np.dtype[np.generic]:
    """The NumPy type of elements in memory; pointers are 64-bit integers."""
    return np.dtype(np.int64) if isinstance(type_, PointerType) else dtype_of(type_)


def pointee_size(pointer: Attribute) -> int:
    """The size in bytes of the elements that a pointer points to."""
    type_ = element_type(pointer)
    assert isinstance(type_, PointerType)
    return storage_type(element_type(type_.pointee_type)).itemsize


@meaning_of(tt.AddPtrOp)
def add_pointer(op: tt.AddPtrOp, frame: Frame) -> Values:
    """Offsets count elements and are signed."""
    pointer, offset = frame.get(op.ptr), np.asarray(frame.get(op.offset))
    signed = as_signed(offset, bit_width(element_type(op.offset.type)))
    return (pointer + signed.astype(np.int64) * np.int64(pointee_size(op.ptr.type)),)


@meaning_of(tt.PtrToIntOp)
def pointer_to_integer(op: tt.PtrToIntOp, frame: Frame) -> Values:
    return (frame.get(op.src),)


@meaning_of(tt.IntToPtrOp)
def integer_to_pointer(op: tt.IntToPtrOp, frame: Frame) -> Values:
    return (frame.get(op.src),)
