"""Reading DLPack: where the memory of an array lies that shows it in no other way.

A producer's `__dlpack__()` gives a capsule around the C structure of the DLPack standard (dlpack.h, version 0.x, or 1.x
where the capsule is named `dltensor_versioned`). It is read here and left unconsumed: the capsule frees it.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

from tilewright.support.errors import ArgumentTypeError
from tilewright.support.records import dataclass

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
DEVICES = {CPU: "cpu", CUDA_HOST: "cpu"}

_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_FLOAT8 = {10: "float8_e4m3fn", 11: "float8_e4m3fnuz", 12: "float8_e5m2", 13: "float8_e5m2fnuz"}


class _Tensor(ctypes.Structure):
    """`DLTensor`"""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    """`DLManagedTensorVersioned`"""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


@dataclass(frozen=True)
class Described:
    """An array's memory; strides are in elements."""

    address: int
    device: str
    dtype: str
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    read_only: bool


def describe(value: Any) -> Described:
    """Return what an array's DLPack capsule says. Raises ArgumentTypeError for element types that have no name here."""
    capsule = value.__dlpack__()
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        return _described(versioned.tensor, read_only=bool(versioned.flags & 1))
    return _described(_Tensor.from_address(_pointer(capsule, b"dltensor")), read_only=False)


def _described(tensor: _Tensor, *, read_only: bool) -> Described:
    name = _dtype(tensor)
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim))
    else:
        strides = tuple(prod(shape[axis + 1 :]) for axis in range(tensor.ndim))
    device = DEVICES.get(tensor.device_type)
    if device is None:
        kind = "cuda" if tensor.device_type in (CUDA, CUDA_MANAGED) else f"dlpack-{tensor.device_type}"
        device = f"{kind}:{tensor.device_id}"
    address = (tensor.data or 0) + tensor.byte_offset
    return Described(address, device, name, max(1, tensor.bits // 8), shape, strides, read_only)


def _dtype(tensor: _Tensor) -> str:
    if tensor.code in _FLOAT8 and tensor.bits == 8:
        return _FLOAT8[tensor.code]
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise ArgumentTypeError("", f"DLPack elements of code {tensor.code}", "integers, floats or bools")
    return "bool" if kind == "bool" else f"{kind}{tensor.bits}"


def _is_valid(capsule: Any, name: bytes) -> bool:
    check = ctypes.pythonapi.PyCapsule_IsValid
    check.restype, check.argtypes = ctypes.c_int, (ctypes.py_object, ctypes.c_char_p)
    return bool(check(capsule, name))


def _pointer(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return get(capsule, name) or 0
