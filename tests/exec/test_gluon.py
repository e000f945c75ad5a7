"""Gluon: kernels on the simulated GPU, their IR against official Triton's, and what is refused."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import gluon_texts
import numpy as np
import pytest

import tilewright
from suite import official_packages
from tilewright import compat, gluon
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.compiler.stages import lower
from tilewright.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col
from tilewright.ir.printing import print_op
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia import ampere, hopper
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError, PassError
from tilewright.targets.cuda.target import CudaTarget

HERE = Path(__file__).resolve().parent
with compat.standing_in():
    import gluon_kernels as kernels

ROW, OTHER = gl.BlockedLayout([1], [32], [4], [0]), gl.BlockedLayout([2], [32], [4], [0])
CASES = [pytest.param(case, id=case.name) for case in kernels.CASES]
DESCRIBED = {"add_one_by_tma", "product_v3", "roles"}
RNG = np.random.default_rng(5)


pytestmark = pytest.mark.usefixtures("a_gpu")


def floats(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


ENGINES = ["cpu", "gpu", "reference"]


def engine(target: str) -> Any:
    """The engine that a test names; `gpu` is the one that this file's tests run on."""
    return nullcontext() if target == "gpu" else knobs.scope(target=target)


# -- results ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("layout", [kernels.ROW, kernels.WIDE], ids=["narrow", "wide"])
def test_a_vector_in_two_layouts(layout: Any) -> None:
    x, y = floats(1000), np.zeros(1000, np.float32)
    kernels.scale[(2,)](x, y, 1000, 512, layout)
    assert (y == 2 * x).all()


def test_a_layout_that_follows_from_addresses() -> None:
    x, y = floats(1000), np.zeros(1000, np.float32)
    kernels.scale_coalesced[(1,)](x, y, 1000, 1024)
    assert (y == 2 * x).all()
    (source,) = (case for case in kernels.CASES if case.name == "scale_coalesced")
    assert "sizePerThread = [4]" in compiled(source)


@gluon.jit
def copies_where_both_are_coalesced(x_ptr, y_ptr, rows, ROWS: gl.constexpr, COLUMNS: gl.constexpr):
    indices = gl.arange(0, ROWS * COLUMNS, gl.AutoLayout()).reshape([ROWS, COLUMNS])
    mask = indices < rows * COLUMNS
    x = gl.load(gl.set_auto_layout(x_ptr + indices, gl.CoalescedLayout()), mask=mask)
    coalesced = gl.set_auto_layout(mask, gl.CoalescedLayout())
    gl.store(gl.set_auto_layout(y_ptr + indices, gl.CoalescedLayout()), x, mask=coalesced)


@pytest.mark.parametrize("target", ENGINES)
def test_a_layout_that_follows_from_addresses_through_a_reshape(target: str) -> None:
    x, y = floats(16, 64), np.zeros((16, 64), np.float32)
    with engine(target):
        copies_where_both_are_coalesced[(1,)](x, y, 13, 16, 64)
    np.testing.assert_array_equal(y, np.where(np.arange(16)[:, None] < 13, x, 0))


def test_layouts_that_follow_from_one() -> None:
    x, y = floats(16, 64), np.zeros((16, 64), np.float32)
    kernels.centre_rows[(1,)](x, y, 16, 64, kernels.TILE)
    np.testing.assert_allclose(y, x - x.mean(1, keepdims=True), atol=1e-5)


@gluon.jit
def splits(x_ptr, y_ptr, N: gl.constexpr, layout: gl.constexpr):
    offsets = gl.arange(0, 2 * N, layout=layout)
    even, odd = gl.split(gl.reshape(gl.load(x_ptr + offsets), [N, 2]))
    difference = gl.convert_layout(even - odd, layout)
    gl.store(y_ptr + gl.arange(0, N, layout=layout), difference)


