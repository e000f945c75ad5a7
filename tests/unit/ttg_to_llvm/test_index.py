"""Index arithmetic against the layouts themselves, over every register and thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ir_evaluation import evaluate, lanes_of
from sample_layouts import SAMPLES

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.layouts.distributed import DistributedLayout
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.index import LayoutIndex, map_bits

THREADS = np.arange(128, dtype=np.int64)


class Lines(FunctionText):
    """A function whose lines can be read back."""

    @property
    def written(self) -> list[object]:
        return [*self._entry, *self._lines]


def _index() -> tuple[Lines, LayoutIndex]:
    text = Lines(ModuleText(), "f", "void", ())
    return text, LayoutIndex(text, lambda: "%thread", lambda: "%block")


@pytest.mark.parametrize(("name", "layout", "shape"), SAMPLES, ids=[name for name, _, _ in SAMPLES])
def test_coordinates_are_those_of_the_layout(name: str, layout: DistributedLayout, shape: tuple[int, ...]) -> None:
    linear = layout.to_linear(shape)
    text, index = _index()
    coordinates = index.coordinates(linear)
    values = evaluate(text.written, {"%thread": THREADS})
    assert len(coordinates) == linear.in_dims["register"]
    for register, operands in enumerate(coordinates):
        inputs: dict[str, Any] = {
            "register": np.full_like(THREADS, register),
            "lane": THREADS % 32,
            "warp": THREADS // 32,
            "block": np.zeros_like(THREADS),
        }
        expected = linear.apply(inputs)
        for dim, operand in zip(linear.out_dims, operands, strict=True):
            np.testing.assert_array_equal(lanes_of(values, operand, 128), expected[dim], err_msg=f"{name} {register}")


def test_blocks_of_a_cluster_count() -> None:
    layout = LinearLayout.from_bases(
        {"register": [(1,)], "lane": [(2,), (4,), (8,), (16,), (32,)], "warp": [(64,), (128,)], "block": [(256,)]},
        ["dim0"],
    )
    text, index = _index()
    operands = index.along(layout, "dim0")
    for block in range(2):
        values = evaluate(text.written, {"%thread": THREADS, "%block": np.full_like(THREADS, block)})
        for register, operand in enumerate(operands):
            np.testing.assert_array_equal(lanes_of(values, operand, 128), register + 2 * THREADS + 256 * block)


def test_a_part_of_the_thread_is_computed_once_and_at_the_entry() -> None:
    linear = SAMPLES[0][1].to_linear(SAMPLES[0][2])
    text, index = _index()
    index.along(linear, "dim0")
    before = len(text.written)
    index.along(linear, "dim0")
    assert [str(line) for line in text._entry] == ["  %v1 = shl i32 %thread, 2"]  # pyright: ignore[reportPrivateUsage]
    assert len(text.written) - before == before - 1, "a second use spells constants again, and nothing of the thread"


@pytest.mark.parametrize("columns", [[1, 2, 4], [0, 0, 8, 16], [3, 6, 12], [8, 1, 8, 0, 5], []])
def test_bits_map_to_any_columns(columns: list[int]) -> None:
    text = Lines(ModuleText(), "f", "void", ())
    result = map_bits(text.value, "%x", columns)
    inputs = np.arange(1 << len(columns), dtype=np.int64)
    values = evaluate(text.written, {"%x": inputs})
    expected = np.zeros_like(inputs)
    for bit, column in enumerate(columns):
        expected ^= ((inputs >> bit) & 1) * column
    found = lanes_of(values, result.operand, inputs.size)
    np.testing.assert_array_equal(found, expected)
    assert not np.any(found & ~np.int64(result.mask))
