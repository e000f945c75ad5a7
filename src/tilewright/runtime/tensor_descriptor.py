"""Tensor descriptors made on the host: a block view of a tensor that a kernel takes as one argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright.runtime.storage import Storage, find_storage
from tilewright.support.errors import ArgumentTypeError, ArgumentValueError
from tilewright.support.records import dataclass

MAX_RANK = 5
ALIGNMENT = 16


@dataclass
class TensorDescriptor:
    """A tensor and the shape of the blocks that are read from it and written to it.

    `shape` and `strides` are in elements; the last stride is 1, the others are multiples of 16 bytes, the base is
    aligned to 16 bytes; reads outside give zero, or NaN with `padding="nan"` for floats. Raises ArgumentValueError
    otherwise. With `round_f32_to_tf32` what is read is rounded to the ten bits of mantissa of tf32, ties to even.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        rank = len(self.shape)
        self._require(len(self.block_shape) == rank, f"a block of rank {len(self.block_shape)}", f"rank {rank}")
        self._check_tensor()

    def _check_tensor(self) -> None:
        """Raise ArgumentValueError unless hardware could describe the tensor."""
        storage = self.storage()
        rank = len(self.shape)
        size = element_bytes(storage.dtype)
        self._require(1 <= rank <= MAX_RANK, f"rank {rank}", f"1 to {MAX_RANK} dimensions")
        self._require(len(self.strides) == rank, f"{len(self.strides)} strides", f"one for each of {rank} dimensions")
        self._require(storage.address % ALIGNMENT == 0, "an unaligned base", f"an address divisible by {ALIGNMENT}")
        self._require(self.strides[-1] == 1, f"innermost stride {self.strides[-1]}", "1")
        for stride in self.strides[:-1]:
            self._require(
                stride * size % ALIGNMENT == 0, f"a stride of {stride * size} bytes", f"a multiple of {ALIGNMENT}"
            )
        self._require(self.padding in ("zero", "nan"), f"padding {self.padding!r}", "'zero' or 'nan'")
        if self.padding == "nan":
            self._require(storage.dtype.startswith(("fp", "bf")), f"NaN padding of {storage.dtype}", "a float dtype")
        if self.round_f32_to_tf32:
            self._require(storage.dtype == "fp32", f"round_f32_to_tf32=True of {storage.dtype}", "a tensor of fp32")

    @staticmethod
    def _require(condition: bool, what: str, expected: str) -> None:
        if not condition:
            raise ArgumentValueError("descriptor", what, expected)

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: Sequence[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """The descriptor of a whole tensor or array."""
        shape, strides = list(tensor.shape), strides_of(tensor)
        return TensorDescriptor(tensor, shape, strides, list(block_shape), padding, round_f32_to_tf32)

    def storage(self) -> Storage:
        """The memory that backs the base tensor."""
        storage = find_storage(self.base)
        if storage is None:
            raise ArgumentTypeError("descriptor", f"a base of type {type(self.base).__name__}", "a tensor or array")
        return storage

    def signature(self) -> str:
        """The type that a kernel's parameter gets: `tensordesc<fp16[32, 64]>`, `tensordesc<fp32[32, 64],tf32>`."""
        rounding = ",tf32" if self.round_f32_to_tf32 else ""
        return f"tensordesc<{self.storage().dtype}{list(self.block_shape)}{rounding}>"


def strides_of(tensor: Any) -> list[int]:
    """The strides of a tensor or array, in elements."""
    if hasattr(tensor, "stride"):
        return list(tensor.stride())
    return [step // tensor.itemsize for step in tensor.strides]


def element_bytes(dtype: str) -> int:
    """Bytes of an element of a signature type such as `fp16` or `i1`."""
    digits = "".join(character for character in dtype.partition("e")[0] if character.isdigit())
    return max(1, int(digits) // 8)
