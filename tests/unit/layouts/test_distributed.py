"""Layouts of registers: the numbers that Triton 3.6 prints, and official Triton itself where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import quick

from tilewright.layouts.distributed import (
    BlockedLayout,
    DistributedLayout,
    DotOperandLayout,
    LinearDistributedLayout,
    NvidiaMmaLayout,
    SliceLayout,
)
from tilewright.layouts.linear import LinearLayout

BLOCKED = BlockedLayout((1, 4), (4, 8), (4, 1), (1, 0))
MMA2 = NvidiaMmaLayout(2, 0, (2, 2), (16, 8))


def mma3(warps: tuple[int, int], n: int) -> NvidiaMmaLayout:
    return NvidiaMmaLayout(3, 0, warps, (16, n, 16))


KNOWN: list[tuple[DistributedLayout, tuple[int, ...], Mapping[str, Sequence[Sequence[int]]]]] = [
    (
        BLOCKED,
        (32, 64),
        {
            "register": [[0, 1], [0, 2], [0, 32], [16, 0]],
            "lane": [[0, 4], [0, 8], [0, 16], [1, 0], [2, 0]],
            "warp": [[4, 0], [8, 0]],
        },
    ),
    (
        BlockedLayout((4,), (32,), (4,), (0,)),
        (64,),
        {"register": [[1], [2]], "lane": [[4], [8], [16], [32], [0]], "warp": [[0], [0]]},
    ),
    (BlockedLayout((4,), (32,), (4,), (0,)), (2,), {"register": [[1], [0]], "lane": [[0]] * 5, "warp": [[0], [0]]}),
    (
        SliceLayout(1, BLOCKED),
        (32,),
        {"register": [[16]], "lane": [[0], [0], [0], [1], [2]], "warp": [[4], [8]]},
    ),
    (
        DotOperandLayout(0, BLOCKED),
        (32, 16),
        {
            "register": [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0]],
            "lane": [[0, 0], [0, 0], [0, 0], [1, 0], [2, 0]],
            "warp": [[4, 0], [8, 0]],
        },
    ),
    (
        MMA2,
        (64, 32),
        {
            "register": [[0, 1], [8, 0], [0, 16], [32, 0]],
            "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
            "warp": [[0, 8], [16, 0]],
        },
    ),
    (
        NvidiaMmaLayout(2, 0, (1, 4), (16, 8)),
        (32, 64),
        {
            "register": [[0, 1], [8, 0], [0, 32], [16, 0]],
            "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
            "warp": [[0, 8], [0, 16]],
        },
    ),
    (
        DotOperandLayout(0, MMA2, 2),
        (32, 32),
        {
            "register": [[0, 1], [8, 0], [0, 8], [0, 16]],
            "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
            "warp": [[0, 0], [16, 0]],
        },
    ),
    (
        DotOperandLayout(1, MMA2, 2),
        (32, 32),
        {
            "register": [[1, 0], [8, 0], [16, 0], [0, 16]],
            "lane": [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]],
            "warp": [[0, 8], [0, 0]],
        },
    ),
    (
        DotOperandLayout(0, MMA2, 4),
        (32, 32),
        {
            "register": [[0, 1], [0, 2], [8, 0], [0, 16]],
            "lane": [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]],
            "warp": [[0, 0], [16, 0]],
        },
    ),
    (
        DotOperandLayout(0, MMA2, 1),
        (32, 16),
        {
            "register": [[8, 0], [0, 4], [0, 8]],
            "lane": [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]],
            "warp": [[0, 0], [16, 0]],
        },
    ),
    (
        DotOperandLayout(0, MMA2, 1),
        (16, 8),
        {
            "register": [[8, 0], [0, 4]],
            "lane": [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]],
            "warp": [[0, 0], [0, 0]],
        },
    ),
    (
        mma3((4, 1), 32),
        (64, 64),
        {"register": [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], "warp": [[16, 0], [32, 0]]},
    ),
    (mma3((4, 2), 32), (64, 64), {"warp": [[16, 0], [32, 0], [0, 32]]}),
    (mma3((8, 1), 32), (128, 64), {"warp": [[16, 0], [32, 0], [64, 0]]}),
    (mma3((4, 1), 64), (128, 128), {"register": [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [64, 0]]}),
    (
        DotOperandLayout(0, mma3((4, 1), 64), 2),
        (128, 32),
        {
            "register": [[0, 1], [8, 0], [0, 8], [0, 16], [64, 0]],
            "lane": [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
            "warp": [[16, 0], [32, 0]],
        },
    ),
]


@pytest.mark.parametrize("layout, shape, bases", KNOWN, ids=lambda value: str(value)[:40])
def test_known_bases(
    layout: DistributedLayout, shape: tuple[int, ...], bases: Mapping[str, Sequence[Sequence[int]]]
) -> None:
    linear = layout.to_linear(shape)
    assert list(linear.in_dims) == ["register", "lane", "warp", "block"]
    assert linear.out_dims == {f"dim{index}": size for index, size in enumerate(shape)}
    for name, vectors in bases.items():
        assert [list(vector) for vector in linear.bases_of(name)] == [list(vector) for vector in vectors]


def test_mma_formulas() -> None:
    """Where value r of thread t is, as NVIDIA's manual of the instruction set states it."""
    v2, v3 = MMA2.to_linear((32, 16)), mma3((4, 1), 64).to_linear((64, 64))
    for thread in range(32):
        for value in range(4):
            at = v2.apply({"register": value, "lane": thread, "warp": 0, "block": 0})
            assert at == {"dim0": thread // 4 + 8 * (value >> 1), "dim1": 2 * (thread % 4) + (value & 1)}
        for warp in range(4):
            for value in range(32):
                at = v3.apply({"register": value, "lane": thread, "warp": warp, "block": 0})
                row, column = 16 * warp + thread // 4 + 8 * ((value >> 1) & 1), 8 * (value >> 2) + 2 * (thread % 4)
                assert at == {"dim0": row, "dim1": column + (value & 1)}


def test_default_layouts() -> None:
    assert BlockedLayout.default((128,), 4) == BlockedLayout((1,), (32,), (4,), (0,))
    assert BlockedLayout.default((64, 8), 4) == BlockedLayout((1, 1), (4, 8), (4, 1), (1, 0))
    assert BlockedLayout.default((8, 128), 4) == BlockedLayout((1, 1), (1, 32), (1, 4), (1, 0))
    assert BlockedLayout.make((128, 64), (1, 8), (1, 0), 4) == BlockedLayout((1, 8), (4, 8), (4, 1), (1, 0))
    assert BlockedLayout.make((128, 64), (4, 1), (0, 1), 4) == BlockedLayout((4, 1), (32, 1), (1, 4), (0, 1))


def test_counts() -> None:
    assert (BLOCKED.num_lanes, BLOCKED.num_warps, BLOCKED.num_blocks) == (32, 4, 1)
    nested = SliceLayout(0, DotOperandLayout(0, MMA2, 2))
    assert (nested.rank, nested.num_lanes, nested.num_warps, nested.num_blocks) == (1, 32, 4, 1)
    two = BlockedLayout((1,), (32,), (4,), (0,), ((1,),))
    assert two.num_blocks == 2 and two.to_linear((256,)).bases_of("block") == ((128,),)
    assert BlockedLayout((1,), (32,), (4,), (0,), ((0,),)).to_linear((256,)).bases_of("block") == ((0,),)


def test_wrong_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="layout of rank 2 on a tensor of rank 1"):
        BLOCKED.to_linear((32,))


