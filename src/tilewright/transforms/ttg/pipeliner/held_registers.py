"""Registers of A that `wgmma` reads when a round ends are carried to the wait at which it has read them.

ptxas keeps registers that a product reads for nothing else until the wait for it, where both are in one iteration. In
the next one it does not know of the product: what is written there first may be given the same registers, and the sums
are wrong. A wait that is given the registers uses them once more (`WarpGroupLeaf.hold_registers`).

```mlir
scf.for ... iter_args(%acc = %zero, %before = %none) -> (...) {
  %d = ttng.warp_group_dot %a, %b, %acc {isAsync = true} : ...
  %w:2 = ttng.warp_group_dot_wait %d, %before {pendings = 1 : i32} : ... // the product of the round before is done
  scf.yield %w#0, %a : ...
}
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import scf, ttng
from tilewright.dialects.arith.constant import constant_splat
from tilewright.dialects.types import is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.transforms.common.loop_rules import is_defined_outside
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues
from tilewright.transforms.ttg.pipeliner.releases import first_wait, is_issued


def hold_registers(loop: scf.ForOp) -> scf.ForOp:
    """Carry the registers of A that are read when a round of a loop ends; returns the loop, which may carry more."""
    carried, ops = CarriedValues(loop), list(loop.body.block.ops)
    first = len(loop.iter_args)
    for at, dot in enumerate(ops):
        if not isinstance(dot, ttng.WarpGroupDotOp) or not is_issued(dot) or not _is_computed(dot.a, loop):
            continue
        if first_wait(ops[at + 1 :], 0) is not None:
            continue
        wait = first_wait(ops, sum(map(is_issued, ops[at + 1 :])))
        if wait is not None:
            none = OpBuilder.before(loop).result(constant_splat(0, dot.a.type))
            ops[ops.index(wait)] = _with_further(wait, [carried.add(none)])
            carried.yields(dot.a)
    loop = carried.finish()
    last = loop.next_op
    if isinstance(last, ttng.WarpGroupDotWaitOp) and carried.count:
        _with_further(last, loop.results[first:])
    return loop


def _is_computed(value: SSAValue, loop: scf.ForOp) -> bool:
    """Return whether registers are filled in each round."""
    return is_tensor(value.type) and not is_defined_outside(value, loop.body)


def _with_further(wait: Operation, values: Sequence[SSAValue]) -> ttng.WarpGroupDotWaitOp:
    """A wait that passes on some values more, in place of one."""
    assert isinstance(wait, ttng.WarpGroupDotWaitOp)
    longer = OpBuilder.before(wait).insert(ttng.WarpGroupDotWaitOp((*wait.inputs, *values), wait.pendings.value.data))
    for old, new in zip(wait.outputs, longer.outputs, strict=False):
        old.replace_all_uses_with(new)
    wait.detach()
    wait.erase()
    return longer
