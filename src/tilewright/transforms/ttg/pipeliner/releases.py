"""Where warps say that they have read a buffer which another warp fills again.

`tritongpu-specialize-warps` puts the arrival behind the last product that reads the buffer. Where that product runs on,
it belongs behind the first wait at which the product is done: in the same round,

```mlir
%s = ttng.warp_group_dot %q, %k, %zero {isAsync = true}
%o = ttng.warp_group_dot %p, %v, %acc {isAsync = true}
%w = ttng.warp_group_dot_wait %s {pendings = 1 : i32}
ttng.arrive_barrier %k_empty[%slot], 1 {perWarp}          // %s is done, %o is not
```

or in the next one, for the buffer of the round before:

```mlir
%d = ttng.warp_group_dot %a, %b, %acc {isAsync = true}
%w = ttng.warp_group_dot_wait %d {pendings = 1 : i32}
ttng.arrive_barrier %empty[%before], 1, %is_one {perWarp} // the product of the round before is done, %d is not
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, ttg, ttng
from tilewright.ir.builder import OpBuilder
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues

RELEASES = "ttg.releases"
"""On arrivals that say that a buffer was read."""


class Releases:
    """The arrivals of one loop, taken out of it while its products become asynchronous."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        self._late: list[tuple[int, SSAValue, int]] = []
        """Of arrivals in the next round: the number of the carried slot, the barriers, the arrivals of a warp."""
        self._taken: list[tuple[ttng.ArriveBarrierOp, Operation | None]] = []
        """Each arrival, with the product after which it came."""
        last: Operation | None = None
        for op in tuple(loop.body.block.ops):
            if isinstance(op, ttng.WarpGroupDotOp):
                last = op
            elif isinstance(op, ttng.ArriveBarrierOp) and RELEASES in op.attributes:
                op.detach()
                self._taken.append((op, last))

    def put_back(self) -> scf.ForOp:
        """Put each arrival where the products before it are done; returns the loop, which may carry more."""
        carried = CarriedValues(self._loop)
        for arrival, dot in self._taken:
            del arrival.attributes[RELEASES]
            self._put(arrival, dot, carried)
        loop = carried.finish()
        if isinstance(loop.parent_op(), scf.ForOp):
            self._release_last(loop)
        return loop

    def _release_last(self, loop: scf.ForOp) -> None:
        """Give back the buffers of the loop's last round when all products are done, where the loop runs again."""
        wait = loop.next_op
        for position, barriers, count in self._late:
            assert isinstance(wait, ttng.WarpGroupDotWaitOp) and not wait.pendings.value.data
            _arrive_if_any(OpBuilder.after(wait), barriers, loop.results[position], count)

    def _put(self, arrival: ttng.ArriveBarrierOp, dot: Operation | None, carried: CarriedValues) -> None:
        assert isinstance(dot, ttng.WarpGroupDotOp), "an arrival before all products"
        ops = list(self._loop.body.block.ops)
        start = ops.index(dot)
        if not dot.is_async.value.data:
            OpBuilder.after(_after_views(dot, arrival)).insert(arrival)
            return
        wait = first_wait(ops[start + 1 :], 0)
        if wait is not None:
            OpBuilder.after(wait).insert(arrival)
            return
        issued = sum(map(is_issued, ops[start + 1 :]))
        wait = first_wait(ops, issued)
        assert wait is not None, "products that nobody waits for"
        self._put_in_next_round(arrival, wait, carried)

    def _put_in_next_round(self, arrival: ttng.ArriveBarrierOp, wait: Operation, carried: CarriedValues) -> None:
        """The slot of the round before is carried; -1 says that there was none."""
        view = arrival.alloc
        assert isinstance(view, OpResult) and isinstance(view.op, ttg.MemDescIndexOp)
        barriers, slot = view.op.src, view.op.index
        outside, end = OpBuilder.before(self._loop), self._loop.body.block.last_op
        assert end is not None
        none = outside.result(arith.constant_int(-1, i32))
        position = len(self._loop.iter_args) + carried.count
        before = carried.add(none)
        if arrival.pred is not None:
            slot = OpBuilder.before(end).result(arith.SelectOp(arrival.pred, slot, none))
        carried.yields(slot)
        self._late.append((position, barriers, arrival.count.value.data))
        _arrive_if_any(OpBuilder.after(wait), barriers, before, arrival.count.value.data)
        arrival.erase()


def _arrive_if_any(builder: OpBuilder, barriers: SSAValue, slot: SSAValue, count: int) -> None:
    """Arrive for a slot unless it is -1."""
    zero = builder.result(arith.constant_int(0, i32))
    is_one = builder.result(arith.CmpiOp(slot, zero, "sge"))
    emptied = builder.result(ttg.MemDescIndexOp(barriers, slot))
    builder.insert(ttng.ArriveBarrierOp(emptied, count, is_one, per_warp=True))


def is_issued(op: Operation) -> bool:
    """Return whether an op starts a product that runs on."""
    return isinstance(op, ttng.WarpGroupDotOp) and bool(op.is_async.value.data)


def first_wait(ops: Sequence[Operation], issued: int) -> Operation | None:
    """The first of some ops at which a product is done after which `issued` others were issued before them."""
    for op in ops:
        if isinstance(op, ttng.WarpGroupDotWaitOp) and op.pendings.value.data <= issued:
            return op
        issued += is_issued(op)
    return None


def _after_views(dot: Operation, arrival: ttng.ArriveBarrierOp) -> Operation:
    """The later of a product and the view of the barrier."""
    view = arrival.alloc.owner
    assert isinstance(view, Operation)
    return view if view.parent is dot.parent and dot.is_before_in_block(view) else dot