def test_scan_join_and_split() -> None:
    x, y = floats(256), np.zeros(256, np.float32)
    kernels.running_sums[(1,)](x, y, 256, kernels.ROW)
    np.testing.assert_allclose(y, np.where(x > 0, 1, -1) * np.cumsum(x), atol=1e-4)
    y = np.zeros((256, 2), np.float32)
    kernels.interleave[(1,)](x, y, 256, kernels.ROW)
    assert (y == np.stack([x, x + 1], 1)).all()
    splits[(1,)](x, y, 128, OTHER)
    assert (y.reshape(-1)[:128] == x[::2] - x[1::2]).all()


def test_transposes() -> None:
    x, y = floats(32, 64), np.zeros((64, 32), np.float32)
    kernels.transpose[(1,)](x, y, 32, 64, kernels.TILE, kernels.TURNED)
    assert (y == x.T).all()
    x, y = floats(32, 32), np.zeros((32, 32), np.float32)
    kernels.transpose_in_memory[(1,)](x, y, 32, kernels.TILE, kernels.SWIZZLED)
    assert (y == x.T).all()


def test_views_of_a_buffer() -> None:
    x, y = floats(512), np.zeros(512, np.float32)
    kernels.halves[(1,)](x, y, 256, kernels.ROW, kernels.PLAIN)
    assert (y == np.concatenate([x[256:], x[:256]])).all()


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("shared", [kernels.SWIZZLED, kernels.PADDED], ids=["swizzled", "padded"])
def test_elements_at_run_time_indices(target: str, shared: Any) -> None:
    x, index = floats(32, 64), RNG.integers(0, 64, (32, 64), dtype=np.int32)
    y = np.zeros((32, 64), np.float32)
    with engine(target):
        kernels.picks[(1,)](x, index, y, 32, 64, kernels.TILE, shared)
    assert (y == np.take_along_axis(x, index, 1)[::-1]).all()


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("layout", [kernels.ROW, kernels.WIDE], ids=["narrow", "wide"])
def test_counts_in_shared_memory(target: str, layout: Any) -> None:
    x = RNG.integers(0, 32, 512, dtype=np.int32)
    old, y = np.full(512, -1, np.int32), np.zeros(32, np.int32)
    with engine(target):
        kernels.counts[(1,)](x, old, y, 512, 32, layout, kernels.PLAIN)
    counted = np.bincount(x, minlength=32)
    counted[31] = 0
    assert (y == counted).all()
    for number in range(31):
        assert sorted(old[x == number]) == list(range(counted[number])), number


@pytest.mark.parametrize("target", ENGINES)
def test_every_atomic_of_shared_memory(target: str) -> None:
    x, index = RNG.integers(-99, 99, 128, dtype=np.int32), RNG.integers(0, 16, 128, dtype=np.int32)
    y = np.zeros((8, 16), np.int32)
    with engine(target):
        kernels.extremes[(1,)](x, index, y, 128, kernels.ROW, kernels.PLAIN)
    expected = np.full((8, 16), 12, np.int32)
    updates = (np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.bitwise_xor, None, np.add)
    for row, update in enumerate(updates):
        if update is None:
            expected[row, index] = index
        else:
            update.at(expected[row], index, x)
    assert (y == expected).all()


