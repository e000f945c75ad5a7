"""Different code for different warps.

The kernel's own warps take the ordinary way through the kernel. The others, its workers, wait until they are told which
`ttg.warp_specialize` comes: its number lies in shared memory (`ttg.worker_state`), 0 says that the kernel ends.

```mlir
ttg.warp_specialize(%a) default { A } partition0(%p: i32) num_warps(4) { B } : (i32) -> ()
```
```llvm
entry:   br i1 %is_worker, label %workers, label %kernel
kernel:  ...                            ; captures and state to shared memory
         barrier 1                      ; all warps
         barrier 1                      ; captures are read: A may use their memory
         A
         barrier 1                      ; all warps: B is done
         ...                            ; state 0
         barrier 1
         ret void
workers: barrier 1
         switch i32 %state, label %end [ i32 1, label %first ]
first:   ...                            ; captures from shared memory
         barrier 1
         B                              ; its own barriers are those of its warps: number 2 and on
         barrier 1
         br label %workers
```
A kernel that is nothing but roles (`tritongpu-enter-roles-directly`) needs no state, and a partition says itself where
it waits for the kernel's own warps (`ttng.start_role`).

```llvm
kernel:  ...
         barrier 1                      ; all warps
         A
         ret void
workers: ...                            ; the start of B
         barrier 1
         ...                            ; the rest of it
         ret void
```
Where roles have different numbers of registers, those that have more than at the start of the kernel give them back
before the last barrier, and the others take them behind it: a warp that takes registers asks for them again and again,
and would ask, in the issue slots of those that work, until A is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, Region, SSAValue

from tilewright.analysis.scratch import CAPTURE_BYTES, captured_in_memory
from tilewright.dialects import ttg, ttng
from tilewright.dialects.construction import static_values
from tilewright.dialects.ttg.verification import integer_attribute
from tilewright.ir.diagnostics import op_error
from tilewright.ir.walking import ops_within
from tilewright.lowering.control_flow import lower_joined, lower_region_end
from tilewright.lowering.ttg_to_llvm.carried_values import flat_types
from tilewright.lowering.ttg_to_llvm.cluster_meetings import Meetings
from tilewright.lowering.ttg_to_llvm.function_lowering import ALLOCATION_OFFSET, PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.module_lowering import Warps
from tilewright.lowering.ttg_to_llvm.values import SharedValue
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.allocate_shared_memory import WORKER_STATE_BYTES, count_meetings
from tilewright.transforms.ttg.allocate_warp_groups import LEAST_REGISTERS, MAX_REGISTERS, WARP_GROUP, groups_of
from tilewright.transforms.ttg.enter_roles_directly import DIRECT

MEETING = 1
"""The number of the barrier of all warps."""
FIRST_OF_PARTITIONS = 2
END = 0
"""The state that ends the workers."""

lowers(ttg.WarpYieldOp)(lower_region_end)


@dataclass
class Workers:
    """The warps of a kernel that run partitions, and the blocks that they run."""

    fn: GpuFunctionLowering
    total_warps: int
    state_offset: int
    registers: int
    """Registers of every thread where nothing is specialised; 0 where nobody has asked for others."""
    meetings: Meetings | None
    """Of programs of several CTAs."""
    direct: ttg.WarpSpecializeOp | None
    """The roles of a kernel that consists of them."""
    wait: str = ""
    starts: list[str] = field(default_factory=list[str])
    """The block of each `ttg.warp_specialize`, whose state is its number from 1 on."""
    roles: int = 0
    """Partitions that were lowered."""

    def begin(self) -> None:
        """At the start of the kernel: only its own warps go on."""
        text = self.fn.text
        if self.meetings is not None:
            self.meetings.begin()
        own = text.new_label("kernel")
        self.wait = text.new_label("workers")
        is_worker = text.icmp("uge", "i32", self.fn.threads.uniform_warp, self.fn.threads.num_warps)
        text.branch_if(is_worker, self.wait, own)
        text.start(own)

    def meet(self) -> None:
        """All warps of the CTA wait for each other."""
        self.fn.emitter.barrier_of(self.fn.text, MEETING, 32 * self.total_warps)

    def arrive_in_cluster(self) -> None:
        """The warps that run the current region have come so far, in this CTA."""
        assert self.meetings is not None
        self.meetings.arrive(self._role())

    def wait_for_cluster(self) -> None:
        """They have in all CTAs."""
        assert self.meetings is not None
        self.meetings.wait(self._role())

    def _role(self) -> int:
        return 0 if self.fn.threads.partition is None else self.fn.threads.partition.role

    def tell(self, state: int) -> None:
        """Say what comes. Takes effect when the workers are met."""
        self._in_first_thread([("i32", str(state), self._state())])

    def _state(self) -> str:
        return self.fn.shared_at(self.state_offset)

    def _in_first_thread(self, stores: Sequence[tuple[str, str, str]]) -> None:
        """Store (type, operand, address) in one thread."""
        text = self.fn.text
        then, done = text.new_label("first"), text.new_label("stored")
        text.branch_if(self.fn.threads.first(), then, done)
        text.start(then)
        for type, operand, address in stores:
            text.store(type, operand, address, space=3, align=CAPTURE_BYTES)
        text.branch(done)
        text.start(done)

    def end_kernel(self) -> None:
        """Before the kernel returns: the workers end, too."""
        if self.direct is not None:
            return
        self.tell(END)
        self.meet()

    def finish(self) -> None:
        """After all of the kernel's blocks: where workers wait."""
        if self.direct is not None:
            return
        text = self.fn.text
        text.start(self.wait)
        self.meet()
        state = text.load("i32", self._state(), space=3, align=CAPTURE_BYTES)
        end = text.new_label("end")
        text.switch("i32", state, end, enumerate(self.starts, 1))
        text.start(end)
        text.ret()

    # ------------------------------------------------------------------------------------------------------ captures

    def store_captures(self, op: ttg.WarpSpecializeOp, captures: Sequence[SSAValue]) -> None:
        """Store captures that partitions cannot compute themselves to shared memory."""
        pairs = self.fn.flat_all(captures)
        addresses = self._addresses(op, len(pairs))
        self._in_first_thread([(type, operand, at) for (type, operand), at in zip(pairs, addresses, strict=True)])

    def load_captures(self, op: ttg.WarpSpecializeOp, captures: Sequence[SSAValue]) -> list[str]:
        """The same parts, in a worker."""
        types = [type for value in captures for type in flat_types(value.type)]
        addresses = self._addresses(op, len(types))
        return [
            self.fn.text.load(type, at, space=3, align=CAPTURE_BYTES) for type, at in zip(types, addresses, strict=True)
        ]

    def _addresses(self, op: Operation, count: int) -> list[str]:
        if not count:
            return []
        start = op.attributes[ALLOCATION_OFFSET]
        assert isinstance(start, IntegerAttr)
        return [self.fn.shared_at(start.value.data + CAPTURE_BYTES * index) for index in range(count)]


