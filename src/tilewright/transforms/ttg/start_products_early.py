"""`tritongpu-start-products-early`: products that need no other one start before the first result is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.ttg.verification import program_shape, warps_around
from tilewright.ir.effects import is_memory_free, may_write
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.ttg.overlap_products import WARPS_OF_GROUP
from tilewright.transforms.ttg.pipeliner.machine_model import registers_at_hand, registers_of
from tilewright.transforms.ttg.pipeliner.schedule import body_ops, definition_in, used_values

OTHER_REGISTERS = 48
"""Of a thread, beside the results of products: addresses, counters, and operands made of these results."""


@register_pass
class StartProductsEarlyPass(Pass):
    """In loops with several matmuls, whose results are used between them, a matmul that needs none of these results
    starts right before the first of them is used. It is then under way during the arithmetic. What it reads is loaded
    before, too, and waited for together with the operands of the first.

    Before:
    ```mlir
    scf.for ... {
      %s = ttng.warp_group_dot %k, %q, %zero
      %p = math.exp2 %s
      %g = ttg.local_alloc %loaded
      %dp = ttng.warp_group_dot %v, %g, %zero
      %ds = arith.mulf %p, %dp
    ```
    After:
    ```mlir
    scf.for ... {
      %s = ttng.warp_group_dot %k, %q, %zero
      %g = ttg.local_alloc %loaded
      %dp = ttng.warp_group_dot %v, %g, %zero
      %p = math.exp2 %s
      %ds = arith.mulf %p, %dp
    ```
    Only in loops that write no memory, in programs of several warp groups, and where a thread has the registers for all
    results at a time.
    """

    name = "tritongpu-start-products-early"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        shape = program_shape(module)
        if shape is None:
            return
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            dots = [op for op in body_ops(loop) if isinstance(op, ttng.WarpGroupDotOp)]
            if len(dots) > 1 and _pays(dots, warps_around(loop, shape)):
                _start_early(loop, dots)


def _pays(dots: Sequence[ttng.WarpGroupDotOp], num_warps: int) -> bool:
    """Return whether a thread can hold the results of all products, and a program has several groups of warps. Of one
    group a multiprocessor runs several programs, which fill the tensor cores anyway: there it was slower (gradients of
    attention on an H200, heads of 64: 504 TFLOP/s, 527 without).
    """
    if num_warps <= WARPS_OF_GROUP:
        return False
    return OTHER_REGISTERS + sum(registers_of(dot.d, num_warps) for dot in dots) <= registers_at_hand(num_warps)


def _start_early(loop: scf.ForOp, dots: Sequence[ttng.WarpGroupDotOp]) -> None:
    ops = body_ops(loop)
    if any(may_write(inner) for op in ops for inner in op.walk() if not isinstance(inner, ttng.WarpGroupDotOp)):
        return
    place = _first_use(loop, dots[0], ops)
    if place is None:
        return
    for dot in dots[1:]:
        if not place.is_before_in_block(dot) or not _is_used(loop, dot):
            continue
        needed = _needed_after(loop, dot, place)
        if needed is None:
            continue
        for op in (*needed, dot):
            op.detach()
            assert place.parent is not None
            place.parent.insert_op_before(op, place)


def _first_use(loop: scf.ForOp, dot: ttng.WarpGroupDotOp, ops: Sequence[Operation]) -> Operation | None:
    """The first op that has to wait for a product."""
    return next((op for op in ops if any(value is dot.d for value in used_values(op)) and not _adds_to(op, dot)), None)


def _adds_to(op: Operation, dot: ttng.WarpGroupDotOp) -> bool:
    return isinstance(op, ttng.WarpGroupDotOp) and op.c is dot.d and dot.d not in (op.a, op.b)


def _is_used(loop: scf.ForOp, dot: ttng.WarpGroupDotOp) -> bool:
    """Return whether the iteration itself waits for a product."""
    return _first_use(loop, dot, body_ops(loop)) is not None


def _needed_after(loop: scf.ForOp, dot: ttng.WarpGroupDotOp, place: Operation) -> list[Operation] | None:
    """The ops from `place` on that a product needs, in order; None if one of them cannot come earlier."""
    found: set[Operation] = set()
    stack: list[Operation] = [dot]
    while stack:
        for value in used_values(stack.pop()):
            maker = definition_in(loop, value)
            if maker is None or maker in found or maker.is_before_in_block(place):
                continue
            if maker is place or not _may_come_earlier(maker):
                return None
            found.add(maker)
            stack.append(maker)
    return [op for op in body_ops(loop) if op in found]


def _may_come_earlier(op: Operation) -> bool:
    """Return whether an op does the same before others of a loop that writes no memory."""
    match op:
        case ttg.LocalAllocOp():
            return op.src is not None
        case tt.LoadOp():
            return not op.is_volatile.value.data
        case tt.DescriptorLoadOp():
            return True
        case _:
            return is_memory_free(op) and not op.regions
