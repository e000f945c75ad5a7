"""Random layouts of registers, from a seed."""

from __future__ import annotations

import random
from math import prod

from tilewright.layouts.distributed import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    LinearDistributedLayout,
    NvidiaMmaLayout,
    SliceLayout,
)

EXTENTS = {1: (16, 128, 1024), 2: (2, 4, 8, 16, 32, 64, 128), 3: (2, 4, 8, 16)}
MAX_ELEMENTS = 8192


def any_shape(rng: random.Random, rank: int) -> tuple[int, ...]:
    """A shape of at most `MAX_ELEMENTS` elements."""
    while True:
        shape = tuple(rng.choice(EXTENTS[rank]) for _ in range(rank))
        if 8 <= prod(shape) <= MAX_ELEMENTS:
            return shape


def any_blocked(rng: random.Random, rank: int, num_warps: int) -> BlockedLayout:
    order = list(range(rank))
    rng.shuffle(order)
    sizes = tuple(rng.choice([1, 2, 4, 8]) for _ in range(rank))
    return BlockedLayout(sizes, _dealt(rng, 32, rank), _dealt(rng, num_warps, rank), tuple(order))


def any_layout(rng: random.Random, rank: int, num_warps: int) -> DistributedLayout:
    """Blocked, slice, linear with mixed bases, accumulator and operand of both matrix instructions."""
    kind = rng.randrange(7)
    if rank == 1 or kind < 2:
        if rng.random() < 0.3:
            return SliceLayout(rng.randrange(rank + 1), any_blocked(rng, rank + 1, num_warps))
        return any_blocked(rng, rank, num_warps)
    if kind == 6:
        return _mixed(rng, any_blocked(rng, rank, num_warps))
    rows = rng.choice([count for count in (1, 2, 4, 8) if count <= num_warps])
    if kind == 5 and rank == 2 and num_warps >= 4:
        rows = max(rows, 4)
        return NvidiaMmaLayout(3, 0, (rows, num_warps // rows), (16, rng.choice([8, 16, 32]), 16))
    lead = (1,) * (rank - 2)
    mma = NvidiaMmaLayout(2, 0, (*lead, rows, num_warps // rows), (*lead, 16, 8))
    return mma if kind == 4 else DotOperandLayout(rng.randrange(2), mma, rng.choice([1, 2, 4]))


def _dealt(rng: random.Random, count: int, rank: int) -> tuple[int, ...]:
    parts = [1] * rank
    while count > 1:
        parts[rng.randrange(rank)] *= 2
        count //= 2
    return tuple(parts)


def _mixed(rng: random.Random, blocked: BlockedLayout) -> LinearDistributedLayout:
    """A layout whose lanes also move what registers move."""
    shape = tuple(
        size * threads * warps
        for size, threads, warps in zip(
            blocked.size_per_thread, blocked.threads_per_warp, blocked.warps_per_cta, strict=True
        )
    )
    plain = LinearDistributedLayout.of(blocked.to_linear(shape))
    if not plain.register:
        return plain
    lanes = list(plain.lane)
    for _ in range(2):
        bit = rng.randrange(len(lanes))
        added = rng.choice(plain.register)
        lanes[bit] = tuple(a ^ b for a, b in zip(lanes[bit], added, strict=True))
    return LinearDistributedLayout(plain.register, tuple(lanes), plain.warp, plain.block, plain.rank)