@lowers(ttg.WarpSpecializeOp)
def lower_warp_specialize(op: ttg.WarpSpecializeOp, fn: GpuFunctionLowering) -> None:
    workers = fn.workers
    if workers is None:
        reason = "warps are specialised in the kernel itself, not in a function that is not inlined"
        raise op_error(op, reason, pass_name=PASS_NAME)
    assert isinstance(workers, Workers)
    text = fn.text
    captures = captured_in_memory(op)
    own, *others = _registers(op, workers)
    if captures:
        fn.barrier()  # nobody uses the memory of the captures any more
        workers.store_captures(op, captures)
    is_direct = workers.direct is op
    start = workers.wait if is_direct else text.new_label("specialized")
    if not is_direct:
        workers.starts.append(start)
        workers.tell(len(workers.starts))
    workers.meet()
    if captures:
        workers.meet()
    if own:
        fn.emitter.set_registers(text, workers.registers, own)
    lower_joined(op.default_region, op.results, ttg.WarpYieldOp, fn)
    if not is_direct:
        _meet_at_end(workers, own)
    joined = text.new_label("joined")
    text.branch(joined)
    _lower_partitions(op, workers, captures, others, start)
    text.start(joined)


def _meet_at_end(workers: Workers, own: int) -> None:
    """The kernel's own warps, with `own` registers, are done with their role."""
    if own > workers.registers:
        workers.fn.emitter.set_registers(workers.fn.text, own, workers.registers)
    workers.meet()
    if 0 < own < workers.registers:
        workers.fn.emitter.set_registers(workers.fn.text, own, workers.registers)


def _registers(op: ttg.WarpSpecializeOp, workers: Workers) -> tuple[int, ...]:
    """Registers of the kernel's warps, then of each partition; 0 where they stay as they are."""
    if op.actual_registers is None or not workers.registers:
        return (0,) * (1 + len(op.num_warps))
    return static_values(op.actual_registers)


