"""Functions that are called around every launch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.runtime.hooks import HookChain


def describe(grid: Any, metadata: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"fill_{arguments['BLOCK']}", "bytes": arguments["out_ptr"].nbytes, "warps": metadata.num_warps}


@triton.jit(launch_metadata=describe)
def fill(out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.program_id(0))


@pytest.fixture
def told() -> Iterator[list[Any]]:
    """What two hooks were told, in order."""
    found: list[Any] = []
    enter = lambda launch: found.append(("enter", launch.grid, launch.get()))  # noqa: E731
    leave = lambda launch: found.append(("exit", launch.grid))  # noqa: E731
    triton.knobs.runtime.launch_enter_hook.add(enter)
    triton.knobs.runtime.launch_exit_hook.add(leave)
    yield found
    triton.knobs.runtime.launch_enter_hook.remove(enter)
    triton.knobs.runtime.launch_exit_hook.remove(leave)


def test_hooks_are_told_of_every_launch(told: list[Any]) -> None:
    out = np.zeros(8, np.int32)
    kernel = fill[2,](out, BLOCK=8, num_warps=2)
    assert fill[2,](out, BLOCK=8, num_warps=2) is kernel
    known = {"name": "fill_8", "function": kernel.function, "stream": 0, "bytes": 32, "warps": 2}
    assert told == [("enter", (2, 1, 1), known), ("exit", (2, 1, 1))] * 2


def test_launches_take_the_fast_path_again_without_hooks() -> None:
    fresh, out = triton.jit(fill.fn), np.zeros(8, np.int32)
    count: list[Any] = []
    fresh[1,](out, BLOCK=8)
    fresh[1,](out, BLOCK=8)
    triton.knobs.runtime.launch_enter_hook.add(count.append)
    fresh[1,](out, BLOCK=8)
    triton.knobs.runtime.launch_enter_hook.remove(count.append)
    fresh[1,](out, BLOCK=8)
    assert len(count) == 1


def test_order() -> None:
    seen: list[int] = []
    for chain, expected in ((HookChain(), [1, 2]), (HookChain(reversed=True), [2, 1])):
        seen.clear()
        first, second = (lambda _: seen.append(1)), (lambda _: seen.append(2))
        for hook in (first, second, first):
            chain.add(hook)
        chain(None)  # pyright: ignore[reportArgumentType]
        assert seen == expected and chain
        chain.remove(first)
        chain.remove(second)
        chain.remove(second)
        assert not chain
