"""Layouts of registers of every kind, for tests that try them all."""

from __future__ import annotations

from tilewright.layouts.distributed import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    LinearDistributedLayout,
    NvidiaMmaLayout,
    SliceLayout,
)

_BLOCKED_1D = BlockedLayout((4,), (32,), (4,), (0,))
_BLOCKED = BlockedLayout((1, 4), (4, 8), (4, 1), (1, 0))
_COLUMNS = BlockedLayout((2, 1), (16, 2), (1, 4), (0, 1))
_SINGLE = BlockedLayout((1, 1), (2, 16), (2, 2), (1, 0))
_MMA2 = NvidiaMmaLayout(2, 0, (2, 2), (16, 8))
_MMA3 = NvidiaMmaLayout(3, 0, (4, 1), (16, 32, 16))
_XOR = LinearDistributedLayout(
    register=((0, 1), (0, 2), (4, 3)),
    lane=((0, 4), (0, 8), (1, 4), (2, 8), (8, 0)),
    warp=((16, 5), (0, 0)),
    block=(),
    rank=2,
)

SAMPLES: tuple[tuple[str, DistributedLayout, tuple[int, ...]], ...] = (
    ("vector", _BLOCKED_1D, (1024,)),
    ("short vector", _BLOCKED_1D, (64,)),
    ("two elements", _BLOCKED_1D, (2,)),
    ("rows", _BLOCKED, (32, 64)),
    ("rows of a small tensor", _BLOCKED, (8, 16)),
    ("columns", _COLUMNS, (64, 16)),
    ("single elements", _SINGLE, (16, 64)),
    ("slice of rows", SliceLayout(1, _BLOCKED), (32,)),
    ("slice of columns", SliceLayout(0, _BLOCKED), (64,)),
    ("three dimensions", BlockedLayout((1, 2, 1), (4, 4, 2), (1, 2, 2), (2, 1, 0)), (8, 16, 8)),
    ("mma v2", _MMA2, (64, 32)),
    ("mma v3", _MMA3, (64, 64)),
    ("operand A", DotOperandLayout(0, _MMA2, 2), (32, 32)),
    ("operand B", DotOperandLayout(1, _MMA2, 2), (32, 32)),
    ("exclusive or", _XOR, (32, 16)),
)
"""(what it is, layout, shape); all of four warps."""
