"""Encodings of shape-changing results: by enumeration of elements, and accepted by official Triton."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f16
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from suite.official_parser import printed_by_triton
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg import BlockedEncodingAttr, encoding_of, layout_of
from tilewright.ir.printing import print_attribute
from tilewright.layouts.distributed import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    NvidiaMmaLayout,
    SliceLayout,
    dim_names,
)
from tilewright.layouts.draw import distribute
from tilewright.layouts.linear import Indices

ROWS = BlockedLayout((1, 4), (4, 8), (4, 1), (1, 0))
COLUMNS = BlockedLayout((2, 2), (16, 2), (1, 4), (0, 1))
MMA = NvidiaMmaLayout(2, 0, (2, 2), (16, 8))
PAIRS = BlockedLayout((1, 4, 2), (4, 8, 1), (4, 1, 1), (2, 1, 0))
LAYOUTS: list[DistributedLayout] = [ROWS, COLUMNS, MMA, DotOperandLayout(0, MMA, 2), SliceLayout(2, PAIRS)]


def tensor(layout: DistributedLayout, *shape: int) -> TensorType[Attribute]:
    return tensor_type(f16, shape, encoding_of(layout))


def held(type: Attribute) -> Indices:
    """The row-major index of the element in every register."""
    assert isinstance(type, TensorType)
    shape = type.get_shape()
    linear = layout_of(type.encoding).to_linear(shape)
    return distribute(linear.transpose_outs(dim_names(len(shape))[::-1]))


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_elements_stay_where_they_are(layout: DistributedLayout) -> None:
    source = tensor(layout, 32, 64)
    flat = np.arange(32 * 64).reshape(32, 64)
    transposed = inference.trans(source, (1, 0))
    assert np.array_equal(flat.T.reshape(-1)[held(transposed)], held(source))
    for shape in ((2048,), (16, 128), (4, 8, 64), (32, 8, 8)):
        assert np.array_equal(held(inference.reshape(source, shape)), held(source))
    joined = inference.join(source)
    assert np.array_equal(held(joined)[..., ::2], held(source) * 2)
    assert np.array_equal(held(joined)[..., 1::2], held(source) * 2 + 1)
    assert inference.check_inferred("tt.split", inference.split(joined), source) is None


def test_blocked_results_stay_blocked() -> None:
    source = tensor(ROWS, 32, 64)
    for result in (
        inference.trans(source, (1, 0)),
        inference.join(source),
        inference.split(inference.join(source)),
        inference.reshape(source, (4, 8, 64)),
    ):
        assert isinstance(result, TensorType) and isinstance(result.encoding, BlockedEncodingAttr)
    assert inference.split(inference.join(source)) == source
    assert inference.trans(inference.trans(source, (1, 0)), (1, 0)) == source


def test_slices() -> None:
    source = tensor(ROWS, 32, 64)
    reduced = inference.reduce(source, 1)
    assert reduced == tensor(SliceLayout(1, ROWS), 32)
    assert inference.expand_dims(reduced, 1) == tensor(ROWS, 32, 1)
    with pytest.raises(VerifyException, match="needs a slice layout with dim = 0"):
        inference.expand_dims(reduced, 0)


def test_what_does_not_fit_is_refused() -> None:
    spread = BlockedLayout((1, 1), (16, 2), (4, 1), (1, 0))
    with pytest.raises(VerifyException, match="both elements of the last dimension in one thread"):
        inference.split(tensor(spread, 64, 2))
    with pytest.raises(VerifyException, match="incompatible with return type"):
        inference.check_inferred("tt.trans", inference.trans(tensor(ROWS, 32, 64), (1, 0)), tensor(ROWS, 64, 32))


MODULE = """module attributes {{"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func @f(%x: {source}) {{
    {op}
    tt.return
  }}
}}
"""


def programs(layout: DistributedLayout) -> list[str]:
    source = tensor(layout, 32, 64)
    joined = inference.join(source)
    uses: list[tuple[Attribute, str, Attribute]] = [
        (source, "%0 = tt.trans %x {{order = array<i32: 1, 0>}} : {a} -> {b}", inference.trans(source, (1, 0))),
        (source, "%0 = tt.join %x, %x : {a} -> {b}", joined),
        (joined, "%0, %1 = tt.split %x : {a} -> {b}", inference.split(joined)),
        (
            source,
            '%0 = "tt.reduce"(%x) <{{axis = 1 : i32}}> ({{\n^bb0(%p: f16, %q: f16):\n%s = arith.addf %p, %q : f16\n'
            "tt.reduce.return %s : f16\n}}) : ({a}) -> {b}",
            inference.reduce(source, 1),
        ),
        (
            inference.reduce(source, 0),
            "%0 = tt.expand_dims %x {{axis = 0 : i32}} : {a} -> {b}",
            inference.expand_dims(inference.reduce(source, 0), 0),
        ),
    ]
    uses += [
        (source, "%0 = tt.reshape %x : {a} -> {b}", inference.reshape(source, shape))
        for shape in ((2048,), (16, 128), (4, 8, 64), (32, 8, 8))
    ]
    return [
        MODULE.format(source=print_attribute(a), op=text.format(a=print_attribute(a), b=print_attribute(b)))
        for a, text, b in uses
    ]


def test_official_triton_accepts_our_results() -> None:
    texts = [text for layout in LAYOUTS for text in programs(layout)]
    refused = [text for text, answer in zip(texts, printed_by_triton(texts), strict=True) if answer.startswith("ERROR")]
    assert refused == []
