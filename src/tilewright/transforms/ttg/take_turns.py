"""`tritongpu-take-turns`: two warp groups compute between their matmuls one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt, ttg, ttng
from tilewright.dialects.ttg.verification import TARGET, warps_of_program
from tilewright.dialects.types import is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.common.modes import AUTO, NEVER
from tilewright.transforms.tt.persist_programs import TILES
from tilewright.transforms.ttg.allocate_warp_groups import HOPPER
from tilewright.transforms.ttg.capability import compute_capability
from tilewright.transforms.ttg.conversion_cost import is_expensive
from tilewright.transforms.ttg.pipeliner.machine_model import product_clocks, vector_clocks
from tilewright.transforms.ttg.pipeliner.schedule import used_values

WARPS = 8
"""Of two warp groups."""


@dataclass(frozen=True)
class _Chain:
    """Products of an iteration, and the arithmetic between them: from `wait`, which completes the sums of the first, to
    `operand`, which the last one reads from registers.
    """

    dots: tuple[ttng.WarpGroupDotOp, ...]
    wait: ttng.WarpGroupDotWaitOp
    between: tuple[Operation, ...]
    operand: OpResult

    @property
    def slow(self) -> list[Operation]:
        """The exponentials and the like."""
        return [op for op in self.between if is_expensive(op) and any(is_tensor(r.type) for r in op.results)]

    @property
    def fills_products(self) -> bool:
        """Return whether products take as long as all of the arithmetic that leads from one to the other."""
        return sum(map(product_clocks, self.dots)) >= vector_clocks(self._leading)

    @property
    def _leading(self) -> set[Operation]:
        """Return the ops that the last product's operand is made of."""
        return self._slice(self.operand)

    def spread_before(self, op: Operation) -> list[SSAValue]:
        """Numbers of rows, found between the products, that an op needs in every column."""
        spread = [each.src for each in self._slice(*op.operands) if isinstance(each, tt.ExpandDimsOp)]
        return [value for value in spread if isinstance(value, OpResult) and value.op in self.between]

    def _slice(self, *values: SSAValue) -> set[Operation]:
        found: set[Operation] = set()
        stack = list(values)
        while stack:
            value = stack.pop()
            if isinstance(value, OpResult) and value.op in self.between and value.op not in found:
                found.add(value.op)
                stack.extend(used_values(value.op))
        return found


def _find_chain(loop: scf.ForOp) -> _Chain | None:
    """The chain of a loop whose warp groups may take turns; None where there is none."""
    ops = list(loop.body.block.ops)
    dots = tuple(op for op in ops if isinstance(op, ttng.WarpGroupDotOp))
    if len(dots) < 2 or not all(dot.is_async.value.data for dot in dots):
        return None
    last = dots[-1]
    waits = [
        op
        for op in ops
        if isinstance(op, ttng.WarpGroupDotWaitOp) and dots[0].d in op.inputs and op.is_before_in_block(last)
    ]
    operand = last.a
    if len(waits) != 1 or not isinstance(operand, OpResult) or not is_tensor(operand.type):
        return None
    if operand.op.parent is not loop.body.block or not waits[0].is_before_in_block(operand.op):
        return None
    between = tuple(ops[ops.index(waits[0]) + 1 : ops.index(last)])
    return _Chain(dots, waits[0], between, operand)