@gluon.jit
def picks_from_pairs(y_ptr, i_ptr, axis: gl.constexpr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [16, 16], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    rows = gl.arange(0, 32, gl.SliceLayout(1, layout))[:, None]
    gl.store(y_ptr + rows, buffer.gather(rows + gl.load(i_ptr), axis))


@gluon.jit
def adds_other_types(y_ptr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [32], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    offsets = gl.arange(0, 32, layout)
    buffer.atomic_scatter_add(offsets, offsets, 0)


@gluon.jit
def largest_float(y_ptr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [32], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    buffer.atomic_scatter_max(gl.zeros([32], gl.float32, layout), gl.arange(0, 32, layout), 0)


@pytest.mark.parametrize(
    ("kernel", "arguments", "message"),
    [
        (picks_from_pairs, (np.zeros(1, np.int32), 2, kernels.TILE), "axis 2 is out of bounds for a buffer of rank 2"),
        (picks_from_pairs, (np.zeros(1, np.int32), 1, kernels.TILE), "32 indices along dimension 0 are too many"),
        (picks_from_pairs, (np.zeros(1, np.float32), 0, kernels.TILE), "indices must have integer dtype, got fp32"),
        (adds_other_types, (ROW,), "values element type must match destination element type: got int32 and fp32"),
        (largest_float, (ROW,), "atomic_scatter_max does not support dtype fp32"),
    ],
)
def test_accesses_by_index_that_do_not_fit(kernel: Any, arguments: Any, message: str) -> None:
    with pytest.raises(tilewright.CompilationError, match=message) as caught:
        kernel[(1,)](np.zeros(32, np.int32), *arguments)
    assert Path(__file__).name in str(caught.value) and "buffer." in str(caught.value)


def test_an_index_outside_of_the_buffer() -> None:
    with knobs.scope(target="reference"), pytest.raises(tilewright.TilewrightError, match="index 20 is outside"):
        picks_from_pairs[(1,)](np.zeros(32, np.int32), np.full(1, 20, np.int32), 0, kernels.TILE)


def test_copies_that_run_ahead() -> None:
    x, y = floats(6, 256), np.zeros(256, np.float32)
    kernels.rows_ahead[(1,)](x, y, 5, 256, kernels.WIDE, kernels.PLAIN)
    np.testing.assert_allclose(y, x[:5].sum(0), atol=1e-5)


def test_a_product_of_warps() -> None:
    a, b, c = floats(64, 64, dtype=np.float16), floats(64, 64, dtype=np.float16), np.zeros((64, 64), np.float32)
    kernels.product_v2[(1,)](a, b, c, 64, kernels.TILE)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)


def described(array: Any, block: list[int]) -> TensorDescriptor:
    element = {np.dtype(np.float16): gl.float16, np.dtype(np.float32): gl.float32}[array.dtype]
    return TensorDescriptor.from_tensor(array, block, kernels.box(block, element))


def test_boxes_in_and_out() -> None:
    x, y = floats(50, 64), np.zeros((50, 64), np.float32)
    kernels.add_one_by_tma[(2,)](described(x, [32, 64]), described(y, [32, 64]), kernels.TILE)
    assert (y == x + 1).all()


def rounded_to_tf32(values: Any) -> Any:
    """Ten bits of mantissa, to nearest even."""
    scale = np.exp2(np.floor(np.log2(np.abs(values))) - 10)
    return (np.rint(values / scale) * scale).astype(np.float32)


@pytest.mark.parametrize("target", ENGINES)
def test_boxes_rounded_to_tf32(target: str) -> None:
    x, y = floats(32, 32), np.zeros((32, 32), np.float32)
    x[0, :3] = 1 + 2.0**-11, 1 + 3 * 2.0**-11, -2 + 2.0**-12  # halves, and one that becomes -2
    expected = rounded_to_tf32(x)
    x[1, :2] = expected[1, :2] = np.inf, np.nan
    layout = kernels.box([32, 32], gl.float32)
    rounding = TensorDescriptor.from_tensor(x, [32, 32], layout, round_f32_to_tf32=True)
    with engine(target):
        kernels.copy_box[(1,)](rounding, described(y, [32, 32]))
        np.testing.assert_array_equal(y, expected)
        kernels.copy_box[(1,)](described(x, [32, 32]), described(y, [32, 32]))
        np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize(("rows", "columns", "dim"), [(32, 32, 0), (8, 32, 0), (32, 32, 1), (16, 64, 1), (128, 32, 0)])
def test_boxes_in_parts_of_a_buffer(target: str, rows: int, columns: int, dim: int) -> None:
    x, y = floats(rows, columns), np.zeros((2 * rows, columns), np.float32)
    with engine(target):
        kernels.copy_by_parts[(1,)](described(x, [rows, columns]), described(y, [rows, columns]), dim, kernels.TILE)
    np.testing.assert_array_equal(y, np.concatenate([x, x + 1]))


def pixels_from(x: Any, start: Any, offsets: Any, corners: Any, steps: Any, shape: Any, fill: float) -> Any:
    """Pixels one after the other: after the last column of a row comes the next row, and so on."""
    (lower, upper), (count, channels) = corners, shape
    *place, channel = start
    found = np.full(shape, fill, x.dtype)
    for row in range(count):
        pixel = (place[0], *(index + offset for index, offset in zip(place[1:], offsets, strict=True)))
        if all(0 <= index < extent for index, extent in zip(pixel, x.shape, strict=False)):
            present = x[pixel][channel : channel + channels]
            found[row, : len(present)] = present
        for dim in reversed(range(len(lower))):
            place[1 + dim] += steps[dim]
            if place[1 + dim] < x.shape[1 + dim] + upper[dim]:
                break
            place[1 + dim] = lower[dim]
        else:
            place[0] += 1
    return found


WALKS = [
    pytest.param((3, 4, 5, 32), (0, 1, 3, 0), (0, 0), ((0, 0), (0, 0)), (1, 1), (32, 32), "zero", id="images"),
    pytest.param((2, 5, 6, 64), (0, -1, -1, 32), (2, 1), ((-1, -1), (-1, -1)), (1, 1), (64, 32), "nan", id="filter"),
    pytest.param((2, 5, 6, 64), (1, -1, 0, 0), (0, 1), ((-1, -2), (0, -1)), (2, 3), (16, 64), "zero", id="strided"),
    pytest.param((2, 9, 40), (0, 2, 16), (1,), ((-1,), (0,)), (1,), (16, 32), "zero", id="1d"),
    pytest.param(
        (2, 3, 3, 4, 8), (0, 0, -1, 0, 0), (1, 0, 1), ((0, -1, 0), (0, 0, -1)), (1, 1, 2), (32, 8), "zero", id="3d"
    ),
]


@pytest.mark.parametrize("target", ["gpu", "reference"])
@pytest.mark.parametrize(("shape", "start", "offsets", "corners", "steps", "block", "padding"), WALKS)
def test_pixels_of_images(
    target: str, shape: Any, start: Any, offsets: Any, corners: Any, steps: Any, block: Any, padding: str
) -> None:
    x, y = floats(*shape), np.zeros(block, np.float32)
    layout = kernels.box(block, gl.float32)
    images = TensorDescriptorIm2Col.from_tensor(
        x,
        block,
        layout,
        padding=padding,
        element_strides=[1, *steps, 1],
        pixel_box_lower_corner=corners[0],
        pixel_box_upper_corner=corners[1],
    )
    with engine(target):
        kernels.copy_pixels[(1,)](images, described(y, list(block)), start, offsets)
    fill = np.nan if padding == "nan" else 0
    np.testing.assert_array_equal(y, pixels_from(x, start, offsets, corners, steps, block, fill))


def test_pixels_on_a_cpu_are_an_error_that_says_so() -> None:
    x, y = floats(1, 4, 4, 32), np.zeros((16, 32), np.float32)
    layout = kernels.box([16, 32], gl.float32)
    corners = {"pixel_box_lower_corner": [0, 0], "pixel_box_upper_corner": [0, 0]}
    images = TensorDescriptorIm2Col.from_tensor(x, [16, 32], layout, **corners)
    with engine("cpu"), pytest.raises(PassError, match="a CPU has no copies of pixels"):
        kernels.copy_pixels[(1,)](images, described(y, [16, 32]), (0, 0, 0, 0), (0, 0))


@pytest.mark.parametrize(
    ("shape", "block", "changes", "message"),
    [
        ((4, 32), [16, 32], {}, "rank 2"),
        ((1, 4, 4, 32), [4, 4, 32], {}, "a block of rank 3"),
        ((1, 4, 4, 32), [12, 32], {}, "a block of 12"),
        ((1, 4, 4, 32), [16, 32], {"pixel_box_lower_corner": [0]}, r"pixel_box_lower_corner=\[0\]; expected 2 numbers"),
        ((1, 4, 4, 32), [16, 32], {"pixel_box_upper_corner": [0, 128]}, "a number from -128 to 127"),
        ((1, 4, 4, 32), [16, 32], {"element_strides": [1, 9, 1, 1]}, "an element stride of 9; expected 1 to 8"),
        ((1, 4, 4, 32), [16, 32], {"element_strides": [2, 1, 1, 1]}, "an element stride of images of 2"),
        ((1, 4, 4, 32), [16, 32], {"element_strides": [1, 1, 1, 2]}, "an element stride of channels of 2"),
    ],
)
def test_pixels_that_hardware_does_not_take(shape: Any, block: Any, changes: Any, message: str) -> None:
    layout = gl.NVMMASharedLayout(128, 32, rank=len(block))
    given = {"pixel_box_lower_corner": [0, 0], "pixel_box_upper_corner": [0, 0], **changes}
    with pytest.raises(ArgumentValueError, match=message):
        TensorDescriptorIm2Col.from_tensor(floats(*shape), block, layout, **given)


def test_fences_that_the_kernel_leaves_out() -> None:
    x, y = floats(64, 64), np.zeros((64, 64), np.float32)
    compiled = kernels.rows_without_fences[(1,)](x, described(y, [32, 64]), kernels.TILE)
    assert np.array_equal(y, 2 * x)
    assert compiled.asm["ptx"].count("fence.proxy.async") == 1


def test_a_product_of_warp_groups() -> None:
    a, b, c = floats(64, 192, dtype=np.float16), floats(192, 128, dtype=np.float16), np.zeros((64, 128), np.float16)
    kernels.product_v3[(1, 2)](described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64]), 192)
    np.testing.assert_allclose(c.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32), atol=0.1)


