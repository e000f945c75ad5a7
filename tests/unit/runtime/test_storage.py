"""Arrays of other libraries: what they show of their memory is read, and kernels run on it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.foreign_arrays import ByDlpack, ByInterface
from tilewright.runtime.storage import find_storage
from tilewright.support.errors import ArgumentTypeError, ArgumentValueError


@dataclass
class OnGpu:
    """Shows memory of a GPU, as CuPy arrays do."""

    described: dict[str, Any]
    device: Any = None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.described


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n)


@pytest.mark.parametrize("wrapper", [ByDlpack, ByInterface])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint16, np.int64])
def test_kernels_run_on_what_protocols_show(wrapper: Any, dtype: Any) -> None:
    x, out = np.arange(100).astype(dtype), np.zeros(100, dtype)
    double[(2,)](wrapper(x), wrapper(out), 100, BLOCK=64)
    np.testing.assert_array_equal(out, x * 2)


@pytest.mark.parametrize("wrapper", [ByDlpack, ByInterface])
def test_views_keep_their_extent(wrapper: Any) -> None:
    base = np.zeros((8, 16), np.float32)
    view = base[2:, 4:]
    storage = find_storage(wrapper(view))
    assert storage is not None
    start = base.ctypes.data + (2 * 16 + 4) * 4
    assert (storage.address, storage.dtype, storage.device) == (start, "fp32", "cpu")
    assert (storage.low, storage.high) == (start, base.ctypes.data + base.nbytes)


@pytest.mark.parametrize(("device", "name"), [(None, "cuda:0"), (1, "cuda:1"), (SimpleNamespace(id=3), "cuda:3")])
def test_arrays_of_a_gpu(device: Any, name: str) -> None:
    described = {"typestr": "<f2", "data": (0x7000, False), "shape": (4, 8), "strides": None, "version": 3}
    storage = find_storage(OnGpu(described, device))
    assert storage is not None
    assert (storage.address, storage.dtype, storage.device) == (0x7000, "fp16", name)
    assert (storage.low, storage.high, storage.writable) == (0x7000, 0x7040, True)


def test_what_kernels_cannot_read_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="dtype complex64"):
        find_storage(ByInterface(np.zeros(4, np.complex64)))
    with pytest.raises(ArgumentTypeError, match="dtype >f4"):
        find_storage(ByInterface(np.zeros(4, ">f4")))
    with pytest.raises(ArgumentValueError, match="strides of whole elements"):
        find_storage(np.zeros(4, np.dtype([("a", np.int32), ("b", np.int16)]))["a"])
    assert find_storage(4) is None
    assert find_storage("text") is None


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ({"shape": (4,)}, "array interface that cannot be read"),
        ({"shape": (4,), "typestr": "zz", "data": (64, False)}, "array interface that cannot be read"),
        ({"shape": (4,), "typestr": "<f4", "data": None}, "array interface that cannot be read"),
        ({"shape": (4,), "typestr": "<f4", "data": (0, False)}, "OnGpu without memory"),
    ],
)
def test_interfaces_that_make_no_sense_are_refused(described: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentTypeError, match=words):
        find_storage(OnGpu(described))


def test_classes_are_no_arrays() -> None:
    assert find_storage(np.ndarray) is None
    empty = {"shape": (0,), "typestr": "<f4", "data": (0, False)}
    assert find_storage(OnGpu(empty)) is not None


def test_tensors_without_memory_of_their_own_are_refused() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch, a test-only dependency, is not installed")
    with pytest.raises(ArgumentTypeError, match=r"tensor of layout torch\.sparse_coo without an address"):
        find_storage(torch.eye(4).to_sparse())
