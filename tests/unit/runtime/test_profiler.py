"""`triton.profiler`: what sessions write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright import compat
from tilewright.compat import profiler as proton
from tilewright.runtime import hooks
from tilewright.support.errors import ArgumentValueError


def described(grid: tuple[int, ...], metadata: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"double_{grid[0]}", "flops32": 8 * grid[0]}


@tilewright.jit(launch_metadata=described)
def double(x_ptr, BLOCK: tl.constexpr):  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
    proton.language.enter_scope("part")
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)
    proton.language.exit_scope("part")


def written(path: Path) -> dict[str, Any]:
    """The frames of a file as {name: (metrics, frames below)}."""

    def frames(literal: dict[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
        return literal["metrics"], {child["frame"]["name"]: frames(child) for child in literal["children"]}

    root, devices = json.loads(path.read_text())
    assert root["frame"] == {"name": "ROOT", "type": "function"} and devices == {}
    return frames(root)[1]


def test_launches_count_where_they_are_made(tmp_path: Path) -> None:
    x = np.ones(16, np.float32)
    double[(2,)](x, BLOCK=8)
    proton.start(str(tmp_path / "run"), hook="triton")
    with proton.scope("outer", {"tokens": 3}), proton.state("warm"):
        double[(2,)](x, BLOCK=8)
        double[(2,)](x, BLOCK=8)
    proton.cpu_timed_scope("timed")(lambda: double[(1,)](x, BLOCK=8))()
    proton.finalize()
    assert x.tolist() == [16.0] * 8 + [8.0] * 8
    found = written(tmp_path / "run.hatchet")
    metrics, below = found["outer"]
    assert metrics == {"tokens": 3} and list(below) == ["double_2"]
    times, states = below["double_2"][1]["warm"]
    assert times["count"] == 2 and times["flops32"] == 32 and times["time (ns)"] > 0 and not states
    assert found["timed"][0]["cpu_time (ns)(exc)"] >= found["timed"][1]["double_1"][0]["time (ns)"]
    assert not hooks.are_set()


def test_sessions_that_pause_and_end_by_themselves(tmp_path: Path) -> None:
    x = np.ones(8, np.float32)
    first, second = proton.start(str(tmp_path / "first.hatchet")), proton.start(str(tmp_path / "second"))
    proton.deactivate(first)
    double[(1,)](x, BLOCK=8)
    proton.activate(first)
    proton.finalize(second)
    double[(1,)](x, BLOCK=8)
    proton.finalize(first)
    for name in ("first", "second"):
        metrics, _ = written(tmp_path / f"{name}.hatchet")["double_1"]
        assert metrics["count"] == 1 and "flops32" not in metrics
    decorated = proton.profile(name=str(tmp_path / "third"))(lambda: double[(1,)](x, BLOCK=8))
    decorated()
    assert written(tmp_path / "third.hatchet")["double_1"][0]["count"] == 1


def test_without_a_session_scopes_do_nothing() -> None:
    with compat.standing_in():
        import triton.profiler
        import triton.profiler.language as pl

        assert triton.profiler is proton and pl is proton.language
    with proton.scope("a", {"b": 1}), proton.cpu_timed_scope("c"):
        proton.enter_scope("d")
        proton.exit_scope()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: proton.start(data="trace"), "traces are not recorded"),
        (lambda: proton.start(context="python"), "frames of Python are not recorded"),
        (lambda: proton.finalize(10**9), "a session that was started"),
        (lambda: proton.finalize(output_format="chrome_trace"), "'hatchet'"),
        (lambda: proton.exit_scope("x"), "there is none"),
        (proton.exit_state, "none was entered"),
        (lambda: proton.cpu_timed_scope("x", {"cpu_time": 1}), "other names"),
    ],
)
def test_what_makes_no_sense_is_said(wrong: Any, message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        wrong()