def test_a_linear_layout_gives_itself_back() -> None:
    for layout, shape, _ in KNOWN:
        linear = layout.to_linear(shape)
        assert LinearDistributedLayout.of(linear).to_linear(shape) == linear


powers = st.sampled_from([1, 2, 4, 8])


@st.composite
def splits(draw: st.DrawFn, rank: int, total: int) -> tuple[int, ...]:
    """`total` as a product of `rank` powers of two."""
    sizes: list[int] = []
    for _ in range(rank - 1):
        size = draw(st.sampled_from([1 << bit for bit in range(total.bit_length())]))
        sizes.append(size)
        total //= size
    return tuple(draw(st.permutations([*sizes, total])))


@st.composite
def blocked(draw: st.DrawFn, rank: int, *, many_blocks: bool = False) -> BlockedLayout:
    order = tuple(draw(st.permutations(range(rank))))
    cga = ()
    if many_blocks:
        dim, wide = draw(st.integers(0, rank - 1)), draw(st.booleans())
        cga = (tuple(int(index == dim and wide) for index in range(rank)),)
    size = tuple(draw(powers) for _ in range(rank))
    return BlockedLayout(size, draw(splits(rank, 32)), draw(splits(rank, 4)), order, cga)


@st.composite
def mma(draw: st.DrawFn, rank: int) -> NvidiaMmaLayout:
    if rank == 2 and draw(st.booleans()):
        return NvidiaMmaLayout(3, 0, draw(st.sampled_from([(4, 1), (4, 2), (8, 1)])), (16, draw(powers) * 8, 16))
    return NvidiaMmaLayout(2, 0, draw(splits(rank, 4)), (16, 8) if rank == 2 else (1, 16, 8))


