"""Launches on GPUs that native code makes, on a driver that records: the same as those of the slow path."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_driver import CONTEXT, FakeApi

import tilewright as triton
import tilewright.language as tl
from tilewright.runtime import storage
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError, DeviceError
from tilewright.targets.cuda import placement

torch = pytest.importorskip("torch")

COOPERATIVE = 2


class Gpu:
    """What PyTorch would say of its GPU, and what the driver was told."""

    def __init__(self, api: FakeApi) -> None:
        self.api = api
        self.stream = 0
        self.device = 0
        self.in_python: list[Any] = []

    def launched(self, start: Callable[[], Any]) -> tuple[Any, bool]:
        """What a launch told the driver, and whether Python had no part in it."""
        before = len(self.api.launched), len(self.in_python)
        assert start() is not None
        (told,) = self.api.launched[before[0] :]
        return told, len(self.in_python) == before[1]

    def watch(self, kernel: Any) -> Any:
        """A fresh copy of a kernel whose launches in Python are counted."""
        fresh = triton.jit(kernel.fn)
        recognise = fresh._recognise
        fresh._recognise = lambda *rest: self.in_python.append(rest) or recognise(*rest)
        return fresh


@pytest.fixture
def gpu(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    """Tensors in host memory count as the GPU's; PyTorch has a current device and stream."""
    found = Gpu(api)
    cuda = SimpleNamespace(current_device=lambda: found.device)
    its_torch = SimpleNamespace(cuda=cuda, _C=SimpleNamespace(_cuda_getCurrentRawStream=lambda _: found.stream))
    monkeypatch.setattr(placement, "_torch", lambda: its_torch)
    monkeypatch.setattr("tilewright.targets.cuda.kernel._stream_of", placement.StreamReader())
    its_storage = storage._data_ptr_storage  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(storage, "_data_ptr_storage", lambda *a: replace(its_storage(*a), device="cuda:0"))
    with knobs.scope(target="cuda", override_arch="sm_90"):
        yield found


@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * factor, mask=offsets < n)


def test_the_third_launch_tells_the_driver_the_same(gpu: Gpu) -> None:
    kernel = gpu.watch(scale)
    x, out = torch.zeros(128), torch.zeros(128)
    gpu.api.parameter_sizes = [8, 8, 4, 4]
    expected = [struct.pack("<Q", x.data_ptr()), struct.pack("<Q", out.data_ptr())]
    expected += [struct.pack("<i", 100), struct.pack("<f", 2.5)]
    told = [gpu.launched(lambda: kernel[(3, 2)](x, out, 100, 2.5, BLOCK=128, num_warps=8)) for _ in range(3)]
    assert [native for _, native in told] == [False, False, True]
    first, *others = (vars(launch) for launch, _ in told)
    assert all(other == first for other in others)
    assert (first["grid"], first["block"], first["values"]) == ((3, 2, 1), (256, 1, 1), expected)


def test_each_launch_has_its_own_values_and_the_current_stream(gpu: Gpu) -> None:
    kernel = gpu.watch(scale)
    gpu.api.parameter_sizes = [8, 8, 4, 4]
    x, out = torch.zeros(128), torch.zeros(128)
    for _ in range(2):
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    other = torch.zeros(256)[128:]
    gpu.stream = 0x7F00
    told, native = gpu.launched(lambda: kernel[(1,)](out, other, 99, -1.0, BLOCK=128))
    assert native
    assert told.stream == 0x7F00
    assert told.values[:3] == [*(struct.pack("<Q", t.data_ptr()) for t in (out, other)), struct.pack("<i", 99)]


@pytest.mark.parametrize("options", [{"num_ctas": 2}, {"launch_cooperative_grid": True}, {"launch_pdl": True}], ids=str)
def test_clusters_and_attributes_are_told(gpu: Gpu, options: dict[str, Any]) -> None:
    kernel = gpu.watch(scale)
    x, out = torch.zeros(128), torch.zeros(128)
    told = [gpu.launched(lambda: kernel[(3,)](x, out, 100, 2.5, BLOCK=128, **options)) for _ in range(3)]
    first, *_, (last, native) = ((launch, native) for launch, native in told)
    assert native
    assert vars(last) == vars(first[0])
    assert last.grid == (6 if "num_ctas" in options else 3, 1, 1)
    assert (COOPERATIVE in last.attributes) == ("launch_cooperative_grid" in options)


