"""`triton-persist-programs`: as many programs as the GPU runs at a time, each of which does the work of several."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Block, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.construction import UNIT, i32_attr
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.modes import ALWAYS, AUTO, NEVER
from tilewright.transforms.tt.longest_first import LAST, columns_last, direction_of_work, rounds
from tilewright.transforms.tt.tma.gain import NUM_STAGES, Launch, dots_of, stages_with_result
from tilewright.transforms.tt.tma.independence import find_dependence
from tilewright.transforms.tt.tma.polynomial import Unprovable
from tilewright.transforms.tt.tma.promotion import Promotion, add_argument
from tilewright.transforms.tt.tma.recipe import GRID, has_recipes

TILES = "ttg.tiles"
"""On a loop whose iterations are programs of the grid that was launched."""


@register_pass
class PersistProgramsPass(Pass):
    """Makes a kernel persistent if its programs do not depend on each other: its body becomes a loop over programs of
    the grid. The launcher starts only as many programs as can run at a time, and each does the work of several, at
    equal distances. Constant work is then set up once, and `tritongpu-specialize-warps` can copy the blocks of the next
    program while this one stores its result: those of its loop, and those that the program reads before the loop for
    all of its matmuls (the queries of attention), which also become loads through descriptors.

    Before:
    ```mlir
    tt.func public @kernel(%a: !tt.tensordesc<128x64xf16> {ttg.tensor_map = {...}}, ...) {
      %program = tt.get_program_id x : i32
    ```
    After:
    ```mlir
    tt.func public @kernel(..., %all: i32 {ttg.grid = "all"}, %wide: i32 {ttg.grid = "x"}) {
      %first = tt.get_program_id x : i32
      %count = tt.get_num_programs x : i32
      scf.for %number = %first to %all step %count : i32 {
        %program = arith.remsi %number, %wide : i32
        ...
      } {ttg.tiles}
    ```
    Applies only to kernels whose tensor maps the launcher makes. A launch that cannot make them runs the kernel's other
    form, to which none of this applies.
    """

    name = "triton-persist-programs"

    mode: str = AUTO
    """Which kernels: those that gain, whose products TMA copies and stores (`auto`), all that may be (`always`), or
    `never`.
    """
    num_warps: int = 4
    """Warps of a program."""
    num_stages: int = 3
    """Iterations of a loop that are under way unless it says otherwise."""
    turns: str = AUTO
    """The mode of `tritongpu-take-turns`, without which a chain of products does not gain."""
    store_parts: bool = True
    """Whether results for which there is too little room are stored in parts."""
    copy_kept: bool = True
    """Whether TMA copies what products of all iterations read."""
    longest_first: bool = True
    """Whether programs with much to do are done before others."""
    reserved_bytes: int = 0
    """Shared memory that copies and results leave to what else a program needs."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER:
            return
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            if len(function.body.blocks) != 1 or not has_recipes(function) or not self._pays(function):
                continue
            dependence = find_dependence(function)
            if dependence is None:
                if self.copy_kept:
                    _promote_kept(function)
                loops = [op for op in function.body.blocks[0].ops if isinstance(op, scf.ForOp) and dots_of(op)]
                way = direction_of_work(loops[0]) if self.longest_first and len(loops) == 1 else 0
                _persist(function, way)
            else:
                context.remark(dependence, f"programs run beside each other: they may depend on '{dependence.name}'")

    def _pays(self, function: tt.FuncOp) -> bool:
        """Return whether a kernel gains; says in its loop how many iterations are to be under way."""
        if self.mode == ALWAYS:
            return True
        loops = [op for op in function.body.blocks[0].ops if isinstance(op, scf.ForOp) and dots_of(op)]
        written = [op for op in ops_within(function.body) if may_write(op) and not op.regions]
        if len(loops) != 1 or len(written) != 1 or not isinstance(written[0], tt.DescriptorStoreOp):
            return False
        launch = Launch(
            self.num_warps, self.num_stages, self.turns != NEVER, self.store_parts, reserved_bytes=self.reserved_bytes
        )
        stages = stages_with_result(loops[0], launch, written[0].src)
        if stages is not None and stages != launch.stages_of(loops[0]):
            loops[0].attributes[NUM_STAGES] = i32_attr(stages)
        return stages is not None


def _promote_kept(function: tt.FuncOp) -> None:
    """Have TMA copy what a program loads before its loop for products alone, where that is proved: for the next program
    it is copied while this one still works.
    """
    loops = [op for op in function.body.blocks[0].ops if isinstance(op, scf.ForOp) and dots_of(op)]
    if len(loops) != 1:
        return
    dots = set(dots_of(loops[0]))
    for load in [op for op in function.body.blocks[0].ops if isinstance(op, tt.LoadOp)]:
        users = {use.operation for use in load.result.uses}
        if not users or not dots.issuperset(users):
            continue
        promotion = Promotion(function)
        try:
            prepared = promotion.prepare(load, loops[0])
        except Unprovable:
            continue
        promotion.rewrite(*prepared)


def _persist(function: tt.FuncOp, way: int) -> None:
    block = function.body.blocks[0]
    end = block.last_op
    assert end is not None
    moved = [op for op in block.ops if op is not end]
    builder = OpBuilder.before(end, function.location)
    total = _grid(function, "all")
    program: SSAValue
    if way:
        loop, program = rounds(builder, total)
    else:
        first = builder.result(tt.GetProgramIdOp(0))
        count = builder.result(tt.GetNumProgramsOp(0))
        loop = builder.insert(scf.ForOp(first, total, count, [], Block(arg_types=[i32])))
        program = loop.induction_variable
    loop.attributes[TILES] = UNIT
    body = loop.body.block
    before = OpBuilder.at_end(body, function.location)
    asking = [op for each in moved for op in each.walk() if isinstance(op, tt.GetProgramIdOp | tt.GetNumProgramsOp)]
    if asking:
        extents = [_grid(function, axis) for axis in "xyz"]
        if way:
            last = _grid(function, LAST)
            x, rest = columns_last(OpBuilder.before(loop), before, program, total, last, extents[0], way)
        else:
            x = before.result(arith.RemSIOp(program, extents[0]))
            rest = before.result(arith.DivSIOp(program, extents[0]))
        y, z = (before.result(kind(rest, extents[1])) for kind in (arith.RemSIOp, arith.DivSIOp))
        _answer(asking, (x, y, z), extents)
    for op in moved:
        if op not in asking:
            op.detach()
            body.add_op(op)
    OpBuilder.at_end(body, function.location).insert(scf.YieldOp())


def _grid(function: tt.FuncOp, what: str) -> SSAValue:
    argument = add_argument(function, i32, DictionaryAttr({GRID: StringAttr(what)}))
    argument.name_hint = f"grid_{what}"
    return argument


def _answer(
    asking: Sequence[tt.GetProgramIdOp | tt.GetNumProgramsOp], place: Sequence[SSAValue], extents: Sequence[SSAValue]
) -> None:
    """Give ops what they ask for: a program's place along an axis, or the extent of the grid."""
    for op in asking:
        axis = op.axis.value.data
        op.result.replace_all_uses_with((place if isinstance(op, tt.GetProgramIdOp) else extents)[axis])
        op.detach()
        op.erase()
