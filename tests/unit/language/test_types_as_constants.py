"""Types that kernels are given as constants: kernels are kept apart by all that a type says."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.language import gluon as gl
from tilewright.language.dependencies import describe_constant

ROWS, COLUMNS = (gl.BlockedLayout([1, 1], [1, 32], [4, 1], order) for order in ([1, 0], [0, 1]))
PLAIN, SWIZZLED = (gl.SwizzledSharedLayout(vec, 1, 1, [1, 0]) for vec in (1, 4))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (gl.distributed_type(gl.float32, [32, 32], ROWS), gl.distributed_type(gl.float32, [32, 32], COLUMNS)),
        (gl.distributed_type(gl.float32, [32, 32], ROWS), gl.block_type(gl.float32, [32, 32])),
        (gl.pointer_type(gl.float32), gl.pointer_type(gl.float32, const=True)),
        (gl.pointer_type(gl.float32), gl.pointer_type(gl.float32, 3)),
        (
            gl.shared_memory_descriptor_type(gl.float32, [32, 32], PLAIN, [32, 32]),
            gl.shared_memory_descriptor_type(gl.float32, [32, 32], SWIZZLED, [32, 32]),
        ),
    ],
)
def test_types_that_differ_are_described_differently(one: Any, other: Any) -> None:
    assert one != other
    assert describe_constant(one) != describe_constant(other)
