"""Work on the workers of a dask.distributed cluster: the autotuner's candidates, fuzzing, and what can be wrong."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler import compilation as compiling
from tilewright.compiler import farm as farms
from tilewright.compiler.farm import Farm
from tilewright.support import knobs
from tilewright.support.disk_cache import SUFFIX
from tilewright.support.errors import FarmError
from tilewright.tools import fuzz
from tilewright.tools.cli import main
from tilewright.tools.fuzzing.apart import LostError, run_apart
from tilewright.tools.fuzzing.shares import Found, Share, Tally

distributed: Any = pytest.importorskip("distributed", reason="the extra `farm` (dask.distributed) is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A scheduler and a worker in threads of this process: `make_cluster` of another process would only cost time."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp", host="127.0.0.1"
    ) as made:
        yield made


@pytest.fixture
def address(cluster: Any) -> str:
    return cluster.scheduler_address


def square(number: int) -> int:
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number * number


def test_parts_are_asked_for_as_workers_become_free(address: str) -> None:
    asked: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(10):
            asked.append(number)
            yield number

    with Farm(address) as farm:
        assert farm.num_threads == 1
        results = farm.spread(square, numbers())
        first = next(results)
        assert len(asked) <= farms.IN_FLIGHT + 1
        assert sorted([first, *results]) == [number * number for number in range(10)]
        assert list(farm.spread(square, [])) == []
        with pytest.raises(ValueError, match="-3 is negative"):
            list(farm.spread(square, [1, -3]))


@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr, FACTOR: tl.constexpr):
    tl.static_assert(BLOCK < 512, "a candidate that does not compile")
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x * FACTOR, mask=offsets < n)


def test_candidates_of_the_autotuner_are_compiled_on_the_farm(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All before the first is measured; what fails there fails here as it always does, and is left out."""
    here: list[str] = []
    there: list[str] = []

    def build_here(source: Any, *rest: Any) -> Any:
        entry = build(source, *rest)
        here.append(source.name)
        return entry

    def build_there(source: Any, *rest: Any) -> Any:
        there.append(source.name)
        return build(source, *rest)

    build = compiling.build_entry
    monkeypatch.setattr(compiling, "build_entry", build_here)
    monkeypatch.setattr(farms, "build_entry", build_there)
    kept: list[int] = []

    def bench(launch: Any, quantiles: Any) -> list[float]:
        kept.append(len(list(tmp_path.glob(f"*/*{SUFFIX}"))))
        launch()
        return [1.0] * len(quantiles)

    configs = [triton.Config({"BLOCK": block}) for block in (32, 64, 512, 128)]
    tuned = triton.autotune(configs, key=["n"], do_bench=bench, restore_value=["x_ptr"])(scale)
    x = np.arange(100, dtype=np.float32)
    with knobs.scope(cache_dir=str(tmp_path), farm=address):
        tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, 100, FACTOR=3)
    np.testing.assert_array_equal(x, 3 * np.arange(100, dtype=np.float32))
    assert kept == [kept[0]] * 4, "nothing was added to the cache while candidates were measured"
    assert there == ["scale"] * 3
    assert here == []


def in_this_process(run: Any, share: Share) -> Tally:
    """Stands for a process of its own: kernel 12 fails, part 13 is lost."""
    if share.first == 13:
        raise LostError("exit status -11")
    tally = Tally("kernels", share.first)
    for number in share.seeds():
        tally.count += 1
        if number == 12:
            tally.failures["cpu error"] += 1
            tally.found.append(Found("kernel_12.py", "def f(): ...", "cpu: error: made up"))
    return tally


def test_inputs_of_the_fuzzer_are_spread(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each once; failures are saved where the command runs."""
    monkeypatch.setitem(fuzz.PARTS, "fuzz_kernels", 4)
    monkeypatch.setattr(fuzz, "run_apart", in_this_process)
    folder = tmp_path / "failures"
    arguments = ["--seed", "5", "--kernels", "10", "--only", "kernels", "--save", str(folder)]
    assert main(["fuzz", "--scheduler", address, *arguments]) == 1
    said = capsys.readouterr().out
    assert "seed 5: 8 kernels, 2 failures (1 cpu error, 1 lost process)" in said
    assert {path.name: path.read_text().splitlines()[-1] for path in folder.iterdir()} == {
        "kernel_12.py": "def f(): ...",
        "part_13.txt": "exit status -11",
    }
    assert f"{folder / 'kernel_12.py'}: cpu: error: made up" in said


def test_a_run_on_a_farm_ends_with_its_time(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz, "run_apart", in_this_process)
    arguments = ["--seed", "100", "--only", "kernels", "--minutes", "0.003", "--save", str(tmp_path)]
    assert main(["fuzz", "--scheduler", address, *arguments]) == 0
    assert re.search(r"seed 100: [1-9]\d* kernels, 0 failures", capsys.readouterr().out)


def test_parts_run_in_processes_of_their_own() -> None:
    """In whose main thread what hangs can be stopped; one that is lost says how."""
    assert run_apart(square, 12) == 144
    with pytest.raises(LostError, match=r"(?s)exit status 1\n.*ValueError: -3 is negative"):
        run_apart(square, -3)


def test_what_is_missing_is_said(cluster: Any, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farms, "CONNECT_SECONDS", 0.2)
    with pytest.raises(FarmError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        Farm("tcp://127.0.0.1:9")
    for wrong in ("telegraph://here", "here", ""):
        with pytest.raises(FarmError, match=f"no scheduler answers at '{wrong}': an address is like tcp://"):
            Farm(wrong)
    with pytest.raises(FarmError, match="no scheduler answers at 'telegraph://here:1'"):
        Farm("telegraph://here:1")
    monkeypatch.setattr(Farm, "num_threads", 0)
    with pytest.raises(FarmError, match=f"no workers; `dask worker {address}` starts some"):
        Farm(address)
    monkeypatch.undo()
    monkeypatch.setattr(farms, "source_digest", _thread)
    with pytest.raises(FarmError, match="these workers have another state of tilewright: tcp://"):
        Farm(address)
    monkeypatch.undo()
    monkeypatch.setattr(farms, "import_module", _absent)
    with pytest.raises(FarmError, match=r"pip install 'tilewright\[farm\]'"):
        Farm(address)


def _thread() -> str:
    """Something that differs between the worker and the test."""
    return threading.current_thread().name


def _absent(name: str) -> Any:
    raise ImportError(name)


def test_the_command_shows_no_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farms, "CONNECT_SECONDS", 0.2)
    assert main(["fuzz", "--kernels", "1", "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert capsys.readouterr().err.startswith("tilewright: error: no scheduler answers at")