def _lower_partitions(
    op: ttg.WarpSpecializeOp, workers: Workers, captures: Sequence[SSAValue], registers: Sequence[int], start: str
) -> None:
    """Emit the workers: each warp runs the partition that it belongs to, the rest nothing."""
    fn, text = workers.fn, workers.fn.text
    assert op.warp_group_start_ids is not None
    warp_ranges = list(zip(static_values(op.warp_group_start_ids), op.num_warps, strict=True))
    text.start(start)
    loaded = workers.load_captures(op, captures)
    if captures:
        workers.meet()
    by_group = (
        _registers_by_group(fn.threads.num_warps, workers.total_warps, warp_ranges, registers) if any(registers) else {}
    )
    _change_registers(workers, {group: (workers.registers, count) for group, count in by_group.items()})
    end = text.new_label("idle")
    for index, (region, (first, count)) in enumerate(zip(op.partitions, warp_ranges, strict=True)):
        mine, other = text.new_label("partition"), text.new_label("other")
        warp = text.binary("sub", "i32", fn.threads.uniform_warp, first)
        text.branch_if(text.icmp("ult", "i32", warp, count), mine, other)
        text.start(mine)
        _bind_captures(op, fn, region, captures, loaded)
        workers.roles += 1
        with fn.on_warps(Warps(first, count, FIRST_OF_PARTITIONS + index, workers.roles)):
            fn.lower_blocks(region.blocks[0], lambda block: text.branch(end) if _returns(block.last_op) else None)
        text.start(other)
    if workers.direct is op:
        workers.meet()
    text.branch(end)
    text.start(end)
    if workers.direct is op:
        text.ret()
        return
    given = {group: (count, workers.registers) for group, count in by_group.items() if count > workers.registers}
    taken = {group: (count, workers.registers) for group, count in by_group.items() if count < workers.registers}
    _change_registers(workers, given)
    workers.meet()
    _change_registers(workers, taken)
    text.branch(workers.wait)


def _returns(op: Operation | None) -> bool:
    return isinstance(op, ttg.WarpReturnOp)


@lowers(ttng.StartRoleOp)
def lower_start_role(op: ttng.StartRoleOp, fn: GpuFunctionLowering) -> None:
    assert fn.workers is not None
    fn.workers.meet()


@lowers(ttg.WarpReturnOp)
def lower_warp_return(op: ttg.WarpReturnOp, fn: GpuFunctionLowering) -> None:
    """The branch to what comes after all partitions is made where the block ends."""


def _bind_captures(
    op: ttg.WarpSpecializeOp,
    fn: GpuFunctionLowering,
    region: Region,
    captures: Sequence[SSAValue],
    loaded: Sequence[str],
) -> None:
    """Arguments of the kernel are known here too, buffers are found again, the rest was loaded."""
    operands = iter(loaded)
    for value, argument in zip(op.operands, region.blocks[0].args, strict=True):
        if value in captures:
            fn.set(argument, fn.unflatten(value.type, operands))
        elif isinstance(value.owner, ttg.LocalAllocOp):
            fn.set(argument, SharedValue(fn.shared_pointer(value.owner)))
        else:
            fn.set(argument, fn.values[value])


def _registers_by_group(
    own_warps: int, total_warps: int, warp_ranges: Sequence[tuple[int, int]], registers: Sequence[int]
) -> dict[int, int]:
    """Registers of a thread of each warp group of workers; those without a partition keep the least."""
    by_group = dict.fromkeys(range(own_warps // WARP_GROUP, total_warps // WARP_GROUP), LEAST_REGISTERS)
    for warp_range, count in zip(warp_ranges, registers, strict=True):
        by_group.update(dict.fromkeys(groups_of(*warp_range), count))
    return by_group


def _change_registers(workers: Workers, changes: dict[int, tuple[int, int]]) -> None:
    """Each warp group goes from one number of registers to another."""
    fn, text = workers.fn, workers.fn.text
    if not changes:
        return
    done = text.new_label("registers")
    group = text.binary("lshr", "i32", fn.threads.uniform_warp, WARP_GROUP.bit_length() - 1)
    labels = {role: text.new_label("group") for role in changes}
    text.switch("i32", group, done, labels.items())
    for role, (before, after) in changes.items():
        text.start(labels[role])
        fn.emitter.set_registers(text, before, after)
        text.branch(done)
    text.start(done)


def workers_of(fn: GpuFunctionLowering, kernel: Operation, state_offset: int) -> Workers | None:
    """The workers of a kernel; None where all of its warps do the same."""
    if fn.module.total_warps == fn.module.num_warps:
        return None
    module = kernel.parent_op()
    assert isinstance(module, ModuleOp)
    registers = integer_attribute(module, MAX_REGISTERS)
    given = registers if registers is not None and fn.facts.capability >= 90 else 0
    count = count_meetings(module)
    meetings = Meetings(fn, state_offset + WORKER_STATE_BYTES, count) if count else None
    direct = [op for op in ops_within(kernel) if DIRECT in op.attributes and isinstance(op, ttg.WarpSpecializeOp)]
    return Workers(fn, fn.module.total_warps, state_offset, given, meetings, direct[0] if direct else None)
