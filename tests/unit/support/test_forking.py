"""Forks wait for compilations, so that a child finds every lock free."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from suite.children import Children
from tilewright.support import forking
from tilewright.support.forking import ForkGate
from tilewright.support.threads import run_on_threads

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

PROGRAM = """
import os, signal, threading, time
import numpy as np
import tilewright as triton, tilewright.language as tl

@triton.jit
def k(x, o, C: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * C + C)

x = np.arange(64, dtype=np.int32)
k[(1,)](x, x * 0, 5, B=64)
over = threading.Event()

def compile_on(first):
    constant, out = first, x * 0
    while not over.is_set():
        constant += 1
        k[(1,)](x, out, constant, B=64)

threads = [threading.Thread(target=compile_on, args=(1000 * n,)) for n in (1, 2, 3)]
for thread in threads:
    thread.start()
statuses = []
for n in range(6):
    time.sleep(0.05 * n)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        out = x * 0
        k[(1,)](x, out, 10**6 + n, B=64)
        os._exit(0 if (out == x * (10**6 + n) + 10**6 + n).all() else 3)
    statuses.append(os.waitpid(child, 0)[1])
over.set()
for thread in threads:
    thread.join()
print(statuses)
"""


@pytest.mark.costly
@needs_fork
def test_children_of_a_process_that_compiles_compile(tmp_path: Path, compiler_children: Children) -> None:
    environment = {"TILEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}
    done = compiler_children.run_text(PROGRAM, environment, tmp_path)
    assert done.stdout.strip() == str([0] * 6), done.stderr


def _in_another_thread(gate: ForkGate) -> tuple[threading.Event, threading.Thread]:
    """A thread that compiles until it is told to stop."""
    is_inside, stop = threading.Event(), threading.Event()

    def compile_on() -> None:
        with gate.compiling():
            is_inside.set()
            stop.wait(60)

    thread = threading.Thread(target=compile_on)
    thread.start()
    assert is_inside.wait(60)
    return stop, thread


def test_a_fork_waits_for_compilations_and_they_for_it() -> None:
    gate = ForkGate()
    stop, thread = _in_another_thread(gate)
    threading.Timer(0.2, stop.set).start()
    begun = time.monotonic()
    gate.before()
    assert time.monotonic() - begun > 0.15
    thread.join()
    late = threading.Thread(target=lambda: gate.compiling().__enter__())
    late.start()
    late.join(0.1)
    assert late.is_alive(), "a compilation began during a fork"
    gate.after_in_parent()
    late.join(60)
    assert not late.is_alive()


def test_nobody_waits_for_ever() -> None:
    gate = ForkGate()
    lock = threading.Lock()
    renewed: list[bool] = []
    gate.hold(lambda: lock, lambda: renewed.append(True))
    stop, thread = _in_another_thread(gate)
    with lock, patch.object(forking, "LONGEST_WAIT", 0.05), patch.object(forking, "LONGEST_WAIT_FOR_A_LOCK", 0.05):
        gate.before()
        gate.after_in_child()
    assert renewed == [True]
    with gate.compiling(), gate.compiling():
        gate.before()  # a thread that compiles does not wait for itself
        gate.after_in_parent()
    stop.set()
    thread.join()


@needs_fork
def test_helpers_of_a_compilation_pass_while_a_fork_waits() -> None:
    begun, forked = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        time.sleep(0.2)  # the fork waits by now
        with forking.gate.compiling():
            assert not forked.is_set()

    def compile_with_helpers() -> None:
        with forking.gate.compiling():
            run_on_threads([job, job], 2)

    thread = threading.Thread(target=compile_with_helpers)
    thread.start()
    assert begun.wait(60)
    child = os.fork()
    if child == 0:
        with forking.gate.compiling():
            os._exit(0)
    forked.set()
    assert os.waitpid(child, 0)[1] == 0
    thread.join(60)
    assert not thread.is_alive()
