"""`tritongpu-optimize-accumulator-init`: sums that a loop sets back to zero start anew inside of the product."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.ir import BlockArgument, OpResult, SSAValue

from tilewright.dialects import arith, scf, ttng
from tilewright.dialects.tt.folds import splat_of
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues


@dataclass(frozen=True)
class _Reset:
    """A carried sum that becomes `dot`'s result, or zero where `condition` is `when`."""

    dot: ttng.WarpGroupDotOp
    argument: BlockArgument
    condition: SSAValue
    when: bool


def _is_zero(value: SSAValue) -> bool:
    return splat_of(value) == 0


def _choice(value: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue] | None:
    """Condition and both values of a choice that ends an iteration; None for any other value."""
    if not isinstance(value, OpResult) or not value.has_one_use():
        return None
    match value.op:
        case arith.SelectOp() as op if op.cond.type == i1:
            return op.cond, op.lhs, op.rhs
        case scf.IfOp() as op:
            return op.cond, op.then_yielded[value.index], op.else_yielded[value.index]
        case _:
            return None


def _find_reset(loop: scf.ForOp, argument: BlockArgument) -> _Reset | None:
    """Return how a carried value is set back; None where it is not, or where anybody but the product would notice."""
    choice = _choice(loop.yielded[argument.index - 1])
    if choice is None or loop.results[argument.index - 1].first_use is not None or not argument.has_one_use():
        return None
    condition, if_true, if_false = choice
    when = _is_zero(if_true)
    sums = if_false if when else if_true
    if when == _is_zero(if_false) or not isinstance(sums, OpResult):
        return None
    dot = sums.op
    if not isinstance(dot, ttng.WarpGroupDotOp) or dot.c is not argument or dot.use_c is not None:
        return None
    return _Reset(dot, argument, condition, when)


def _rewrite(loop: scf.ForOp, resets: list[_Reset]) -> None:
    before, end = OpBuilder.before(loop), OpBuilder.before(loop.body.block.last_op or loop)
    carried = CarriedValues(loop)
    for reset in resets:
        dot, index = reset.dot, reset.argument.index - 1
        adds = carried.add(before.result(arith.constant_bool(not _is_zero(loop.iter_args[index]))))
        started = ttng.WarpGroupDotOp(dot.a, dot.b, dot.c, use_c=adds)
        started.properties = dict(dot.properties)
        started.attributes = dict(dot.attributes)
        OpBuilder.before(dot).insert(started)
        dot.d.replace_all_uses_with(started.d)
        dot.detach()
        dot.erase()
        terminator = loop.body.block.last_op
        assert terminator is not None
        terminator.operands[index] = started.d
        true = end.result(arith.constant_bool(True))
        continues = end.result(arith.XOrIOp(reset.condition, true)) if reset.when else reset.condition
        carried.yields(continues)
    carried.finish()


@register_pass
class OptimizeAccumulatorInitPass(Pass):
    """If a loop resets the accumulator of a `wgmma` to zero, lets the next `wgmma` ignore the accumulator instead,
    because the registers may still be written by an earlier one.

    Before:
    ```mlir
    scf.for ... iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>) {
      %d = ttng.warp_group_dot %a, %b, %acc : ...
      %next = arith.select %last, %zero, %d : tensor<128x128xf32, #mma>
      scf.yield %next : tensor<128x128xf32, #mma>
    ```
    After:
    ```mlir
    scf.for ... iter_args(%acc = %zero, %adds = %false) -> (tensor<128x128xf32, #mma>, i1) {
      %d = ttng.warp_group_dot %a, %b, %acc, %adds : ...
      %more = arith.xori %last, %true : i1
      scf.yield %d, %more : tensor<128x128xf32, #mma>, i1
    ```
    """

    name = "tritongpu-optimize-accumulator-init"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            found = [_find_reset(loop, argument) for argument in loop.body.block.args[1:]]
            resets = [reset for reset in found if reset is not None]
            if resets:
                _rewrite(loop, resets)
