"""`wgmma` of loops run while the loop goes on.

A product that writes an accumulator which only the next product adds to need not be waited for in its own iteration.
What it reads must stay as it is until it is done, so its buffers have one more slot, and a wait before the next copies
lets only the products of the present iteration go on:

```mlir
%d = ttng.warp_group_dot %a, %b, %acc : ... -> tensor<128x128xf32, #mma>
scf.yield %d
```
becomes
```mlir
%d = ttng.warp_group_dot %a, %b, %acc {isAsync = true} : ... -> tensor<128x128xf32, #mma>
%w:3 = ttng.warp_group_dot_wait %d, %a, %b {pendings = 1 : i32} : ...
scf.yield %w#0
```
with a wait for all after the loop. A result that is used otherwise is waited for before its first use.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.construction import bool_attr
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import is_tensor
from tilewright.ir.appending import append_operands, append_result
from tilewright.ir.builder import OpBuilder
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.loop_rules import is_defined_outside
from tilewright.transforms.tt.persist_programs import TILES
from tilewright.transforms.ttg.pipeliner.held_registers import hold_registers
from tilewright.transforms.ttg.pipeliner.releases import Releases
from tilewright.transforms.ttg.pipeliner.schedule import holder_in
from tilewright.transforms.ttg.pipeliner.split_dots import split_register_dots

_COPIES = (ttg.AsyncCopyGlobalToLocalOp, ttng.AsyncTMACopyGlobalToLocalOp, ttng.BarrierExpectOp, ttg.LocalStoreOp)
_VIEWS = (ttg.MemDescTransOp, ttg.MemDescReshapeOp, ttg.MemDescSubsliceOp)
SLICES_UNDER_WAY = 4
"""Of a product whose A is in registers: while they run, the registers of the next are filled."""


def _adds_to(user: Operation, index: int) -> bool:
    """Return whether a use is that of an accumulator by the next product, which the hardware keeps in order."""
    return isinstance(user, ttng.WarpGroupDotOp) and index == 2


def _buffers_of(dot: ttng.WarpGroupDotOp) -> list[SSAValue]:
    return [value for value in (dot.a, dot.b) if isinstance(value.type, MemDescType)]


def _before_views(value: SSAValue) -> SSAValue:
    """The value whose registers another one has, transposed or in another layout."""
    while isinstance(value, OpResult) and isinstance(value.op, tt.TransOp | ttg.ConvertLayoutOp):
        value = value.op.src
    return value


class _LoopDots:
    """The products of one loop."""

    def __init__(self, loop: scf.ForOp, slices: Sequence[Sequence[ttng.WarpGroupDotOp]]) -> None:
        self._loop = loop
        self._slices = slices
        """Those that `split_register_dots` made, by the product that they were."""
        self._block = loop.body.block
        self._dots = [op for op in self._block.ops if isinstance(op, ttng.WarpGroupDotOp)]
        self._waits: list[ttng.WarpGroupDotWaitOp] = []
        self._passed: dict[SSAValue, SSAValue] = {}
        """Results of conditionals that pass on the sums of a product."""

    def run(self) -> None:
        """Make asynchronous what may be."""
        deferred = [dot for dot in self._dots if self._may_run_on(dot)]
        self._dots = deferred
        if not deferred:
            return
        for dot in deferred:
            dot.properties["isAsync"] = bool_attr(True)
        for dot in deferred:
            self._wait_for_result(dot)
        for slices in self._slices:
            self._pace(slices)
        self._finish_round_before()
        self._release_carried_registers()
        for dot in deferred:
            self._wait_for_carried(dot)
        self._release_registers()
        self._protect_buffers()
        self._wait_after_loop(deferred)

    @property
    def _end(self) -> Operation:
        """The op at which a round ends: before warps report that they have read their buffers, or the terminator."""
        last = self._block.last_op
        assert last is not None
        return last.prev_op if isinstance(last.prev_op, ttng.ArriveBarrierOp) else last

    def _may_run_on(self, dot: ttng.WarpGroupDotOp) -> bool:
        """Return whether the buffers of a product stay as they are for an iteration: they are of several, or never
        written.
        """
        return all(self._is_lasting(value) for value in _buffers_of(dot))

    def _is_lasting(self, buffer: SSAValue) -> bool:
        while isinstance(buffer, OpResult) and isinstance(buffer.op, _VIEWS):
            buffer = buffer.op.operands[0]
        if is_defined_outside(buffer, self._loop.body):
            return True
        if not isinstance(buffer, OpResult) or not isinstance(buffer.op, ttg.MemDescIndexOp):
            return False
        several = is_defined_outside(buffer.op.src, self._loop.body)
        return several and find_constant_int(buffer.op.index) is None

    def _issued_between(self, first: Operation | None, last: Operation | None) -> int:
        """Asynchronous products after `first` (or the begin of the body) and before `last` (or its end)."""
        op = self._block.first_op if first is None else first.next_op
        count = 0
        while op is not None and op is not last:
            count += isinstance(op, ttng.WarpGroupDotOp) and op in self._dots
            op = op.next_op
        return count

    def _blocking_uses(self, value: SSAValue) -> list[Operation]:
        """The ops of the body that need a value to be complete, in order."""
        users = {
            holder_in(self._block, use.operation)
            for use in value.uses
            if use.operation is not self._block.last_op
            and not isinstance(use.operation, ttng.WarpGroupDotWaitOp)
            and not _adds_to(use.operation, use.index)
        }
        return [op for op in self._block.ops if op in users] if users else []

    def _wait_for_result(self, dot: ttng.WarpGroupDotOp) -> None:
        """A result that the iteration itself uses is complete before that. One that only a branch looks at is waited
        for in the branch.
        """
        users = self._blocking_uses(dot.d)
        if not users:
            return
        pendings = self._issued_between(dot, users[0])
        first = users[0]
        if len(users) == 1 and isinstance(first, scf.IfOp) and self._is_in_one_branch(first, dot.d):
            self._wait_in_branch(first, dot, pendings)
        else:
            self._insert_wait(first, [dot.d, *_buffers_of(dot)], pendings)

    def _is_in_one_branch(self, branch: scf.IfOp, value: SSAValue) -> bool:
        """Return whether a value is used by ops of the first region of a conditional, and in no other of the loop."""
        inside = [use.operation for use in value.uses if branch.is_ancestor(use.operation)]
        return all(branch.true_region.is_ancestor(user) and not isinstance(user, scf.YieldOp) for user in inside)

    def _wait_in_branch(self, branch: scf.IfOp, dot: ttng.WarpGroupDotOp, pendings: int) -> None:
        """Wait at the begin of a branch. The conditional passes on the sums, complete or not, so that they stay in
        their registers:

        ```mlir
        %s = scf.if %last -> (tensor<128x128xf32, #mma>) {
          %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : ...
          ...
          scf.yield %w : tensor<128x128xf32, #mma>
        } else {
          scf.yield %d : tensor<128x128xf32, #mma>
        }
        ```
        """
        then = branch.true_region.block
        wait = OpBuilder.at_start(then, branch.location).insert(
            ttng.WarpGroupDotWaitOp([dot.d, *_buffers_of(dot)], pendings)
        )
        done = wait.outputs[0]
        dot.d.replace_uses_with_if(done, lambda use: use.operation is not wait and branch.is_ancestor(use.operation))
        if not branch.false_region.blocks:
            branch.false_region.add_block(Block([scf.YieldOp()]))
        passed = append_result(branch, dot.d.type)
        for region, value in zip(branch.regions, (done, dot.d), strict=True):
            terminator = region.block.last_op
            assert terminator is not None
            append_operands(terminator, [value])
        dot.d.replace_uses_with_if(passed, lambda use: use.operation is self._block.last_op)
        self._passed[passed] = dot.d

    def _insert_wait(self, point: Operation, values: Sequence[SSAValue], pendings: int) -> None:
        """Wait before `place`; from there on the tensors among the values are what the wait passes on."""
        wait = OpBuilder.before(point).insert(ttng.WarpGroupDotWaitOp(values, pendings))
        self._waits.append(wait)
        for index, value in enumerate(values):
            if is_tensor(value.type):
                self._thread(wait, value, index)

    def _thread(self, wait: ttng.WarpGroupDotWaitOp, value: SSAValue, index: int) -> None:
        """Uses of a value after a wait use what the wait passes on."""
        result = wait.results[index]
        for use in tuple(value.uses):
            user = use.operation
            if user is wait:
                continue
            holder = holder_in(self._block, user)
            if wait.is_before_in_block(holder):
                user.operands[use.index] = result

    def _wait_for_carried(self, dot: ttng.WarpGroupDotOp) -> None:
        """A result that the next iteration uses other than by adding to it is complete before that."""
        if self._is_complete(dot, None):
            return
        for argument in self._arguments_of(dot):
            users = self._blocking_uses(argument)
            if not users:
                continue
            after = self._issued_between(dot, None)
            for wait in self._waits:
                issued = after + self._issued_between(None, wait)
                if wait.pendings.value.data <= issued and wait.is_before_in_block(users[0]):
                    self._extend(wait, argument)
                    break
            else:
                pendings = after + self._issued_between(None, users[0])
                self._insert_wait(users[0], [argument], pendings)

    def _arguments_of(self, dot: ttng.WarpGroupDotOp) -> list[SSAValue]:
        """The carried values that a result becomes, directly or through waits."""
        values: set[SSAValue] = {dot.d}
        for wait in self._waits:
            values.update(out for given, out in zip(wait.inputs, wait.outputs, strict=True) if given in values)
        values.update(passed for passed, sums in self._passed.items() if sums in values)
        return [
            argument
            for argument, source in zip(self._loop.region_iter_args, self._loop.yielded, strict=True)
            if source in values
        ]

    def _extend(self, wait: ttng.WarpGroupDotWaitOp, value: SSAValue) -> None:
        """Have a wait pass on one more value."""
        longer = ttng.WarpGroupDotWaitOp((*wait.inputs, value), wait.pendings.value.data)
        OpBuilder.before(wait).insert(longer)
        for old, new in zip(wait.outputs, longer.outputs, strict=False):
            old.replace_all_uses_with(new)
        self._waits[self._waits.index(wait)] = longer
        wait.detach()
        wait.erase()
        self._thread(longer, value, len(longer.outputs) - 1)

    def _pace(self, slices: Sequence[ttng.WarpGroupDotOp]) -> None:
        """After each slice of a product is issued, wait until few run: the registers of A of those done are free for
        the next. The first slices of a round run beside the last of the round before.
        """
        if any(dot not in self._dots for dot in slices):
            return
        depth = min(SLICES_UNDER_WAY, len(slices))
        for at, dot in enumerate(slices):
            point, done = dot.next_op, slices[at + 1 - depth]
            assert point is not None
            pendings = self._issued_between(done, point if at + 1 >= depth else None)
            if at + 1 < depth:
                pendings += self._issued_between(None, point)
            self._insert_wait(point, [dot.d, *_buffers_of(dot)], pendings)

    def _release_carried_registers(self) -> None:
        """Products that read A from registers which are carried are complete at the end of the round."""
        for dot in self._dots:
            if self._keeps_registers(dot) and self._writer_of(dot) is None:
                self._insert_wait(self._end, [dot.d, dot.a, *_buffers_of(dot)], self._issued_between(dot, None))

    def _release_registers(self) -> None:
        """Before the registers of A are written again in the next round, the products that read them are complete."""
        written = [self._writer_of(dot) for dot in self._dots if self._keeps_registers(dot)]
        arguments = dict.fromkeys(argument for dot in self._dots for argument in self._arguments_of(dot))
        if not written or not arguments:
            return
        first = next(op for op in self._block.ops if op in written)
        self._insert_wait(first, list(arguments), self._issued_between(None, first))

    def _finish_round_before(self) -> None:
        """Wait for the matmuls of the iteration before that read A from registers before the second of this iteration
        starts, if several start before a wait: its sums get the registers that those read.
        """
        first = next((op for op in self._block.ops if op in self._waits), None)
        early = [dot for dot in self._dots if first is not None and dot.is_before_in_block(first)]
        running = [dot for dot in self._dots if self._computes_operand(dot) and not self._is_complete(dot, None)]
        arguments = dict.fromkeys(argument for dot in running for argument in self._arguments_of(dot))
        if len(early) > 1 and arguments and any(early[1].d in wait.inputs for wait in self._waits):
            self._insert_wait(early[1], list(arguments), 1)

    def _computes_operand(self, dot: ttng.WarpGroupDotOp) -> bool:
        """Return whether a product reads A from registers that each round fills."""
        source = _before_views(dot.a)
        return is_tensor(source.type) and not is_defined_outside(source, self._loop.body)

    def _keeps_registers(self, dot: ttng.WarpGroupDotOp) -> bool:
        """Return whether a product may still be reading A from registers when these are written again."""
        if not self._computes_operand(dot):
            return False
        return not self._is_complete(dot, self._writer_of(dot))

    def _writer_of(self, dot: ttng.WarpGroupDotOp) -> Operation | None:
        """The op of the body that writes the registers of A; None where they are carried."""
        source = _before_views(dot.a)
        return holder_in(self._block, source.op) if isinstance(source, OpResult) else None

    def _is_complete(self, dot: ttng.WarpGroupDotOp, point: Operation | None) -> bool:
        """Return whether some wait makes a product complete before `place` in the next round, or before the end of
        this.
        """
        for wait in self._waits:
            if dot.is_before_in_block(wait):
                issued = self._issued_between(dot, wait)
            elif point is not None and wait.is_before_in_block(point):
                issued = self._issued_between(dot, None) + self._issued_between(None, wait)
            else:
                continue
            if wait.pendings.value.data <= issued:
                return True
        return False

    def _protect_buffers(self) -> None:
        """Before the first copies of a round, or before warps say that they have read their buffers, the products of
        the round before are complete.
        """
        if isinstance(self._end, ttng.ArriveBarrierOp):
            open_dots = [dot for dot in self._dots if not self._is_complete(dot, None)]
            if open_dots:
                self._insert_wait(self._end, [dot.d for dot in open_dots], 0)
            return
        first_dot = self._dots[0]
        copy = next(
            (op for op in self._block.ops if isinstance(op, _COPIES) and first_dot.is_before_in_block(op)), None
        )
        for wait in self._waits:
            is_early = copy is None or wait.is_before_in_block(copy)
            if is_early and wait.pendings.value.data <= self._issued_between(None, wait):
                return
        before = [dot for dot in self._dots if copy is None or dot.is_before_in_block(copy)]
        point = before[-1].next_op
        assert point is not None
        values = [value for dot in before for value in (*_buffers_of(dot),)]
        self._insert_wait(point, [before[-1].d, *dict.fromkeys(values)], len(before))

    def _wait_after_loop(self, dots: Sequence[ttng.WarpGroupDotOp]) -> None:
        """After the loop nothing is under way, whether or not anybody looks at the sums: the buffers are used again."""
        arguments = {argument for dot in dots for argument in self._arguments_of(dot)}
        indices = [a.index - 1 for a in arguments if isinstance(a, BlockArgument)]
        results = [self._loop.results[index] for index in sorted(indices)]
        if not results:
            return
        wait = ttng.WarpGroupDotWaitOp(results, 0)
        OpBuilder.after(self._loop).insert(wait)
        for result, waited in zip(results, wait.outputs, strict=True):
            result.replace_uses_with_if(waited, lambda use: use.operation is not wait)


def _hoist_fixed_operands(loop: scf.ForOp) -> None:
    """Buffers that hold the same in every iteration are filled before the loop."""
    for op in tuple(loop.body.block.ops):
        is_fixed = isinstance(op, ttg.LocalAllocOp) and op.src is not None and is_defined_outside(op.src, loop.body)
        if is_fixed and not as_memdesc(op.results[0].type).is_mutable:
            op.detach()
            assert loop.parent is not None
            loop.parent.insert_op_before(op, loop)


def make_dots_asynchronous(module: ModuleOp) -> dict[scf.ForOp, scf.ForOp]:
    """Let the `wgmma` of every loop run on as far as they may. Returns the loops by what they were before."""
    loops: dict[scf.ForOp, scf.ForOp] = {}
    for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
        if TILES in loop.attributes:  # first and last iterations of the loops in it: nothing to run under them
            loops[loop] = loop
            continue
        _hoist_fixed_operands(loop)
        slices = split_register_dots(loop)
        releases = Releases(loop)
        _LoopDots(loop, slices).run()
        loops[loop] = hold_registers(releases.put_back())
    return loops
