"""Tensor-like stand-ins: another dtype over the same memory, and arguments that only describe a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.language.dtypes import dtype


class TensorWrapper:
    """A tensor seen with another element type of tilewright.language; the memory is the tensor's own."""

    def __init__(self, base: Any, dtype: Any) -> None:
        self.base = base
        self.dtype = dtype
        self.data = getattr(base, "data", None)
        """The base's own `data`; programs may set it, which changes neither base nor address."""

    def data_ptr(self) -> int:
        """Address of the first element."""
        return self.base.data_ptr() if hasattr(self.base, "data_ptr") else self.base.__array_interface__["data"][0]

    @property
    def shape(self) -> Any:
        return self.base.shape

    @property
    def device(self) -> Any:
        return getattr(self.base, "device", "cpu")

    def stride(self, *args: Any) -> Any:
        """Strides in elements, as the base gives them."""
        return self.base.stride(*args)

    def element_size(self) -> int:
        return self.base.element_size() if hasattr(self.base, "element_size") else self.base.itemsize

    def cpu(self) -> TensorWrapper:
        """The same in host memory."""
        return TensorWrapper(self.base.cpu(), self.dtype)

    def to(self, device: Any) -> TensorWrapper:
        """The same on a device."""
        return TensorWrapper(self.base.to(device), self.dtype)

    def clone(self) -> TensorWrapper:
        """The same in memory of its own."""
        return TensorWrapper(self.base.clone() if hasattr(self.base, "clone") else self.base.copy(), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        """Take over the contents of another of the same shape."""
        self.base[...] = other.base

    def new_empty(self, sizes: Sequence[int]) -> TensorWrapper:
        """One of this dtype with other extents, and nothing in it yet."""
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: dtype) -> Any:
    """View a tensor or array with another element type of the same width, such as int8 storage as float8.

    A wrapper of the wanted type around the same memory comes back; a wrapper is unwrapped first. Raises TypeError for
    anything that is not a tensor.
    """
    base = tensor.base if isinstance(tensor, TensorWrapper) else tensor
    if not hasattr(base, "data_ptr") and not hasattr(base, "__array_interface__"):
        raise TypeError(f"Cannot reinterpret a {type(tensor).__name__}.")
    return TensorWrapper(base, dtype)


class MockTensor:
    """Describes a tensor argument for `warmup` without any memory: a dtype, and a 16-byte aligned address of 0."""

    def __init__(self, dtype: Any, shape: Sequence[int] | None = None) -> None:
        self.dtype = dtype
        self.shape = list(shape or [1])

    @staticmethod
    def wrap_dtype(argument: Any) -> Any:
        """A `MockTensor` for a dtype of PyTorch, NumPy or tilewright.language; any other value as it is."""
        if argument.__class__ is type and np.generic in argument.__mro__:
            return MockTensor(np.dtype(argument))
        is_dtype = argument.__class__.__name__ == "dtype" or np.dtype in type(argument).__mro__
        return MockTensor(argument) if is_dtype else argument

    def stride(self) -> tuple[int, ...]:
        """Strides of a contiguous tensor of this shape."""
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.append(strides[-1] * size)
        return tuple(reversed(strides))

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0
