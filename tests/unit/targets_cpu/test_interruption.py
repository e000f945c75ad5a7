"""Ctrl-C ends programs that never would, on any number of threads, and loops pay next to nothing for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from suite.children import Children

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import tilewright as triton, tilewright.language as tl

signal.signal(signal.SIGINT, signal.default_int_handler)

@triton.jit
def counts(out, n):
    i = 0
    while i < n:
        i += tl.where(i < 1000000, 1, 0)
        tl.store(out + tl.program_id(0), i)

@triton.jit
def adds_tiles(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    k = 0
    while k < n:
        total += tl.load(out + i)
        k += tl.where(k < 1000000, 1, 0)
    tl.store(out + i, total)

@triton.jit
def ranges(out, n, B: tl.constexpr):
    total = tl.zeros((B,), tl.int32)
    for k in range(n):
        total += tl.load(out + tl.arange(0, B)) * 3
        for j in range(n):
            total += j.to(tl.int32)
    tl.store(out + tl.arange(0, B), total)

@triton.jit
def forever(n):
    i = n
    while i < n + 1000000000:
        i = tl.where(i > n + 5, n, i + 1)
    return i

@triton.jit
def calls(out, n):
    tl.store(out, forever(n) + forever(n + 1))

x = np.zeros(1 << 16, np.int32)
n, far = 2**31 - 1, 2**62
kernel, number, constants = {
    "counts": (counts, n, {}),
    "adds_tiles": (adds_tiles, n, {"B": 4096}),
    "ranges": (ranges, far, {"B": 64}),
    "calls": (calls, 7, {}),
}[sys.argv[1]]
kernel.warmup(x, number, grid=(GRID,), **constants)
if sys.argv[2:] == ["short"]:  # launches that keep the GIL
    for _ in range(5):
        kernel[(GRID,)](x, 5, **constants)
sent = []

def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

for attempt in range(2):
    threading.Timer(0.2, interrupt).start()
    try:
        kernel[(GRID,)](x, number, **constants)
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[-1])
counts[(4,)](x, 5)
assert x[:4].tolist() == [5] * 4
"""


@pytest.mark.costly
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", ["counts", "counts short", "adds_tiles", "adds_tiles short", "ranges", "calls"])
def test_a_program_that_never_ends_can_be_stopped(
    tmp_path: Path, compiler_children: Children, kernel: str, threads: int
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("GRID", str(1 if threads == 1 else 6)))
    environment = {"PYTHONPATH": str(tmp_path), "TILEWRIGHT_NUM_THREADS": str(threads)}
    done = compiler_children.run(["program", *kernel.split()], environment, tmp_path)
    delays = [float(line) for line in done.stdout.split()]
    assert done.returncode == 0 and len(delays) == 2, done.stderr
    assert min(delays) < 0.5
