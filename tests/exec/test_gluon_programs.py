"""Programs in Gluon of the kinds that users write, against NumPy: on a GPU, simulated or real, and on the CPU."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright import compat, gluon
from tilewright.gluon.nvidia.hopper import TensorDescriptor
from tilewright.language import gluon as gl
from tilewright.support import knobs

with compat.standing_in():
    import gluon_programs as programs

pytestmark = pytest.mark.usefixtures("a_gpu")
on_every_engine = pytest.mark.parametrize("target", ["gpu", "cpu"])
RNG = np.random.default_rng(7)
ELEMENTS: dict[Any, Any] = {
    np.dtype(np.float16): gl.float16,
    np.dtype(np.float32): gl.float32,
    np.dtype(ml_dtypes.float8_e4m3fn): gl.float8e4nv,
}


def engine(target: str) -> Any:
    """The engine that a test names; `gpu` is the one that this file's tests run on."""
    return nullcontext() if target == "gpu" else knobs.scope(target=target)


def floats(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def described(array: Any, block: list[int]) -> TensorDescriptor:
    """An array as a tensor of boxes in the layout that TMA prefers."""
    layout = gl.NVMMASharedLayout.get_default_for(block, ELEMENTS[array.dtype])
    return TensorDescriptor.from_tensor(array, block, layout)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@on_every_engine
@pytest.mark.parametrize(("rows", "columns"), [(7, 50), (33, 64)])
def test_softmax(target: str, rows: int, columns: int) -> None:
    x, y = floats(rows, columns), np.zeros((rows, columns), np.float32)
    with engine(target):
        programs.softmax_rows[(3,)](x, y, rows, columns, 4, 64, programs.TILE)
    np.testing.assert_allclose(y, softmax(x), atol=1e-5)


@on_every_engine
def test_layer_norm(target: str) -> None:
    x, w, b = floats(16, 128, dtype=np.float16), floats(128), floats(128)
    y = np.zeros((16, 128), np.float16)
    with engine(target):
        programs.layer_norm[(2,)](x, w, b, y, 128, 8, programs.TILE)
    wide = x.astype(np.float32)
    centred = wide - wide.mean(1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(y.astype(np.float32), expected, atol=1e-2)


@on_every_engine
def test_largest_elements_with_their_places(target: str) -> None:
    x = RNG.integers(0, 9, (16, 64)).astype(np.float32)
    value, index = np.zeros(16, np.float32), np.zeros(16, np.int32)
    with engine(target):
        programs.largest_of_rows[(1,)](x, value, index, 16, 64, programs.TILE)
    assert (value == x.max(1)).all() and (index == x.argmax(1)).all()


@on_every_engine
def test_sums_over_two_of_three_dimensions(target: str) -> None:
    x, y = floats(8, 4, 16), np.zeros(8, np.float32)
    layout = gl.BlockedLayout([1, 1, 4], [8, 1, 4], [1, 4, 1], [2, 1, 0])
    with engine(target):
        programs.sums_of_three[(1,)](x, y, 8, 4, 16, layout)
    np.testing.assert_allclose(y, x.sum((1, 2)), atol=1e-4)


@on_every_engine
def test_quantised_rows(target: str) -> None:
    x, q, scale = floats(16, 64), np.zeros((16, 64), np.int8), np.zeros(16, np.float32)
    with engine(target):
        programs.quantised_rows[(1,)](x, q, scale, 64, 16, programs.TILE)
    np.testing.assert_allclose(scale, np.abs(x).max(1) / 127, rtol=1e-5)
    assert np.abs(q * scale[:, None] - x).max() <= 0.51 * scale.max()


@on_every_engine
def test_rows_of_a_table(target: str) -> None:
    table, index, y = floats(40, 64), RNG.integers(0, 40, 16, dtype=np.int32), np.zeros((16, 64), np.float32)
    with engine(target):
        programs.rows_of_table[(1,)](table, index, y, 64, 16)
    assert (y == table[index]).all()


@on_every_engine
def test_linear_layouts(target: str) -> None:
    x, y = floats(16, 32), np.zeros((32, 16), np.float32)
    first = gl.DistributedLinearLayout(
        [[0, 1], [0, 2]], [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], [[4, 0], [8, 0]], [], [16, 32]
    )
    second = gl.DistributedLinearLayout(
        [[1, 0], [8, 0]], [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], [[0, 8], [0, 16]], [], [16, 32]
    )
    with engine(target):
        programs.in_linear_layout[(1,)](x, y, first, second)
    assert (y == 2 * x.T).all()


@on_every_engine
def test_cache_policies_change_no_value(target: str) -> None:
    x, y = floats(512), np.zeros(512, np.float32)
    with engine(target):
        programs.hinted_copy[(1,)](x, y, 512, programs.ROW)
    assert (x == y).all()


@on_every_engine
@pytest.mark.parametrize(
    "shared",
    [
        gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 32], [1, 0]),
        gl.SwizzledSharedLayout(4, 2, 4, [1, 0]),
        gl.SharedLinearLayout([[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 1], [2, 2], [4, 4], [8, 8], [16, 16]]),
        gl.SharedLinearLayout([[1, 1], [2, 2], [4, 4], [8, 8], [16, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]),
    ],
    ids=["padded", "swizzled", "linear", "diagonals"],
)
def test_transposes_through_shared_memory(target: str, shared: Any) -> None:
    x, y = floats(32, 32), np.zeros((32, 32), np.float32)
    with engine(target):
        programs.transpose_padded[(1,)](x, y, 32, programs.TILE, shared)
    assert (y == x.T).all()


@on_every_engine
def test_some_of_several_buffers(target: str) -> None:
    x, y = floats(5, 128), np.zeros((3, 128), np.float32)
    with engine(target):
        programs.last_slots[(1,)](x, y, 1, 128, programs.ROW, programs.LINE)
    assert (y == x[[3, 4, 2]]).all()


@on_every_engine
def test_a_histogram_of_programs(target: str) -> None:
    x, y = RNG.integers(0, 128, 1000, dtype=np.int32), np.zeros(128, np.int32)
    with engine(target):
        programs.histogram[(2,)](x, y, 1000, 256, 128, programs.ROW, programs.LINE)
    assert (y == np.bincount(x, minlength=128)).all()


@on_every_engine
@pytest.mark.parametrize("stages", [2, 3])
def test_a_product_in_stages_that_is_split(target: str, stages: int) -> None:
    a, b = floats(64, 128, dtype=np.float16), floats(128, 64, dtype=np.float16)
    c = np.zeros((64, 64), np.float32)
    with engine(target):
        programs.product_in_stages[(2, 2, 2)](
            a, b, c, 64, 128, 64, 32, stages, programs.TILE, gl.SwizzledSharedLayout(8, 2, 4, [1, 0])
        )
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=2e-2)


