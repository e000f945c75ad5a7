"""`tritongpu-store-by-warps`: in a loop over programs each warp copies its own rows of a result to memory."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.analysis.membar.warp_rows import linear_layout_of, rows_of_warp
from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.construction import UNIT, i32_attr
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.tt.persist_programs import TILES
from tilewright.transforms.tt.tma.promotion import set_argument
from tilewright.transforms.tt.tma.recipe import COPY_ROWS

CORE_ROWS = 8
"""Rows after which the pattern of a swizzle begins again."""


@register_pass
class StoreByWarpsPass(Pass):
    """In a loop over programs whose groups of warps take turns, where rows of a result lie in registers of one warp
    each, every warp writes its rows to shared memory and has TMA copy them from there. So no warp waits for another one
    at the end of a program: one group begins the next one while the other still ends this one. Groups that
    work side by side gain nothing (products of 4096 and 8192 on an H200: 754 and 672 TFLOP/s, 757 and 680 without).

    Before:
    ```mlir
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}
    ttg.local_store %x, %m : tensor<128x64xf16, #mma> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %d[%i, %j] %m : !tt.tensordesc<128x64xf16, #shared>, ...
    ```
    After:
    ```mlir
    ttng.async_tma_store_wait {pendings = 0 : i32, read_only, perWarp}
    ttg.local_store %x, %m : tensor<128x64xf16, #mma> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %d[%i, %j] %m {warpRows = 16 : i32} : !tt.tensordesc<128x64xf16, #shared>, ...
    ```
    The launcher makes the tensor map for boxes of so many rows: its argument has them as `ttg.copy_rows`.
    """

    name = "tritongpu-store-by-warps"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            if len(function.body.blocks) == 1:
                _run_on_function(function)


def _run_on_function(function: tt.FuncOp) -> None:
    ops = list(ops_within(function.body))
    found = False
    for argument in function.args:
        copies = _copies_through(argument)
        rows = _rows_of(copies)
        if rows is None:
            continue
        for copy in copies:
            copy.warp_rows = i32_attr(rows)
        set_argument(argument, COPY_ROWS, i32_attr(rows))
        found = True
    if found:
        for wait in [op for op in ops if isinstance(op, ttng.TMAStoreWaitOp)]:
            wait.properties["perWarp"] = UNIT


def _copies_through(argument: SSAValue) -> list[ttng.AsyncTMACopyLocalToGlobalOp]:
    """The copies of a loop over programs through a descriptor that has no other use."""
    found: list[ttng.AsyncTMACopyLocalToGlobalOp] = []
    for use in argument.uses:
        op = use.operation
        if not isinstance(op, ttng.AsyncTMACopyLocalToGlobalOp) or op.desc is not argument or not _is_in_tiles(op):
            return []
        found.append(op)
    return found


def _is_in_tiles(op: Operation) -> bool:
    """Return whether an op is in a loop over programs whose groups of warps take turns."""
    holder = op.parent_op()
    if not isinstance(holder, scf.ForOp) or TILES not in holder.attributes:
        return False
    return any(isinstance(inner, ttng.PassTurnOp) for inner in ops_within(holder))


def _rows_of(copies: list[ttng.AsyncTMACopyLocalToGlobalOp]) -> int | None:
    """Return how many rows of each copied buffer belong to a warp; None where they do not, or differ."""
    found: set[int | None] = set()
    for copy in copies:
        uses = [use.operation for use in copy.src.uses]
        stores = [op for op in uses if isinstance(op, ttg.LocalStoreOp)]
        plain = all(isinstance(op, ttg.LocalStoreOp | ttg.LocalDeallocOp) or op in copies for op in uses)
        if not stores or not plain or isinstance(copy.src, BlockArgument):
            return None
        found |= {rows_of_warp(linear_layout_of(store)) for store in stores}
    if len(found) != 1:
        return None
    [rows] = found
    return rows if rows is not None and rows % CORE_ROWS == 0 else None
