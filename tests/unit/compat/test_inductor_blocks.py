"""Blocks that are chosen for Inductor's kernels, by sizes alone."""

from __future__ import annotations

import pytest

from tilewright.compat.inductor_scheduling import column_blocks, share


@pytest.mark.parametrize(
    ("numbers", "threads", "block"),
    [(1, 1, 1), (5, 1, 8), (1000, 1, 1024), (10**6, 1, 1024), (1000, 4, 256), (100, 16, 64), (40, 16, 64), (1, 16, 1)],
)
def test_each_thread_has_a_program_of_enough_elements(numbers: int, threads: int, block: int) -> None:
    assert share(numbers, 1024, 64, threads) == block


def test_sums_take_whole_cache_lines_of_columns() -> None:
    assert column_blocks(96, 392, threads=1) == {"XBLOCK": 64, "R0_BLOCK": 8}
    assert column_blocks(96, 392, threads=4) == {"XBLOCK": 32, "R0_BLOCK": 8}
    assert column_blocks(24, 3, threads=1) == {"XBLOCK": 32, "R0_BLOCK": 4}
    assert column_blocks(96, 392, threads=64) == {"XBLOCK": 16, "R0_BLOCK": 8}
    assert column_blocks(15, 392, threads=1) is None