# -- Hopper -----------------------------------------------------------------------------------------------------------
@on_every_engine
def test_a_persistent_product_with_its_accumulator_in_a_record(target: str) -> None:
    a, b = floats(100, 160, dtype=np.float16), floats(160, 96, dtype=np.float16)
    c = np.zeros((100, 96), np.float16)
    with engine(target):
        programs.persistent_product[(2,)](described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64]), 2)
    np.testing.assert_allclose(c.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32), atol=0.1)


@on_every_engine
@pytest.mark.parametrize("keys", [64, 88])
def test_attention(target: str, keys: int) -> None:
    q, k, v = (floats(rows, 64, dtype=np.float16) for rows in (64, keys, keys))
    out = np.zeros((64, 64), np.float32)
    with engine(target):
        programs.attention[(1,)](
            described(q, [64, 64]), described(k, [32, 64]), described(v, [32, 64]), out, keys, 0.125, programs.TILE
        )
    q, k, v = (array.astype(np.float32) for array in (q, k, v))
    np.testing.assert_allclose(out, softmax(q @ k.T / 8) @ v, atol=1e-2)


@on_every_engine
def test_a_product_of_8_bit_floats(target: str) -> None:
    kind = ml_dtypes.float8_e4m3fn
    a, b, c = floats(64, 128, dtype=kind), floats(32, 128, dtype=kind), np.zeros((64, 32), np.float32)
    with engine(target):
        programs.narrow_product[(1,)](described(a, [64, 64]), described(b, [32, 64]), c, 64)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32).T, atol=0.3)


@on_every_engine
def test_boxes_are_added_up(target: str) -> None:
    x, y = floats(64, 32), np.zeros((16, 32), np.float32)
    with engine(target):
        programs.adds_up_rows[(4,)](described(x, [16, 32]), described(y, [16, 32]), programs.TILE)
    np.testing.assert_allclose(y, x.reshape(4, 16, 32).sum(0), atol=1e-4)


def test_a_message_between_programs() -> None:
    message, flag, y = np.zeros(256, np.float32), np.zeros(1, np.int32), np.zeros(256, np.float32)
    layout = gl.NVMMASharedLayout.get_default_for([256], gl.float32)
    programs.passes_messages[(2,)](TensorDescriptor.from_tensor(message, [256], layout), flag, y, programs.ROW)
    assert (y == 3 * np.arange(256)).all()


@on_every_engine
@pytest.mark.parametrize("warps", [4, 8])
def test_a_sum_by_three_groups_of_warps(target: str, warps: int) -> None:
    a, b, c = floats(40, 200), floats(40, 200), np.zeros((40, 200), np.float32)
    layout = gl.BlockedLayout([1, 4], [2, 16], [warps, 1], [1, 0])
    with engine(target):
        programs.sum_of_two[(2,)](
            described(a, [32, 64]), described(b, [32, 64]), described(c, [32, 64]), layout, num_warps=warps
        )
    assert (c == a + b).all()


