"""Which device's code a launch gets, and what must not be remembered of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "targets_cuda"))

from fake_driver import FakeApi

import tilewright as triton
import tilewright.language as tl
from tilewright.runtime.driver import GPUTarget
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError
from tilewright.targets.cuda import driver, placement

TWO_GPUS = {0: (9, 0), 1: (8, 0)}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeApi]:
    from tilewright.runtime.driver import driver_for

    fake = FakeApi()
    fake.devices, fake.capabilities = len(TWO_GPUS), TWO_GPUS
    monkeypatch.setattr(driver, "_import_bindings", lambda: fake)
    monkeypatch.setattr(placement, "_torch", lambda: None)
    driver.cuda_driver.cache_clear()
    driver_for.cache_clear()
    with knobs.scope(cache_dir=str(tmp_path)):
        yield fake
    driver.cuda_driver.cache_clear()
    driver_for.cache_clear()


class OnGpu:
    """A tensor of f32 on a GPU."""

    dtype = "float32"
    nbytes = 4096

    def __init__(self, number: int, address: int = 0x10000) -> None:
        self.device = f"cuda:{number}"
        self._address = address

    def data_ptr(self) -> int:
        return self._address


class Pinned(OnGpu):
    """A tensor in host memory that a GPU reaches."""

    def __init__(self, *, pinned: bool) -> None:
        super().__init__(0)
        self.device = "cpu"
        self._pinned = pinned

    def is_pinned(self) -> bool:
        return self._pinned


@triton.jit
def fill(out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), 1.0)


def test_each_device_gets_its_code(api: FakeApi) -> None:
    fresh = triton.jit(fill.fn)
    first, second, again = (fresh[(1,)](OnGpu(number), BLOCK=32) for number in (0, 1, 0))
    assert first is again and first is not second
    assert [".target sm_90a" in kernel.asm["ptx"] for kernel in (first, second)] == [True, False]
    assert ".target sm_80" in second.asm["ptx"]
    named = [fresh[(1,)](OnGpu(number), BLOCK=32, arch="sm86") for number in (0, 1)]
    assert named[0] is named[1] and ".target sm_86" in named[0].asm["ptx"]


def test_kernels_of_declared_types_run_where_their_code_does(api: FakeApi) -> None:
    source = triton.compiler.ASTSource(triton.jit(fill.fn), {"out_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 32})
    compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32))
    compiled[1,](OnGpu(1), 32)
    compiled.run(1, 1, 1, 0, compiled.function, None, None, None, None, OnGpu(1), 32)
    assert len(api.launched) == 2
    with pytest.raises(ArgumentValueError, match=r"'cuda' \(sm_90a\); expected data for target 'cuda' \(sm_80\)"):
        compiled[1,](OnGpu(0), 32)
    with pytest.raises(ArgumentValueError, match="target 'cpu'"):
        compiled[1,](Pinned(pinned=False), 32)
    triton.compile(source, target="cuda")[1,](OnGpu(0), 32)
    assert len(api.launched) == 3


def test_warmup_compiles_what_a_launch_runs(api: FakeApi) -> None:
    fresh = triton.jit(fill.fn)
    compiled = fresh.warmup(OnGpu(1), BLOCK=32, grid=(1,))
    assert compiled is fresh[(1,)](OnGpu(1), BLOCK=32)


def test_host_memory_that_a_gpu_reaches(api: FakeApi) -> None:
    """It is looked at in every launch: the next tensor of the class may not be pinned."""
    fresh: Any = triton.jit(fill.fn)
    with knobs.scope(target="cuda"):
        for _ in range(2):
            fresh[(1,)](Pinned(pinned=True), BLOCK=32)
        with pytest.raises(ValueError, match="expected data on the GPU"):
            fresh[(1,)](Pinned(pinned=False), BLOCK=32)
    assert len(api.launched) == 2


def test_registers_are_counted_by_the_driver_without_ptxas(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.codegen.nvptx.ptxas.find_ptxas", lambda: None)
    fresh: Any = triton.jit(fill.fn)
    compiled = fresh.warmup(OnGpu(0), BLOCK=64, grid=(1,))
    assert (compiled.n_regs, compiled.n_spills) == (1, 0)
    assert fresh[(1,)](OnGpu(0), BLOCK=64) is compiled
    assert (compiled.n_regs, compiled.n_spills) == (40, 4)