@st.composite
def any_distributed(draw: st.DrawFn, rank: int, depth: int = 0) -> DistributedLayout:
    kind = draw(st.sampled_from(["blocked", "mma", "dot", "slice"]))
    if kind == "slice" and depth < 2 and rank < 3:
        return SliceLayout(draw(st.integers(0, rank)), draw(any_distributed(rank + 1, depth + 1)))
    if rank >= 2 and kind == "mma":
        return draw(mma(rank))
    if rank >= 2 and kind == "dot":
        if draw(st.booleans()):
            return DotOperandLayout(draw(st.integers(0, 1)), draw(blocked(rank)))
        parent = draw(mma(rank))
        return DotOperandLayout(0 if parent.is_hopper else draw(st.integers(0, 1)), parent, draw(powers))
    return draw(blocked(rank, many_blocks=draw(st.booleans())))


@quick
@given(st.data(), st.integers(1, 3))
def test_every_element_is_held_and_none_outside(data: st.DataObject, rank: int) -> None:
    shape = tuple(data.draw(st.sampled_from([1, 2, 16, 64])) for _ in range(rank))
    linear = data.draw(any_distributed(rank)).to_linear(shape)
    assert linear.out_dims == {f"dim{index}": size for index, size in enumerate(shape)}
    assert linear.is_surjective


# Official Triton as the oracle.


def in_gluon(layout: DistributedLayout, gl: Any) -> Any:
    cga = [list(vector) for vector in layout.cga]
    match layout:
        case BlockedLayout():
            parts = (layout.size_per_thread, layout.threads_per_warp, layout.warps_per_cta, layout.order)
            return gl.BlockedLayout(*map(list, parts), cga)
        case SliceLayout():
            return gl.SliceLayout(layout.dim, in_gluon(layout.parent, gl))
        case NvidiaMmaLayout():
            version = [layout.version_major, layout.version_minor]
            return gl.NVMMADistributedLayout(version, list(layout.warps_per_cta), list(layout.instr_shape), cga)
        case DotOperandLayout():
            return gl.DotOperandLayout(layout.op_index, in_gluon(layout.parent, gl), layout.k_width)
        case _:
            raise AssertionError(layout)


def of_gluon(printed: Any) -> tuple[Any, ...]:
    bases = (printed.reg_bases, printed.lane_bases, printed.warp_bases, printed.block_bases)
    return tuple(tuple(tuple(vector) for vector in vectors) for vectors in bases)


@pytest.fixture(scope="module")
def oracle() -> Callable[[DistributedLayout, Sequence[int]], tuple[Any, ...]]:
    libtriton = pytest.importorskip("triton._C.libtriton", reason="official Triton is not installed")
    gl = pytest.importorskip("triton.experimental.gluon.language._layouts", reason="official Triton has no Gluon")
    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    builder = libtriton.gluon_ir.GluonOpBuilder(context)
    kept_alive = [context]

    def ask(layout: DistributedLayout, shape: Sequence[int]) -> tuple[Any, ...]:
        assert kept_alive
        return of_gluon(builder.to_linear_layout(in_gluon(layout, gl)._to_ir(builder), list(shape)))

    return ask


@quick
@given(data=st.data(), rank=st.integers(1, 3))
def test_against_official_triton(oracle: Any, data: st.DataObject, rank: int) -> None:
    layout = data.draw(any_distributed(rank))
    shape = tuple(data.draw(st.sampled_from([2, 8, 32, 128])) for _ in range(rank))
    linear: LinearLayout = layout.to_linear(shape)
    assert tuple(vectors for _, vectors in linear.bases) == oracle(layout, shape)
