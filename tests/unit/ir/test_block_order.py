"""The order of ops, from numbers that are kept, is what walking gives: also of new ops, and of ops that moved."""

from __future__ import annotations

import random

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from tilewright.dialects import arith, scf
from tilewright.dialects.arith import constant_bool, constant_index
from tilewright.ir.block_order import GAP, BlockOrder, ProgramOrder
from tilewright.ir.walking import ops_inside_out, ops_within


def block_of(count: int) -> Block:
    return Block([constant_index(number) for number in range(count)])


def assert_agrees(order: BlockOrder, block: Block) -> None:
    ops = list(block.ops)
    shuffled = random.Random(0).sample(ops, len(ops))
    for op in shuffled:
        order.number(op)
    numbers = [order.number(op) for op in ops]
    assert numbers == sorted(set(numbers))


def test_new_ops_find_their_place() -> None:
    block = block_of(3)
    order = BlockOrder(block)
    first, _, last = block.ops
    block.insert_op_before(constant_index(7), first)
    block.insert_op_after(constant_index(8), last)
    block.insert_op_after(constant_index(9), first)
    assert_agrees(order, block)
    assert order.is_before(first, last)
    assert not order.is_before(last, first)
    assert not order.is_before(first, first)


def test_more_new_ops_at_one_place_than_there_are_numbers() -> None:
    block = block_of(2)
    order = BlockOrder(block)
    _, last = block.ops
    for number in range(2 * GAP.bit_length()):
        op: Operation = constant_index(number)
        block.insert_op_before(op, last)
        assert order.is_before(op, last)
    assert_agrees(order, block)


def test_moved_ops_are_forgotten() -> None:
    block = block_of(4)
    order = BlockOrder(block)
    first, *_, last = block.ops
    last.detach()
    block.insert_op_before(last, first)
    order.forget(last)
    assert order.is_before(last, first)
    assert_agrees(order, block)


def nested(depth: int) -> list[Operation]:
    """Conditionals in one another, with ops around and in each branch."""
    condition = constant_bool(True)
    if depth == 0:
        return [condition]
    then, other = (Region(Block([*nested(depth - 1), scf.YieldOp()])) for _ in range(2))
    return [condition, scf.IfOp(condition, [], then, other), constant_index(depth)]


def test_program_order_is_that_of_a_walk() -> None:
    module = ModuleOp(nested(3))
    ops = ops_within(module)[1:]
    shuffled = random.Random(1).sample(ops, len(ops))
    assert ProgramOrder().sorted(shuffled) == ops


def test_inside_out_is_the_walk_with_regions_first() -> None:
    module = ModuleOp(nested(3))
    assert ops_inside_out(module) == list(module.walk(region_first=True))
    assert any(isinstance(op, arith.ConstantOp) for op in ops_inside_out(module))
