"""`triton-promote-loads-to-tma`: blocks that matrix products of a loop read through pointers are copied by TMA."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import scf, tt
from tilewright.dialects.types import is_tensor
from tilewright.ir.effects import may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.modes import ALWAYS, AUTO, NEVER
from tilewright.transforms.tt.tma.blocks import Block
from tilewright.transforms.tt.tma.computed_operands import computed_from, feeds_products
from tilewright.transforms.tt.tma.counted_loops import can_count, count_iterations
from tilewright.transforms.tt.tma.gain import Launch, dots_of, pays_by_chain, pays_by_tiles
from tilewright.transforms.tt.tma.polynomial import AdvancesInParts, Unprovable
from tilewright.transforms.tt.tma.promotion import Promotion


def _operands_of_dots(loop: scf.ForOp) -> dict[tt.LoadOp, int | None]:
    """The loads of blocks that products of a loop read; of those that operands are computed from, the dimension that is
    summed over. Raises `Unprovable` where something else reads them.
    """
    loads: dict[tt.LoadOp, int | None] = {}
    for dot in dots_of(loop):
        for index, operand in enumerate((dot.a, dot.b)):
            source = operand.owner
            while isinstance(source, tt.TransOp):
                source = source.src.owner
            if isinstance(source, tt.LoadOp) and source.parent is loop.body.block:
                loads[source] = None
            else:
                loads.update(computed_from(dot, index))
    for load in loads:
        if not feeds_products(load, loop):
            raise Unprovable("what it reads is used by more than products")
    return loads


@register_pass
class PromoteLoadsToTMAPass(Pass):
    """Turns loads through pointers that feed the matmuls of a loop into loads through descriptors, which the launcher
    makes from a recipe (see `transforms/tt/tma/recipe.py`). The distance between rows must be constant and a multiple
    of 16 bytes, and the mask must be a bound for each dimension. Rows that wrap around (`% M`) are dropped if no store
    depends on them.

    Before:
    ```mlir
    scf.for %start = %c0 to %n step %c64 iter_args(%p = %pointers, ...) -> (...) : i32 {
      %x = tt.load %p : tensor<64x128x!tt.ptr<f16>>
      %next = tt.addptr %p, %offsets : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    ```
    After:
    ```mlir
    tt.func public @kernel(..., %d: !tt.tensordesc<64x128xf16> {ttg.tensor_map = {base = 0, ...}}) {
      scf.for %start = %c0 to %n step %c64 iter_args(...) -> (...) : i32 {
        %x = tt.descriptor_load %d[%start, %c0] : !tt.tensordesc<64x128xf16> -> tensor<64x128xf16>
    ```
    Either all loads of a loop's matmuls are converted, or none; for operands computed in registers, this means the
    loads they are computed from. 1-D tiles that a chain of matmuls is computed with (the gradients of attention)
    are copied, too. A loop that advances over several elements per byte counts its iterations. If a launch's arguments
    do not permit this form (an unaligned tensor, blocks that begin before the tensor, ...), the launch runs the form of
    the kernel without this pass.
    """

    name = "triton-promote-loads-to-tma"

    mode: str = AUTO
    """Which loops: those where it pays (`auto`), wherever it is proved (`always`), or `never`."""
    num_warps: int = 4
    """Warps of a program."""
    num_stages: int = 3
    """Iterations of a loop that are under way unless it says otherwise: with one, no copy runs ahead."""
    persist: str = NEVER
    """The mode of `triton-persist-programs`: where it makes a loop over programs, single products gain, too."""
    reserved_bytes: int = 0
    """Shared memory that copies and results leave to what else a program needs."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER:
            return
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            if len(function.body.blocks) == 1:
                self._run_on_function(function, context)

    def _run_on_function(self, function: tt.FuncOp, context: PassContext) -> None:
        loops = [op for op in function.body.blocks[0].ops if isinstance(op, scf.ForOp)]
        loops = [loop for loop in loops if any(isinstance(op, tt.DotOp) for op in loop.body.block.ops)]
        if len(loops) != 1:
            return
        [loop] = loops
        if self.reserved_bytes:
            context.remark(loop, f"{self.reserved_bytes} bytes of shared memory are left to what is not in this loop")
        if not self._pays(function, loop):
            return
        try:
            _check_order(function, loop)
            promotion, prepared = _prepare(function, loop)
        except Unprovable as reason:
            context.remark(loop, f"its products' operands are not copied by TMA: {reason}", RemarkKind.NOT_TMA)
            return
        for block, recipe in prepared:
            promotion.rewrite(block, recipe)

    def _pays(self, function: tt.FuncOp, loop: scf.ForOp) -> bool:
        launch = Launch(self.num_warps, self.num_stages, reserved_bytes=self.reserved_bytes)
        if self.mode == ALWAYS:
            return launch.room > 0
        return pays_by_chain(loop, launch) or (self.persist != NEVER and pays_by_tiles(function, loop, launch))


def _prepare(function: tt.FuncOp, loop: scf.ForOp) -> tuple[Promotion, list[tuple[Block, DictionaryAttr]]]:
    """All loads of a loop's products, as blocks with their recipes; the loop may come to count its iterations. Raises
    `Unprovable`.
    """
    loads = _operands_of_dots(loop)
    try:
        return _prepare_all(function, loop, loads)
    except AdvancesInParts:
        if not can_count(loop):
            raise
    count_iterations(loop)
    return _prepare_all(function, loop, loads)


def _prepare_all(
    function: tt.FuncOp, loop: scf.ForOp, loads: Mapping[tt.LoadOp, int | None]
) -> tuple[Promotion, list[tuple[Block, DictionaryAttr]]]:
    promotion = Promotion(function)
    prepared = [promotion.prepare(load, loop) for load in loads]
    rows = list(_prepare_rows(promotion, loop))
    for (block, _), depth in zip(prepared, loads.values(), strict=True):
        if depth is not None and depth != (0 if block.is_transposed else 1):
            raise Unprovable("an operand is computed from rows that lie across K")
    return promotion, prepared + rows


def _prepare_rows(promotion: Promotion, loop: scf.ForOp) -> Iterator[tuple[Block, DictionaryAttr]]:
    """1-D tiles that a chain of matmuls is computed with, as far as they can be copied."""
    if len(dots_of(loop)) < 2:
        return
    for load in [op for op in loop.body.block.ops if isinstance(op, tt.LoadOp)]:
        type = load.result.type
        if is_tensor(type) and len(type.get_shape()) == 1 and feeds_products(load, loop, through_branches=True):
            try:
                yield promotion.prepare(load, loop)
            except Unprovable:
                continue


def _check_order(function: tt.FuncOp, loop: scf.ForOp) -> None:
    """Raise `Unprovable` where the kernel may write what the loop reads: TMA sees memory as it was, unless a fence
    follows what was written.
    """
    for op in function.body.blocks[0].ops:
        if any(may_write(inner) and not inner.regions for inner in _and_inside(op)):
            raise Unprovable("the kernel writes memory before the loop, or in it")
        if op is loop:
            return


def _and_inside(op: Operation) -> list[Operation]:
    return [op, *ops_within(op)] if op.regions else [op]
