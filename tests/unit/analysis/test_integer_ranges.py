"""Ranges hold every number that an op can give, tried over all pairs of operands of a few bits."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, Operation

from tilewright.analysis.integer_ranges import IntegerRanges, Range
from tilewright.dialects import arith
from tilewright.dialects.arith import CmpIPredicate
from tilewright.transforms.tt.fold_comparisons import compare

I8, I4 = IntegerType(8), IntegerType(4)

MEANINGS: dict[type[Operation], Callable[[int, int], int | None]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivSIOp: lambda a, b: int(a / b) if b else None,
    arith.RemSIOp: lambda a, b: a - int(a / b) * b if b else None,
    arith.DivUIOp: lambda a, b: (a & 255) // (b & 255) if b else None,
    arith.RemUIOp: lambda a, b: (a & 255) % (b & 255) if b else None,
    arith.MinSIOp: min,
    arith.MaxSIOp: max,
    arith.AndIOp: lambda a, b: a & b,
}


def intervals(count: int) -> list[Range]:
    """Ranges of eight bits, among them all of it, its ends, and 0."""
    generator = random.Random(3)
    ends = [sorted(generator.choices([-128, -127, -3, -1, 0, 1, 2, 5, 63, 127], k=2)) for _ in range(count)]
    return [Range(-128, 127), Range(0, 0), Range(1, 127), *(Range(low, high) for low, high in ends)]


def numbers(range_: Range) -> list[int]:
    """The ends of a range, their neighbours, and some between."""
    near = [range_.low, range_.low + 1, range_.high - 1, range_.high, -1, 0, 1]
    return [x for x in (*near, *range(range_.low, range_.high, 11)) if range_.low <= x <= range_.high]


@pytest.mark.parametrize("op", MEANINGS, ids=lambda op: op.name)
def test_results_lie_in_the_range(op: Any) -> None:
    for a in intervals(12):
        for b in intervals(12):
            block = Block(arg_types=[I8, I8])
            result = op(*block.args).results[0]
            found = IntegerRanges(dict(zip(block.args, (a, b), strict=True))).of(result)
            for x in numbers(a):
                for y in numbers(b):
                    value = MEANINGS[op](x, y)
                    if value is not None:
                        wrapped = int(np.int64(value).astype(np.int8))
                        assert found.low <= wrapped <= found.high, (op.name, a, b, x, y, found)


@pytest.mark.parametrize("low, high", [(-8, 7), (-1, 3), (0, 7), (2, 5)])
def test_conversions(low: int, high: int) -> None:
    block = Block(arg_types=[I4, I8])
    ranges = IntegerRanges({block.args[0]: Range(low, high), block.args[1]: Range(low * 3, high * 3)})
    assert ranges.of(arith.ExtSIOp(block.args[0], I8).results[0]) == Range(low, high)
    unsigned = ranges.of(arith.ExtUIOp(block.args[0], I8).results[0])
    assert unsigned == (Range(low, high) if low >= 0 else Range(0, 15))
    truncated = ranges.of(arith.TruncIOp(block.args[1], I4).results[0])
    assert all(truncated.low <= (x + 8) % 16 - 8 <= truncated.high for x in range(low * 3, high * 3 + 1))


def test_an_overflow_gives_any_number() -> None:
    block = Block(arg_types=[I8, I8])
    ranges = IntegerRanges(dict.fromkeys(block.args, Range(0, 64)))
    assert ranges.of(arith.AddiOp(*block.args).results[0]) == Range(-128, 127)
    assert IntegerRanges().of(block.args[0]) == Range(-128, 127)


@pytest.mark.parametrize("kind", CmpIPredicate)
def test_comparisons_are_decided_as_their_numbers_are(kind: CmpIPredicate) -> None:
    text = kind.name.lower()
    for a in intervals(20):
        for b in intervals(20):
            pairs = [(x, y) for x in numbers(a) for y in numbers(b)]
            if text[0] == "u":
                pairs = [(x & 255, y & 255) for x, y in pairs]
            outcomes = {holds(text.lstrip("us"), x, y) for x, y in pairs}
            found = compare(kind, a, b)
            assert found is None or outcomes == {found}, (text, a, b)
            if text in ("slt", "sge") and len(outcomes) == 1:
                assert found is not None, (text, a, b)


def holds(comparison: str, x: int, y: int) -> bool:
    """Compare two numbers."""
    table = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    return table[comparison]
