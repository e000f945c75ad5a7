"""`do_bench` where a GPU is in use: its own clock, a cold cache before every call."""

from __future__ import annotations

from fake_driver import FakeApi

from tilewright import testing
from tilewright.targets.cuda.driver import cuda_driver


def test_calls_are_timed_by_events(api: FakeApi) -> None:
    cuda_driver()
    called: list[int] = []
    assert testing.do_bench(lambda: called.append(1), warmup=4, rep=20, return_mode="median") == 2.0
    kinds = [call[0] for call in api.calls]
    assert kinds.count("flush") == 5 + 2 + 10
    assert kinds.count("event") == kinds.count("destroy") == 2 * kinds.count("flush")
    assert len(called) == 2 + kinds.count("flush")
    timed = kinds[kinds.index("flush") :]
    assert timed[:3] == ["flush", "record", "record"]


def test_the_wall_clock_where_there_is_no_gpu() -> None:
    cuda_driver.cache_clear()
    assert testing.do_bench(lambda: None, warmup=1, rep=1) < 2.0