@pytest.mark.parametrize("target", ["reference", "gpu"])
def test_different_work_for_different_warps(target: str) -> None:
    x, y = floats(5, 128), np.zeros(128, np.float32)
    with knobs.scope(target="reference") if target == "reference" else nullcontext():
        kernels.roles[(1,)](described(x, [1, 128]), y, 5, kernels.LINE)
    np.testing.assert_allclose(y, x.sum(0), atol=1e-5)


# -- without threads --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_kernels_on_registers_run_without_a_gpu(target: str) -> None:
    with knobs.scope(target=target):
        x, y = floats(1000), np.zeros(1000, np.float32)
        kernels.scale[(2,)](x, y, 1000, 512, kernels.WIDE)
        assert (y == 2 * x).all()
        kernels.scale_coalesced[(1,)](x, y := np.zeros(1000, np.float32), 1000, 1024)
        assert (y == 2 * x).all()
        x, y = floats(16, 64), np.zeros((16, 64), np.float32)
        kernels.centre_rows[(1,)](x, y, 16, 64, kernels.TILE)
        np.testing.assert_allclose(y, x - x.mean(1, keepdims=True), atol=1e-5)
        x, y = floats(32, 64), np.zeros((64, 32), np.float32)
        kernels.transpose[(1,)](x, y, 32, 64, kernels.TILE, kernels.TURNED)
        assert (y == x.T).all()
        a, c = floats(64, 64, dtype=np.float16), np.zeros((64, 64), np.float32)
        kernels.product_v2[(1,)](a, a, c, 64, kernels.TILE)
        np.testing.assert_allclose(c, a.astype(np.float32) @ a.astype(np.float32), atol=1e-2)


