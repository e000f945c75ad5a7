"""The passes stay linear in the number of ops."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.transforms.common import canonicalize, eliminate_common_subexpressions


def _chain(length: int) -> str:
    """A function of `length` ops, each depending on the one before, with constants to merge and sums to fold."""
    lines = ["tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {", "  %v0 = arith.addi %x, %x : i32"]
    for i in range(1, length // 2):
        lines.append(f"  %c{i} = arith.constant {i % 17} : i32")
        lines.append(f"  %v{i} = arith.{'addi' if i % 3 else 'muli'} %v{i - 1}, %c{i} : i32")
    lines.append(f"  tt.store %p, %v{length // 2 - 1} : !tt.ptr<i32>")
    return "\n".join([*lines, "  tt.return", "}"])


def _seconds(action: Callable[[ModuleOp], object], module: ModuleOp) -> float:
    start = time.perf_counter()
    action(module)
    return time.perf_counter() - start


@pytest.mark.parametrize("action", [canonicalize, eliminate_common_subexpressions], ids=["canonicalize", "cse"])
def test_four_times_the_ops_take_about_four_times_as_long(
    action: Callable[[ModuleOp], object], parse: Callable[[str], ModuleOp]
) -> None:
    small, large = _chain(1000), _chain(4000)
    action(parse(small))
    short = min(_seconds(action, parse(small)) for _ in range(3))
    long = min(_seconds(action, parse(large)) for _ in range(3))
    assert long < 10 * short
    assert long < 1.0


def test_deep_nesting_is_no_worse(parse: Callable[[str], ModuleOp]) -> None:
    depth = 40
    opens = "".join(f"scf.for %i{d} = %lb to %ub step %s : i32 {{\n" for d in range(depth))
    text = f"""
    tt.func public @k(%lb: i32, %ub: i32, %s: i32, %p: !tt.ptr<i32>) {{
      {opens} tt.store %p, %i{depth - 1} : !tt.ptr<i32>
      {"}" * depth}
      tt.return
    }}
    """
    module = parse(text)
    assert _seconds(canonicalize, module) < 0.5
