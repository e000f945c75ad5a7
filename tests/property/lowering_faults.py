"""Seeded faults in the way from TritonGPU IR to PTX: wrong bases of layouts, wrong swizzles, steps along K, orders of
registers, lanes of shuffles, masks of vectors.

A fault stands for one function of the lowering and gives something else than that would.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import tilewright as triton
import tilewright.language as tl
from tilewright.dialects.types import as_tensor
from tilewright.layouts.access import AccessKind, SharedAccess
from tilewright.layouts.distributed import LANE, REGISTER, NvidiaMmaLayout
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering

PIECE = 8
"""Elements of 16 bits that a swizzle moves together."""

Original = Callable[..., Any]


@dataclass(frozen=True)
class LoweringFault:
    """Instead of a function (`conversion:_source_lane`) or method (`mma:_Form.multiply`) the compiler calls `wrong`,
    which gets the original first."""

    name: str
    place: str
    wrong: Callable[..., Any]
    arch: str = "sm80"


@contextmanager
def installed(fault: LoweringFault) -> Generator[None]:
    """The compiler with the fault."""
    module, _, path = fault.place.partition(":")
    *outer, attribute = path.split(".")
    owner: Any = importlib.import_module(module if "." in module else f"tilewright.lowering.ttg_to_llvm.{module}")
    for name in outer:
        owner = getattr(owner, name)
    original = getattr(owner, attribute)

    def wrong(*arguments: Any, **keywords: Any) -> Any:
        return fault.wrong(original, *arguments, **keywords)

    setattr(owner, attribute, wrong)
    try:
        yield
    finally:
        setattr(owner, attribute, original)


# ------------------------------------------------------------------------------------------------------------- layouts


Bases = list[int]
"""Of one dimension, packed: coordinates of a tensor in one number, or offsets in shared memory."""


def of_products(in_dim: str, change: Callable[[Bases], Bases]) -> Callable[..., LinearLayout]:
    """The layouts of products' results have other bases."""

    def wrong(original: Original, type: Any) -> LinearLayout:
        layout: LinearLayout = original(type)
        if not isinstance(getattr(as_tensor(type).encoding, "tensor_layout", None), NvidiaMmaLayout):
            return layout
        bases = {dim: list(packed) for dim, packed in layout.packed_bases.items()}
        bases[in_dim] = change(bases[in_dim])
        return LinearLayout(bases.items(), [(dim, size.bit_length() - 1) for dim, size in layout.out_dims.items()])

    return wrong


def swapped(bases: Bases) -> Bases:
    """The first basis and the last change places."""
    return [bases[-1], *bases[1:-1], bases[0]]


def dropped(bases: Bases) -> Bases:
    """The last basis moves nowhere."""
    return [*bases[:-1], 0]


def other_lanes(kinds: Sequence[AccessKind], change: Callable[[Bases], Bases]) -> Callable[..., Any]:
    """Lanes access shared memory elsewhere, with some instructions."""

    def wrong(original: Original, fn: GpuFunctionLowering, access: SharedAccess) -> Any:
        if access.kind not in kinds:
            return original(fn, access)
        return original(fn, replace(access, lanes=tuple(change(list(access.lanes)))))

    return wrong


def next_phase(lanes: Bases) -> Bases:
    """The row of the last bit that moves rows is swizzled as the row before it."""
    last = max(lanes)
    return [lane ^ PIECE if lane == last else lane for lane in lanes]


# ------------------------------------------------------------------------------------------------------------- products


def first_step_only(original: Original, fragments: Any, step: slice, place: tuple[int, ...]) -> list[str]:
    return original(fragments, slice(0, step.stop - step.start), place)


def reversed_words_of_b(original: Original, form: Any, rows: Any, column: Sequence[str], sums: Any) -> list[str]:
    return original(form, rows, column[::-1], sums)


def swapped_rows_of_a(original: Original, form: Any, rows: Any, column: Sequence[str], sums: Any) -> list[str]:
    return original(form, rows[::-1], column, sums)


