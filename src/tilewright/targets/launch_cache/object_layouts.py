"""Where the objects of NumPy and PyTorch have what native code reads of them, checked on samples.

NumPy's layout is part of its ABI. PyTorch's is not: offsets are looked for, in memory that is known to be an object's,
and used where they are right for every sample.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tilewright.targets.launch_cache.records import FACTS_AFTER_OFFSET, Array, Storage

TENSOR_BYTES = 176
"""How much of a TensorImpl is looked at; it is larger."""


@lru_cache(maxsize=1)
def find_array_layout() -> int | None:
    """Return where a NumPy dtype keeps the size of its elements; None where array objects are not laid out as
    `repeat.ll` reads them."""
    samples = (np.zeros(3, np.int8), np.zeros((2, 5), np.int32), np.arange(9.0)[4:], np.zeros((4, 3), np.int16).T)
    if object.__basicsize__ != 16 or not all(map(_is_laid_out_array, samples)):
        return None
    for offset in range(16, 64, 4):
        if all(ctypes.c_uint32.from_address(id(sample.dtype) + offset).value == sample.itemsize for sample in samples):
            return offset
    return None


def _is_laid_out_array(sample: np.ndarray[Any, Any]) -> bool:
    read, known = Array.from_address(id(sample)), sample.flags
    order = known.c_contiguous + 2 * known.f_contiguous + 4 * known.owndata + 1024 * known.writeable
    return (
        read.data == sample.__array_interface__["data"][0]
        and read.rank == sample.ndim
        and _numbers(read.shape, sample.ndim) == sample.shape
        and _numbers(read.strides, sample.ndim) == sample.strides
        and read.base == (None if sample.base is None else id(sample.base))
        and read.dtype == id(sample.dtype)
        and read.flags & (1 + 2 + 4 + 1024) == order
    )


def _numbers(address: int, count: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int64 * count).from_address(address))


@lru_cache(maxsize=4)
def has_known_storages(kind: type) -> bool:
    """Tell whether a class of storages is laid out as expected: an allocation is freed by its own address, memory of
    others by something else."""
    owners = [kind(size) for size in (2, 80, 4096)]
    slices = [owner[owner.nbytes() // 2 :] for owner in owners]
    return (
        all(_is_laid_out_storage(storage) for storage in (*owners, *slices))
        and all(frees_itself(owner) for owner in owners)
        and not any(frees_itself(part) for part in slices)
    )


def _is_laid_out_storage(storage: Any) -> bool:
    read = _read(storage)
    return (read.data, read.bytes) == (storage.data_ptr(), storage.nbytes())


def frees_itself(storage: Any) -> bool:
    """Tell whether the memory of a storage of a known class is freed by its own address, as PyTorch's allocations."""
    read = _read(storage)
    return read.context == read.data


def _read(storage: Any) -> Storage:
    return Storage.from_address(storage._cdata)  # pyright: ignore[reportPrivateUsage]


class TensorLayout(NamedTuple):
    """Where a PyTorch tensor has what is read of it, in bytes, and the deleter of storages that are copied when they
    are first written (0 where there are none): their address says nothing."""

    tensor_at: int
    """The TensorImpl in the object."""
    storage_at: int
    """The StorageImpl in that, and the offset into it."""
    offset_at: int
    copies_later: int

    def facts_of(self, tensor: Any) -> int:
        """Dtype and device, as the tensor has them."""
        return _u32(tensor._cdata + self.offset_at + FACTS_AFTER_OFFSET)

    def description(self, tensor: Any) -> int:
        """Dtype and device, and the bytes of an element above them."""
        return tensor.element_size() << 32 | self.facts_of(tensor)

    def fits(self, tensor: Any) -> bool:
        """Tell whether a tensor has its address where it is read."""
        storage = tensor.untyped_storage()
        read = _read(storage)
        places = (_u64(id(tensor) + self.tensor_at), _u64(tensor._cdata + self.storage_at))
        offset, count = (_u64(tensor._cdata + self.offset_at + more) for more in (0, 8))
        return (
            places == (tensor._cdata, storage._cdata)
            and (offset, count) == (tensor.storage_offset(), tensor.numel())
            and read.data + tensor.element_size() * offset == tensor.data_ptr()
            and read.deleter != self.copies_later
        )


def find_tensor_layout() -> TensorLayout | None:
    """Find where tensors have what is read of them; None where PyTorch is not imported or its objects are different."""
    torch: Any = sys.modules.get("torch")
    if torch is None or torch.empty(1, device="cpu").__class__ is not torch.Tensor:
        return None
    return _tensor_layout(torch)


@lru_cache(maxsize=1)
def _tensor_layout(torch: Any) -> TensorLayout | None:
    if object.__basicsize__ != 16 or not has_known_storages(torch.UntypedStorage):
        return None
    owners = [torch.empty(size, dtype=torch.float32, device="cpu") for size in (90, 700)]
    halves = [torch.empty(size, dtype=torch.float16, device="cpu") for size in (90, 700)]
    samples = [*(owner[3 : size + 3] for owner, size in zip(owners, (37, 67), strict=True))]
    samples += [*(half[5 : size + 5] for half, size in zip(halves, (41, 71), strict=True)), *owners, *halves]
    samples.append(torch.nn.Parameter(torch.empty(7, device="cpu")))
    elsewhere = torch.empty(7, dtype=torch.float32, device="meta")
    tensors = [sample._cdata for sample in samples]
    in_tensor = range(8, TENSOR_BYTES, 8)
    tensor_at = _find(range(16, torch.Tensor.__basicsize__, 8), map(id, samples), tensors)
    storage_at = _find(in_tensor, tensors, (sample.untyped_storage()._cdata for sample in samples))
    offset_at = _find(in_tensor, tensors, (sample.storage_offset() for sample in samples))
    if tensor_at is None or storage_at is None or offset_at is None or offset_at > TENSOR_BYTES - 24:
        return None
    layout = TensorLayout(tensor_at, storage_at, offset_at, _deleter_of_later_copies(torch))
    kinds = {(sample.dtype, layout.facts_of(sample)) for sample in samples}
    facts = {fact for _, fact in kinds}
    tells_apart = len(kinds) == len(facts) == 2 and layout.facts_of(elsewhere) not in facts
    return layout if tells_apart and all(map(layout.fits, samples)) else None


def _find(offsets: range, bases: Iterable[int], words: Iterable[int]) -> int | None:
    """The one offset at which each object has its word."""
    wanted = list(zip(bases, words, strict=True))
    found = [at for at in offsets if all(_u64(base + at) == word for base, word in wanted)]
    return found[0] if len(found) == 1 else None


def _deleter_of_later_copies(torch: Any) -> int:
    clone = getattr(torch, "_lazy_clone", None)
    return 0 if clone is None else _read(clone(torch.empty(4, device="cpu")).untyped_storage()).deleter


def _u64(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _u32(address: int) -> int:
    return ctypes.c_uint32.from_address(address).value