@gluon.jit
def counts_warps(y_ptr, layout: gl.constexpr):
    gl.barrier()
    gl.store(y_ptr + gl.arange(0, 256, layout=layout), gl.num_warps())


@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "reference"])
@pytest.mark.parametrize("warps", [4, 8])
def test_the_number_of_warps_is_that_of_the_launch(target: str, warps: int) -> None:
    y = np.zeros(256, np.int32)
    with knobs.scope(target=target):
        counts_warps[(1,)](y, gl.BlockedLayout([1], [32], [warps], [0]), num_warps=warps)
    assert (y == warps).all()


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    page = (HERE.parents[1] / "docs" / "gluon.md").read_text()
    file = tmp_path / "page.py"
    file.write_text("\n\n".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)))
    with knobs.scope(target=""):
        runpy.run_path(str(file))


# -- official Triton's IR ---------------------------------------------------------------------------------------------
@cache
def official_texts() -> dict[str, str]:
    """TTGIR by kernel, from a process of official Triton's own."""
    environment = official_packages.environment(official_packages.NEWEST)
    environment["PYTHONPATH"] = os.pathsep.join([environment["PYTHONPATH"], str(HERE)])
    command = [sys.executable, "-W", "ignore", str(HERE / "gluon_official.py")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(answer.stdout)


def compiled(case: kernels.Case) -> str:
    """Our TTGIR."""
    names = case.kernel.arg_names
    attrs = {(names.index(n),): [("tt.divisibility", 16)] for n, kind in case.signature.items() if kind.startswith("*")}
    source = ASTSource(case.kernel, case.signature, case.constants, attrs)
    *_, (_, module) = lower(source, CompileOptions(arch=90), CudaTarget(90))
    return print_op(module)


@pytest.mark.costly
@pytest.mark.needs("triton-3.9")
@pytest.mark.parametrize("case", CASES)
def test_ttgir_is_that_of_official_triton(case: kernels.Case) -> None:
    ours, theirs = compiled(case), official_texts()[case.name]
    assert gluon_texts.attributes_of(ours) == gluon_texts.attributes_of(theirs)
    assert gluon_texts.meaning_of(ours) == gluon_texts.meaning_of(theirs)


# -- what is refused --------------------------------------------------------------------------------------------------
@gluon.jit
def adds_two_layouts(x_ptr, first: gl.constexpr, second: gl.constexpr):
    a = gl.arange(0, 256, layout=first)
    b = gl.arange(0, 256, layout=second)
    gl.store(x_ptr + a, a + b)


def test_operands_in_two_layouts_are_both_drawn() -> None:
    with pytest.raises(tilewright.CompilationError, match="Layout mismatch in broadcast") as caught:
        adds_two_layouts[(1,)](np.zeros(256, np.int32), ROW, OTHER)
    text = str(caught.value)
    assert "a + b" in text and "left operand, 256" in text and "T0:0 T1:0" in text and "T0:0 T0:1" in text


@gluon.jit
def ambiguous(x_ptr, first: gl.constexpr, second: gl.constexpr):
    a = gl.arange(0, 256)
    gl.store(x_ptr + gl.set_auto_layout(a, first), 1)
    gl.store(x_ptr + gl.set_auto_layout(a, second), 1)


@gluon.jit
def undecided(x_ptr):
    gl.store(x_ptr + gl.arange(0, 256), 1)


def test_an_ambiguous_layout() -> None:
    with pytest.raises(tilewright.TilewrightError, match="the layout is ambiguous") as caught:
        ambiguous[(1,)](np.zeros(256, np.int32), ROW, OTHER)
    assert "one, 256" in str(caught.value) and "other, 256" in str(caught.value)
    assert Path(__file__).name in str(caught.value)
    with pytest.raises(tilewright.TilewrightError, match="nothing that the tensor is used with has one"):
        undecided[(1,)](np.zeros(256, np.int32))


@gluon.jit
def one_layout(x_ptr, layout: gl.constexpr):
    gl.store(x_ptr + gl.arange(0, 256, layout=layout), 1)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (gl.BlockedLayout([1], [32], [8], [0]), "the layout is for 8 warps per CTA, where 4 run"),
        (gl.BlockedLayout([1], [16], [4], [0]), "the layout is for 16 threads per warp, where 32 run"),
        (gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]), "cannot have a layout of rank 2"),
        (gl.SwizzledSharedLayout(1, 1, 1, [0]), "a layout of shared memory"),
        (3, "expected a distributed layout"),
    ],
)
def test_a_layout_that_does_not_fit(layout: Any, message: str) -> None:
    with pytest.raises(tilewright.CompilationError, match=message) as caught:
        one_layout[(1,)](np.zeros(256, np.int32), layout)
    assert "gl.arange(0, 256, layout=layout)" in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gl.BlockedLayout([1, 1], [32], [4], [0]), "one rank"),
        (lambda: gl.BlockedLayout([3], [32], [4], [0]), "powers of two"),
        (lambda: gl.BlockedLayout([1], [32], [4], [1]), "permutation"),
        (lambda: gl.NVMMASharedLayout(48, 16), "0, 32, 64 or 128"),
        (lambda: gl.SliceLayout(2, gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])), "out of range"),
        (lambda: gl.DotOperandLayout(2, gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8]), 2), "0 or 1"),
        (lambda: gl.NVMMADistributedLayout([5, 0], [4, 1], [16, 8]), r"\[3, 0\]"),
        (lambda: gl.DistributedLinearLayout([[1]], [[4]] * 5, [[0]] * 2, [], [8]), "do not reach"),
    ],
)
def test_fields_that_are_no_layout(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@gluon.jit
def expands(x_ptr, layout: gl.constexpr):
    rows = gl.arange(0, 32, layout=layout)
    gl.store(x_ptr + rows[:, None], 1)


def test_expand_dims_needs_a_slice() -> None:
    with pytest.raises(tilewright.CompilationError, match="expected expand_dims input to have a SliceLayout"):
        expands[(1,)](np.zeros(32, np.int32), ROW)
    sliced = gl.SliceLayout(0, gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
    with pytest.raises(tilewright.CompilationError, match="sliced in axis 1 but got 0"):
        expands[(1,)](np.zeros(32, np.int32), sliced)


@gluon.jit
def stores_too_much(x_ptr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    buffer.store(gl.arange(0, 256, layout=layout))


@gluon.jit
def waits_for_several(x_ptr):
    hopper.mbarrier.wait(hopper.mbarrier.allocate_mbarrier(batch=2), 0)


@gluon.jit
def multiplies_blocks(x_ptr, layout: gl.constexpr):
    a = gl.zeros([64, 64], gl.float16, layout)
    ampere.mma_v2(a, a, a)


@pytest.mark.parametrize(
    ("kernel", "arguments", "message"),
    [
        (stores_too_much, (ROW,), r"source shape \[256\] and destination shape \[128\] must match"),
        (waits_for_several, (), "must be one barrier"),
        (multiplies_blocks, (kernels.TILE,), "acc must have a NVMMADistributedLayout"),
    ],
)
def test_operands_that_do_not_fit(kernel: Any, arguments: Any, message: str) -> None:
    with pytest.raises(tilewright.CompilationError, match=message):
        kernel[(1,)](np.zeros(256, np.int32), *arguments)


def test_descriptors_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="a layout of 16 bits"):
        TensorDescriptor.from_tensor(floats(64, 64), [32, 64], gl.NVMMASharedLayout(128, 16))
    with pytest.raises(ValueError, match="rows of 16 elements"):
        TensorDescriptor.from_tensor(floats(64, 64), [32, 16], gl.NVMMASharedLayout(128, 32))


def test_layouts_are_drawn() -> None:
    assert "T0:0  T0:1  T1:0" in OTHER.format_tensor_view([256])
    for layout in (gl.AutoLayout(), gl.CoalescedLayout()):
        with pytest.raises(ValueError, match=f"{type(layout).__name__} cannot be visualized"):
            layout.format_tensor_view([256])
    assert "lane  1: (2,) (3,)" in OTHER.format_hardware_view([256])
    assert "b1 @1" in gl.SwizzledSharedLayout(1, 1, 1, [0]).format_tensor_view([32])


BYTES_BY_ROWS = gl.BlockedLayout([1, 1], [32, 1], [4, 1], [0, 1])
BY_COLUMNS = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
VECTORS = gl.BlockedLayout([1, 2], [4, 8], [4, 1], [1, 0])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])


