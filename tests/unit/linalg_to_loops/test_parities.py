"""Integers that are made of index bits: every op that is followed gives what it gives on numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects.builtin import IntegerAttr, i1, i16, i32
from xdsl.ir import Block, Operation

from tilewright.dialects import arith
from tilewright.lowering.linalg_to_loops.networks.parities import (
    BitNumber,
    constant_number,
    evaluate,
    index_number,
    known_value,
    value_at,
)

BITS = (3, 0, 5, 2)
"""The index bits that the number under test consists of, the lowest first."""


def constant(value: int) -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(value, i32))


def number_of(value: int) -> int:
    """The set of index bits at which the number under test is `value`."""
    return sum(1 << bit for place, bit in enumerate(BITS) if value >> place & 1)


CASES: dict[str, tuple[Callable[[Any, int], Operation], Callable[[int, int], int], list[int]]] = {
    "and": (lambda x, c: arith.AndIOp(x, constant(c)), lambda x, c: x & c, [0, 1, 6, 15]),
    "or": (lambda x, c: arith.OrIOp(x, constant(c)), lambda x, c: x | c, [0, 3, 16]),
    "xor": (lambda x, c: arith.XOrIOp(x, constant(c)), lambda x, c: x ^ c, [0, 5, 15]),
    "add without carry": (lambda x, c: arith.AddiOp(x, constant(c)), lambda x, c: x + c, [0, 16, 64]),
    "subtract without borrow": (lambda x, c: arith.SubiOp(constant(c), x), lambda x, c: c - x, [15, 31]),
    "double": (lambda x, c: arith.MuliOp(x, constant(c)), lambda x, c: x * c, [1, 2, 16]),
    "shift left": (lambda x, c: arith.ShLIOp(x, constant(c)), lambda x, c: x << c, [0, 1, 9]),
    "shift right": (lambda x, c: arith.ShRSIOp(x, constant(c)), lambda x, c: x >> c, [0, 1, 3, 9]),
    "shift right unsigned": (lambda x, c: arith.ShRUIOp(x, constant(c)), lambda x, c: x >> c, [0, 2]),
    "narrow": (lambda x, c: arith.TruncIOp(x, i16), lambda x, c: x, [0]),
}


def evaluated(op: Operation, number: BitNumber) -> BitNumber | None:
    """The op on the number under test, and on its constants."""
    operands: list[BitNumber] = []
    for operand in op.operands:
        owner = operand.owner
        if isinstance(owner, Operation):
            found = evaluate(owner, ())
            assert found is not None
            operands.append(found)
        else:
            operands.append(number)
    return evaluate(op, operands)


@pytest.mark.parametrize("case", CASES)
def test_ops_on_numbers_made_of_bits(case: str) -> None:
    make, expected, constants = CASES[case]
    block = Block(arg_types=[i32])
    for c in constants:
        found = evaluated(make(block.args[0], c), index_number(BITS, 32))
        assert found is not None
        for value in range(16):
            assert value_at(found, number_of(value)) == expected(value, c)


def test_equality_of_one_bit() -> None:
    block = Block(arg_types=[i32])
    bit = evaluated(arith.AndIOp(block.args[0], constant(4)), index_number(BITS, 32))
    assert bit is not None
    for predicate, holds in (("ne", lambda x: x & 4 != 0), ("eq", lambda x: x & 4 == 0)):
        found = evaluated(arith.CmpiOp(block.args[0], constant(0), predicate), bit)
        assert found is not None
        assert len(found) == 1
        assert all(found[0].at(number_of(x)) == holds(x) for x in range(16))
    never = evaluated(arith.CmpiOp(block.args[0], constant(3), "eq"), bit)
    assert never is not None
    assert known_value(never) == 0


def test_what_is_no_exclusive_or_of_bits_is_not_followed() -> None:
    block = Block(arg_types=[i32])
    x = index_number(BITS, 32)
    for op in (
        arith.AddiOp(block.args[0], constant(1)),
        arith.MuliOp(block.args[0], constant(3)),
        arith.SubiOp(constant(7), block.args[0]),
        arith.CmpiOp(block.args[0], constant(5), "eq"),
        arith.CmpiOp(block.args[0], constant(5), "slt"),
        arith.DivSIOp(block.args[0], constant(2)),
    ):
        assert evaluated(op, x) is None
    both = arith.AndIOp(block.args[0], block.args[0])
    assert evaluate(both, [x, constant_number(7, 32)]) is not None
    assert evaluate(both, [x, index_number(BITS[::-1], 32)]) is None


def test_sign_of_a_narrow_number() -> None:
    block = Block(arg_types=[i1])
    bit = (index_number((2,), 1)[0],)
    signed = evaluate(arith.ExtSIOp(block.args[0], i32), [bit])
    unsigned = evaluate(arith.ExtUIOp(block.args[0], i32), [bit])
    assert signed is not None
    assert unsigned is not None
    assert [value_at(signed, ones) for ones in (0, 4)] == [0, 0xFFFFFFFF]
    assert [value_at(unsigned, ones) for ones in (0, 4)] == [0, 1]
