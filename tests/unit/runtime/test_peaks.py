"""What performance models are told about a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tilewright.language as tl
from tilewright import testing
from tilewright.runtime import peaks
from tilewright.support import knobs
from tilewright.support.errors import TargetError

PROPERTIES = {"multiprocessor_count": 108, "mem_clock_rate": 1_215_000, "mem_bus_width": 5120}


@pytest.fixture
def an_a100(monkeypatch: pytest.MonkeyPatch) -> None:
    utilities = SimpleNamespace(get_device_properties=lambda device: PROPERTIES)  # pyright: ignore[reportUnknownLambdaType]
    active = SimpleNamespace(
        is_gpu=True, utils=utilities, get_current_target=lambda: SimpleNamespace(backend="cuda", arch=80)
    )
    monkeypatch.setattr(peaks, "driver", SimpleNamespace(active=active))


@pytest.mark.usefixtures("an_a100")
@pytest.mark.parametrize(
    ("name", "dtype", "published"),
    [
        ("get_max_tensorcore_tflops", tl.float16, 312),
        ("get_max_tensorcore_tflops", tl.int8, 624),
        ("get_max_tensorcore_tflops", np.dtype(np.float32), 156),
        ("get_max_simd_tflops", tl.float32, 19.5),
    ],
)
def test_peaks_are_those_of_the_data_sheet(name: str, dtype: Any, published: float) -> None:
    assert getattr(testing, name)(dtype, 1_410_000) == pytest.approx(published, rel=0.01)


@pytest.mark.usefixtures("an_a100")
def test_bandwidth_is_that_of_the_data_sheet() -> None:
    assert testing.get_dram_gbps() == pytest.approx(1555, rel=0.01)


def test_a_cpu_has_no_peaks_of_a_gpu() -> None:
    peaks_of_a_cpu = pytest.raises(TargetError, match="peaks of a GPU are asked for, and launches go to target 'cpu'")
    with knobs.scope(target="cpu"), peaks_of_a_cpu:
        testing.get_dram_gbps()


def test_the_tool_of_the_driver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: Any) -> Any:
        commands.append(command)
        return SimpleNamespace(stdout="1980, 2619\n")

    monkeypatch.setattr(peaks.subprocess, "run", run)
    assert testing.nvsmi(["clocks.max.sm", "clocks.max.mem"]) == [1980, 2619]
    assert "--query-gpu=clocks.max.sm,clocks.max.mem" in commands[0]
