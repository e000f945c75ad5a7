"""Sites of generated code: native after some calls, by the object of PyTorch's compiler where something differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.runtime.launch_sites import launch_site
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError

pytestmark = pytest.mark.skipif(bool(knobs.get("target")) and knobs.get("target") != "cpu", reason="the CPU's launcher")


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    offsets = (tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) * 3, mask=offsets < n)


class Hook:
    """As `knobs.runtime.launch_enter_hook` is."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, metadata: Any) -> None:
        for call in self.calls:
            call(metadata)


class Launched:
    """What PyTorch's compiler makes of a kernel, as far as a site asks."""

    def __init__(self, size: int, first: int = 0) -> None:
        x = np.zeros(size + first, np.float32)[first:]
        self.grid = (-(-size // 64), 2, 1)
        self.kernel: Any = scale.warmup(x, x.copy(), size, BLOCK=32, grid=self.grid)
        self.hook = Hook()
        self.runs = 0

    def run(self, x: Array, out: Array, n: int, *, stream: int) -> None:
        self.runs += 1
        self.kernel.run(*self.grid, stream, None, None, None, self.hook, None, x, out, n, 32)


def site_of(size: int, *, follows: bool = False) -> tuple[Launched, Any]:
    launched = Launched(size)
    return launched, launch_site({"kernel": launched}, "kernel", (size,), follows=follows)


def check(site: Any, size: int, first: int = 0) -> None:
    x = np.random.default_rng(size).standard_normal(size + first).astype(np.float32)[first:]
    out = np.zeros(size, np.float32)
    site(x, out)
    np.testing.assert_array_equal(out, x * 3)


@settings(max_examples=12, deadline=None)
@given(size=st.integers(2, 700), calls=st.integers(1, 5))
def test_sites_of_all_sizes_become_native(size: int, calls: int) -> None:
    launched, site = site_of(size)
    for _ in range(3):
        check(site, size)
    runs = launched.runs
    assert runs <= 3
    for _ in range(calls):
        check(site, size)
    assert launched.runs == runs


def test_what_differs_is_launched_by_the_object() -> None:
    launched, site = site_of(640)
    for _ in range(4):
        check(site, 640)
    runs = launched.runs
    with pytest.raises(TilewrightError):
        site(np.zeros(640, np.float64), np.zeros(640, np.float32))
    with pytest.raises(TypeError):
        site(np.zeros(640, np.float32))
    assert launched.runs == runs + 1
    both = np.ones(640, np.float32)
    site(both, both)  # memory that is shared
    np.testing.assert_array_equal(both, np.full(640, 3))
    with knobs.scope(num_threads=1):
        check(site, 640)
    check(site, 640)


def test_hooks_see_every_launch() -> None:
    launched, site = site_of(100)
    for _ in range(4):
        check(site, 100)
    seen: list[Any] = []
    launched.hook.calls.append(seen.append)
    for _ in range(3):
        check(site, 100)
    assert len(seen) == 3
    launched.hook.calls.clear()
    runs = launched.runs
    check(site, 100)
    assert launched.runs == runs and len(seen) == 3


def test_a_site_that_follows_looks_for_no_hooks_of_its_own() -> None:
    leading, first = site_of(100)
    following, second = site_of(200, follows=True)
    for _ in range(4):
        check(first, 100)
        check(second, 200)
    seen: list[Any] = []
    for launched in (leading, following):
        launched.hook.calls.append(seen.append)
    check(second, 200)
    assert not seen
    check(first, 100)
    check(second, 200)
    assert len(seen) == 2
    for launched in (leading, following):
        launched.hook.calls.clear()
    runs = leading.runs, following.runs
    check(first, 100)
    check(second, 200)
    assert (leading.runs, following.runs) == runs


def test_a_site_knows_calls_whose_addresses_are_aligned_in_turns() -> None:
    launched = Launched(640, first=1)
    site = launch_site({"kernel": launched}, "kernel", (640,))
    for _ in range(4):
        check(site, 640)
        check(site, 640, first=1)
    runs = launched.runs
    for first in (0, 1, 1, 0):
        check(site, 640, first)
    assert launched.runs == runs


def test_a_watched_variable_sends_calls_to_the_object(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.runtime import launch_sites

    monkeypatch.setattr(launch_sites, "WATCHERS", ((__name__, "WATCHING", False), ("no_such_module", "x", 0)))
    launched, site = site_of(96)
    for _ in range(4):
        check(site, 96)
    runs = launched.runs
    monkeypatch.setitem(globals(), "WATCHING", True)
    check(site, 96)
    assert launched.runs == runs + 1


WATCHING = False


def test_numbers_that_calls_give_stay_with_the_object() -> None:
    """The grid may depend on them."""
    launched = Launched(64)
    site = launch_site({"kernel": launched}, "kernel", ())
    for _ in range(6):
        x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
        site(x, out, 64)
    assert launched.runs == 6