@register_pass
class TakeTurnsPass(Pass):
    """Where two warp groups multiply, compute and multiply again, as in attention, and a warp of its own copies for
    them, nothing keeps them from computing at the same time, and then multiplying at the same time. Turns do: while one
    group computes, the products of the other are under way.

    Before:
    ```mlir
    scf.for %i = %lb to %ub step %s {
      %s = ttng.warp_group_dot %q, %k, %zero {isAsync = true}
      %w = ttng.warp_group_dot_wait %s {pendings = 0 : i32}
      %p = math.exp2 %w
      %o = ttng.warp_group_dot %p, %v, %acc {isAsync = true}
    ```
    After:
    ```mlir
    ttng.pass_turn %any {opens}
    scf.for %i = %lb to %ub step %s {
      %s = ttng.warp_group_dot %q, %k, %zero {isAsync = true}
      ttng.await_turn
      %w = ttng.warp_group_dot_wait %s {pendings = 0 : i32}
      %p = math.exp2 %w
      ttng.pass_turn %more after %p
      %o = ttng.warp_group_dot %p, %v, %acc {isAsync = true}
    ```
    Where products take less time than all of that arithmetic, turns are for the exponentials alone, whose unit is the
    slowest: the groups await them right before these, and before the buffer that the last product reads is waited for.
    In a loop over programs turns go on from one program to the next.
    """

    name = "tritongpu-take-turns"

    mode: str = AUTO
    """Which loops: those with roles (`auto`), or `never`."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER or TARGET not in module.attributes or compute_capability(module) < HOPPER:
            return
        for roles in [op for op in ops_within(module) if isinstance(op, ttg.WarpSpecializeOp)]:
            loops = [op for op in ops_within(roles.default_region) if isinstance(op, scf.ForOp)]
            for loop in loops:
                chain = _find_chain(loop)
                if chain is not None and chain.slow and warps_of_program(loop) == WARPS:
                    _take_turns(loop, chain)


def _take_turns(loop: scf.ForOp, chain: _Chain) -> None:
    around = loop.parent_op()
    tiles = around if isinstance(around, scf.ForOp) and TILES in around.attributes else None
    more = _open(loop) if tiles is None else _open_for_all(tiles)
    if chain.fills_products:
        OpBuilder.before(chain.wait).insert(ttng.AwaitTurnOp())
    else:
        _await_exponentials(chain)
    _make_early(chain.operand.op)
    OpBuilder.after(chain.operand.op).insert(ttng.PassTurnOp(more, [chain.operand]))


def _open(loop: scf.ForOp) -> SSAValue:
    """Give the first group its first turn; returns whether there is an iteration to pass one on to."""
    before, start = OpBuilder.before(loop), OpBuilder.at_start(loop.body.block, loop.location)
    predicate = "slt" if loop.unsigned_cmp is None else "ult"
    runs = before.result(arith.CmpiOp(loop.lb, loop.ub, predicate))
    before.insert(ttng.PassTurnOp(runs, opens=True))
    following = start.result(arith.AddiOp(loop.induction_variable, loop.step))
    return start.result(arith.CmpiOp(following, loop.ub, predicate))


def _open_for_all(tiles: scf.ForOp) -> SSAValue:
    """The same once for all programs of a loop: a group begins the next one while the other ends this one. After the
    last iteration of all, the first group takes the turn that is passed on to it; returns true.
    """
    before = OpBuilder.before(tiles, tiles.location)
    true = before.result(arith.constant_bool(True))
    before.insert(ttng.PassTurnOp(true, opens=True))
    OpBuilder.after(tiles).insert(ttng.AwaitTurnOp(closes=True))
    return true


def _make_early(op: Operation) -> None:
    """Put an op, and what only leads from one value to it, right after that value is there."""
    source = op.operands[0]
    if len(op.operands) == 1 and isinstance(source, OpResult) and source.op.parent is op.parent:
        if len(source.op.operands) == 1 and not is_expensive(source.op) and not source.op.regions:
            _make_early(source.op)
        op.detach()
        assert source.op.parent is not None
        source.op.parent.insert_op_after(op, source.op)


def _await_exponentials(chain: _Chain) -> None:
    """The wait for the buffer of the last product comes right before the exponentials, the turn before it: ptxas moves
    arithmetic across barriers, but not across the loop that such a wait is.
    """
    first = chain.slow[0]
    for wait in [op for op in chain.between if isinstance(op, ttng.WaitBarrierOp)]:
        if not first.is_before_in_block(wait):
            continue
        moved = _needed([wait], first)
        if moved is None:
            continue
        for op in moved:
            op.detach()
            assert first.parent is not None
            first.parent.insert_op_before(op, first)
    waits = [op for op in chain.between if isinstance(op, ttng.WaitBarrierOp) and op.is_before_in_block(first)]
    OpBuilder.before(waits[0] if waits else first).insert(ttng.AwaitTurnOp(chain.spread_before(first)))


def _needed(ops: Sequence[Operation], place: Operation) -> list[Operation] | None:
    """Some ops after `place` and what they need of what is computed after it, in order; None if that is more than
    numbers and views.
    """
    found: dict[Operation, None] = {}
    stack: list[SSAValue] = [operand for op in ops for operand in op.operands]
    while stack:
        value = stack.pop()
        if not isinstance(value, OpResult) or value.op.parent is not place.parent:
            continue
        if value.op is not place and value.op.is_before_in_block(place):
            continue
        if not is_memory_free(value.op) or value.op.regions or any(is_tensor(r.type) for r in value.op.results):
            return None
        found[value.op] = None
        stack.extend(value.op.operands)
    assert place.parent is not None
    wanted = {*found, *ops}
    return [op for op in place.parent.ops if op in wanted]
