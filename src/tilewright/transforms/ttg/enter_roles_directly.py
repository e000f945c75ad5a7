"""`tritongpu-enter-roles-directly`: a warp that copies is ahead of the others, and warps end by themselves."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tilewright.analysis.scratch import captured_in_memory
from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.construction import UNIT
from tilewright.dialects.ttg.verification import program_shape
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues

DIRECT = "ttg.direct"
"""On a `ttg.warp_specialize` that its kernel consists of."""


@register_pass
class EnterRolesDirectlyPass(Pass):
    """In a kernel that is nothing but a `ttg.warp_specialize`, workers need not be told what comes, and warps end by
    themselves. While others still initialize barriers, the partition computes where its first copies begin, and has
    those blocks brought to the L2 cache; of each next program in a loop, where its copies begin is computed ahead.

    Before:
    ```mlir
    ttng.init_barrier %full, 1
    ttg.warp_specialize(%full, %d) default { ... } partition0(...) num_warps(1) {
      scf.for %i = %first to %n step %count {
        %row = arith.muli %i, %c128
        scf.for ... { ttng.async_tma_copy_global_to_local %d[%row, %k] ... }
      }
    }
    ttng.inval_barrier %full
    ```
    After:
    ```mlir
    ttng.init_barrier %full, 1
    ttg.warp_specialize(%full, %d) attributes {ttg.direct} default { ... } partition0(...) num_warps(1) {
      %row0 = arith.muli %first, %c128
      ttng.async_tma_prefetch %d[%row0, %c0] %buffer
      ttng.start_role
      scf.for %i = %first to %n step %count iter_args(%row = %row0) {
        scf.for ... { ttng.async_tma_copy_global_to_local %d[%row, %k] ... }
        %next = arith.addi %i, %count
        %row1 = arith.muli %next, %c128
        scf.yield %row1
      }
    }
    ```
    Products on an H200, with a cold cache: 597 TFLOP/s in place of 587 (float16 2048, where each multiprocessor has one
    program), 616 of 600 (bfloat16 2048), 780 of 777 (float16 8192). Prefetches of the second blocks cost more than they
    gain. Kernels whose warp groups take turns have long programs, and stay as they are: attention gained nothing, and
    lost 1.5 % with heads of 64, for which ptxas orders the loop otherwise.
    """

    name = "tritongpu-enter-roles-directly"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        shape = program_shape(module)
        if shape is None or shape.blocks > 1:
            return
        for function in [op for op in module.ops if isinstance(op, tt.FuncOp) and op.is_public]:
            roles = _find_roles(function)
            if roles is None:
                continue
            roles.attributes[DIRECT] = UNIT
            _start_early(roles.partitions[0].block)
            for op in [op for op in function.body.blocks[0].ops if isinstance(op, ttng.InvalBarrierOp)]:
                op.detach()
                op.erase()


def _find_roles(function: tt.FuncOp) -> ttg.WarpSpecializeOp | None:
    """The roles that a kernel consists of, if it does."""
    found = [op for op in ops_within(function.body) if isinstance(op, ttg.WarpSpecializeOp)]
    if len(function.body.blocks) != 1 or len(found) != 1 or found[0].parent is not function.body.blocks[0]:
        return None
    [roles] = found
    if any(isinstance(op, ttng.PassTurnOp) for op in ops_within(roles)):
        return None
    if len(roles.partitions) != 1 or len(roles.partitions[0].blocks) != 1:
        return None
    if roles.results or captured_in_memory(roles):
        return None
    around = [op for op in function.body.blocks[0].ops if op is not roles]
    is_bare = all(_may_come_before(op) if op.is_before_in_block(roles) else _may_come_after(op) for op in around)
    return roles if is_bare else None


def _may_come_before(op: Operation) -> bool:
    if isinstance(op, ttg.LocalAllocOp):
        return op.src is None
    return isinstance(op, ttng.InitBarrierOp) or is_memory_free(op)


def _may_come_after(op: Operation) -> bool:
    return isinstance(op, ttg.LocalDeallocOp | ttng.InvalBarrierOp | tt.ReturnOp) or is_memory_free(op)


def _start_early(block: Block) -> None:
    """Have a partition wait for the kernel's warps where it needs them, with its first copies prepared."""
    loops = [op for op in block.ops if isinstance(op, scf.ForOp)]
    if len(loops) == 1 and all(op is loops[0] or is_memory_free(op) for op in block.ops if op is not block.last_op):
        loop = _compute_ahead(loops[0])
        _prefetch(loop)
        OpBuilder.before(loop).insert(ttng.StartRoleOp())
    else:
        first = block.first_op
        assert first is not None
        OpBuilder.before(first).insert(ttng.StartRoleOp())


