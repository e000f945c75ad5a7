"""Jobs on several threads: results in order, failures, and what happens where no thread can be started."""

from __future__ import annotations

import threading
from functools import partial
from unittest.mock import patch

import pytest

from tilewright.support.threads import meanwhile, run_on_threads


def test_results_come_in_the_order_of_the_jobs() -> None:
    for threads in (1, 2, 3, 9):
        assert run_on_threads([partial(int.__mul__, n, n) for n in range(5)], threads) == [0, 1, 4, 9, 16]
    assert run_on_threads([], 4) == []


def test_jobs_run_side_by_side() -> None:
    both_begun = threading.Barrier(2)
    assert sorted(run_on_threads([partial(both_begun.wait, 60)] * 2, 2)) == [0, 1]


def test_a_failure_is_raised_and_begins_no_other_job() -> None:
    begun: list[int] = []

    def job(number: int) -> None:
        begun.append(number)
        if number == 1:
            raise ValueError("the second")

    with pytest.raises(ValueError, match="the second"):
        run_on_threads([partial(job, number) for number in range(4)], 1)
    assert begun == [0, 1]
    with pytest.raises(ValueError, match="the second"):
        run_on_threads([partial(job, number) for number in range(4)], 4)
    assert threading.active_count() == len(threading.enumerate())


def test_no_thread_is_left_at_the_end_of_a_with() -> None:
    go_on, threads = threading.Event(), threading.active_count()
    done: list[int] = []

    def job() -> None:
        go_on.wait(60)
        done.append(1)

    with meanwhile(job):
        assert not done
        go_on.set()
    assert done and threading.active_count() == threads


def test_without_threads_the_caller_does_it_all() -> None:
    """As at a limit of threads, or when the interpreter ends."""
    with patch.object(threading.Thread, "start", side_effect=RuntimeError("can't start new thread")):
        assert run_on_threads([partial(int, number) for number in range(3)], 3) == [0, 1, 2]
        with meanwhile(pytest.fail):
            pass
