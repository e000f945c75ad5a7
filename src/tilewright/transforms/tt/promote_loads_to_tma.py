"""`triton-promote-loads-to-tma`: blocks that matrix products of a loop read through pointers are copied by TMA."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import scf, tt
from tilewright.ir.effects import may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.modes import ALWAYS, AUTO, NEVER
from tilewright.transforms.tt.tma.gain import Launch, pays_by_chain, pays_by_tiles
from tilewright.transforms.tt.tma.polynomial import Unprovable
from tilewright.transforms.tt.tma.promotion import Promotion


def _operands_of_dots(loop: scf.ForOp) -> list[tt.LoadOp]:
    """The loads that products of a loop read. Raises `Unprovable` where something else stands between."""
    loads: dict[tt.LoadOp, None] = {}
    for dot in loop.body.block.ops:
        if not isinstance(dot, tt.DotOp):
            continue
        for operand in (dot.a, dot.b):
            source = operand.owner
            while isinstance(source, tt.TransOp):
                source = source.src.owner
            if isinstance(source, tt.LoadOp) and source.parent is loop.body.block:
                loads[source] = None
    for load in loads:
        if any(not isinstance(use.operation, tt.DotOp | tt.TransOp) for use in load.result.uses):
            raise Unprovable("what it reads is used by more than products")
    return list(loads)


@register_pass
class PromoteLoadsToTMAPass(Pass):
    """Loads through pointers that matrix products of a loop read become loads through descriptors, which the launcher
    makes by a recipe (see `transforms/tt/tma/recipe.py`): where their rows lie at one distance that is a multiple of 16
    bytes, and their mask is a bound for each dimension. Wrapped rows (`% M`) are let go of where no store shows them.

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
    All loads of a loop's products are copied so, or none. A launch whose arguments do not allow it (a tensor that is
    not aligned, blocks that begin before it, ...) runs the kernel in the form that it has without this pass.
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

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER:
            return
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            if len(function.body.blocks) == 1:
                self._run_on_function(function, context)

    def _run_on_function(self, function: tt.FuncOp, context: PassContext) -> None:
        loops = [op for op in function.body.blocks[0].ops if isinstance(op, scf.ForOp)]
        loops = [loop for loop in loops if any(isinstance(op, tt.DotOp) for op in loop.body.block.ops)]
        if len(loops) != 1 or not self._pays(function, loops[0]):
            return
        [loop] = loops
        try:
            _check_order(function, loop)
            promotion = Promotion(function)
            prepared = [promotion.prepare(load, loop) for load in _operands_of_dots(loop)]
        except Unprovable as reason:
            context.remark(loop, f"its products' operands are not copied by TMA: {reason}", RemarkKind.NOT_TMA)
            return
        for block, recipe in prepared:
            promotion.rewrite(block, recipe)

    def _pays(self, function: tt.FuncOp, loop: scf.ForOp) -> bool:
        if self.mode == ALWAYS:
            return True
        launch = Launch(self.num_warps, self.num_stages)
        return pays_by_chain(loop, launch) or (self.persist != NEVER and pays_by_tiles(function, loop, launch))


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
