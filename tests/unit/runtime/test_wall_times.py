"""`do_bench` on a busy machine: calls that other processes interrupted say nothing of what is measured."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright import testing
from tilewright.support.preemptions import preemptions

LONG = 0.030
"""Seconds for which a call waits for its core."""


class Machine:
    """A clock of its own: a call takes a millisecond, and longer where it is interrupted."""

    def __init__(self, interrupted: Callable[[int], bool]) -> None:
        self.interrupted = interrupted
        self.seconds, self.calls, self.count = 0.0, 0, 0

    def perf_counter(self) -> float:
        return self.seconds

    def perf_counter_ns(self) -> int:
        return round(self.seconds * 1e9)

    def call(self) -> None:
        self.calls += 1
        self.seconds += 0.001
        if self.interrupted(self.calls):
            self.seconds += LONG
            self.count += 1


def measured(interrupted: Callable[[int], bool], monkeypatch: pytest.MonkeyPatch) -> tuple[list[float], Machine]:
    machine = Machine(interrupted)
    monkeypatch.setattr(testing, "time", machine)
    monkeypatch.setattr(testing, "preemptions", lambda: machine.count)
    return testing.do_bench(machine.call, warmup=5, rep=100, return_mode="all"), machine


def test_interrupted_calls_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    times, _ = measured(lambda call: call % 3 == 0, monkeypatch)
    assert len(times) >= testing.ENOUGH and max(times) == pytest.approx(1.0)


def test_where_all_are_interrupted_all_count(monkeypatch: pytest.MonkeyPatch) -> None:
    times, machine = measured(lambda call: True, monkeypatch)
    assert min(times) == pytest.approx(31.0) and machine.seconds < 1.0, "it does not go on for ever"


def test_a_quiet_machine_is_measured_as_long_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    times, _ = measured(lambda call: False, monkeypatch)
    assert len(times) == 100 and max(times) == pytest.approx(1.0)


def test_the_system_counts() -> None:
    assert 0 <= preemptions() <= preemptions()