def half_step_of_b(original: Original, descriptors: Any, row: int, column: int) -> str:
    return original(descriptors, row // 2 if column == 0 else row, column)


def without_swizzle(original: Original, *arguments: Any) -> Any:
    plan = original(*arguments)
    return replace(plan, fixed=plan.fixed & ((1 << 62) - 1))


def rows_too_close(original: Original, *arguments: Any) -> Any:
    plan = original(*arguments)
    return replace(plan, fixed=plan.fixed - (1 << 32))


# ------------------------------------------------------------------------------------------------- lanes, masks, widths


def without_masks(original: Original, layout: Any, pointers: Any, masks: Any, element_bits: int) -> Any:
    """Groups of registers are as wide as addresses allow, whatever their masks are."""
    return original(layout, pointers, None, element_bits)


def unaligned(original: Original, dim: int, pointers: Any, masks: Any, element_bits: int) -> int:
    """Accesses are as wide as addresses follow each other, however they are aligned."""
    count = min(pointers.contiguity[dim], 128 // element_bits)
    return min(count, masks.constancy[dim]) if masks is not None else count


def unmasked(original: Original, fn: Any, mask: Any, count: int) -> Sequence[str | None]:
    return (None,) * count


def other_lane(original: Original, fn: GpuFunctionLowering, *arguments: Any) -> str:
    return fn.text.value(f"xor i32 {original(fn, *arguments)}, 1")


def further_partner(original: Original, fn: Any, element: Any, column: Any, mask: int) -> Any:
    return original(fn, element, column, mask * 2 if mask < 16 else 1)


def lane_before(original: Original, fn: GpuFunctionLowering, element: Any, column: Any, lane: str) -> Any:
    return original(fn, element, column, fn.text.value(f"xor i32 {lane}, 2"))


def half_of_a_copy(original: Original, copier: Any, mask: str, num_bytes: int) -> str:
    return original(copier, mask, num_bytes // 2)


def other_matrices(original: Original, fn: Any, access: SharedAccess, *rest: Any) -> Any:
    kinds = {AccessKind.MATRIX: AccessKind.MATRIX_TRANSPOSED, AccessKind.MATRIX_TRANSPOSED: AccessKind.MATRIX}
    return original(fn, replace(access, kind=kinds.get(access.kind, access.kind)), *rest)


MATRICES = (AccessKind.MATRIX, AccessKind.MATRIX_TRANSPOSED)
EVERY = (AccessKind.VECTOR, *MATRICES)

FAULTS: Sequence[LoweringFault] = (
    LoweringFault("bases of a product's lanes swapped", "tilewright.analysis.scratch:linear_layout",
                  of_products(LANE, swapped)),
    LoweringFault("basis of a product's registers dropped", "tilewright.analysis.scratch:linear_layout",
                  of_products(REGISTER, dropped)),
    LoweringFault("bases of lanes swapped in a conversion", "conversion:thread_part", other_lanes(EVERY, swapped)),
    LoweringFault("basis of lanes dropped in a conversion", "conversion:thread_part", other_lanes(EVERY, dropped)),
    LoweringFault("matrices are read in the wrong phase", "buffers:thread_part", other_lanes(MATRICES, next_phase)),
    LoweringFault("matrices are transposed", "shared_access:_load", other_matrices),
    LoweringFault("every step takes the first words along K", "mma:_Fragments.words", first_step_only),
    LoweringFault("words of B in the wrong order", "mma:_Form.multiply", reversed_words_of_b),
    LoweringFault("rows of A in the wrong order", "mma:_Form.multiply", swapped_rows_of_a),
    LoweringFault("a shuffle takes from the wrong lane", "conversion:_source_lane", other_lane),
    LoweringFault("a reduction adds the wrong lane", "reduce_ops:shuffle_xor", further_partner),
    LoweringFault("a scan adds the wrong lane", "scan_ops:shuffle_index", lane_before),
    LoweringFault("a vector has the mask of its first element", "memory_ops:plan_access", without_masks),
    LoweringFault("stores have no masks", "memory_ops:_masks", unmasked),
    LoweringFault("vectors are not aligned", "access_plan:_limit", unaligned),
    LoweringFault("half of a masked copy", "async_copy_ops:_Copy._size", half_of_a_copy),
    LoweringFault("step along K of a descriptor is short", "warp_group_ops:Descriptors.at", half_step_of_b, "sm90"),
    LoweringFault("descriptor without its swizzle", "warp_group_ops:plan_operand", without_swizzle, "sm90"),
    LoweringFault("core tiles of a descriptor lie too close", "warp_group_ops:plan_operand", rows_too_close, "sm90"),
    LoweringFault("bases of a warp group's lanes swapped", "tilewright.analysis.scratch:linear_layout",
                  of_products(LANE, swapped), "sm90"),
)  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- kernels


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, cols, ks = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK_K):
        inside = ks + k < K
        a = tl.load(a_ptr + rows[:, None] * K + (k + ks)[None, :], mask=inside[None, :], other=0.0)
        b = tl.load(b_ptr + (k + ks)[:, None] * N + cols[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc, mask=cols[None, :] < N)


@triton.jit
def lanes(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * COLS + cols[None, :])
    turned = tl.trans(tl.reshape(x, (COLS, ROWS)))
    total = tl.cumsum(x + turned, 1) + tl.sum(x, 1)[:, None] - tl.max(x, 0)[None, :]
    tl.store(out_ptr + rows[:, None] * COLS + cols[None, :], total, mask=cols[None, :] < n)


@triton.jit
def shifted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + 1 + i) * 2.0, mask=i < n)


def inputs(arch: str) -> list[tuple[Any, tuple[int, ...], dict[str, Any]]]:
    """The kernels that faults are looked for in, with rows that end in the middle of a vector."""
    rng = np.random.default_rng(7)

    def numbers(*shape: int, dtype: Any = np.float32) -> Any:
        return (rng.integers(-8, 9, shape) / 4).astype(dtype)

    block, k = (32, 48) if arch == "sm80" else (64, 96)
    out = np.full((block, block), 7.0, np.float32)
    a, b = numbers(block, k, dtype=np.float16), numbers(k, block, dtype=np.float16)
    sizes = {"N": block, "K": k, "BLOCK": block, "BLOCK_K": 32, "num_warps": 4}
    found: list[tuple[Any, tuple[int, ...], dict[str, Any]]] = [
        (product, (1,), {"a_ptr": a, "b_ptr": b, "c_ptr": out, **sizes})
    ]
    if arch == "sm80":
        for rows, cols, warps in ((16, 32, 2), (8, 4, 1)):
            x, blank = numbers(rows, cols), np.full((rows, cols), 7.0, np.float32)
            tile = {"n": cols - 1, "ROWS": rows, "COLS": cols, "num_warps": warps}
            found.append((lanes, (1,), {"x_ptr": x, "out_ptr": blank, **tile}))
        x, blank = numbers(1025), np.full(1024, 7.0, np.float32)
        found.append((shifted, (1,), {"x_ptr": x, "out_ptr": blank, "n": 1021, "BLOCK": 1024}))
    return found
