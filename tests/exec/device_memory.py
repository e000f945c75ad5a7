"""Host data for kernels on a real GPU: launches get PyTorch tensors in the GPU's memory in its place.

The suite's kernels are launched on NumPy arrays. With `TILEWRIGHT_TARGET=cuda` each launch gets copies of them as CUDA
tensors, of the same strides within copies of the same allocations, and what it left there is copied back.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from suite.arrays import Array
from tilewright.runtime.storage import find_storage
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError

REAL = "cuda"


@cache
def why_no_gpu() -> str:
    """Why nothing can run on a real GPU here; empty where it can."""
    from tilewright.targets.cuda.driver import cuda_driver

    try:
        cuda_driver().device(0)
    except TilewrightError as error:
        return str(error)
    return ""


def device_capability() -> int:
    """The compute capability of the GPU, as 90."""
    from tilewright.targets.cuda.driver import cuda_driver

    return cuda_driver().device(0).capability


class Placed:
    """The arguments of one launch in the GPU's memory: an allocation there for every allocation here."""

    def __init__(self) -> None:
        self._copies: dict[int, tuple[Array, Any]] = {}
        self._alive: list[Any] = []

    def place(self, value: Any) -> Any:
        """An argument, with arrays and CPU tensors in it replaced by CUDA tensors."""
        if isinstance(value, TensorDescriptor):
            return replace(value, base=self.place(value.base))
        if isinstance(value, (tuple, list)):
            placed = [self.place(item) for item in value]
            return type(value)(*placed) if hasattr(value, "_fields") else type(value)(placed)
        is_tensor = hasattr(value, "data_ptr") and str(getattr(value, "device", "")) == "cpu"
        return self._tensor(value) if is_tensor or isinstance(value, np.ndarray) else value

    def copy_back(self) -> None:
        """What the GPU holds, into the host's memory. Waits for the GPU."""
        for bytes_here, bytes_there in self._copies.values():
            found = bytes_there.cpu().numpy()
            if not np.array_equal(found, bytes_here):
                bytes_here[...] = found

    def _tensor(self, value: Any) -> Any:
        """The array or tensor within the copy of its allocation."""
        import torch

        self._alive.append(value)
        storage = find_storage(value)
        assert storage is not None
        low, size = storage.low, storage.high - storage.low
        if low not in self._copies:
            bytes_here = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(low))
            bytes_there = torch.zeros(max(size, 16), dtype=torch.uint8, device=REAL)[:size]
            bytes_there.copy_(torch.from_numpy(bytes_here.copy()))
            self._copies[low] = bytes_here, bytes_there
        name = str(getattr(value.dtype, "name", value.dtype)).removeprefix("torch.")
        flat = self._copies[low][1][storage.address - low :].view(getattr(torch, name))
        is_array = isinstance(value, np.ndarray)
        strides = [step // value.itemsize for step in value.strides] if is_array else value.stride()
        return torch.as_strided(flat, value.shape, strides, flat.storage_offset())


LAUNCHES = ("_start", "run")
"""The methods of a kernel that launch it."""


def launching_on_gpu(launch: Callable[..., Any]) -> Callable[..., Any]:
    """A launch, or one of `LAUNCHES`, that takes data of the host to the GPU and back, if it goes there."""

    def launch_on_gpu(*args: Any, **keywords: Any) -> Any:
        import torch

        if knobs.get("target") != REAL or knobs.get("interpret"):
            return launch(*args, **keywords)
        placed = Placed()
        named = {name: placed.place(value) for name, value in keywords.items()}
        kernel = launch(*map(placed.place, args), **named)
        torch.cuda.synchronize()
        placed.copy_back()
        return kernel

    return launch_on_gpu


def in_own_pages(array: Array) -> Array:
    """A copy of an array in pages that nothing else lies in: CUDA copies no memory of which it has a part mapped."""
    copy = np.frombuffer(mmap.mmap(-1, max(array.nbytes, 1)), array.dtype, array.size).reshape(array.shape)
    copy[...] = array
    return copy


@contextmanager
def mapped(arrays: Sequence[Array]) -> Generator[None]:
    """Lets kernels on a GPU reach the host's arrays at their own addresses, which lie in their own pages."""
    if knobs.get("target") != REAL:
        yield
        return
    with registered(arrays):
        yield


@contextmanager
def registered(arrays: Sequence[Array]) -> Generator[None]:
    """Arrays of the host mapped where they lie, in the address space of GPU 0."""
    from tilewright.targets.cuda.driver import cuda_driver

    driver = cuda_driver()
    places = pages_of(arrays)
    with driver.entered(driver.device(0)):
        for low, high in places:
            driver.call("cuMemHostRegister", low, high - low, 0)
        try:
            yield
        finally:
            for low, _ in places:
                driver.call("cuMemHostUnregister", low)


def pages_of(arrays: Sequence[Array]) -> list[tuple[int, int]]:
    """The pages that arrays lie in, each once: memory is mapped by pages."""
    found: list[tuple[int, int]] = []
    for start, end in sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays):
        low, high = start // mmap.PAGESIZE * mmap.PAGESIZE, -(-end // mmap.PAGESIZE) * mmap.PAGESIZE
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


def skip_without_gpu() -> None:
    if reason := why_no_gpu():
        pytest.skip(reason)
