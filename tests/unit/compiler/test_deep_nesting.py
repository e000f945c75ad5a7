"""Kernels nest deeper than Python's stack of a program may go."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tilewright.support import knobs

CHOICES = 80
ROOM = 200
"""Frames: fewer than the branches of the kernel take where each is handled within the one around it."""

KERNEL = f"""
import tilewright
import tilewright.language as tl


@tilewright.jit
def choose(x, o):
    v = tl.load(x)
    r = v
    if v < 0:
        r = -v
{"".join(f"    elif v == {n * n}:{chr(10)}        r = v + {n}{chr(10)}" for n in range(CHOICES))}
    tl.store(o, r)
"""


@contextmanager
def little_room() -> Generator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + ROOM)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.costly
@pytest.mark.sampled
@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "reference"])
def test_a_long_chain_of_elif(tmp_path: Path, target: str) -> None:
    path = tmp_path / "chain.py"
    path.write_text(KERNEL)
    spec = importlib.util.spec_from_file_location("chain", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with knobs.scope(target=target):
        for value, wanted in ((-3, 3), (0, 0), (79 * 79, 79 * 80), (2, 2)):
            x, o = np.array([value], np.int32), np.zeros(1, np.int32)
            with little_room():
                module.choose[(1,)](x, o)
            assert o[0] == wanted
