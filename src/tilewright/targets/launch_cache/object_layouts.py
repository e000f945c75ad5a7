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

DATA_AT, DELETER_AT, CONTEXT_AT, BYTES_AT = 16, 24, 32, 48
"""Where PyTorch's StorageImpl keeps the address of its data, what frees it, that one's argument, and its size
(`has_known_storages`)."""

TENSOR_BYTES = 176
"""How much of a TensorImpl is looked at; it is larger."""

FACTS_AFTER_OFFSET = 16
"""From the offset into the storage, in elements, to dtype and device; the number of elements is between them."""


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
    data, rank, shape, strides, base, dtype = (
        ctypes.c_uint64.from_address(id(sample) + offset).value for offset in range(16, 64, 8)
    )
    flags = ctypes.c_uint32.from_address(id(sample) + 64).value
    known = sample.flags
    order = known.c_contiguous + 2 * known.f_contiguous + 4 * known.owndata + 1024 * known.writeable
    return (
        data == sample.__array_interface__["data"][0]
        and rank & 0xFFFFFFFF == sample.ndim
        and _numbers(shape, sample.ndim) == sample.shape
        and _numbers(strides, sample.ndim) == sample.strides
        and base == (0 if sample.base is None else id(sample.base))
        and dtype == id(sample.dtype)
        and flags & (1 + 2 + 4 + 1024) == order
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
        and all(storage_word(owner, CONTEXT_AT) == storage_word(owner, DATA_AT) for owner in owners)
        and all(storage_word(part, CONTEXT_AT) != storage_word(part, DATA_AT) for part in slices)
    )


def _is_laid_out_storage(storage: Any) -> bool:
    return storage_word(storage, DATA_AT) == storage.data_ptr() and storage_word(storage, BYTES_AT) == storage.nbytes()


def storage_word(storage: Any, offset: int) -> int:
    """The 64 bits at an offset of a storage's StorageImpl."""
    return ctypes.c_uint64.from_address(storage._cdata + offset).value  # pyright: ignore[reportPrivateUsage]


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
        start = storage_word(storage, DATA_AT)
        places = (_u64(id(tensor) + self.tensor_at), _u64(tensor._cdata + self.storage_at))
        offset, count = (_u64(tensor._cdata + self.offset_at + more) for more in (0, 8))
        return (
            places == (tensor._cdata, storage._cdata)
            and (offset, count) == (tensor.storage_offset(), tensor.numel())
            and start + tensor.element_size() * offset == tensor.data_ptr()
            and storage_word(storage, DELETER_AT) != self.copies_later
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
    return 0 if clone is None else storage_word(clone(torch.empty(4, device="cpu")).untyped_storage(), DELETER_AT)


def _u64(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _u32(address: int) -> int:
    return ctypes.c_uint32.from_address(address).value
