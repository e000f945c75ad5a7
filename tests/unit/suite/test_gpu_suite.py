"""The GPU suite's own machinery (benchmarks/gpu/suite.py), on the simulated GPU and with workers that fail."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

SUITE = Path(__file__).resolve().parents[3] / "benchmarks" / "gpu" / "suite.py"


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("gpu_suite", SUITE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def fill(suite: ModuleType, monkeypatch: pytest.MonkeyPatch, program: str, count: int) -> tuple[ModuleType, list[int]]:
    """Run `count` tests by workers that are a program; the board, and an entry for each worker that was started."""
    started: list[int] = []

    def command(verb: str, files: list[str]) -> list[str]:
        started.append(len(started))
        return [sys.executable, "-c", program]

    monkeypatch.setattr(suite, "command", command)
    board = suite.Board([f"test_{number}" for number in range(count)], time.monotonic() + 60)
    suite.keep_worker(board, [], "cuda_sim")
    return board, started


def test_workers_that_fail_at_their_start_end_the_run(suite: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    board, started = fill(suite, monkeypatch, "raise SystemExit('no cache here')", 300)
    assert len(started) == suite.FALSE_STARTS
    assert "no cache here" in board.hopeless and not board.rows


def test_a_test_that_ends_its_worker_fails_alone(suite: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker begins a test and dies: no false start."""
    program = "import json, sys; print(json.dumps({'begun': sys.stdin.readline().strip()})); sys.exit(3)"
    board, started = fill(suite, monkeypatch, program, 7)
    assert len(started) == 7 and not board.hopeless
    assert [row["outcome"] for row in board.rows.values()] == ["failed"] * 7


def test_what_was_not_run_is_said_once(suite: ModuleType) -> None:
    rows = {
        f"test_{number}": {"outcome": suite.NOT_RUN, "seconds": 0, "reason": "no cache here"} for number in range(9)
    }
    text = suite.render({"machine": {}, "seconds": 1.0, "tests": rows})
    assert text.count("no cache here") == 1 and "not run 9: no cache here" in text


@pytest.mark.costly
def test_a_run_on_the_simulated_gpu(tmp_path: Path) -> None:
    """Collection and workers as on a GPU, which pass pytest options of their own."""
    options = ["--target", "cuda_sim", "--jobs", "1", "--only", "test_wrong_groups_of_rows", "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, str(SUITE), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "gpu_tests.json").read_text())["tests"]
    assert [row["outcome"] for row in rows.values()] == ["passed"]
