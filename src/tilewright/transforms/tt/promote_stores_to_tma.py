"""`triton-promote-stores-to-tma`: the result of a kernel whose products are copied by TMA is stored by it, too."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import scf, tt
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.modes import AUTO, NEVER
from tilewright.transforms.tt.tma.gain import Launch, dots_of, pays_by_tiles
from tilewright.transforms.tt.tma.independence import stores_of
from tilewright.transforms.tt.tma.polynomial import Unprovable
from tilewright.transforms.tt.tma.promotion import Promotion
from tilewright.transforms.tt.tma.recipe import has_recipes


@register_pass
class PromoteStoresToTMAPass(Pass):
    """Turns the only store of a kernel, after a loop whose operands `triton-promote-loads-to-tma` gave to TMA, into a
    store through a descriptor that the launcher makes. The elements are rounded and written to shared memory, and
    copied from there while the threads continue.

    Before:
    ```mlir
    tt.store %pointers, %x, %inside : tensor<128x256x!tt.ptr<f16>>
    ```
    After:
    ```mlir
    tt.descriptor_store %d[%row, %column], %x : !tt.tensordesc<128x256xf16>, tensor<128x256xf16>
    ```
    The mask must be a bound for each dimension, or absent. A kernel that reads memory after the store, or stores more
    than once, is left alone, because copies are unordered.
    """

    name = "triton-promote-stores-to-tma"

    mode: str = AUTO
    """Which stores: those of kernels that gain by it (`auto`), wherever it is proved (`always`), or `never`."""
    num_warps: int = 4
    """Warps of a program."""
    num_stages: int = 3
    """Iterations of a loop that are under way unless it says otherwise."""
    turns: str = AUTO
    """The mode of `tritongpu-take-turns`, without which a chain of products does not gain."""
    store_parts: bool = True
    """Whether results for which there is too little room are stored in parts."""
    reserved_bytes: int = 0
    """Shared memory that copies and results leave to what else a program needs."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER:
            return
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            if len(function.body.blocks) == 1 and has_recipes(function):
                self._run_on_function(function, context)

    def _run_on_function(self, function: tt.FuncOp, context: PassContext) -> None:
        loops = [op for op in function.body.blocks[0].ops if isinstance(op, scf.ForOp) and dots_of(op)]
        stores = stores_of(function)
        if len(loops) != 1 or not stores:
            return
        launch = Launch(
            self.num_warps, self.num_stages, self.turns != NEVER, self.store_parts, reserved_bytes=self.reserved_bytes
        )
        if self.mode == AUTO and not pays_by_tiles(function, loops[0], launch):
            return
        try:
            _check_order(function, loops[0], stores)
            promotion = Promotion(function)
            block, recipe = promotion.prepare(stores[0], loops[0])
        except Unprovable as reason:
            context.remark(stores[0], f"it is not stored by TMA: {reason}", RemarkKind.NOT_TMA)
            return
        promotion.rewrite(block, recipe)


def _check_order(function: tt.FuncOp, loop: scf.ForOp, stores: list[tt.StoreOp]) -> None:
    """Raise `Unprovable` where somebody may see in which order memory is written and read."""
    if len(stores) != 1 or stores[0].parent is not function.body.blocks[0]:
        raise Unprovable("it is not the only store, once in a program")
    if not loop.is_before_in_block(stores[0]):
        raise Unprovable("it comes before the products")
    following = stores[0].next_op
    while following is not None:
        if any(isinstance(op, tt.LoadOp | tt.DescriptorLoadOp) for op in ops_within(following)):
            raise Unprovable("the kernel reads memory after it")
        following = following.next_op
