"""The driver's list of ops, and whole blocks that move."""

from __future__ import annotations

from random import Random

import pytest
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp as AnOp
from xdsl.ir import Block, Operation
from xdsl.utils.worklist import Worklist as Expected

from tilewright.ir.splicing import move_ops_before
from tilewright.ir.worklist import Worklist


@pytest.mark.parametrize("seed", range(20))
def test_ops_come_in_the_order_of_xdsls_list(seed: int) -> None:
    random = Random(seed)
    ops: list[Operation] = [AnOp(result_types=[i32]) for _ in range(12)]
    ours, expected = Worklist(), Expected[Operation]()
    first = random.sample(ops, 8)
    ours.fill(first)
    for op in first:
        expected.push(op)
    for _ in range(100):
        op = random.choice(ops)
        match random.randrange(3):
            case 0:
                ours.push(op)
                expected.push(op)
            case 1:
                ours.remove(op)
                expected.remove(op)
            case _:
                assert ours.pop() is (expected.pop() if expected else None)
        assert bool(ours) == bool(expected)


@pytest.mark.parametrize("moved", [0, 1, 3])
@pytest.mark.parametrize("before", [0, 2])
def test_the_ops_of_a_block_move_to_another(moved: int, before: int) -> None:
    source = Block([AnOp(result_types=[i32]) for _ in range(moved)])
    target = Block([AnOp(result_types=[i32]) for _ in range(3)])
    inner, outer = list(source.ops), list(target.ops)
    move_ops_before(source, outer[before])
    expected = [*outer[:before], *inner, *outer[before:]]
    assert list(target.ops) == expected and list(reversed(target.ops)) == expected[::-1]
    assert all(op.parent is target for op in expected)
    assert (target.first_op, target.last_op) == (expected[0], expected[-1])
    assert list(source.ops) == [] and source.first_op is source.last_op is None
    for op in inner:
        op.detach()
    assert list(target.ops) == outer
    source.add_ops(inner)
    assert list(source.ops) == inner
