"""Blocks that are chosen for Inductor's kernels, by sizes alone."""

from __future__ import annotations

import pytest

from tilewright.compat.inductor_scheduling import column_blocks, elementwise_blocks, row_blocks, share
from tilewright.compat.inductor_wrapper import is_known


def test_another_pytorch_keeps_its_own_blocks() -> None:
    versions = ("2.13.0+cpu", "2.13.1", "2.11.0", "2.1", "2.130.0")
    assert [is_known(version) for version in versions] == [True, True, False, False, False]


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


@pytest.mark.parametrize(("length", "block"), [(0, 64), (96, 32), (64, 64), (24, 8), (12, 64), (15, 64)])
def test_blocks_of_columns_end_where_rows_do(length: int, block: int) -> None:
    assert column_blocks(192, 196, threads=1, length=length) == {"XBLOCK": block, "R0_BLOCK": 8}


@pytest.mark.parametrize(
    ("y", "x", "blocks"),
    [(512, 512, (32, 32)), (6, 3136, (8, 128)), (3136, 3, (256, 4)), (2048, 64, (32, 32)), (3, 5, (4, 8))],
)
def test_blocks_of_two_dimensions_have_a_thousand_elements(y: int, x: int, blocks: tuple[int, int]) -> None:
    assert elementwise_blocks({"y": y, "x": x}, 1) == dict(zip(("YBLOCK", "XBLOCK"), blocks, strict=True))
    assert elementwise_blocks({"z": 2, "y": y, "x": x}, 1) is None


@pytest.mark.parametrize(
    ("y", "x", "threads", "blocks"),
    [
        (2048, 64, 1, (16, 64)),
        (2048, 128, 1, (8, 128)),
        (2048, 4096, 1, (1, 1024)),
        (1568, 96, 1, (32, 32)),
        (64, 100, 1, (32, 32)),
        (512, 8, 1, (128, 8)),
        (64, 64, 16, (4, 64)),
    ],
)
def test_rows_stay_whole_where_neighbours_are_along_them_only(
    y: int, x: int, threads: int, blocks: tuple[int, int]
) -> None:
    found = elementwise_blocks({"y": y, "x": x}, threads, along_rows=True)
    assert found == dict(zip(("YBLOCK", "XBLOCK"), blocks, strict=True))


@pytest.mark.parametrize(("length", "block"), [(0, 64), (96, 32), (24, 8), (12, 64), (128, 64)])
def test_blocks_of_rows_end_where_these_are_cut(length: int, block: int) -> None:
    assert elementwise_blocks({"y": 2688, "x": 14}, 1, length=length) == {"XBLOCK": 16, "YBLOCK": block}


@pytest.mark.parametrize(("cached", "blocks"), [(0, (32, 32)), (8, (128, 8)), (16, (64, 16)), (512, (32, 32))])
def test_blocks_have_few_columns_where_sums_share_a_set_of_a_cache(cached: int, blocks: tuple[int, int]) -> None:
    found = elementwise_blocks({"y": 8192, "x": 32}, 1, cached=cached)
    assert found == dict(zip(("YBLOCK", "XBLOCK"), blocks, strict=True))


@pytest.mark.parametrize(
    ("y", "x", "length", "blocks"),
    [
        (512, 512, 0, (16, 16)),
        (512, 24, 0, (16, 16)),
        (96, 512, 24, (8, 16)),
        (512, 14, 0, (64, 16)),
        (9, 512, 0, (16, 64)),
    ],
)
def test_matrices_are_transposed_in_squares(y: int, x: int, length: int, blocks: tuple[int, int]) -> None:
    found = elementwise_blocks({"y": y, "x": x}, 1, length=length, transposes=True)
    assert found == dict(zip(("YBLOCK", "XBLOCK"), blocks, strict=True))


@pytest.mark.parametrize(
    ("rows", "length", "threads", "block"),
    [
        (256, 768, 1, 2),
        (256, 512, 1, 4),
        (64, 4096, 1, 1),
        (256, 49, 1, 4),
        (4096, 8, 1, 32),
        (6, 64, 4, 2),
        (1, 9, 1, 1),
    ],
)
def test_rows_are_reduced_a_few_at_a_time(rows: int, length: int, threads: int, block: int) -> None:
    assert row_blocks(rows, length, threads) == {"XBLOCK": block}
