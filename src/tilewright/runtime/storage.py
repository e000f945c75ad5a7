"""Where a kernel argument's data lies: address, element type, device, extent of the allocation, write permission.

Anything that shows its memory is accepted: NumPy arrays, PyTorch tensors, objects with `data_ptr()`,
`__array_interface__` or `__cuda_array_interface__`, and `TensorWrapper` (another dtype over the same memory).
PyTorch is recognised by its attributes and never imported.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from tilewright.compiler.sharing import Sharing
from tilewright.runtime.allocations import extent_of, extent_of_array, is_allocation
from tilewright.support.errors import ArgumentTypeError, ArgumentValueError
from tilewright.support.records import dataclass

#: NumPy (and ml_dtypes) type names to the names that Triton signatures use.
NUMPY_DTYPES: dict[str, str] = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "fp8e5",
    "float8_e5m2fnuz": "fp8e5b16",
}


@dataclass(frozen=True, slots=True)
class Storage:
    """The memory that backs one pointer argument.

    `address` is where the kernel starts; `[low, high)` is the memory that is known to be there, which a kernel may
    reach with negative offsets or strides; both are addresses on `device` ("cpu", "cuda:0", ...).
    """

    address: int
    dtype: str
    low: int
    high: int
    device: str = "cpu"
    writable: bool = True
    is_whole: bool = True
    """Whether `[low, high)` is all of the allocation; of a view that hides its owner it is what the view shows."""
    host_tensor: weakref.ref[Any] | None = field(default=None, compare=False)
    """What may be pinned. Launches are remembered, tensors are not kept for it."""

    @property
    def pointer(self) -> tuple[int, str, str]:
        """Equal for what a kernel takes as one pointer."""
        return self.address, self.device, self.dtype

    def is_pinned(self) -> bool:
        """Return whether a GPU can reach host memory directly. To be asked for GPUs alone: PyTorch runs an operator
        for it."""
        tensor = None if self.host_tensor is None else self.host_tensor()
        return tensor is not None and bool(tensor.is_pinned())


_OWN_NAMES = {**{name: name for name in NUMPY_DTYPES.values()}, "int1": "i1", "fp8e4b15": "fp8e4b15"}


def dtype_name(dtype: Any) -> str | None:
    """Triton's name of a dtype of NumPy, ml_dtypes, PyTorch or `tilewright.language` ("float32" -> "fp32"); None if
    kernels have no such type."""
    name = getattr(dtype, "name", None)
    if name is None:
        name = str(dtype)
    name = name.rpartition(".")[2]
    return NUMPY_DTYPES.get(name) or _OWN_NAMES.get(name)


def find_storage(value: Any) -> Storage | None:
    """The storage of a tensor-like value, or None when the value is not a tensor."""
    if isinstance(value, type):
        return None
    if isinstance(value, np.ndarray):
        return _numpy_storage(value)  # pyright: ignore[reportUnknownArgumentType]
    if hasattr(value, "data_ptr") and hasattr(value, "dtype"):
        return _data_ptr_storage(value)
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        described = getattr(value, interface, None)
        if isinstance(described, dict):
            return _interface_storage(value, described, _device_of(value) if "cuda" in interface else "cpu")  # pyright: ignore[reportUnknownArgumentType]
    return _dlpack_storage(value) if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__") else None


def _device_of(value: Any) -> str:
    """The GPU that an array with `__cuda_array_interface__` lies on, from its `device` where it has one."""
    device = getattr(value, "device", None)
    number = getattr(device, "id", device)
    return f"cuda:{number}" if isinstance(number, int) else "cuda:0"


def extents_of(arrays: Mapping[int, Any]) -> dict[int, tuple[int, int]]:
    """The lowest and one past the highest address of the memory behind each launch slot that is an address, from the
    values (or storages) behind these slots."""
    storages = {slot: value if isinstance(value, Storage) else find_storage(value) for slot, value in arrays.items()}
    return {slot: (storage.low, storage.high) for slot, storage in storages.items() if storage is not None}


def find_sharing(storages: Mapping[int, Storage]) -> Sharing:
    """The slots that may share memory with others, however far from its own address each is accessed.

    Where the allocation of one is known, another either begins in it or has nothing of it. Two that hide theirs may
    lie in a common one.
    """
    groups: list[list[int]] = []
    end = 0
    for slot in sorted(storages, key=lambda slot: (storages[slot].low, storages[slot].high)):
        if groups and storages[slot].low < end:
            groups[-1].append(slot)
        else:
            groups.append([slot])
        end = max(end, storages[slot].high)
    if sum(not storage.is_whole for storage in storages.values()) > 1:
        hidden = [group for group in groups if not all(storages[slot].is_whole for slot in group)]
        groups = [group for group in groups if group not in hidden] + [[slot for group in hidden for slot in group]]
    shared = sorted(tuple(sorted(group)) for group in groups if len(group) > 1)
    same = [group for group in shared if len({storages[slot].pointer for slot in group}) == 1]
    return Sharing(tuple(same), tuple(group for group in shared if group not in same))


def _numpy_storage(array: np.ndarray[Any, Any]) -> Storage:
    dtype = dtype_name(array.dtype)
    if dtype is None or not array.dtype.isnative:
        raise ArgumentTypeError(
            "", f"array of dtype {array.dtype}", "a native integer, float16/32/64, bfloat16, float8 or bool dtype"
        )
    _check_strides(array.strides, array.itemsize)
    address = array.__array_interface__["data"][0]
    low, high, is_whole = extent_of_array(array)
    return Storage(address, dtype, low, high, writable=array.flags.writeable, is_whole=is_whole)


def _data_ptr_storage(tensor: Any) -> Storage:
    dtype = dtype_name(tensor.dtype)
    if dtype is None:
        raise ArgumentTypeError(
            "", f"tensor of dtype {tensor.dtype}", "an integer, float16/32/64, bfloat16, float8 or bool dtype"
        )
    try:
        address = tensor.data_ptr()
    except RuntimeError as error:  # of PyTorch's: sparse tensors, tensors that a transformation traces
        layout = getattr(tensor, "layout", type(tensor).__name__)
        raise ArgumentTypeError("", f"tensor of layout {layout} without an address", "a dense tensor") from error
    device = getattr(tensor, "device", "cpu")
    is_whole = False
    if (untyped := getattr(tensor, "untyped_storage", None)) is not None:
        storage = untyped()
        low = storage.data_ptr()
        high = low + storage.nbytes()
        is_whole = is_allocation(storage)
    elif (base := getattr(tensor, "base", None)) is not None and (inner := find_storage(base)) is not None:
        low, high, is_whole = inner.low, inner.high, inner.is_whole
    else:
        low, high, is_whole = address, address + getattr(tensor, "nbytes", 0), address == 0
    if low == 0 < high and str(device) != "meta":
        raise ArgumentTypeError("", f"{type(tensor).__name__} without memory", "a tensor with data")
    may_be_pinned = str(device) == "cpu" and hasattr(tensor, "is_pinned")
    host_tensor = weakref.ref(tensor) if may_be_pinned else None
    return Storage(address, dtype, low, high, str(device), is_whole=is_whole, host_tensor=host_tensor)


def _interface_storage(value: Any, described: dict[str, Any], device: str) -> Storage:
    try:
        dtype, (address, read_only) = np.dtype(described["typestr"]), described["data"]
        shape: tuple[int, ...] = tuple(described["shape"])
    except (KeyError, TypeError, ValueError) as error:
        kind = type(value).__name__
        raise ArgumentTypeError(
            "", f"{kind} with an array interface that cannot be read ({error!r})", "typestr, shape and data"
        ) from error
    name = dtype_name(dtype)
    if name is None or not dtype.isnative:
        raise ArgumentTypeError("", f"{type(value).__name__} of dtype {dtype}", "a native integer, float or bool dtype")
    strides = described.get("strides") or _contiguous_strides(shape, dtype.itemsize)
    _check_strides(strides, dtype.itemsize)
    low, high = extent_of(address, shape, strides, dtype.itemsize)
    if address == 0 and low < high:
        raise ArgumentTypeError("", f"{type(value).__name__} without memory", "an array with data")
    return Storage(address, name, low, high, device, not read_only, is_whole=False)


def _dlpack_storage(value: Any) -> Storage:
    """The storage of an object that shows its memory through DLPack alone, such as a JAX array."""
    from tilewright.runtime.dlpack import describe

    described = describe(value)
    dtype = dtype_name(described.dtype)
    if dtype is None:
        raise ArgumentTypeError(
            "", f"{type(value).__name__} of dtype {described.dtype}", "an integer, float or bool dtype"
        )
    strides = tuple(stride * described.itemsize for stride in described.strides)
    low, high = extent_of(described.address, described.shape, strides, described.itemsize)
    return Storage(described.address, dtype, low, high, described.device, not described.read_only, is_whole=False)


def _contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides: list[int] = []
    step = itemsize
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _check_strides(strides: tuple[int, ...], itemsize: int) -> None:
    """Kernels count in elements: an array whose elements do not lie on whole elements cannot be addressed."""
    if any(stride % itemsize for stride in strides):
        raise ArgumentValueError(
            "", f"array with byte strides {strides} of {itemsize}-byte elements", "strides of whole elements"
        )
