"""Buffers in shared memory: stores, loads, views and asynchronous copies, in every encoding."""

from __future__ import annotations

import random

import numpy as np
import pytest
from kernel_text import KernelText, Tensor
from random_layouts import any_layout
from simulated import DTYPES, Compiled, run_kernel

from suite.arrays import Array
from suite.seeds import seeds
from tilewright.dialects.ttg import shared_encoding_of
from tilewright.layouts.distributed import BlockedLayout, DistributedLayout, DotOperandLayout, NvidiaMmaLayout
from tilewright.layouts.shared import (
    NvmmaSharedLayout,
    PaddedSharedLayout,
    SharedLayout,
    SharedLinearLayout,
    SwizzledSharedLayout,
)

ROWS = BlockedLayout((1, 8), (8, 4), (4, 1), (1, 0))
COLUMNS = BlockedLayout((8, 1), (4, 8), (1, 4), (0, 1))
MMA = NvidiaMmaLayout(2, 0, (2, 2), (16, 8))
XOR = SharedLinearLayout(((0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (1, 0), (2, 4), (4, 8), (8, 16), (16, 0)), (), 2)


def buffer(shape: tuple[int, ...], element: str, layout: SharedLayout, alloc: tuple[int, ...] | None = None) -> str:
    """A mutable memdesc type."""
    whole = "" if alloc is None else f", {'x'.join(map(str, alloc))}"
    extents = "x".join(map(str, shape))
    return f"!ttg.memdesc<{extents}x{element}, {shared_encoding_of(layout)}, #ttg.shared_memory, mutable{whole}>"


def numbers(element: str, shape: tuple[int, ...]) -> Array:
    return (np.arange(int(np.prod(shape))) % 127).astype(DTYPES[element]).reshape(shape)


def through(k: KernelText, x: Tensor, layout: SharedLayout, target: DistributedLayout) -> Tensor:
    """Stored and loaded."""
    type = buffer(x.shape, x.element, layout)
    memory = k.op(f"ttg.local_alloc : () -> {type}")
    k.line(f"ttg.local_store {x.name}, {memory} : {x.type} -> {type}")
    result = x.with_layout(target)
    return k.add(f"ttg.local_load {memory} : {type} -> {result.type}", result)


def check(
    source: DistributedLayout,
    layout: SharedLayout,
    target: DistributedLayout,
    shape: tuple[int, ...],
    element: str,
    **options: int,
) -> Compiled:
    k = KernelText(**options)
    k.store(through(k, k.load(element, shape, source), layout, target))
    given = numbers(element, shape)
    result = np.zeros_like(given)
    compiled = run_kernel(k, [given], [result])
    assert np.array_equal(given, result)
    return compiled


ENCODINGS: tuple[SharedLayout, ...] = (
    SwizzledSharedLayout(1, 1, 1, (1, 0)),
    SwizzledSharedLayout(8, 1, 8, (1, 0)),
    SwizzledSharedLayout(8, 2, 4, (0, 1)),
    SwizzledSharedLayout(4, 1, 8, (1, 0)),
    PaddedSharedLayout.ordered([(32, 8)], (1, 0), (32, 32)),
    PaddedSharedLayout.ordered([(64, 4), (256, 16)], (0, 1), (32, 32)),
    XOR,
)


@pytest.mark.pairwise
@pytest.mark.parametrize("layout", ENCODINGS, ids=lambda layout: type(layout).__name__)
@pytest.mark.parametrize("element", ["i8", "f16", "f32", "f64"])
@pytest.mark.parametrize("capability", [80, 90])
def test_encodings(layout: SharedLayout, element: str, capability: int) -> None:
    check(ROWS, layout, COLUMNS, (32, 32), element, capability=capability)


@pytest.mark.pairwise
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("element, bits", [("i8", 8), ("f16", 16), ("f32", 32)])
@pytest.mark.parametrize("transposed", [False, True])
def test_encodings_of_warp_groups(swizzle: int, element: str, bits: int, transposed: bool) -> None:
    layout = NvmmaSharedLayout(swizzle, transposed and bool(swizzle), bits)
    check(ROWS, layout, COLUMNS, (128, 128), element, capability=90)


@pytest.mark.parametrize("seed", seeds(20, 40))
def test_random_layouts(seed: int) -> None:
    rng = random.Random(seed)
    num_warps = rng.choice([1, 4, 8])
    shape = (rng.choice([8, 16, 64]), rng.choice([8, 32, 64]))
    vec, per_phase, max_phase = (rng.choice([1, 2, 4, 8]) for _ in range(3))
    layout = SwizzledSharedLayout(vec, per_phase, max_phase, rng.choice([(0, 1), (1, 0)]))
    source, target = any_layout(rng, 2, num_warps), any_layout(rng, 2, num_warps)
    element = rng.choice(["i8", "f16", "f32", "i64"])
    check(source, layout, target, shape, element, num_warps=num_warps, capability=rng.choice([80, 90]))


@pytest.mark.parametrize("op_index, order, transposed", [(0, (1, 0), ""), (1, (1, 0), ".trans"), (1, (0, 1), "")])
def test_operands_are_read_as_matrices(op_index: int, order: tuple[int, int], transposed: str) -> None:
    shape = (64, 64)
    layout = SwizzledSharedLayout.for_dot_operand(shape, order, 16, op_index, 2)
    compiled = check(ROWS, layout, DotOperandLayout(op_index, MMA, 2), shape, "f16")
    assert compiled.count(f"ldmatrix.sync.aligned.m8n8.x4{transposed}.shared") == 8
    assert not compiled.count("ld.shared")


def test_accumulators_are_written_as_matrices() -> None:
    layout = NvmmaSharedLayout(128, False, 16)
    wgmma = NvidiaMmaLayout(3, 0, (4, 1), (16, 64, 16))
    compiled = check(wgmma, layout, ROWS, (64, 64), "f16", capability=90)
    assert compiled.count("stmatrix.sync.aligned.m8n8.x4") == 4 and not compiled.count("st.shared")


def test_views() -> None:
    """Slots, slices, transposes and reshapes of one buffer."""
    plain, swizzled = SwizzledSharedLayout(1, 1, 1, (1, 0)), SwizzledSharedLayout(1, 1, 1, (0, 1))
    k = KernelText()
    x = k.load("f16", (32, 32), ROWS)
    many, one = buffer((2, 32, 32), "f16", plain), buffer((32, 32), "f16", plain)
    memory = k.op(f"ttg.local_alloc : () -> {many}")
    index = k.op("tt.get_program_id x : i32")
    constant = k.op("arith.constant 1 : i32")
    number = k.op(f"arith.addi {index}, {constant} : i32")
    slot = k.op(f"ttg.memdesc_index {memory}[{number}] : {many} -> {one}")
    k.line(f"ttg.local_store {x.name}, {slot} : {x.type} -> {one}")
    part = buffer((16, 16), "f16", plain, (32, 32))
    slice_ = k.op(f"ttg.memdesc_subslice {slot}[16, 0] : {one} -> {part}")
    quarter = Tensor("", "f16", (16, 16), ROWS)
    k.store(k.add(f"ttg.local_load {slice_} : {part} -> {quarter.type}", quarter))
    turned = buffer((32, 32), "f16", swizzled)
    transposed = k.op(f"ttg.memdesc_trans {slot} {{order = array<i32: 1, 0>}} : {one} -> {turned}")
    k.store(k.add(f"ttg.local_load {transposed} : {turned} -> {x.type}", x))
    bits = buffer((32, 32), "i16", plain)
    reinterpreted = k.op(f"ttg.memdesc_reinterpret {slot} : {one} -> {bits}")
    k.store(k.add(f"ttg.local_load {reinterpreted} : {bits} -> {x.of('i16').type}", x.of("i16")))
    given = numbers("f16", (32, 32))
    results = [np.zeros((16, 16), np.float16), np.zeros((32, 32), np.float16), np.zeros((32, 32), np.int16)]
    run_kernel(k, [given], results)
    assert np.array_equal(results[0], given[16:, :16])
    assert np.array_equal(results[1], given.T)
    assert np.array_equal(results[2], given.view(np.int16))


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
@pytest.mark.parametrize("max_phase", [1, 2, 8])
def test_slices_across_swizzles(max_phase: int, order: tuple[int, int]) -> None:
    """Slices along the contiguous dimension begin inside of what a swizzle permutes; slices of slices too."""
    layout, shape, part = SwizzledSharedLayout(4, 1, max_phase, order), (32, 32), [32, 32]
    part[order[0]] = 8
    k = KernelText()
    x = k.load("f16", shape, ROWS)
    whole, half = buffer(shape, "f16", layout), [32, 32]
    half[order[0]] = 16
    memory = k.op(f"ttg.local_alloc {x.name} : ({x.type}) -> {whole.replace(', mutable', '')}")
    whole = whole.replace(", mutable", "")
    middle, inner = (
        buffer(extents, "f16", layout, shape).replace(", mutable", "") for extents in (tuple(half), tuple(part))
    )
    results: list[Array] = []
    expected: list[Array] = []
    given = numbers("f16", shape)
    for first in (0, 16):
        outer_place, inner_place = [0, 0], [0, 0]
        outer_place[order[0]], inner_place[order[0]] = first, 8
        outer = k.op(f"ttg.memdesc_subslice {memory}{outer_place} : {whole} -> {middle}")
        view = k.op(f"ttg.memdesc_subslice {outer}{inner_place} : {middle} -> {inner}")
        piece = Tensor("", "f16", (part[0], part[1]), ROWS)
        k.store(k.add(f"ttg.local_load {view} : {inner} -> {piece.type}", piece))
        results.append(np.zeros(part, np.float16))
        place = slice(first + 8, first + 16)
        expected.append(given[:, place] if order[0] else given[place])
    run_kernel(k, [given], results)
    for found, wanted in zip(results, expected, strict=True):
        assert np.array_equal(found, wanted)


COPIES = [
    ("f16", BlockedLayout((1, 8), (8, 4), (4, 1), (1, 0)), SwizzledSharedLayout(8, 2, 4, (1, 0)), "cp.async.cg"),
    ("f32", BlockedLayout((1, 2), (2, 16), (4, 1), (1, 0)), SwizzledSharedLayout(2, 1, 1, (1, 0)), "cp.async.ca"),
    ("f32", BlockedLayout((1, 1), (1, 32), (4, 1), (1, 0)), SwizzledSharedLayout(1, 1, 1, (0, 1)), "cp.async.ca"),
    ("i8", BlockedLayout((1, 1), (1, 32), (4, 1), (1, 0)), SwizzledSharedLayout(1, 1, 1, (1, 0)), "st.shared.b8"),
    ("f16", BlockedLayout((1, 8), (8, 4), (8, 1), (1, 0)), SwizzledSharedLayout(8, 2, 4, (1, 0)), "cp.async.cg"),
]


@pytest.mark.parametrize("masked, other", [(False, None), (True, None), (True, 0), (True, 5)])
@pytest.mark.parametrize("element, source, layout, instruction", COPIES)
def test_copies(
    element: str, source: BlockedLayout, layout: SharedLayout, instruction: str, masked: bool, other: int | None
) -> None:
    shape = (32, 32)
    k = KernelText(num_warps=source.num_warps)
    pointers = k.pointers(element, shape, source)
    type, tensor = buffer(shape, element, layout), Tensor("", element, shape, source)
    memory = k.op(f"ttg.local_alloc : () -> {type}")
    extras = ""
    if masked:
        offsets = k.offsets(shape, source)
        limit = k.op(f"arith.constant dense<512> : {tensor.of('i32').type}")
        mask = k.op(f"arith.cmpi slt, {offsets}, {limit} : {tensor.of('i32').type}")
        extras = f" mask {mask}"
    if other is not None:
        literal = str(other) if element[0] == "i" else f"{other}.0"
        extras += f" other {k.op(f'arith.constant dense<{literal}> : {tensor.type}')}"
    token = k.op(
        f"ttg.async_copy_global_to_local {pointers}, {memory}{extras} : {tensor.of(f'!tt.ptr<{element}>').type} "
        f"-> {type.removeprefix('!ttg.memdesc')}"
    )
    group = k.op(f"ttg.async_commit_group tokens {token}")
    wait = k.op(f"ttg.async_wait {group} {{num = 0 : i32}}")
    k.store(k.add(f"ttg.local_load {memory} token {wait} : {type} -> {tensor.type}", tensor))
    given = numbers(element, shape)
    result = np.ones_like(given)
    compiled = run_kernel(k, [given], [result])
    assert compiled.count(instruction)
    wanted = given.copy()
    if masked:
        wanted.reshape(-1)[512:] = other or 0
    assert np.array_equal(result, wanted)
