"""The passes stay linear in the number of ops: in the calls of functions that they make, which no load changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from suite.counting import count_calls
from tilewright.dialects import tt
from tilewright.dialects.arith import find_constant_int
from tilewright.ir.walking import find_ops
from tilewright.transforms.common.canonicalize import canonicalize
from tilewright.transforms.common.cse import eliminate_common_subexpressions
from tilewright.transforms.common.remove_dead_values import remove_dead_values

Action = Callable[[ModuleOp], object]
ACTIONS: list[Action] = [canonicalize, eliminate_common_subexpressions]
NAMES = ["canonicalize", "cse"]


def _chain(length: int) -> str:
    """A function of `length` ops, each depending on the one before, with constants to merge and sums to fold."""
    lines = ["tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {", "  %v0 = arith.addi %x, %x : i32"]
    for i in range(1, length // 2):
        lines.append(f"  %c{i} = arith.constant {i % 17} : i32")
        lines.append(f"  %v{i} = arith.{'addi' if i % 3 else 'muli'} %v{i - 1}, %c{i} : i32")
    lines.append(f"  tt.store %p, %v{length // 2 - 1} : !tt.ptr<i32>")
    return "\n".join([*lines, "  tt.return", "}"])


def _nest(depth: int) -> str:
    """Loops within loops, the innermost with a store."""
    opens = "".join(f"scf.for %i{d} = %lb to %ub step %s : i32 {{\n" for d in range(depth))
    return f"""
    tt.func public @k(%lb: i32, %ub: i32, %s: i32, %p: !tt.ptr<i32>) {{
      {opens} tt.store %p, %i{depth - 1} : !tt.ptr<i32>
      {"}" * depth}
      tt.return
    }}
    """


def _conditionals(count: int) -> str:
    """Conditionals one after another, all on one condition, which their branches use."""
    step = """
      scf.if %c {
        %t = arith.extui %c : i1 to i32
        tt.store %p, %t : !tt.ptr<i32>
      } else {
        %f = arith.extui %c : i1 to i32
        tt.store %q, %f : !tt.ptr<i32>
      }"""
    return f"tt.func public @k(%c: i1, %p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {{ {step * count}\n tt.return }}"


def _blocks(count: int) -> str:
    """Blocks that go to the next one, each with a store."""
    steps = [f"^bb{i}:\n tt.store %p, %x : !tt.ptr<i32>\n cf.br ^bb{i + 1}" for i in range(count)]
    head, end = "tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {\n cf.br ^bb0", f"^bb{count}:\n tt.return }}"
    return "\n".join([head, *steps, end])


def _calls(action: Action, module: ModuleOp) -> int:
    """How many functions, of Python and of C, a pass calls."""
    return count_calls(lambda: action(module))


@pytest.mark.costly
@pytest.mark.parametrize("action", ACTIONS, ids=NAMES)
def test_four_times_the_ops_take_four_times_the_calls(action: Action, parse: Callable[[str], ModuleOp]) -> None:
    action(parse(_chain(500)))  # what is made once
    few, many = (_calls(action, parse(_chain(length))) for length in (500, 2000))
    assert many < 4.4 * few
    assert many < 400 * 2000


@pytest.mark.costly
def test_many_conditionals_on_one_condition(parse: Callable[[str], ModuleOp]) -> None:
    """Each knows its condition inside, at the same price for all."""
    canonicalize(parse(_conditionals(5)))
    few, many = (_calls(canonicalize, parse(_conditionals(count))) for count in (40, 160))
    assert many < 4.4 * few
    module = parse(_conditionals(20))
    canonicalize(module)
    stores = find_ops(module, tt.StoreOp)
    assert [find_constant_int(store.value) for store in stores] == [1, 0] * 20


def test_dead_values_look_at_the_blocks_of_a_function_once(parse: Callable[[str], ModuleOp]) -> None:
    remove_dead_values(parse(_blocks(5)))
    few, many = (_calls(remove_dead_values, parse(_blocks(count))) for count in (40, 160))
    assert many < 4.4 * few


@pytest.mark.parametrize("action", ACTIONS, ids=NAMES)
def test_an_op_is_looked_at_once_for_each_loop_around_it(action: Action, parse: Callable[[str], ModuleOp]) -> None:
    """At most: twice the loops, each in twice as many others, take four times the calls."""
    action(parse(_nest(5)))
    few, many = (_calls(action, parse(_nest(depth))) for depth in (20, 40))
    assert many < 4.2 * few
    assert many < 4000 * 40