def test_what_is_not_on_the_device_is_refused_as_ever(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = gpu.watch(scale)
    x, out = torch.zeros(128), torch.zeros(128)
    for _ in range(3):
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    monkeypatch.undo()
    with knobs.scope(target="cuda"), pytest.raises(ArgumentValueError, match="in host memory"):
        kernel[(1,)](np.zeros(128, np.float32), out, 100, 2.5, BLOCK=128)
    with pytest.raises(ArgumentValueError, match=r"x_ptr"):
        kernel[(1,)](torch.zeros(128, device="meta"), out, 100, 2.5, BLOCK=128)


def test_a_refusal_of_the_driver_is_explained(gpu: Gpu) -> None:
    kernel = gpu.watch(scale)
    x, out = torch.zeros(128), torch.zeros(128)
    for _ in range(3):
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    gpu.api.launch_statuses = [1, 1]
    with pytest.raises(ArgumentValueError, match="at most 65535"):
        kernel[(1, 70000)](x, out, 100, 2.5, BLOCK=128)
    gpu.api.launch_statuses = [999, 999]
    with pytest.raises(DeviceError):
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    told, native = gpu.launched(lambda: kernel[(1,)](x, out, 100, 2.5, BLOCK=128))
    assert native
    assert told.grid == (1, 1, 1)


def test_another_context_is_left_to_the_slow_path(gpu: Gpu) -> None:
    kernel = gpu.watch(scale)
    gpu.api.devices = 2
    x, out = torch.zeros(128), torch.zeros(128)
    for _ in range(3):
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    gpu.api.current = 0
    _, native = gpu.launched(lambda: kernel[(1,)](x, out, 100, 2.5, BLOCK=128))
    assert not native
    assert gpu.api.calls[-2:] == [("push", CONTEXT), ("pop",)]


def test_cupys_streams_go_first(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = gpu.watch(scale)
    x, out = torch.zeros(128), torch.zeros(128)
    for _ in range(3):
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    its_stream = SimpleNamespace(ptr=0xC0)
    monkeypatch.setitem(
        sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: its_stream))
    )
    told, native = gpu.launched(lambda: kernel[(1,)](x, out, 100, 2.5, BLOCK=128))
    assert not native
    assert told.stream == 0xC0


def test_hooks_see_every_launch(gpu: Gpu) -> None:
    kernel = gpu.watch(scale)
    x, out = torch.zeros(128), torch.zeros(128)
    for _ in range(3):
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    seen: list[str] = []
    enter, leave = triton.knobs.runtime.launch_enter_hook, triton.knobs.runtime.launch_exit_hook
    enter.add(lambda data: seen.append("enter"))
    leave.add(lambda data: seen.append("exit"))
    try:
        kernel[(1,)](x, out, 100, 2.5, BLOCK=128)
    finally:
        enter.calls.clear()
        leave.calls.clear()
    assert seen == ["enter", "exit"]


@triton.jit
def checked(x_ptr, n):
    tl.device_assert(tl.load(x_ptr) < n, "too large")


def test_kernels_with_assertions_are_waited_for(gpu: Gpu) -> None:
    kernel = gpu.watch(checked)
    x = torch.zeros(4)
    with knobs.scope(debug=True):
        told = [gpu.launched(lambda: kernel[(1,)](x, 5)) for _ in range(3)]
    assert not any(native for _, native in told)
    assert sum(call[0] == "synchronize" for call in gpu.api.calls) == 3


@triton.jit
def at(address, n):
    tl.store(address.to(tl.pointer_type(tl.int32)), n)


def test_without_data_a_launch_goes_to_the_current_device(gpu: Gpu) -> None:
    kernel = gpu.watch(at)
    gpu.api.devices = 2
    for _ in range(3):
        kernel[(1,)](2**40, 5)
    gpu.device = 1
    kernel[(1,)](2**40, 5)
    assert len(gpu.api.loaded) == 2


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, factor, BM: tl.constexpr, BK: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BM), tl.arange(0, BK)
    total = tl.zeros((BM, BM), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a_ptr + rows[:, None] * K + (start + depth)[None, :])
        total = tl.dot(x, tl.load(b_ptr + (start + depth)[:, None] * BM + columns[None, :]), total)
    tl.store(c_ptr + rows[:, None] * BM + columns[None, :], total * factor)


@pytest.mark.parametrize("persist", ["never", "always"])
def test_what_is_made_for_a_launch_is_kept_for_others_like_it(gpu: Gpu, persist: str) -> None:
    """Tensor maps and numbers of programs: launches that differ from the last ones are Python's. The driver that
    records gives each map that it is asked for other bytes.
    """
    kernel = gpu.watch(product)
    a, b, out = torch.zeros(192, 64).half(), torch.zeros(64, 64).half(), torch.zeros(192, 64)
    gpu.api.parameter_sizes = [8, 8, 8, 4, 4, 128, 128]
    if persist == "always":
        gpu.api.parameter_sizes += [128, 4, 4, 4, 4]

    def told(programs: int, x: Any = a, factor: float = 0.5) -> tuple[dict[str, Any], bool]:
        launched, native = gpu.launched(lambda: kernel[(programs,)](x, b, out, 64, factor, BM=64, BK=32))
        return vars(launched), native

    with knobs.scope(tma_loads="always", specialize_warps="always", persist_programs=persist):
        launches = [told(3) for _ in range(4)]
        assert [native for _, native in launches] == [False, False, True, True]
        first = launches[0][0]
        assert launches[2][0] == launches[3][0] == first
        assert first["grid"] == (3, 1, 1)
        if persist == "always":
            assert first["values"][-4:] == [struct.pack("<i", number) for number in (3, 3, 1, 1)]
        for changed in ({"x": torch.zeros(192, 64).half()}, {"factor": -2.0}, {"programs": 2}):
            one, again = told(**{"programs": 3, **changed}), told(**{"programs": 3, **changed})
            assert [native for _, native in (one, again)] == [False, True]
            assert one[0] == again[0] != first
        assert told(3) == (first, True)
        for factor in range(8):
            told(3, factor=float(factor + 1))
        assert not told(3)[1]
