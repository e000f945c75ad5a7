"""What tuning shows: the table, the reasons, the page of HTML, and times that are kept."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.runtime import tuning_table
from tilewright.runtime.tuning_table import TuningTable
from tilewright.support import knobs


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path) -> Any:  # pyright: ignore[reportUnusedFunction]
    with knobs.scope(cache_dir=str(tmp_path / "cache")):
        yield


@triton.jit
def halve(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.static_assert(BLOCK != 8, "a block of 8 is not allowed")
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) / 2, mask=offsets < n)


def tune(**options: Any) -> Any:
    configs = [triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in ((8, 4), (16, 4), (16, 8), (32, 4))]
    kernel = triton.autotune(configs, key=["n"], warmup=1, rep=1, **options)(halve)
    x = np.arange(40, dtype=np.float32)
    out = np.empty_like(x)
    kernel[lambda meta: (triton.cdiv(40, meta["BLOCK"]),)](x, out, 40)
    np.testing.assert_array_equal(out, x / 2)
    return kernel


def test_the_table_names_what_was_skipped_and_what_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.scope(print_autotuning=True):
        kernel = tune()
    printed = " ".join(capsys.readouterr().out.split())
    for part in ("configuration", "median", "20 % to 80 %", "ratio", "1.00", "a block of 8", "the same"):
        assert part in printed, part
    assert f"{kernel.best_config}," in printed.partition("autotuning ")[2]
    assert list(kernel.configs_skipped.values()) == ["a block of 8 is not allowed"]


def test_nothing_is_printed_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    tune()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(tuning_table, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with TuningTable("kernel", (3,), [{"BLOCK": 16, "num_warps": 4}, {"BLOCK": 32, "num_warps": 4}]) as table:
        table.add({"BLOCK": 16, "num_warps": 4}, [0.5, 0.4, 0.6])
        table.add({"BLOCK": 32, "num_warps": 4}, [2.0, 1.9, 2.1])
    shown = terminal.getvalue()
    assert "1 of 2" in shown and "left" in shown and "500.0 us" in shown and "2.00 ms" in shown and "4.00" in shown
    assert "BLOCK: 16" in shown and "num_warps" not in shown, "what is the same in all is left out"


def test_a_report_is_a_page(tmp_path: Path) -> None:
    with knobs.scope(autotuning_reports=str(tmp_path / "reports")):
        tune()
    (page,) = (tmp_path / "reports").iterdir()
    text = page.read_text(encoding="utf-8")
    assert page.suffix == ".html" and "<title>" in text and "BLOCK: 32" in text and "a block of 8" in text


def test_times_are_kept_for_the_next_process() -> None:
    first = tune()
    measured: list[Any] = []

    def counting(kernel: Any) -> Any:
        measured.append(kernel)
        raise AssertionError("nothing is to be measured")

    again = triton.autotune(first.configs, key=["n"])(halve)
    again._bench = counting
    x = np.arange(40, dtype=np.float32)
    again[lambda meta: (triton.cdiv(40, meta["BLOCK"]),)](x, np.empty_like(x), 40)
    assert not measured and again.configs_timings == first.configs_timings


@pytest.mark.costly
@pytest.mark.parametrize("switch", [{"keep_autotuning": False}, {"num_threads": 3}], ids=str)
def test_times_are_of_this_machine_and_these_threads(switch: dict[str, Any]) -> None:
    tune()
    with knobs.scope(**switch):
        assert tune().configs_skipped, "measured anew: kept times have no reasons"
