"""Layouts of shared memory: offsets by formula, and official Triton's own reading of them where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import (
    NvmmaSharedLayout,
    PaddedSharedLayout,
    SharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)

quick = settings(deadline=None, max_examples=60)


def swizzled_offset(layout: SwizzledSharedLayout, shape: Sequence[int], r: int, c: int) -> int:
    columns, vec = shape[layout.order[0]], layout.vec
    phase = (r // layout.per_phase) % layout.max_phase
    return r * columns + (((c // vec) ^ phase) * vec % columns + c % vec if vec <= columns else c)


@quick
@given(st.data())
def test_swizzled_formula(data: st.DataObject) -> None:
    powers = st.sampled_from([1, 2, 4, 8])
    order = data.draw(st.sampled_from([(1, 0), (0, 1)]))
    layout = SwizzledSharedLayout(data.draw(powers), data.draw(powers), data.draw(powers), order)
    shape = tuple(data.draw(st.sampled_from([8, 16, 32])) for _ in range(2))
    offsets = layout.offsets(shape)
    for at in np.ndindex(*shape):
        assert offsets[at] == swizzled_offset(layout, shape, at[order[1]], at[order[0]])


@pytest.mark.parametrize("swizzle", [32, 64, 128])
@pytest.mark.parametrize("element_bits", [8, 16, 32])
@pytest.mark.parametrize("transposed", [False, True])
def test_nvmma_formula(swizzle: int, element_bits: int, transposed: bool) -> None:
    layout = NvmmaSharedLayout(swizzle, transposed, element_bits)
    size = element_bits // 8
    vec, per_phase, max_phase, tile_columns = 16 // size, 128 // swizzle, swizzle // 16, swizzle // size
    shape = (4 * tile_columns, 32) if transposed else (32, 4 * tile_columns)
    rows = 32
    offsets = layout.offsets(shape)
    for at in np.ndindex(*shape):
        r, c = (at[1], at[0]) if transposed else at
        b, cc = divmod(c, tile_columns)
        swizzled = ((cc // vec) ^ ((r // per_phase) % max_phase)) * vec + cc % vec
        assert offsets[at] == b * rows * tile_columns + r * tile_columns + swizzled


def test_nvmma_special_cases() -> None:
    deep = NvmmaSharedLayout(128, False, 16, rank=3).to_linear((4, 4, 64))
    assert deep.bases_of("offset")[8] == (1, 0, 32)
    plain = NvmmaSharedLayout(0, True, 16).offsets((16, 16))
    assert plain.tolist() == np.arange(256).reshape(16, 16).tolist()
    boxes = NvmmaSharedLayout(0, False, 16).offsets((512, 512))
    assert boxes[1, 0] == 256 and boxes[256, 0] == 256 * 256 and boxes[0, 256] == 512 * 256
    tall = NvmmaSharedLayout(128, True, 16).offsets((128, 512))
    assert tall[0, 256] == 128 * 256 and tall[64, 0] == 64 * 256
    with pytest.raises(ValueError, match="smaller than the swizzle's 8 rows of 64 elements"):
        NvmmaSharedLayout(128, False, 16).to_linear((4, 64))


def test_alignment_and_sizes() -> None:
    assert [NvmmaSharedLayout(s, False, 16).alignment() for s in (128, 64, 32, 0)] == [1024, 512, 256, 128]
    assert NvmmaSharedLayout(64, False, 16).num_elements((32, 64)) == 2048
    assert PaddedSharedLayout.ordered([(32, 4)], (1, 0), (16, 32)).num_elements((16, 32)) == 512 + 15 * 4
    assert PaddedSharedLayout.ordered([(32, 4), (64, 8)], (1, 0), (16, 32)).num_elements((16, 32)) == 512 + 60 + 56
    assert NvmmaSharedLayout(128, False, 8, fp4_padded=True).num_elements((32, 64)) == 2 * 32 * 64
    assert SharedLinearLayout(((1,), (2,)), (), 1, 32).alignment() == 32


def test_padded_offsets() -> None:
    layout = PaddedSharedLayout.ordered([(32, 4), (64, 8)], (1, 0), (16, 32))
    offsets = layout.offsets((16, 32))
    for r, c in np.ndindex(16, 32):
        linear = r * 32 + c
        assert offsets[r, c] == linear + linear // 32 * 4 + linear // 64 * 8


def test_default_builders() -> None:
    """Values that Triton 3.6 prints for f16 operands of `mma.sync` with k_width 2, and for `wgmma`."""
    assert SwizzledSharedLayout.for_dot_operand((64, 32), (1, 0), 16, 0, 2) == SwizzledSharedLayout(8, 2, 4, (1, 0))
    assert SwizzledSharedLayout.for_dot_operand((32, 64), (1, 0), 16, 1, 2) == SwizzledSharedLayout(8, 1, 8, (1, 0))
    assert NvmmaSharedLayout.make((64, 64), (1, 0), 16) == NvmmaSharedLayout(128, False, 16)
    assert NvmmaSharedLayout.make((64, 32), (1, 0), 16) == NvmmaSharedLayout(64, False, 16)
    assert NvmmaSharedLayout.make((64, 16), (0, 1), 16) == NvmmaSharedLayout(128, True, 16)
    assert NvmmaSharedLayout.make((4, 64), (1, 0), 16) == NvmmaSharedLayout(0, False, 16)
    assert NvmmaSharedLayout.make((64, 8), (1, 0), 16) == NvmmaSharedLayout(0, False, 16)


# Official Triton as the oracle: `memdesc_trans` in the identity order accepts two encodings only if they mean the same.

MODULE = """module attributes {{"ttg.num-ctas" = {blocks} : i32, "ttg.num-warps" = 4 : i32}} {{
  tt.func @f(%m: !ttg.memdesc<{shape}x{element}, {layout}, #ttg.shared_memory, mutable>) {{
    %0 = ttg.memdesc_trans %m {{order = array<i32: {order}>}} : !ttg.memdesc<{shape}x{element}, {layout}, \
#ttg.shared_memory, mutable> -> !ttg.memdesc<{shape}x{element}, {linear}, #ttg.shared_memory, mutable>
    tt.return
  }}
}}
"""


def attribute(layout: SharedLayout) -> str:
    cga = f", CGALayout = {[list(v) for v in layout.cga]}" if layout.cga else ""
    match layout:
        case SwizzledSharedLayout():
            return (
                f"#ttg.swizzled_shared<{{vec = {layout.vec}, perPhase = {layout.per_phase}, "
                f"maxPhase = {layout.max_phase}, order = {list(layout.order)}{cga}}}>"
            )
        case NvmmaSharedLayout():
            rank = f", rank = {layout.rank}" if layout.rank != 2 else ""
            return (
                f"#ttg.nvmma_shared<{{swizzlingByteWidth = {layout.swizzle_bytes}, "
                f"transposed = {str(layout.transposed).lower()}, elementBitWidth = {layout.element_bits}{cga}{rank}}}>"
            )
        case _:
            raise AssertionError(layout)


def shared_linear(layout: LinearLayout) -> str:
    parts = [f"{name} = {[list(v) for v in layout.bases_of(name)]}" for name in ("offset", "block")]
    return f"#ttg.shared_linear<{{{', '.join(parts if layout.bases_of('block') else parts[:1])}}}, alignment = 16>"


@pytest.fixture(scope="module")
def accepts(tmp_path_factory: pytest.TempPathFactory) -> Callable[[SharedLayout, Sequence[int], LinearLayout], bool]:
    libtriton = pytest.importorskip("triton._C.libtriton", reason="official Triton is not installed")
    file: Path = tmp_path_factory.mktemp("oracle") / "module.ttgir"

    def ask(layout: SharedLayout, shape: Sequence[int], linear: LinearLayout) -> bool:
        bits = layout.element_bits if isinstance(layout, NvmmaSharedLayout) else 16
        text = MODULE.format(
            shape="x".join(map(str, shape)),
            element=f"i{bits}",
            layout=attribute(layout),
            linear=shared_linear(linear),
            order=", ".join(map(str, range(len(shape)))),
            blocks=1 << len(layout.cga),
        )
        file.write_text(text)
        context: Any = libtriton.ir.context()
        libtriton.ir.load_dialects(context)
        try:
            libtriton.ir.parse_mlir_module(str(file), context)
        except RuntimeError:
            return False
        return True

    return ask


@st.composite
def shared_layouts(draw: st.DrawFn) -> tuple[SharedLayout, tuple[int, ...]]:
    rank = draw(st.sampled_from([1, 2, 2, 3]))
    shape = tuple(draw(st.sampled_from([8, 32, 64, 128])) for _ in range(rank))
    cga = draw(st.sampled_from([(), ((*(0,) * (rank - 1), 1),), ((0,) * rank,)]))
    powers = st.sampled_from([1, 2, 4, 8])
    if rank == 1 or draw(st.booleans()):
        order = tuple(draw(st.permutations(range(rank))))
        return SwizzledSharedLayout(draw(powers), draw(powers), draw(powers), order, cga), shape
    bits, transposed = draw(st.sampled_from([8, 16, 32])), draw(st.booleans())
    width = draw(st.sampled_from([0, 32, 64, 128]))
    needed = max(8 * width // bits, 8) * (2 if cga else 1)
    outer = (max(shape[-2], needed), max(shape[-1], needed))
    return NvmmaSharedLayout(width, transposed and rank == 2, bits, rank=rank, cga=cga), (*shape[:-2], *outer)


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=shared_layouts())
def test_against_official_triton(accepts: Any, case: tuple[SharedLayout, tuple[int, ...]]) -> None:
    layout, shape = case
    linear = layout.to_linear(shape)
    assert prod(linear.in_dims.values()) >= prod(shape)
    assert accepts(layout, shape, linear)


def test_the_oracle_refuses_other_layouts(accepts: Any) -> None:
    layout = SwizzledSharedLayout(8, 1, 8, (1, 0))
    assert accepts(layout, (32, 64), layout.to_linear((32, 64)))
    assert not accepts(layout, (32, 64), SwizzledSharedLayout(8, 2, 4, (1, 0)).to_linear((32, 64)))
