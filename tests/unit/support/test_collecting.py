"""Garbage collections wait while something is compiled, and only then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Barrier, Thread

import pytest

from tilewright.support.collecting import paused_collection


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was_on else gc.disable)()


def test_collections_go_on_behind_the_outermost_pause() -> None:
    with paused_collection():
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collections_go_on_behind_an_error() -> None:
    with pytest.raises(ValueError, match="no"), paused_collection():
        raise ValueError("no")
    assert gc.isenabled()


def test_collections_that_were_off_stay_off() -> None:
    gc.disable()
    with paused_collection(), paused_collection():
        pass
    assert not gc.isenabled()


def test_pauses_of_two_threads_may_overlap() -> None:
    started, ended = Barrier(2), Barrier(2)

    def compile_something() -> None:
        with paused_collection():
            started.wait(10)
            ended.wait(10)

    thread = Thread(target=compile_something)
    with paused_collection():
        thread.start()
        started.wait(10)
    assert not gc.isenabled()
    ended.wait(10)
    thread.join()
    assert gc.isenabled()
