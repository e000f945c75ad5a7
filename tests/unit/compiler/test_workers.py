"""Kernels compiled in forked processes: what comes back, what is left to this process, and what ends them."""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler import compilation, workers
from tilewright.compiler.compilation import Request, deferring
from tilewright.runtime import hooks
from tilewright.runtime.compiling_ahead import num_workers
from tilewright.support import knobs
from tilewright.support.disk_cache import SUFFIX

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forked workers are for Linux")


@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr, FACTOR: tl.constexpr):
    tl.static_assert(BLOCK < 512, "a candidate that does not compile")
    if FACTOR == 7:
        tl.static_print("by seven, block", BLOCK)
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * FACTOR, mask=offsets < n)


def grid(meta: dict[str, Any]) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


class Builds:
    """Which process compiled what, written to a file that all of them share."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file = folder / "builds"
        self.file.touch()
        build = compilation.build_entry

        def noted(source: Any, *rest: Any) -> Any:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(f"{os.getpid()}\n")
            return build(source, *rest)

        monkeypatch.setattr(compilation, "build_entry", noted)
        monkeypatch.setattr(workers, "build_entry", noted)
        monkeypatch.setattr(workers, "_has_compiled", [True])

    def here(self) -> int:
        return self._pids().count(os.getpid())

    def elsewhere(self) -> int:
        return len(self._pids()) - self.here()

    def _pids(self) -> list[int]:
        return [int(line) for line in self.file.read_text(encoding="utf-8").split()]


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    with knobs.scope(cache_dir=str(tmp_path / "cache"), num_threads=3):
        yield tmp_path / "cache"


@pytest.fixture
def builds(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Builds:
    return Builds(cache.parent, monkeypatch)


def requested(*blocks: int, factor: int = 3) -> list[Request]:
    scale.forget()
    with deferring() as requests:
        for block in blocks:
            with pytest.raises(compilation.DeferredError):
                scale.warmup(np.float32, 100, BLOCK=block, FACTOR=factor, grid=(1,))
    return requests


def kept(cache: Path) -> int:
    return len(list(cache.glob(f"*/*{SUFFIX}")))


def test_children_compile_each_kernel_once(cache: Path, builds: Builds) -> None:
    requests = requested(16, 32, 64, 128, 256)
    workers.compile_in_workers([*requests, *requests[:2]], 3)
    assert (builds.here(), builds.elsewhere(), kept(cache)) == (0, 5, 5)
    x = np.arange(100, dtype=np.float32)
    for block in (16, 32, 64, 128, 256):
        scale[grid](x, 100, BLOCK=block, FACTOR=3)
    assert (builds.here(), builds.elsewhere()) == (0, 5)
    np.testing.assert_array_equal(x, np.arange(100, dtype=np.float32) * 3**5)


def test_the_first_kernel_of_a_process_is_compiled_before_it_forks(
    builds: Builds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_has_compiled", [])
    workers.compile_in_workers(requested(512), 2)
    assert (builds.here(), builds.elsewhere()) == (1, 0), "what fails is left to the launch that needs it"
    monkeypatch.setattr(workers, "_has_compiled", [])
    workers.compile_in_workers(requested(16, 32, 64), 2)
    assert (builds.here(), builds.elsewhere()) == (2, 2)


def test_what_fails_or_prints_is_left_to_this_process(
    cache: Path, builds: Builds, capfd: pytest.CaptureFixture[str]
) -> None:
    workers.compile_in_workers([*requested(512, 16), *requested(32, factor=7)], 2)
    assert (builds.elsewhere(), kept(cache)) == (3, 1)
    assert capfd.readouterr() == ("", "")
    scale.warmup(np.float32, 100, BLOCK=32, FACTOR=7, grid=(1,))
    assert capfd.readouterr().out == "by seven, block 32\n"


def test_what_warns_is_left_to_this_process(cache: Path, builds: Builds, monkeypatch: pytest.MonkeyPatch) -> None:
    build = workers.build_entry

    def warning(source: Any, *rest: Any) -> Any:
        warnings.warn("slow", stacklevel=1)
        return build(source, *rest)

    monkeypatch.setattr(workers, "build_entry", warning)
    workers.compile_in_workers(requested(16, 32), 2)
    assert (builds.elsewhere(), kept(cache)) == (2, 0)


def test_interruptions_end_the_children(builds: Builds, monkeypatch: pytest.MonkeyPatch) -> None:
    wait, children = os.waitpid, list[int]()

    def interrupted(child: int, options: int) -> tuple[int, int]:
        children.append(child)
        if len(children) == 1:
            raise KeyboardInterrupt
        return wait(child, options)

    monkeypatch.setattr(workers, "build_entry", lambda *request: time.sleep(600))
    monkeypatch.setattr(os, "waitpid", interrupted)
    requests = requested(16, 32)
    with pytest.raises(KeyboardInterrupt):
        workers.compile_in_workers(requests, 2)
    assert len(children) == 3
    for child in children[1:]:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_candidates_are_compiled_in_children_and_measured_in_order(cache: Path, builds: Builds) -> None:
    """Nothing is compiled while one is measured; what fails there fails here as it always does, and is left out."""
    blocks = (256, 16, 512, 64, 32, 128)
    seen: list[tuple[int, int]] = []

    def bench(launch: Any, quantiles: Any) -> list[float]:
        before = kept(cache)
        launch()
        seen.append((before, kept(cache)))
        return [float(len(seen))] * len(quantiles)

    tuned = triton.autotune([triton.Config({"BLOCK": block}) for block in blocks], key=["n"], do_bench=bench)(scale)
    scale.forget()
    tuned[grid](np.arange(100, dtype=np.float32), 100, FACTOR=3)
    assert [config.kwargs["BLOCK"] for config in tuned.configs_timings] == list(blocks)
    assert seen == [(5, 5)] * 5
    assert builds.elsewhere() == 6
    assert builds.here() == 2, "the one that fails: when its code is asked for, and when it is measured"


def test_all_are_compiled_where_nothing_is_launched(builds: Builds) -> None:
    scale.forget()
    tuned = triton.autotune([triton.Config({"BLOCK": block}) for block in (16, 32, 64)], key=["n"])(scale)
    kernels = tuned.warmup(np.zeros(100, np.float32), 100, FACTOR=3, grid=(1,))
    assert (len(kernels), builds.here(), builds.elsewhere()) == (3, 0, 3)


def test_there_are_as_many_workers_as_threads_of_launches(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert num_workers() == 3
    with knobs.scope(num_threads=1):
        assert num_workers() == 1
    with knobs.scope(always_compile=True):
        assert num_workers() == 1, "somebody watches"
    monkeypatch.setattr(hooks, "jit_cache_hook", lambda **known: False)
    assert num_workers() == 1