def _compute_ahead(loop: scf.ForOp) -> scf.ForOp:
    """Have the numbers that follow from a loop's counter computed before the loop and at the end of each iteration, for
    the next one; returns the loop.
    """
    body, counter = loop.body.block, loop.induction_variable
    made: dict[SSAValue, Operation] = {}
    for op in body.ops:
        if _is_arithmetic(op) and all(v is counter or v in made or not _is_inside(v, loop) for v in op.operands):
            made.update(dict.fromkeys(op.results, op))
    ops = list(dict.fromkeys(made.values()))
    needed = [value for value in made if any(use.operation not in ops for use in value.uses)]
    before = OpBuilder.before(loop)
    carried = CarriedValues(loop)
    terminator = body.last_op
    assert terminator is not None
    end = OpBuilder.before(terminator)
    following = end.result(arith.AddiOp(counter, loop.step))
    initial, later = ({counter: start} for start in (loop.lb, following))
    for builder, values in ((before, initial), (end, later)):
        for op in ops:
            values.update(zip(op.results, builder.insert(op.clone(dict(values))).results, strict=True))
    for value in needed:
        argument = carried.add(initial[value])
        value.replace_uses_with_if(argument, lambda use: use.operation not in ops)
        carried.yields(later[value])
    for op in reversed(ops):
        op.detach()
        op.erase()
    return carried.finish()


def _prefetch(loop: scf.ForOp) -> None:
    """Have the L2 cache fetch what the first copies of a loop over programs, and of a loop in it, begin with."""
    first = _FirstValues(loop)
    for op in [op for op in ops_within(loop.body) if isinstance(op, ttng.AsyncTMACopyGlobalToLocalOp)]:
        place = op.result.owner
        if not isinstance(place, ttg.MemDescIndexOp) or _is_inside(place.src, loop) or _is_inside(op.desc, loop):
            continue
        try:
            coordinates = [first.of(value) for value in op.coord]
        except _Unknown:
            continue
        zero = first.builder.result(arith.constant_int(0, IntegerType(32)))
        buffer = first.builder.result(ttg.MemDescIndexOp(place.src, zero))
        first.builder.insert(ttng.AsyncTMAPrefetchOp(op.desc, coordinates, buffer))


class _Unknown(Exception):
    """A value of the first iteration that is not computed from numbers alone."""


class _FirstValues:
    """What numbers in a loop, and in the loops in it, are in the first iteration of each, computed before it."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        self.builder = OpBuilder.before(loop)
        self._known: dict[SSAValue, SSAValue] = {}

    def of(self, value: SSAValue) -> SSAValue:
        """The value in the first iteration. Raises `_Unknown`."""
        if not _is_inside(value, self._loop):
            return value
        if value not in self._known:
            self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: SSAValue) -> SSAValue:
        owner = value.owner
        if isinstance(owner, Block):
            loop = owner.parent_op()
            if not isinstance(loop, scf.ForOp):
                raise _Unknown
            position = owner.args.index(value)
            return self.of(loop.iter_args[position - 1] if position else loop.lb)
        if not _is_arithmetic(owner):
            raise _Unknown
        assert isinstance(value, OpResult)
        copy = owner.clone({operand: self.of(operand) for operand in owner.operands})
        return self.builder.insert(copy).results[value.index]


def _is_arithmetic(op: Operation) -> bool:
    """Return whether an op computes numbers from numbers."""
    values = (*op.operands, *op.results)
    return is_memory_free(op) and not op.regions and all(isinstance(value.type, IntegerType) for value in values)


def _is_inside(value: SSAValue, loop: scf.ForOp) -> bool:
    block: Block | None = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None:
        holder = block.parent_op()
        if holder is loop:
            return True
        block = None if holder is None else holder.parent
    return False