# -- what is refused --------------------------------------------------------------------------------------------------
def test_what_only_blackwell_has_is_refused_by_name() -> None:
    assert programs.OnBlackwell.__name__ == "OnBlackwell"
    with pytest.raises(tilewright.CompilationError, match="`allocate_tensor_memory` needs Blackwell") as caught:
        programs.needs_blackwell[(1,)](np.zeros(64, np.float32), programs.ROW)
    assert "gluon_programs.py" in str(caught.value)
    memory = gl.nvidia.blackwell.TensorMemoryLayout([128, 64], col_stride=1)
    with pytest.raises(ValueError, match="`TensorMemoryLayout` needs Blackwell"):
        memory.format_tensor_view([128, 64])


AMD = gl.amd
MFMA, WMMA = AMD.AMDMFMALayout(3, [32, 32, 8], True, [2, 2]), AMD.AMDWMMALayout(3, False, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("kernel", "arguments", "name"),
    [
        (programs.lies_in_registers, (MFMA,), "AMDMFMALayout"),
        (programs.lies_in_registers, (WMMA,), "AMDWMMALayout"),
        (programs.lies_in_a_slice, (MFMA,), "AMDMFMALayout"),
        (
            programs.lies_in_shared_memory,
            (AMD.cdna5.PartitionedSharedLayout(2, 2, 0, gl.SwizzledSharedLayout(1, 1, 1, [1, 0])),),
            "PartitionedSharedLayout",
        ),
        (programs.loads_by_buffer, (), "buffer_load"),
        (programs.has_pipelined_warps, (), "warp_pipeline_stage"),
        (programs.moves_tensors, (), "async_wait"),
    ],
)
@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "reference"])
def test_what_only_amd_has_is_refused_by_name(kernel: Any, arguments: tuple[Any, ...], name: str, target: str) -> None:
    with knobs.scope(target=target), pytest.raises(Exception, match=f"`{name}` needs one of AMD's GPUs") as caught:
        kernel[(1,)](np.zeros(64, np.float32), *arguments)
    assert "gluon_programs.py" in str(caught.value)


def test_layouts_of_amd_are_values() -> None:
    """Programs make them whatever the GPU is, and others of them."""
    assert AMD.AMDMFMALayout(3, [32, 32, 8], True, [2, 2], 32, [1, 1]) == MFMA and len({MFMA, WMMA}) == 2
    assert MFMA.rank == WMMA.rank == 2 and WMMA.instr_shape == [16, 16, 16]
    assert gl.DotOperandLayout(0, MFMA, 8).parent == MFMA and gl.SliceLayout(1, WMMA).rank == 1
    for layout, wrong in ((MFMA, {"version": 5}), (MFMA, {"instr_shape": [8, 8, 8]}), (MFMA, {"element_bitwidth": 16}),
                          (WMMA, {"version": 4}), (WMMA, {"warp_bases": [[1]]})):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(wrong))):
            replace(layout, **wrong)
    with pytest.raises(ValueError, match="`AMDMFMALayout` needs one of AMD's GPUs"):
        MFMA.format_tensor_view([32, 32])
    with pytest.raises(ValueError, match="`TensorDescriptor` needs one of AMD's GPUs"):
        gluon.amd.gfx1250.TensorDescriptor.from_tensor(np.zeros(4), [4], None)


@pytest.mark.parametrize("on_blackwell", [False, True])
def test_layouts_of_blackwell_are_passed_to_kernels_for_several_gpus(on_blackwell: bool) -> None:
    x, memory = np.zeros(64, np.float32), gl.nvidia.blackwell.TensorMemoryLayout([128, 64], col_stride=1)
    if not on_blackwell:
        programs.for_several_gpus[(1,)](x, programs.ROW, memory, on_blackwell)
        assert (x == 1).all()
        return
    with pytest.raises(tilewright.CompilationError, match="`allocate_tensor_memory` needs Blackwell"):
        programs.for_several_gpus[(1,)](x, programs.ROW, memory, on_blackwell)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gl.CachePolicy(cache_modifier=".xx"), "Unsupported cache modifier 'xx'"),
        (lambda: gl.nvidia.hopper.CachePolicy(l1="first"), "Unsupported L1 eviction priority 'first'"),
        (lambda: gl.nvidia.hopper.FractionalEvictionPolicy("evict_first", 1.5), r"must be in \(0, 1\], got 1.5"),
        (lambda: gl.nvidia.hopper.CachePolicy(), "requires a cache modifier"),
    ],
)
def test_policies_that_say_nothing(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
