"""Gluon's `inline_asm`: each thread runs PTX of the user's on its registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright import gluon
from tilewright.language import gluon as gl
from tilewright.support import knobs
from tilewright.support.errors import TilewrightError

ROW = gl.BlockedLayout([1], [32], [4], [0])
PAIRS = gl.BlockedLayout([2], [32], [4], [0])
REPEATED = gl.DistributedLinearLayout([[1], [0]], [[2], [4], [8], [16], [32]], [[0], [64]], [], [128])
"""Two registers and two warps hold each element."""
TILE = gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])

pytestmark = pytest.mark.usefixtures("a_gpu")


@gluon.constexpr_function
def adds_to_each(outputs, inputs):
    (out,) = outputs
    x, bias = inputs
    return "\n".join(f"add.f32 {to}, {of}, {bias[0]};" for to, of in zip(out, x, strict=True))


@gluon.jit
def adds(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr):
    at = gl.arange(0, N, layout=layout)
    x = gl.load(x_ptr + at)
    gl.store(y_ptr + at, gl.inline_asm(adds_to_each, ("=&f", "f", "f"), [x, 2.5], x.type, is_pure=True))


@gluon.constexpr_function
def divides_each(outputs, inputs):
    quotients, rests = outputs
    lines = [f"div.s32 {q}, {x}, {inputs[1][0]};" for q, x in zip(quotients, inputs[0], strict=True)]
    return "\n".join(lines + [f"rem.s32 {r}, {x}, {inputs[1][0]};" for r, x in zip(rests, inputs[0], strict=True)])


@gluon.jit
def divides(x_ptr, q_ptr, r_ptr, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))
    at = rows[:, None] * N + gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    x = gl.load(x_ptr + at)
    four, seven = gl.inline_asm("mov.b32 $0, $2; add.s32 $1, $0, 3;", "=&r,=r,r", [4], (gl.int32, gl.int32))
    q, r = gl.inline_asm(divides_each, ("=&r", "=&r", "r", "r"), [x, seven], (x.type, x.type))
    gl.store(q_ptr + at, q * four)
    gl.store(r_ptr + at, r)


@gluon.jit
def writes_memory(y_ptr, layout: gl.constexpr, shared: gl.constexpr):
    at = gl.arange(0, 256, layout=layout)
    buffer = gl.allocate_shared_memory(gl.float32, [2, 256], shared)
    row = buffer.index(1)
    row.store(gl.full([256], 1.0, gl.float32, layout))
    gl.barrier()
    gl.inline_asm("st.shared.f32 [$0], $1;", ("r", "f"), [row.slice(128, 128), 1.5])
    gl.barrier()
    gl.store(y_ptr + at, row.load(layout))


@pytest.mark.parametrize("target", ["gpu", "reference"])
@pytest.mark.parametrize("layout", [ROW, PAIRS, REPEATED], ids=["row", "pairs", "repeated"])
def test_registers_of_a_tensor(target: str, layout: Any) -> None:
    x = np.random.default_rng(3).standard_normal(128).astype(np.float32)
    y = np.zeros_like(x)
    with knobs.scope(**({} if target == "gpu" else {"target": target})):
        adds[(1,)](x, y, 128, layout)
    np.testing.assert_array_equal(y, x + np.float32(2.5))


@pytest.mark.parametrize("target", ["gpu", "reference"])
def test_results_of_several_types(target: str) -> None:
    x = np.random.default_rng(4).integers(0, 1000, (16, 64), dtype=np.int32)
    q, r = np.zeros_like(x), np.zeros_like(x)
    with knobs.scope(**({} if target == "gpu" else {"target": target})):
        divides[(1,)](x, q, r, 16, 64, TILE)
    np.testing.assert_array_equal(q, x // 7 * 4)
    np.testing.assert_array_equal(r, x % 7)


@pytest.mark.parametrize(
    "shared",
    [gl.SwizzledSharedLayout(1, 1, 1, [0]), gl.PaddedSharedLayout.with_identity_for([[64, 4]], [256], [0])],
    ids=["plain", "padded"],
)
def test_the_address_of_a_view(shared: Any) -> None:
    y = np.zeros(256, np.float32)
    writes_memory[(1,)](y, PAIRS, shared)
    np.testing.assert_array_equal(y, np.where(np.arange(256) == 128, 1.5, 1))


@gluon.jit
def of_no_layout(y_ptr):
    gl.inline_asm("", "r", [gl.arange(0, 64)])


@gluon.jit
def too_few_constraints(y_ptr):
    gl.inline_asm("", ("=r", "r"), [1, 2], gl.int32)


@gluon.jit
def too_few_registers(y_ptr, layout: gl.constexpr):
    at = gl.arange(0, 256, layout=layout)
    gl.store(y_ptr + at, gl.inline_asm("mov.b32 $0, $1;", "=r,r", [at], at.type))


@gluon.jit
def pure_with_a_buffer(y_ptr):
    buffer = gl.allocate_shared_memory(gl.float32, [64], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    gl.inline_asm("ld.shared.b32 $0, [$1];", "=r,r", [buffer], gl.int32, is_pure=True)


@gluon.jit
def no_text(y_ptr):
    gl.inline_asm(3, "r", [1])


@gluon.jit
def no_type(y_ptr):
    gl.inline_asm("mov.b32 $0, $1;", "=r,r", [1], 7)


@pytest.mark.parametrize(
    ("kernel", "arguments", "message"),
    [
        (of_no_layout, (), "explicit distributed tensor layouts"),
        (too_few_constraints, (), "one constraint for each result and argument, 3, got 2"),
        (too_few_registers, (PAIRS,), "2 constraints for 2 registers of results and 2 of operands"),
        (pure_with_a_buffer, (), "is_pure=False"),
        (no_text, (), "expects a string"),
        (no_type, (), "scalar or distributed result types"),
    ],
)
def test_what_does_not_fit(kernel: Any, arguments: Any, message: str) -> None:
    with pytest.raises(TilewrightError, match=message) as caught:
        kernel[(1,)](np.zeros(256, np.int32), *arguments)
    assert "gl.inline_asm(" in str(caught.value)


def test_other_machines_refuse_it_by_name() -> None:
    with knobs.scope(target="cpu"), pytest.raises(tilewright.TritonError, match=r"`inline_asm` of Gluon is for GPUs"):
        adds[(1,)](np.zeros(128, np.float32), np.zeros(128, np.float32), 128, ROW)
    with (
        knobs.scope(target="reference"),
        pytest.raises(tilewright.TritonError, match="shared memory is run by GPUs, real"),
    ):
        writes_memory[(1,)](np.zeros(256, np.float32), PAIRS, gl.SwizzledSharedLayout(1, 1, 1, [0]))


@gluon.jit
def stores_by_assembly(y_ptr, value):
    gl.inline_asm("st.global.b32 [$0], $1;", "l,r", [y_ptr, value])


def test_assembly_may_write_through_pointers(a_gpu: str) -> None:
    y = np.zeros(1, np.int32)
    stores_by_assembly[(1,)](y, 7)
    assert y[0] == 7
    if a_gpu == "cuda":
        pytest.skip("no tensor on a GPU is read-only")
    y.setflags(write=False)
    with pytest.raises(TilewrightError, match="read-only"):
        stores_by_assembly[(1,)](y, 8)
