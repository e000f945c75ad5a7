"""Seeded faults on the way to GPUs: missing barriers and waits, wrong buffers and stages, dropped masks, lost fences.

The reference sees those that change values or break the rules of asynchronous copies and products; those between
threads (barriers, fences) are for the simulated GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

import tilewright as triton
import tilewright.language as tl
from faults import (
    Change,
    Fault,
    drop_op,
    drop_operand,
    fresh_accumulator,
    loop_bound,
    move_access,
    replace_op,
    swap_operands,
)
from tilewright.dialects import arith, tt, ttg, ttng


@dataclass(frozen=True)
class GpuFault:
    """A fault on the way to one architecture."""

    fault: Fault
    arch: str = "sm80"
    is_race: bool = False
    """Whether the values are right, so that only the simulated GPU can find it."""


def attribute(kind: type[Operation], name: str, change: int, skip: int = 0) -> Change:
    """A number that an op has is off, in the op behind the first `skip` ones."""
    seen: list[Operation] = []

    def spoil(op: Operation) -> bool:
        place = op.properties if name in op.properties else op.attributes
        held = place.get(name)
        if not isinstance(op, kind) or not isinstance(held, IntegerAttr):
            return False
        seen.append(op)
        if len(seen) <= skip:
            return False
        place[name] = IntegerAttr(held.value.data + change, held.type)
        return True

    return spoil


def reset_accumulator(op: Operation) -> bool:
    """An asynchronous product starts anew in every round."""
    if not isinstance(op, ttng.WarpGroupDotOp) or op.parent is None:
        return False
    zero = arith.constant_splat(0, op.c.type)
    op.parent.insert_op_before(zero, op)
    op.operands[2] = zero.results[0]
    return True


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, cols, ks = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * K + ks[None, :]
    b_ptrs = b_ptr + ks[:, None] * N + cols[None, :]
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=(rows[:, None] < M) & (ks[None, :] < K - k * BLOCK_K), other=0.0)
        b = tl.load(b_ptrs, mask=(ks[:, None] < K - k * BLOCK_K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    best = tl.max(acc, 1)
    out = c_ptr + rows[:, None] * N + cols[None, :]
    tl.store(out, acc - best[:, None], mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def boxes(x_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, (rows, 16), (16, 1), (BLOCK, 16))
    target = tl.make_tensor_descriptor(out_ptr, (rows, 16), (16, 1), (BLOCK, 16))
    for k in range(3):
        target.store([k * BLOCK, 0], source.load([k * BLOCK, 0]) * 2.0)


def inputs(arch: str) -> list[tuple[Any, tuple[int, ...], dict[str, Any]]]:
    """The kernels that faults for an architecture are looked for in, with inputs whose tiles are not full."""
    rng = np.random.default_rng(5)
    block, depth = (32, 32) if arch == "sm80" else (64, 32)
    M, N, K = block - 3, block, 3 * depth - 16
    dot: dict[str, Any] = {
        "a_ptr": (rng.integers(-8, 9, (M, K)) / 4).astype(np.float16),
        "b_ptr": (rng.integers(-8, 9, (K, N)) / 4).astype(np.float16),
        "c_ptr": np.full((M, N), 7.0, np.float32),
        "M": M, "N": N, "K": K, "BLOCK": block, "BLOCK_K": depth, "num_warps": 4, "num_stages": 3,
    }  # fmt: skip
    found: list[tuple[Any, tuple[int, ...], dict[str, Any]]] = [(product, (1,), dot)]
    if arch == "sm90":
        x = (rng.integers(-8, 9, (24, 16)) / 4).astype(np.float32)
        found.append((boxes, (1,), {"x_ptr": x, "out_ptr": np.zeros_like(x), "rows": 22, "BLOCK": 8}))
    return found


PIPELINE, MEMBAR, SHARED = "tritongpu-pipeline", "membar", "allocate-shared-memory"
FENCES, TMA = "triton-nvidia-gpu-proxy-fence-insertion", "triton-nvidia-tma-lowering"

FAULTS: Sequence[GpuFault] = (
    GpuFault(Fault("copy loses its mask", PIPELINE, drop_operand(ttg.AsyncCopyGlobalToLocalOp, 2, 0))),
    GpuFault(Fault("copy loses its predicate", PIPELINE, replace_op(arith.AndIOp, arith.OrIOp))),
    GpuFault(Fault("wait for one group less", PIPELINE, attribute(ttg.AsyncWaitOp, "num", 1))),
    GpuFault(Fault("copy into the next buffer", PIPELINE, move_access(ttg.MemDescIndexOp, 1, 1))),
    GpuFault(Fault("pipelined loop is short", PIPELINE, loop_bound(-1))),
    GpuFault(Fault("pointer moves a stage late", "tritongpu-schedule-loops", attribute(tt.AddPtrOp, "loop.stage", 1))),
    GpuFault(Fault("product without its sum", "tritongpu-accelerate-matmul", fresh_accumulator)),
    GpuFault(Fault("operands of a product swapped", "tritongpu-optimize-dot-operands", swap_operands(tt.DotOp, 0, 1))),
    GpuFault(Fault("buffers overlap", SHARED, attribute(ttg.LocalAllocOp, "allocation.offset", -512, skip=1))),
    GpuFault(Fault("barrier in front of a read is lost", MEMBAR, drop_op(ttg.LocalBarrierOp)), is_race=True),
    GpuFault(Fault("scratch is not aligned", SHARED, attribute(tt.ReduceOp, "allocation.offset", 1)), is_race=True),
    GpuFault(Fault("asynchronous product starts anew", PIPELINE, reset_accumulator), "sm90"),
    GpuFault(Fault("product is not awaited", PIPELINE, attribute(ttng.WarpGroupDotWaitOp, "pendings", 1, 1)), "sm90"),
    GpuFault(Fault("copy into the buffer that is read", PIPELINE, move_access(ttg.MemDescIndexOp, 1, 1)), "sm90"),
    GpuFault(Fault("bulk copy from the next row", TMA, move_access(ttng.AsyncTMACopyGlobalToLocalOp, 1, 1)), "sm90"),
    GpuFault(Fault("bulk copy brings other bytes", TMA, attribute(ttng.BarrierExpectOp, "size", 16)), "sm90"),
    GpuFault(Fault("bulk copy is not waited for", TMA, drop_op(ttng.WaitBarrierOp)), "sm90"),
    GpuFault(Fault("bulk copy is waited for in the other phase", TMA, move_access(ttng.WaitBarrierOp, 1, 1)), "sm90"),
    GpuFault(Fault("bulk store is not waited for", TMA, drop_op(ttng.TMAStoreWaitOp)), "sm90"),
    GpuFault(Fault("fence is lost", FENCES, drop_op(ttng.FenceAsyncSharedOp)), "sm90", is_race=True),
    GpuFault(Fault("barrier of a bulk copy is lost", MEMBAR, drop_op(ttg.LocalBarrierOp)), "sm90", is_race=True),
)  # fmt: skip
