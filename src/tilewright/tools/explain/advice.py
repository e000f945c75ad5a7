"""The catalogue: each kind of remark, what it means for the author of a kernel, and what to change.

Kinds that are in neither table are reasons of others, or are of interest to those who work on the compiler.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.remark_kinds import RemarkKind
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class Advice:
    """`title` is what happens, in a word or two; `change` is what to do about it."""

    title: str
    change: str


ON_CPU: Mapping[RemarkKind, Advice] = {
    RemarkKind.COMPUTED_INDEX: Advice(
        "computed address",
        "Build addresses as base + number * stride from tl.program_id and tl.arange, without //, %, tl.where or loaded "
        "indices along the last dimension of the tile. Where indices have to be loaded, let each select a whole row: "
        "index[:, None] * stride + tl.arange(0, BLOCK)[None, :].",
    ),
    RemarkKind.UNKNOWN_STRIDE: Advice(
        "unknown stride",
        "Where the elements are neighbours, leave the stride out of the address of the last dimension, or pass it as "
        "tl.constexpr (a launch with the integer 1 does that by itself). Else make the contiguous dimension the last "
        "one, or copy the array so that it is.",
    ),
    RemarkKind.WIDE_STRIDE: Advice(
        "wide stride",
        "Let tl.arange with stride 1 run along the dimension that is contiguous in memory: swap the dimensions of the "
        "tile (and transpose it with tl.trans where needed), or store the array the other way round.",
    ),
    RemarkKind.NOT_VECTORIZED: Advice(
        "not vectorised",
        "Use functions of tl in place of branches and loops over elements; scan along the last axis; leave the "
        "results of atomics unused where possible, and do without volatile and acquire; write to arrays that the same "
        "statement does not read.",
    ),
    RemarkKind.COPIED: Advice(
        "copied",
        "Store after the last use of what was loaded, load again after the store, or launch with arrays that do not "
        "overlap (launches that do are compiled apart).",
    ),
    RemarkKind.TILE_IN_MEMORY: Advice(
        "tile in memory",
        "Make the block smaller, or loop over its rows, so that it and what it is computed from stay in the "
        "second-level cache.",
    ),
    RemarkKind.BASELINE: Advice(
        "compiled without optimisation",
        "Write this line in another way; if it is plain Triton, it is worth a report: the reason is the compiler's.",
    ),
}

ON_GPU: Mapping[RemarkKind, Advice] = {
    RemarkKind.NARROW_ACCESS: Advice(
        "narrow access",
        "Let tl.arange run along one dimension with a stride that is known to be 1 (it is 1 at the launch, or it is "
        "tl.constexpr). Pass pointers and strides that are multiples of 16, or promise it: tl.multiple_of, "
        "tl.max_contiguous. Start blocks at multiples of the block size.",
    ),
    RemarkKind.NOT_PIPELINED: Advice(
        "not pipelined",
        "Keep inner loops, tl.device_assert, tl.device_print and stores to what is loaded out of the loop, carry "
        "values over one iteration only, and load at least 4 neighbouring bytes a thread.",
    ),
    RemarkKind.NOT_TMA: Advice(
        "not a TMA access",
        "Make a descriptor before the loop, tl.make_tensor_descriptor(ptr, shape, strides, block_shape), whose last "
        "stride is 1 and whose other strides are multiples of 16 bytes, and access through it; compile for compute "
        "capability 9.0 or later.",
    ),
    RemarkKind.NO_TENSOR_CORE: Advice(
        "no tensor core",
        "Multiply f16, bf16 or 8-bit operands with sums in f32 (int8 with int32), f32 with input_precision='tf32' or "
        "'tf32x3', and make K at least 16 (32 for 8 bits).",
    ),
}


def advice_on(kind: RemarkKind, target: str) -> Advice | None:
    """Return what to say about a kind of remark on a target, `cpu` or a GPU; None where there is nothing to change."""
    return (ON_CPU if target == "cpu" else ON_GPU).get(kind)
