"""Loops that count iterations, in place of what the kernel counts.

A loop over K in steps of 64 that advances over two weights in a byte advances by 32: no multiple of the counter, but
one of the number of the iteration.

```mlir
scf.for %k = %c0 to %K step %c64 {...}
```
becomes
```mlir
%whole = arith.divsi %K, %c64
%rest = arith.remsi %K, %c64
%one = arith.minsi %rest, %c1                     // negative where there is no iteration
%count = arith.addi %whole, %one
scf.for %i = %c0 to %count step %c1 {
  %k = arith.muli %i, %c64
```
"""

from __future__ import annotations

from tilewright.dialects import arith, scf
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.types import is_integer
from tilewright.ir.builder import OpBuilder


def can_count(loop: scf.ForOp) -> bool:
    """Return whether a loop counts from 0 in steps of a known number."""
    step = find_constant_int(loop.step)
    return find_constant_int(loop.lb) == 0 and step is not None and step > 1 and loop.unsigned_cmp is None


def count_iterations(loop: scf.ForOp) -> None:
    """Have a loop for which `can_count` count its iterations."""
    type = loop.induction_variable.type
    assert is_integer(type)
    outside, step, upper = OpBuilder.before(loop), loop.step, loop.ub
    one = outside.result(arith.constant_int(1, type))
    whole = outside.result(arith.DivSIOp(upper, step))
    rest = outside.result(arith.MinSIOp(outside.result(arith.RemSIOp(upper, step)), one))
    count = outside.result(arith.AddiOp(whole, rest))
    counter = loop.induction_variable
    inside = OpBuilder.at_start(loop.body.block, loop.location)
    product = inside.insert(arith.MuliOp(counter, step))
    counter.replace_uses_with_if(product.results[0], lambda use: use.operation is not product)
    loop.operands[1], loop.operands[2] = count, one