@gluon.jit
def counts_conflicts(out_ptr, tensor: gl.constexpr, buffer: gl.constexpr, layout: gl.constexpr):
    number: gl.constexpr = gl.bank_conflicts(tensor, buffer)
    gl.store(out_ptr + gl.arange(0, 128, layout), gl.full([128], number, gl.int32, layout))


@pytest.mark.parametrize(
    ("dtype", "shape", "layout", "shared", "conflicts"),
    [
        (gl.float32, [128, 32], BY_COLUMNS, PLAIN, 0),
        (gl.float32, [128, 32], BYTES_BY_ROWS, PLAIN, 7),
        (gl.float16, [64, 64], BYTES_BY_ROWS, gl.SwizzledSharedLayout(8, 1, 8, [1, 0]), 0),
        (gl.int8, [64, 64], BYTES_BY_ROWS, PLAIN, 3),
        (gl.float32, [64, 64], VECTORS, gl.SwizzledSharedLayout(4, 2, 4, [1, 0]), 1),
        (gl.float32, [64, 32], gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]), PLAIN, 3),
        (gl.float32, [64, 64], BYTES_BY_ROWS, gl.PaddedSharedLayout.with_identity_for([[64, 1]], [64, 64], [1, 0]), 0),
    ],
)
def test_bank_conflicts_are_counted(dtype: Any, shape: Any, layout: Any, shared: Any, conflicts: int) -> None:
    """The numbers of official Triton 3.9, but for the padded buffer, whose layout it does not take. Kernels that differ
    in the layout of a type alone are kernels of their own."""
    out = np.zeros(128, np.int32)
    types = gl.distributed_type(dtype, shape, layout), gl.shared_memory_descriptor_type(dtype, shape, shared, shape)
    counts_conflicts[(1,)](out, *types, ROW)
    assert (out == conflicts).all(), out[0]


def test_bank_conflicts_of_what_does_not_fit() -> None:
    tensor = gl.distributed_type(gl.float32, [32, 32], BY_COLUMNS)
    for shape, dtype, message in (([64, 32], gl.float32, "must match"), ([32, 32], gl.float16, "mismatched dtypes")):
        buffer = gl.shared_memory_descriptor_type(dtype, shape, PLAIN, shape)
        with pytest.raises(tilewright.CompilationError, match=message):
            counts_conflicts[(1,)](np.zeros(128, np.int32), tensor, buffer, ROW)


@gluon.jit
def copies_pixels(x_ptr):
    hopper.tma.async_load_im2col(x_ptr, [0, 0, 0, 0], [0, 0], x_ptr, x_ptr)  # not from a descriptor of pixels


@gluon.jit
def stores_elsewhere(x_ptr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    value = gl.arange(0, 128, layout)
    hopper.async_store(buffer, value, hopper.mbarrier.allocate_mbarrier())


@pytest.mark.parametrize(
    ("kernel", "arguments", "message"),
    [
        (copies_pixels, (), r"`tensor_desc` must be a descriptor of pixels"),
        (stores_elsewhere, (ROW,), "async_store needs a cluster of at least two CTAs"),
    ],
)
def test_what_is_not_supported_is_named(kernel: Any, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(tilewright.CompilationError, match=message) as caught:
        kernel[(1,)](np.zeros(128, np.int32), *arguments)
    assert "hopper." in str(caught.value)
